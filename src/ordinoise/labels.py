"""A user's ordered grades as ranks 0..K-1, and labels that somebody verified.

Labels may be whole numbers with gaps, ordered categoricals of pandas, polars or pyarrow, or any others in the order of
``classes=``.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_classes,
    as_noise_matrix,
    as_ranks,
    as_same_length,
    complain,
)
from ordinoise._warning import warn_caller

BELOW = (-1, -8, -9, -88, -98, -99, -888, -998, -999, -8888, -9999)
ABOVE = (77, 88, 98, 99, 777, 888, 998, 999, 7777, 8888, 9998, 9999, 99999)
"""Numbers that surveys and exports write in place of a missing answer."""


def as_column(argument: str, y: Any) -> NDArray[Any]:
    """A one-dimensional numpy array of any column: list, array, pandas, polars or pyarrow."""
    native = nw.from_native(y, series_only=True, pass_through=True)
    try:
        column = native.to_numpy() if isinstance(native, nw.Series) else np.asarray(y)
    except ValueError:
        raise complain(argument, "be one column", f"a {type(y).__name__} of unequal parts") from None
    if column.ndim == 2 and column.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_caller(
            f"A column-vector {argument} was passed when a 1d array was expected; its one column is used.",
            DataConversionWarning,
        )
        column = column[:, 0]
    if column.ndim != 1:
        raise complain(argument, "be one column", f"shape {column.shape}")
    return column


def as_known_kind(argument: str, column: NDArray[Any]) -> NDArray[Any]:
    """`column` if its labels are all numbers or all text, none of them missing."""
    refuse_dates(argument, column)
    if column.dtype.kind in "cSV":
        advice = "Complex data not supported" if column.dtype.kind == "c" else ""  # as scikit-learn's checks demand it
        raise complain(argument, "hold whole numbers or text", column.dtype, advice)
    if column.dtype.kind != "O":
        return column
    values = column.tolist()
    missing = next((row for row, value in enumerate(values) if _is_missing(value)), None)
    if missing is not None:
        raise complain(argument, "have a label in every row", f"{values[missing]} in row {missing}", "drop such rows")
    odd = next((value for value in values if not isinstance(value, (str, int, float, np.generic))), None)
    if odd is not None:
        raise complain(argument, "hold whole numbers or text", f"a {type(odd).__name__}")
    huge = next((value for value in values if isinstance(value, int) and value.bit_length() > 63), None)
    if huge is not None:
        raise complain(argument, "hold whole numbers of at most 64 bits", f"one of {huge.bit_length()}")
    if len({isinstance(value, str) for value in values}) > 1:
        kinds = sorted({type(value).__name__ for value in values})
        raise complain(argument, "hold numbers alone or text alone", f"a mixture of {kinds}")
    return column


def distinct(argument: str, values: Any, n_entries: int, other: str) -> tuple[NDArray[Any], Ints]:
    """The distinct values of a column, sorted, and the position of each entry among them.

    None may be missing, and there must be as many as in `other`, which has `n_entries`.
    """
    column = as_column(argument, values)
    as_same_length(argument, len(column), other, n_entries)
    for place, value in enumerate(column.tolist() if column.dtype.kind in "fO" else ()):
        if _is_missing(value):
            raise complain(argument, "have no missing value", f"{value} at {place}", "drop such entries")
    try:
        found, numbers = np.unique(column, return_inverse=True)
    except TypeError:
        raise complain(argument, "be all numbers or all text", "a mixture") from None
    return found, numbers.astype(np.int64)


def as_groups(groups: Any, n_samples: int) -> Ints | None:
    """The number of each row's group, from 0; None where no groups are given."""
    return None if groups is None else distinct("groups", groups, n_samples, "X")[1]


def joined_groups(groups: Any, items: Any, n_samples: int) -> Ints | None:
    """Groups that keep the rows of an item together too; an item belongs to one group."""
    together = as_groups(groups, n_samples)
    if items is None:
        return together
    names, numbers = distinct("items", items, n_samples, "X")
    if together is None:
        return numbers
    group_of = np.zeros(len(names), dtype=np.int64)
    group_of[numbers] = together
    split = np.flatnonzero(group_of[numbers] != together)
    if len(split):
        raise complain("groups", "be the same in all rows of an item", f"two groups for {names[numbers[split[0]]]}")
    return together


