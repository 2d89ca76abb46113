"""Effects of graders from one grade per row: the course from a table to shifts with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f as f_law
from scipy.stats import norm

from ordinoise._validation import (
    Floats,
    Ints,
    as_generator,
    as_number,
    as_probabilities,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise.audit.graders.columns import standardized_columns
from ordinoise.audit.graders.record import (
    LEAST_ROWS,
    MOST_TOLD,
    NOT_BY_LOT,
    ROWS_OF_A_SPREAD,
    GraderEffect,
    GraderEffects,
)
from ordinoise.audit.graders.regression import Shifts, excess, row_variances
from ordinoise.clusters import effect_on_mean
from ordinoise.crossfit import stratified_folds
from ordinoise.estimate import Estimate
from ordinoise.labels import as_column, as_groups, ordered_classes, ranks_of
from ordinoise.noise import Noise

FOLDS = 5
TINY = 1e-12
MISSING = Estimate(math.nan, math.nan, math.nan)


def grader_effects(
    probabilities: ArrayLike,
    y: Any,
    graders: Any,
    features: Any,
    *,
    noise: Any = None,
    contrast: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    classes: Any = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> GraderEffects:
    """How much higher each grader grades than the others on comparable rows, where every row has one grade.

    The grade that the columns tell is taken from each record, and the chance of the grader given the columns from who
    graded it; what is left of one is regressed on what is left of the other. All graders share the overlap of the
    grades, so it drops out of their differences, and an interval covers without knowing how many grades are wrong.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of the recorded label, by models that did not see the row, nor who graded it, such as
        ``OrdinalClassifier(noise=None).fit(X, y).out_of_fold_``.
    y : column of shape (n_samples,)
        Labels as recorded.
    graders : column of shape (n_samples,)
        Who gave each label: a person, a branch, a device.
    features : array, sparse matrix or frame of shape (n_samples, n_features)
        The columns that the probabilities come from, without the grader. They are what makes rows comparable; a
        session or a month may be among them.
    noise : Noise, optional
        That of the model, if the probabilities are of the true label (``model.noise_``).
    contrast : bool column of shape (n_samples,), optional
        Rows for which one more difference is wanted, such as those of the grader's own branch.
    sample_weight : array of shape (n_samples,), optional
        Rows with zero weight are ignored.
    groups : column of shape (n_samples,), optional
        Rows of one group (a patient, a query) are not independent, which widens the intervals.
    classes : sequence, optional
        The grades from lowest to highest, if `y` is text or lacks some.
    confidence : float, default=0.95
    random_state : int, Generator, RandomState or None, default=0
        Of the folds of the chances of the graders.

    Examples
    --------
    >>> import numpy as np
    >>> from ordinoise.audit import grader_effects
    >>> rng = np.random.default_rng(0)
    >>> x, who = rng.normal(size=(900, 1)), rng.integers(3, size=900)
    >>> score = x[:, 0] + 0.8 * (who == 2) + rng.logistic(size=900)
    >>> cuts = np.array([-1.0, 1.0])
    >>> below = 1 / (1 + np.exp(x + 0.27 - cuts))
    >>> probabilities = np.diff(below, axis=1, prepend=0, append=1)
    >>> effects = grader_effects(probabilities, np.searchsorted(cuts, score), who, x)
    >>> [effect.grader for effect in effects if effect.differs]  # the highest first
    [2, 0, 1]
    """
    level = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    table = as_probabilities("probabilities", probabilities).clip(min=0)
    record = Noise.of(noise, table.shape[1]).average
    if noise is not None and record.answer in ("", "corrected"):
        table = table @ record.matrix
    ordered = _classes_of(y, classes, table.shape[1])
    ranks = ranks_of("y", y, ordered)
    as_same_length("y", len(ranks), "probabilities", len(table))
    names, who = _graders(graders, len(ranks))
    weights = as_weights(sample_weight, len(ranks))
    together = as_groups(groups, len(ranks))
    rng = as_generator(random_state)
    columns = standardized_columns(features, rng)
    as_same_length("features", len(columns), "probabilities", len(table))
    also = None if contrast is None else _flags(contrast, len(ranks))
    kept = np.flatnonzero(weights)
    present, who = np.unique(who[kept], return_inverse=True)
    if len(present) < 2:
        raise complain("graders", "hold at least 2 graders, to be compared with each other", len(present))
    if together is not None:
        together = together[kept]
    rows = Rows.of(table[kept], ranks[kept], who, weights[kept], together)
    folds = stratified_folds(who, FOLDS, rng, together)
    left = excess(columns[kept], np.eye(len(present))[who], folds)
    own = None if also is None else excess(columns[kept], also[kept][:, None], folds)[:, 0]
    return _effects(rows, left, own, [names[at] for at in present], level)


def _classes_of(y: Any, classes: Any, n_classes: int) -> Any:
    ordered = ordered_classes(y, classes)
    if classes is None and len(ordered) < n_classes and np.isin(as_column("y", y), np.arange(n_classes)).all():
        return np.arange(n_classes)
    if len(ordered) != n_classes:
        advice = "pass classes=, the grades from lowest to highest" if classes is None else ""
        raise complain("classes", f"name all {n_classes} columns of probabilities", ordered.tolist(), advice)
    return ordered


def _flags(contrast: Any, n_rows: int) -> Floats:
    column = as_column("contrast", contrast)
    as_same_length("contrast", len(column), "y", n_rows)
    if column.dtype != np.bool_:
        raise complain("contrast", "hold true or false for every row", column.dtype)
    return column.astype(np.float64)


def _graders(graders: Any, n_rows: int) -> tuple[list[Any], Ints]:
    """Their names, and the number of the grader of each row."""
    column = as_column("graders", graders)
    as_same_length("graders", len(column), "y", n_rows)
    values = column.tolist()
    missing = next((row for row, name in enumerate(values) if name is None or name != name), None)
    if missing is not None:
        raise complain("graders", "name a grader for every row", f"none in row {missing}", "leave such rows out")
    names = sorted(set(values), key=lambda name: (isinstance(name, str), name))
    number = {name: at for at, name in enumerate(names)}
    return names, np.array([number[name] for name in values], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Rows:
    """Graded rows: what the columns tell of each grade, and what is left of it.

    Attributes
    ----------
    expected, variances, residuals : arrays of shape (n_rows,)
        Mean and variance of the grade given the columns; the record less that mean, centered.
    who : int array of shape (n_rows,)
    weights : array of shape (n_rows,)
        In units of rows: their sum is the number of rows that would have the same precision without weights.
    own : array of shape (n_graders,)
        Rows of each grader in that unit.
    effect : float
        How many times the variance of a mean is larger because rows of one group go together.
    """

    expected: Floats
    variances: Floats
    residuals: Floats
    who: Ints
    weights: Floats
    own: Floats
    effect: float

    @classmethod
    def of(cls, table: Floats, ranks: Ints, who: Ints, weights: Floats, groups: Ints | None) -> Rows:
        """The rows of records and of the probabilities that the columns give them."""
        grades = np.arange(table.shape[1])
        weights = weights * (weights.sum() / (weights**2).sum())
        expected = table @ grades
        residuals = ranks - expected
        residuals = residuals - np.average(residuals, weights=weights)
        standard = residuals / np.sqrt(row_variances(residuals, who, weights))[who]
        return cls(
            expected, table @ grades**2 - expected**2, residuals, who, weights,
            np.bincount(who, weights).astype(np.float64), _design_effect(standard, who, groups),
        )  # fmt: skip

    @property
    def precision(self) -> Floats:
        """Precision of each residual, by the spread of its grader."""
        spread = row_variances(self.residuals, self.who, self.weights)[self.who]
        return np.asarray(self.weights / (spread * self.effect))

    @property
    def n_rows(self) -> float:
        """Number of rows in the unit of the weights."""
        return float(self.weights.sum())

    @property
    def means(self) -> tuple[Floats, Floats]:
        """Mean expected grade of the rows of each grader, and of those of the others."""
        sums = np.bincount(self.who, self.weights * self.expected)
        return sums / self.own, (sums.sum() - sums) / (self.n_rows - self.own)


def _effects(rows: Rows, left: Floats, contrast: Floats | None, names: list[Any], level: float) -> GraderEffects:
    adjusted, left_adjusted = rows.residuals, left
    if contrast is not None:
        adjusted, left_adjusted = (_without(each, contrast, rows.precision) for each in (rows.residuals, left))
    shifts = Shifts.of(adjusted, left_adjusted, rows.precision, rows.own / rows.n_rows)
    ratio, p_value = _assignment(rows)
    value, error = shifts.shrunken() if p_value >= NOT_BY_LOT else shifts.unshrunken()
    told = np.clip(1 - (rows.weights @ left**2) / (rows.own * (1 - rows.own / rows.n_rows)), 0.0, 1.0)
    comparable = (rows.own * (1 - told) >= LEAST_ROWS) & (told <= MOST_TOLD)
    half = np.where(comparable, float(norm.isf((1 - level) / 2)) * error, math.nan)
    wide = half + (_hidden(rows, ratio) if p_value < NOT_BY_LOT else 0.0)
    scatter, counts, (mean, others) = _scatter(rows, value, level), np.bincount(rows.who), rows.means
    found = [
        GraderEffect(
            name, int(counts[at]), float(told[at]), float(rows.own[at] * (1 - told[at])),
            _around(float(value[at]), float(half[at]), level),
            Estimate(math.nan, float(value[at] - wide[at]), float(value[at] + wide[at]), level),
            scatter[at] if comparable[at] and rows.own[at] * (1 - told[at]) >= ROWS_OF_A_SPREAD else MISSING,
            float(mean[at]), float(others[at]),
        )
        for at, name in enumerate(names)
    ]  # fmt: skip
    found.sort(key=lambda one: (not one.is_comparable, -one.shift.value if one.is_comparable else -one.n_rows))
    difference = None if contrast is None else _contrast(rows, contrast, left, shifts, level)
    return GraderEffects(tuple(found), p_value, difference, level)


def _around(value: float, half: float, level: float) -> Estimate:
    return MISSING if math.isnan(half) else Estimate(value, value - half, value + half, level)


def _without(values: Floats, column: Floats, precision: Floats) -> Floats:
    """What a column does not explain of some values, by weighted least squares."""
    slope = (precision * column) @ values / max(float((precision * column) @ column), TINY)
    return np.asarray(values - np.multiply.outer(column, slope))


def _contrast(rows: Rows, column: Floats, left: Floats, shifts: Shifts, level: float) -> Estimate:
    """The coefficient of a contrast beside shifts that are shrunken; its own prior is flat."""
    weight = max(float((rows.precision * column) @ column), TINY)
    mean, covariance = shifts.common()
    slopes = (rows.precision * column) @ left / weight
    value = float((rows.precision * column) @ rows.residuals / weight - slopes @ mean)
    error = math.sqrt(1 / weight + float(slopes @ covariance @ slopes))
    return _around(value, float(norm.isf((1 - level) / 2)) * error, level)


def _assignment(rows: Rows) -> tuple[float, float]:
    """F ratio of the expected grades between graders, and its p value if rows were given out at random."""
    mean, n_graders = rows.means[0], len(rows.own)
    overall = float(rows.weights @ rows.expected) / rows.n_rows
    between = float(rows.own @ (mean - overall) ** 2) / (n_graders - 1)
    left = max(rows.n_rows / rows.effect - n_graders, 1.0)
    within = float(rows.weights @ (rows.expected - mean[rows.who]) ** 2) / left
    if within <= TINY:
        return 0.0, 1.0
    return between / within, float(f_law.sf(between / within, n_graders - 1, left))


def _hidden(rows: Rows, ratio: float) -> Floats:
    """How far shifts may be off if unseen reasons weigh as much as seen ones, per unit of variance, (n_graders,).

    Equal selection (Altonji, Elder and Taber 2005): what the columns tell of the grade differs between the rows of a
    grader and the others' by ``mean - others``; of what they do not tell a part as large in proportion may, too.
    """
    mean, others = rows.means
    seen = float(
        np.average((rows.expected - np.average(rows.expected, weights=rows.weights)) ** 2, weights=rows.weights)
    )
    unseen = float(np.average(rows.residuals**2, weights=rows.weights))
    return np.asarray(np.abs(mean - others) * max(0.0, 1 - 1 / ratio) * unseen / seen)


def _design_effect(residuals: Floats, who: Ints, groups: Ints | None) -> float:
    """How many times the variance of a mean is larger because rows of one group and grader go together."""
    if groups is None:
        return 1.0
    _, together = np.unique(np.column_stack([groups, who]), axis=0, return_inverse=True)
    return effect_on_mean(residuals, together.reshape(-1))


def _scatter(rows: Rows, shift: Floats, level: float) -> list[Estimate]:
    """How many times as far each grader's grades scatter around what the columns tell, shrunken as shifts are."""
    about = rows.residuals - shift[rows.who]
    about = about - np.average(about, weights=rows.weights)
    squares = np.maximum(np.bincount(rows.who, rows.weights * about**2), TINY)
    usual = np.maximum(np.bincount(rows.who, rows.weights * rows.variances), TINY)
    logs = 0.5 * np.log(squares / usual)
    standard = about / np.sqrt(squares / rows.own)[rows.who]
    kurtosis = float(np.average(standard**4, weights=rows.weights))
    variance = max(kurtosis - 1, TINY) * rows.effect / (4 * rows.own)
    center = float(np.average(logs, weights=1 / variance))
    value, error = Shifts(rows.own / rows.n_rows, 1 / variance, np.eye(len(rows.own)), logs - center).shrunken()
    reach = float(norm.isf((1 - level) / 2))
    ends = np.exp(np.column_stack([value, value - reach * error, value + reach * error])).tolist()
    return [Estimate(value, low, high, level) for value, low, high in ends]
