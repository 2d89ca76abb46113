"""Effects of graders from one grade per row: the course from a table to shifts with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._text import first_of_consecutive
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
from ordinoise.audit.graders.regression import Moments, Shifts, excess, excess_column, indicators
from ordinoise.audit.graders.rows import TINY, Rows
from ordinoise.crossfit import stratified_folds
from ordinoise.estimate import Estimate, normal_reach
from ordinoise.labels import as_column, as_groups, ordered_classes, ranks_of
from ordinoise.noise import Noise
from ordinoise.threads import one_blas_thread

FOLDS = 5
MOST_GRADERS = 3000
"""More are refused: the time grows with their cube, and each would have few rows. A round number, chosen by no run."""


@one_blas_thread()
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
    probabilities : array of shape (n_samples, n_classes), or fitted OrdinalClassifier
        Of the recorded label, by models that did not see the row, nor who graded it. A classifier that was fitted to
        these rows, without their grader among the columns, gives its held-out predictions.
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
    if hasattr(probabilities, "out_of_fold_"):
        probabilities, features, noise, classes = _of_model(probabilities, features, noise, classes)
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
    check_graders(len(present))
    if together is not None:
        together = together[kept]
    rows = Rows.of(table[kept], ranks[kept], who, weights[kept], together)
    folds = stratified_folds(who, FOLDS, rng, together)
    own = None if also is None else excess_column(columns[kept], also[kept], folds, rows.weights)
    sides = rows.residuals[:, None] if own is None else np.column_stack([rows.residuals, own])
    blocks = excess(columns[kept], indicators(who, len(present)), folds, rows.weights)
    moments = Moments.of(blocks, rows.precision, sides, rows.weights)
    scale = [int(grade) if isinstance(grade, float) and grade.is_integer() else grade for grade in ordered.tolist()]
    return _effects(rows, moments, [names[at] for at in present], level, first_of_consecutive(scale))


def check_graders(n_graders: int, argument: str = "graders") -> None:
    """Refuse fewer graders than can be compared, and more than can be compared in reasonable time."""
    if n_graders < 2:
        raise complain(argument, "hold at least 2 graders, to be compared with each other", n_graders)
    if n_graders > MOST_GRADERS:
        advice = "name a column of fewer, such as that of their teams"
        raise complain(argument, f"hold at most {MOST_GRADERS:,} graders", f"{n_graders:,}", advice)


def _of_model(model: Any, features: Any, noise: Any, classes: Any) -> tuple[Any, Any, Any, Any]:
    """Held-out probabilities, columns, noise and classes of a fitted classifier of ours."""
    if noise is not None or classes is not None:
        raise complain("noise and classes", "be those of the fitted classifier", "others", "leave them out")
    if model.out_of_fold_ is None:
        raise complain("probabilities", "come from a fit with one grade per row", "a fit without held-out predictions")
    read = model.table_of(features)
    if model.recorded_out_of_fold_ is not None:
        return model.recorded_out_of_fold_, read, None, model.classes_
    return model.out_of_fold_, read, model.noise_, model.classes_


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


def _effects(rows: Rows, moments: Moments, names: list[Any], level: float, first: int | None) -> GraderEffects:
    """What the sums show: shifts, shrunken if rows look as given out by lot, and the rest of each grader."""
    shifts = moments.shifts(rows.own / rows.n_rows)
    ratio, p_value = rows.assignment
    is_by_lot = p_value >= NOT_BY_LOT
    value, error = shifts.shrunken() if is_by_lot else shifts.unshrunken()
    told = np.clip(1 - moments.squares / (rows.own * (1 - rows.own / rows.n_rows)), 0.0, 1.0)
    effective = rows.own * (1 - told)
    half = np.array([normal_reach(one, level) for one in error.tolist()])
    wide = half if is_by_lot else half + rows.hidden(ratio)
    shift, second = (Estimate.each((value, value - reach, value + reach), level) for reach in (half, wide))
    spreads, counts, (mean, others) = rows.spreads(value, level), np.bincount(rows.who), rows.means
    found = []
    for at, name in enumerate(names):
        is_comparable = effective[at] >= LEAST_ROWS and told[at] <= MOST_TOLD
        has_spread = is_comparable and effective[at] >= ROWS_OF_A_SPREAD
        found.append(
            GraderEffect(
                name, int(counts[at]), float(told[at]), float(effective[at]), shift[at] if is_comparable else None,
                second[at] if is_comparable and not is_by_lot else None, spreads[at] if has_spread else None,
                float(mean[at]), float(others[at]),
            )
        )  # fmt: skip
    found.sort(key=lambda one: (one.shift is None, -one.n_rows if one.shift is None else -one.shift.value))
    return GraderEffects(tuple(found), p_value, _contrast(moments, shifts, level), level, first)


def _contrast(moments: Moments, shifts: Shifts, level: float) -> Estimate | None:
    """The coefficient of a contrast beside shifts that are shrunken; its own prior is flat."""
    if moments.cross.shape[1] == 1:
        return None
    weight = max(moments.inner[1, 1], TINY)
    mean, covariance = shifts.common()
    slopes = moments.cross[:, 1] / weight
    value = float(moments.inner[0, 1] / weight - slopes @ mean)
    return Estimate.normal(value, float(np.sqrt(1 / weight + slopes @ covariance @ slopes)), level)