def _is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, or the missing value of pandas."""
    if value is None:
        return True
    unequal = value != value  # of pandas' NA this is NA
    return bool(unequal) if isinstance(unequal, (bool, np.bool_)) else type(value).__name__ == "NAType"


def ordered_classes(y: Any, classes: Sequence[Any] | NDArray[Any] | None = None) -> NDArray[Any]:
    """All grades from lowest to highest, including those that `classes` or a categorical names but `y` lacks.

    Parameters
    ----------
    y : column of labels
        An ordered categorical carries its own order.
    classes : sequence, optional
        The grades in order. Needed for text, as alphabetical order is not the order of grades.
    """
    own = _stated_order(y)
    if classes is not None:
        return as_classes(classes) if own is None else _in_order_of(own, as_classes(classes))
    if own is not None:
        return as_classes(own)
    column = as_column("y", y)
    refuse_dates("y", column)
    try:
        found = np.unique(column)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in column.tolist()})
        raise complain("y", "hold labels that can be sorted", f"a mixture of {kinds}") from None
    if found.dtype.kind in "OUST":
        names = ", ".join(repr(name) for name in found[:5].tolist()) + (", ..." if len(found) > 5 else "")
        advice = "pass classes=[lowest, ..., highest]"
        raise complain("classes", "list the grades from lowest to highest if y is text", f"none for {names}", advice)
    _refuse_missing_marks(found)
    return found


def refuse_dates(argument: str, column: NDArray[Any]) -> None:
    """Refuse dates, times and durations, which are in an order but are no grades."""
    kinds = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    values = column.tolist() if column.dtype.kind == "O" else []
    dated = next((value for value in values if isinstance(value, kinds)), None)
    if column.dtype.kind in "mM" or dated is not None:
        got = f"dates or durations such as {column[0] if dated is None else dated}"
        raise complain(argument, "hold grades", got, "name the column that holds the grades")


def _refuse_missing_marks(found: NDArray[Any]) -> None:
    """Refuse numbers that stand for a missing grade, unless `classes` says that they are grades.

    `found` is sorted: the least integer, which a conversion makes of NaN, and 99 or -1 far from or below the others.
    """
    if found.dtype.kind not in "iuf" or len(found) < 2:
        return
    numbers = found.astype(np.float64)
    ends = [(numbers[0], numbers[1:]), (numbers[-1], numbers[:-1])]
    for value, others in ends:
        is_below = value < 0 <= others.min() and value in BELOW and len(others) > 2
        is_above = value in ABOVE and value > 10 + 2 * others.max()
        if value <= -(2.0**31) or is_below or is_above:
            advice = f"drop such rows if it marks a missing grade, or pass classes=, with {value:.0f} among them"
            got = f"{value:.0f} beside {others.min():g} to {others.max():g}"
            raise complain("y", "hold grades", got, advice)


def ranks_of(argument: str, y: Any, classes: NDArray[Any]) -> Ints:
    """Rank of every label among the ordered `classes`."""
    column = as_column(argument, y)
    if column.dtype.kind in "iub" and classes.dtype.kind in "iub":
        order = np.argsort(classes)
        slots = np.searchsorted(classes, column, sorter=order).clip(max=len(classes) - 1)
        ranks = order[slots]
        if (classes[ranks] == column).all():
            return ranks.astype(np.int64)
    return as_ranks(argument, column, classes)


DRAWN = ("random", "chosen")


@dataclass(frozen=True, eq=False)
class Verified:
    """Labels that people verified, who may err themselves: what ``trusted=`` takes in place of a pair.

    Attributes
    ----------
    rows : int array of shape (n_verified,)
        Numbers of the verified rows.
    labels : column of shape (n_verified,)
        What the verifier called them.
    noise : array of shape (n_classes, n_classes) or (n_verified, n_classes, n_classes), optional
        Noise of the verifier, ``[true, verified]``, or one matrix for each row. By default the labels are right.
    is_recorded : bool array of shape (n_verified,), optional
        Whether a row has a recorded label too. In a row without one `y` must hold the verified label; models learn
        from it, the estimate of the noise does not. By default all have one.
    drawn : {"random", "chosen"} or column of these words, default="chosen"
        How the rows came to be verified: drawn at random from all rows, or chosen by anything else, such as suspicion.
    """

    rows: Any
    labels: Any
    noise: Any = None
    is_recorded: Any = None
    drawn: Any = "chosen"

    @property
    def likelihood(self) -> Floats:
        """Probability of each checked verdict under every true class, shape (n_verified, n_classes)."""
        return np.asarray(self.noise[np.arange(len(self.rows)), :, self.labels])

    def among(self, chosen: Ints) -> Verified | None:
        """The checked labels of some rows, by their positions among these, which are sorted; None if there are none."""
        known = np.isin(self.rows, chosen)
        if not known.any():
            return None
        at = np.searchsorted(chosen, self.rows[known])
        return Verified(at, self.labels[known], self.noise[known], self.is_recorded[known], self.drawn[known])


def verified_among(trusted: Any, classes: NDArray[Any], n_samples: int) -> Verified | None:
    """Verified labels in any form, checked; None if there are none.

    A pair of row numbers, or of a mask, and labels; `Verified`; or a column with one entry per row, missing where
    nobody verified, which folds and pipelines divide like any other column.
    """
    if trusted is None:
        return None
    is_column = hasattr(trusted, "__len__") and not isinstance(trusted, str)
    if not is_column or isinstance(trusted, Verified) or _is_pair(trusted):
        return trusted_ranks(trusted, classes, n_samples)
    column = as_column("trusted", trusted)
    as_same_length("trusted", len(column), "y", n_samples)
    is_known = np.array([not _is_missing(value) for value in column.tolist()], dtype=bool)
    if not is_known.any():
        return None
    labels = column[is_known]
    as_numbers = classes.dtype.kind in "iu" and labels.dtype.kind == "O" and not isinstance(labels[0], str)
    return trusted_ranks((np.flatnonzero(is_known), labels.astype(float) if as_numbers else labels), classes, n_samples)


def _is_pair(trusted: Any) -> bool:
    return isinstance(trusted, (tuple, list)) and len(trusted) == 2 and np.ndim(trusted[0]) == 1


def trusted_ranks(trusted: Any, classes: NDArray[Any], n_samples: int) -> Verified:
    """Verified labels, checked: from a pair of row numbers and true labels, or from `Verified`.

    Its labels are ranks among `classes`, and every row has its matrix, `is_recorded` and `drawn`.
    """
    if not isinstance(trusted, Verified):
        if not isinstance(trusted, (tuple, list)) or len(trusted) != 2:
            raise complain("trusted", "be a pair of row numbers and true labels, or Verified", repr(trusted)[:60])
        trusted = Verified(*trusted)
    rows, labels = (as_column("trusted", part) for part in (trusted.rows, trusted.labels))
    if rows.dtype == bool:
        as_same_length("trusted mask", len(rows), "y", n_samples)
        labels = labels[rows] if len(labels) == n_samples else labels
        rows = np.flatnonzero(rows)
    as_same_length("trusted labels", len(labels), "their row numbers", len(rows))
    if rows.dtype.kind not in "iu" or len(rows) == 0 or rows.min() < 0 or rows.max() >= n_samples:
        raise complain("trusted rows", f"be row numbers from 0 to {n_samples - 1}", repr(rows)[:60])
    if len(np.unique(rows)) < len(rows):
        raise complain("trusted rows", "name every row once", "some twice")
    is_recorded = np.ones(len(rows), dtype=bool)
    if trusted.is_recorded is not None:
        is_recorded = as_column("is_recorded", trusted.is_recorded).astype(bool)
        as_same_length("is_recorded", len(is_recorded), "the trusted rows", len(rows))
    matrices = _verifier_matrices(trusted.noise, len(rows), len(classes))
    ranks = as_ranks("trusted labels", labels, classes)
    return Verified(rows.astype(np.int64), ranks, matrices, is_recorded, _as_drawn(trusted.drawn, len(rows)))


def _as_drawn(drawn: Any, n_verified: int) -> NDArray[np.str_]:
    """How each verified row was drawn."""
    words = [drawn] * n_verified if isinstance(drawn, str) else as_column("drawn", drawn).tolist()
    as_same_length("drawn", len(words), "the trusted rows", n_verified)
    return np.array([as_choice("drawn", word, DRAWN) for word in words])


def _verifier_matrices(noise: Any, n_verified: int, n_classes: int) -> Floats:
    """The matrix of each verified row."""
    if noise is None:
        noise = np.eye(n_classes)
    if np.ndim(noise) != 3:
        noise = as_noise_matrix(noise, n_classes)[None]
    if len(noise) not in (1, n_verified):
        raise complain("noise of the verified labels", f"have one matrix, or one for each of {n_verified}", len(noise))
    checked = np.stack([as_noise_matrix(one, n_classes) for one in noise])
    return np.broadcast_to(checked, (n_verified, n_classes, n_classes))


def _in_order_of(own: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """`classes`, which may name more or fewer grades than an ordered categorical, but not in another order."""
    ranks = {label: rank for rank, label in enumerate(own.tolist())}
    shared = [ranks[label] for label in classes.tolist() if label in ranks]
    if shared != sorted(shared):
        raise complain("classes", f"keep the order of the categories of y, {own.tolist()}", classes.tolist())
    return classes


def _stated_order(y: Any) -> NDArray[Any] | None:
    """The order that an ordered categorical of pandas, polars or pyarrow carries."""
    kind = getattr(y, "type", None)  # pyarrow, whose ordered dictionaries narwhals ignores
    if getattr(kind, "ordered", False):
        whole = y.combine_chunks() if hasattr(y, "combine_chunks") else y
        return np.asarray(whole.dictionary.to_pylist())
    if getattr(y, "ordered", False) and hasattr(y, "categories"):  # a bare pandas Categorical
        return np.asarray(y.categories)
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and isinstance(series.dtype, nw.Enum):
        return np.asarray(series.dtype.categories)
    return None
