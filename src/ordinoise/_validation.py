"""Checks of arguments, made once at the public boundary; all errors have one form."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROW_SUM_TOLERANCE = 1e-6  # allows for matrices printed to six digits
LARGEST_COUNT = 2**62  # fits an int64 with room for sums
MOST_CLASSES = 10_000  # a K x K matrix is then 800 MB
ROUNDED = 0.06  # sums of probabilities with two decimals miss one by less, up to 12 classes
LONGEST_GOT = 300  # characters of a value that an error quotes


def complain(argument: str, rule: str, got: object, advice: str = "") -> ValueError:
    """The error to raise: ``<argument> must <rule>, got <what came>[; <what to do>]``."""
    # One line, and not a whole array.
    came = " ".join(str(got).split())
    came = came if len(came) <= LONGEST_GOT else f"{came[: LONGEST_GOT - 3]}..."
    sentence = f"{argument} must {rule}, got {came}" + (f"; {advice}" if advice else "")
    return ValueError(" ".join(sentence.splitlines()))


def as_choice(argument: str, value: str, choices: Iterable[str]) -> str:
    """`value` if it is one of `choices`; the error names the nearest one."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    near = difflib.get_close_matches(str(value), known, n=1, cutoff=0.4)
    raise complain(argument, f"be one of {known}", repr(value), f"did you mean {near[0]!r}?" if near else "")


def as_flag(argument: str, value: bool) -> bool:
    """`value` as True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise complain(argument, "be True or False", repr(value))
    return bool(value)


def as_count(argument: str, value: int, least: int, most: int = LARGEST_COUNT) -> int:
    """`value` as an int of at least `least` and at most `most`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        raise complain(argument, f"be a whole number of at least {least}", repr(value))
    if value > most:
        raise complain(argument, f"be at most {most}", repr(value))
    return int(value)


def as_class_count(n_classes: int) -> int:
    """A checked number of classes, small enough for a K x K matrix."""
    return as_count("n_classes", n_classes, 2, MOST_CLASSES)


def as_classes(stated: Any) -> NDArray[Any]:
    """Grades from lowest to highest, each once, shape (n_classes,)."""
    try:
        classes = np.asarray(stated)
    except ValueError:
        got = f"a {type(stated).__name__} of unequal parts"
        raise complain("classes", "be a list of grades in order", got) from None
    if classes.ndim != 1 or len(classes) == 0:
        raise complain("classes", "be a list of grades in order", f"shape {classes.shape}")
    if len(set(classes.tolist())) < len(classes):
        raise complain("classes", "name every grade once", classes.tolist())
    return classes


def as_number(argument: str, value: float, low: float, high: float, *, open_low: bool = False) -> float:
    """`value` as a float between `low` and `high`, both included unless `open_low`."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (low < number if open_low else low <= number) or not number <= high:
        bounds = f"be above {low:g}" if open_low else f"be at least {low:g}"
        bounds += f" and at most {high:g}" if np.isfinite(high) else ""
        raise complain(argument, bounds, repr(value))
    return number


def as_floats(argument: str, values: ArrayLike, n_dimensions: int) -> Floats:
    """`values` as a finite, non-empty float array with the wanted number of dimensions."""
    try:
        found = np.asarray(values)
        array = found.astype(np.float64) if found.dtype.kind in "?biufOUS" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise complain(argument, "be an array of numbers", type(values).__name__)
    if array.ndim != n_dimensions:
        raise complain(argument, f"have {n_dimensions} dimension(s)", f"shape {array.shape}")
    if array.size == 0:
        raise complain(argument, "not be empty", f"shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise complain(argument, "be finite", f"{array[where]} at {where if len(where) > 1 else where[0]}")
    return array


def as_probabilities(
    argument: str, values: ArrayLike, n_classes: int | None = None, classes: Iterable[Any] | None = None
) -> Floats:
    """`values` as class probabilities: one column per class, no negative number, rows that sum to one.

    Columns of a frame are put in the order of `classes` (by default 0..n_classes-1) by their names.
    """
    probabilities = as_floats(argument, in_class_order(argument, values, classes), 2)
    if n_classes is not None and probabilities.shape[1] != n_classes:
        raise complain(argument, f"have {n_classes} columns, one per class", probabilities.shape[1])
    sums = probabilities.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if probabilities.min() < -1e-9 or abs(sums[worst] - 1) > 1e-5:
        got = f"minimum {probabilities.min():g}, and a sum of {sums[worst]:g} in row {worst}"
        is_rounded = probabilities.min() >= 0 and np.abs(sums - 1).max() < ROUNDED
        advice = "if they were rounded, divide every row by its sum" if is_rounded else ""
        raise complain(f"{argument} rows", "be non-negative and sum to 1", got, advice)
    return probabilities


def in_class_order(argument: str, values: Any, classes: Iterable[Any] | None = None) -> Any:
    """`values`, with the columns of a frame in the order of `classes`, 0..n_classes-1 by default, by their names.

    Names may be the grades, or the grades after one prefix such as ``P_``. Columns without names of their own, as
    pandas and polars number them, are taken as they stand.
    """
    names = getattr(values, "column_names", getattr(values, "columns", None))
    if names is None or len(getattr(values, "shape", ())) != 2:
        return values
    table, given = np.ascontiguousarray(values), [str(name) for name in names]
    grades = [str(grade) for grade in (range(len(given)) if classes is None else classes)]
    order = _positions(given, grades)
    if order is not None:
        return np.ascontiguousarray(table[:, order])
    numbered = [[f"{before}{number}" for number in range(len(given))] for before in ("", "column_")]
    if (given in numbered and not isinstance(next(iter(names)), str)) or given == numbered[1]:
        return table
    advice = "name the columns after the grades, or pass an array with the columns in the order of the grades"
    raise complain(f"{argument} columns", f"be named {grades}", given, advice)


def _positions(names: list[str], grades: list[str]) -> list[int] | None:
    """Where each grade stands among the names, up to a prefix that all names share; None if not all are there."""
    ends = {len(name) - len(grade) for name in names[:1] for grade in grades if name.endswith(grade)}
    for cut in (0, *sorted(ends)):
        place = {_as_grade(name[cut:]): at for at, name in enumerate(names)}
        is_shared = len({name[:cut] for name in names}) == 1
        if is_shared and len(names) == len(grades) and set(place) == {_as_grade(grade) for grade in grades}:
            return [place[_as_grade(grade)] for grade in grades]
    return None


def _as_grade(text: str) -> object:
    """A finite number as one, so that 1 and 1.0 are one grade; any other text unchanged."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if np.isfinite(number) else text


