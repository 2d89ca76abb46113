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
    """

    judged: Floats
    cell: Ints

    @property
    def shares(self) -> Floats:
        """Share of each judge grade in each system."""
        return np.asarray(self.judged / self.judged.sum(axis=1, keepdims=True))

    @property
    def graded(self) -> Floats:
        """Number of rows that people graded, shaped like `judged`."""
        return np.bincount(self.cell, minlength=self.judged.size).reshape(self.judged.shape).astype(np.float64)

    @property
    def weights(self) -> Floats:
        """Weight of a graded row in each cell: near one if people graded a random sample of the system."""
        graded, shares = self.graded, self.shares
        drawn = (graded + WEIGHT_ROWS * shares) / (graded.sum(axis=1, keepdims=True) + WEIGHT_ROWS)
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
    fitted : predicted value of each system and judge grade, shape (n_systems, n_judge_classes, n_values)
    residuals : left-out errors of the graded rows, shape (n_graded, n_values)
    """

    value: Floats
    grading: Floats
    judging: Floats
    third: Floats
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
    residuals = (values - fitted[counts.cell]) / ((1 - leverage) ** _leverage_power(counts, values))[:, None]
    # Every estimate is a weighted sum of human values: its variance is that of the sum of left-out errors.
    influence = ((average @ hat) * weight)[:, counts.cell]
    value = average @ fitted
    spread = np.maximum(average @ fitted**2 - value**2, 0)
    return Means(
        value=value,
        grading=influence**2 @ residuals**2,
        judging=spread / counts.judged.sum(axis=1, keepdims=True),
        third=influence**3 @ residuals**3,
        fitted=fitted.reshape(n_systems, n_grades, -1),
        residuals=residuals,
    )


def _leverage_power(counts: Counts, values: Floats) -> float:
    """Power of one minus the leverage by which errors are enlarged: 1 leaves a row out, as the jackknife does.

    On a scale of two grades .5 is enough, which is right on average for errors of equal variance: Wilson's rule already
    allows for few grades there. Chosen on simulated judges (seed 0).
    """
    is_of_two = counts.judged.shape[1] == 2 and bool(np.isin(values, (0.0, 1.0)).all())
    return 0.5 if is_of_two else 1.0


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
