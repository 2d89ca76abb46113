"""What people would have graded on average, from the judge's grades of all rows and people's grades of some.

Human values are regressed on the judge's grade: an intercept for each system, a line, and a deviation for each judge
grade, for all systems and within each, both shrunken by a ridge. The predictions are averaged over all rows of the
system. As each system has its own intercept, a judge who favors a system makes the answer less precise, not wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from ordinoise._validation import Floats, Ints

# Ridge of the line and of the deviations, in rows; and rows by which the weights of the judge's grades are smoothed.
# Of (3, 4), (6, 4) and (12, 8), the last was narrowest with no loss of coverage on simulated judges (seeds 0 and 1).
LINE_RIDGE, GRADE_RIDGE, WEIGHT_ROWS = 0.5, 12.0, 8.0
# Errors of one step that are added to the third moment, so that rare errors not seen yet are allowed for: .5 for a
# share, 1 for a mean of several grades. Of .5 and 1, settled on the same seeds.
UNSEEN_SHARE, UNSEEN_MEAN = 0.5, 1.0
MOST_LEVERAGE = 0.9


@dataclass(frozen=True, eq=False)
class Counts:
    """Rows by system and judge grade, and the rows that people graded.

    Attributes
    ----------
    judged : array of shape (n_systems, n_judge_classes)
        Number of rows.
    cell : array of shape (n_graded,)
        ``system * n_judge_classes + judge grade`` of each row that people graded.
    items : (all_cells, item_of_row, item_of_graded), optional
        If several rows belong to one item, such as a prompt that went to all systems: the cell and the number of the
        item of every row, and the number of the item of the graded ones.
    """

    judged: Floats
    cell: Ints
    items: tuple[Ints, Ints, Ints] | None = None

    @property
    def shares(self) -> Floats:
        """Share of each judge grade in each system."""
        return np.asarray(self.judged / self.judged.sum(axis=1, keepdims=True))

    @property
    def graded(self) -> Floats:
        """Number of rows that people graded, shaped like `judged`."""
        return np.bincount(self.cell, minlength=self.judged.size).reshape(self.judged.shape).astype(np.float64)

    @property
    def n_graded(self) -> Floats:
        """Number of rows that people graded in each system; of different items among them, if rows belong to items."""
        if self.items is None:
            return np.asarray(self.graded.sum(axis=1))
        system, item = self.cell // self.judged.shape[1], self.items[2]
        pairs = np.unique(np.column_stack([system, item]), axis=0)
        return np.bincount(pairs[:, 0], minlength=len(self.judged)).astype(np.float64)

    @property
    def contrast(self) -> tuple[float, int]:
        """Pearson's statistic of the judge's grades of graded and of other rows, and its degrees of freedom."""
        graded = self.graded
        rest = np.maximum(self.judged - graded, 0)
        statistic, freedom = 0.0, 0
        for pair in np.stack([graded, rest], axis=1):
            pair = pair[:, pair.sum(axis=0) > 0]
            expected = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0) / pair.sum()
            if expected.min() > 0 and pair.shape[1] > 1:
                statistic += float(((pair - expected) ** 2 / expected).sum())
                freedom += pair.shape[1] - 1
        return statistic, freedom

    @property
    def weights(self) -> Floats:
        """Weight of a graded row in each cell: one if people graded a random sample of the system.

        Shares that differ by no more than chance are taken to be equal, others as far as they exceed it (James and
        Stein's rule): weights that only follow chance would make the estimate vary more.
        """
        graded, shares = self.graded, self.shares
        statistic, freedom = self.contrast
        chosen = max(0.0, 1 - freedom / statistic) if statistic > 0 else 0.0
        smooth = (graded + WEIGHT_ROWS * shares) / (graded.sum(axis=1, keepdims=True) + WEIGHT_ROWS)
        drawn = shares + chosen * (smooth - shares)
        return np.divide(shares, drawn, out=np.zeros_like(shares), where=drawn > 0)


@dataclass(frozen=True, eq=False)
class Means:
    """Estimated means of several human values in every system, shape (n_systems, n_values) each.

    Attributes
    ----------
    value : estimate
    grading : variance that more human grades would reduce
    judging : variance that only more rows would reduce
    third : third moment of the error
    correlation : of the errors of the first value of every two systems, shape (n_systems, n_systems)
    fitted : predicted value of each system and judge grade, shape (n_systems, n_judge_classes, n_values)
    residuals : left-out errors of the graded rows, shape (n_graded, n_values)
    """

    value: Floats
    grading: Floats
    judging: Floats
    third: Floats
    correlation: Floats
    fitted: Floats
    residuals: Floats


def estimated_means(counts: Counts, values: Floats) -> Means:
    """The mean of each column of `values`, given for the graded rows, over all rows of each system."""
    n_systems, n_grades = counts.judged.shape
    design, ridge = _design(n_systems, n_grades)
    weight = counts.weights.ravel()
    gram = design.T @ ((weight * counts.graded.ravel())[:, None] * design) + np.diag(ridge)
    hat = design @ np.linalg.pinv(gram, hermitian=True) @ design.T
    sums = np.zeros((counts.judged.size, values.shape[1]))
    np.add.at(sums, counts.cell, values)
    fitted = hat @ (weight[:, None] * sums)
    average = np.kron(np.eye(n_systems), np.ones(n_grades)) * counts.shares.ravel()
    leverage = np.minimum(hat.diagonal() * weight, MOST_LEVERAGE)[counts.cell]
    # Enlarged by the root, errors of equal variance have the right variance on average.
    residuals = (values - fitted[counts.cell]) / np.sqrt(1 - leverage)[:, None]
    # Every estimate is a weighted sum of human values: its variance is that of the sum of errors.
    influence = ((average @ hat) * weight)[:, counts.cell]
    value = average @ fitted
    errors = influence[:, :, None] * residuals
    if counts.items is not None:
        errors = _summed(errors, counts.items[2])
    judging = _judging(counts, fitted, value)
    total = np.einsum("sn,tn->st", errors[:, :, 0], errors[:, :, 0]) + judging[:, :, 0]
    spread = np.sqrt(np.maximum(total.diagonal(), 1e-300))
    return Means(
        value=value,
        grading=(errors**2).sum(axis=1),
        judging=judging[np.arange(n_systems), np.arange(n_systems)],
        third=_third_moment(errors),
        correlation=np.clip(total / spread / spread[:, None], -1, 1),
        fitted=fitted.reshape(n_systems, n_grades, -1),
        residuals=residuals,
    )


def _third_moment(errors: Floats) -> Floats:
    """Third moment of sums of errors, shape (n_systems, n_values), less what chance alone would give.

    By James and Stein's rule: of a few large errors of both signs nothing is left, of ten rare errors of one sign nine
    tenths.
    """
    third = (errors**3).sum(axis=1)
    chance = (errors**6).sum(axis=1)
    return np.asarray(third * np.maximum(0, 1 - chance / np.maximum(third**2, 1e-300)))


def _judging(counts: Counts, fitted: Floats, value: Floats) -> Floats:
    """Covariance of the means of what is predicted for all rows, shape (n_systems, n_systems, n_values)."""
    n_systems, n_grades = counts.judged.shape
    n_rows = counts.judged.sum(axis=1)
    if counts.items is None:
        spread = np.maximum(np.einsum("sg,sgv->sv", counts.shares, fitted.reshape(n_systems, n_grades, -1) ** 2), 0)
        found = np.zeros((n_systems, n_systems, value.shape[1]))
        found[np.arange(n_systems), np.arange(n_systems)] = np.maximum(spread - value**2, 0) / n_rows[:, None]
        return found
    cell, item, _ = counts.items
    system = cell // n_grades
    sums = np.zeros((int(item.max()) + 1, n_systems, value.shape[1]))
    np.add.at(sums, (item, system), (fitted[cell] - value[system]) / n_rows[system, None])
    return np.einsum("isv,itv->stv", sums, sums)


def _summed(errors: Floats, item: Ints) -> Floats:
    """The errors summed over the rows of each item, along the second axis."""
    found = np.zeros((int(item.max()) + 1, errors.shape[0], errors.shape[2]))
    np.add.at(found, item, errors.swapaxes(0, 1))
    return found.swapaxes(0, 1)


def _design(n_systems: int, n_grades: int) -> tuple[Floats, Floats]:
    """One row per system and judge grade, and the ridge of each column."""
    system = np.repeat(np.eye(n_systems), n_grades, axis=0)
    grade = np.tile(np.eye(n_grades), (n_systems, 1))
    line = grade @ np.linspace(-1, 1, n_grades)[:, None]
    cells = np.eye(n_systems * n_grades)
    ridge = [np.zeros(n_systems), np.array([LINE_RIDGE]), np.full(n_grades * (1 + n_systems), GRADE_RIDGE)]
    return np.hstack([system, line, grade, cells]), np.concatenate(ridge)


def intervals(means: Means, n_graded: Floats, low: Floats, high: Floats, step: Floats, confidence: float) -> Floats:
    """Ends of the interval of every mean, shape (2, n_systems, n_values).

    Wilson's interval for a share, carried over to a weighted sum: at a distance x from the estimate the variance is
    ``V + x T / V`` by its third moment T, and for a share less ``x**2 / n``. The ends solve ``x**2 = t**2 variance``.

    Parameters
    ----------
    means : Means
    n_graded : array of shape (n_systems,)
        Human grades of each system.
    low, high, step : arrays of shape (n_values,)
        Least and largest possible value, and the size of one step: `step` equals ``high - low`` for a share.
    confidence : float
    """
    n = n_graded[:, None]
    factor = student.ppf((1 + confidence) / 2, np.maximum(n - 1, 1)) ** 2
    is_share = np.isclose(step, high - low)
    unseen = np.where(is_share, UNSEEN_SHARE, UNSEEN_MEAN)
    curve = 1 + is_share * factor / n
    ends = []
    for sign in (-1, 1):
        slope = (sign * means.third + unseen * (step / n) ** 3) / (means.grading + unseen * (step / n) ** 2)
        half = factor * slope
        reach = np.maximum((half + np.sqrt(half**2 + 4 * curve * factor * means.grading)) / (2 * curve), 0)
        ends.append(means.value + sign * np.sqrt(reach**2 + factor * means.judging))
    found = np.clip(np.stack(ends), low, high)
    # One human grade says nothing about the spread of grades.
    found[:, n_graded < 2] = np.stack([low, high])[:, None]
    return found