def as_labels(argument: str, values: ArrayLike, n_classes: int) -> Ints:
    """`values` as a non-empty int array of labels 0..n_classes-1."""
    array = as_floats(argument, values, 1)
    wrong = (array != np.floor(array)) | (array < 0) | (array >= n_classes)
    if wrong.any():
        where = int(np.flatnonzero(wrong)[0])
        rule = f"hold whole numbers from 0 to {n_classes - 1}"
        raise complain(argument, rule, f"{array[where]:g} at {where}")
    return array.astype(np.int64)


def as_same_length(argument: str, length: int, other: str, other_length: int) -> None:
    """Complain unless two arrays that go together are equally long."""
    if length != other_length:
        raise complain(argument, f"be as long as {other} ({other_length})", length)


def as_weights(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
    """Sample weights that sum to one; equal by default."""
    if sample_weight is None:
        return np.full(n_samples, 1 / n_samples)
    weights = as_floats("sample_weight", sample_weight, 1)
    as_same_length("sample_weight", len(weights), "the labels", n_samples)
    if weights.min() < 0 or weights.max() <= 0:
        raise complain("sample_weight", "be non-negative with a positive sum", f"minimum {weights.min():g}")
    weights = weights / weights.max()  # first, so that the sum of huge ones is finite
    return weights / weights.sum()


def as_generator(random_state: object) -> np.random.Generator:
    """A numpy Generator from a seed, a Generator, a legacy RandomState, or None for fresh entropy."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1, size=4))
    if random_state is None or isinstance(random_state, (int, np.integer, np.random.Generator)):
        try:
            return np.random.default_rng(random_state)
        except ValueError:
            pass
    raise complain("random_state", "be a non-negative seed, a generator or None", repr(random_state))


def as_noise_matrix(noise_matrix: ArrayLike, n_classes: int | None = None, *, tolerance: float = 0.0) -> Floats:
    """`noise_matrix[true, recorded]` as a square float array whose rows are distributions, up to a tolerance."""
    if np.ndim(noise_matrix) == 0 and isinstance(noise_matrix, (int, float, np.generic)):
        advice = "a rate alone is uniform(n_classes, rate), or OrdinalClassifier(prior_rate=rate) to estimate the rest"
        raise complain("noise_matrix", "be a matrix, [true, recorded]", repr(noise_matrix), advice)
    matrix = as_floats("noise_matrix", noise_matrix, 2)
    if matrix.shape[0] != matrix.shape[1]:
        raise complain("noise_matrix", "be square", f"shape {matrix.shape}")
    if len(matrix) < 2:
        raise complain("noise_matrix", "have at least 2 classes", f"shape {matrix.shape}")
    if n_classes is not None and len(matrix) != n_classes:
        raise complain("noise_matrix", f"be {n_classes} x {n_classes}, one row per class", f"shape {matrix.shape}")
    if matrix.min() < 0:
        row, column = np.unravel_index(matrix.argmin(), matrix.shape)
        raise complain("noise_matrix", "have no negative entry", f"{matrix.min():g} in row {row}, column {column}")
    _check_row_sums(matrix, max(tolerance, ROW_SUM_TOLERANCE))
    return matrix


def _check_row_sums(matrix: Floats, tolerance: float) -> None:
    sums = matrix.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > tolerance:
        transposed = np.allclose(matrix.sum(axis=0), 1, atol=tolerance)
        advice = (
            "yours has columns that do, so it is indexed [recorded, true]: pass its transpose" if transposed else ""
        )
        raise complain("noise_matrix rows", "sum to 1 (row = true label)", f"{sums[worst]:.6g} in row {worst}", advice)


def as_ranks(argument: str, values: ArrayLike, labels: Sequence[object] | NDArray[np.generic]) -> Ints:
    """Position of every value in the ordered `labels`."""
    position = {label: rank for rank, label in enumerate(_as_items("labels", labels))}
    items = _as_items(argument, values)
    unknown = [item for item in items if item not in position]
    if unknown:
        raise complain(argument, f"hold only the labels {list(position)}", repr(unknown[0]))
    return np.fromiter((position[item] for item in items), dtype=np.int64, count=len(items))


def _as_items(argument: str, values: Any) -> list[object]:
    """The values of one column, each of which can be a label."""
    try:
        column = np.asarray(values)
        items = column.tolist() if column.ndim == 1 else None
        hash(tuple(items or ()))
    except (TypeError, ValueError):
        items = None
    if items is None:
        raise complain(argument, "be one column of labels", repr(values))
    return items
