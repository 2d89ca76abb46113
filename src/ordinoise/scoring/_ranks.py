"""Labels as a caller passes them to a metric, as ranks 0..n_classes-1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import MOST_CLASSES, Ints, as_floats, as_labels, as_ranks, as_same_length, complain

Labels = Sequence[object] | NDArray[np.generic] | None

LARGEST_WHOLE = 2.0**53  # beyond it a float64 cannot tell whole numbers apart


def paired_ranks(y_true: ArrayLike, y_pred: ArrayLike, classes: Labels) -> tuple[Ints, Ints, int]:
    """Both gradings as ranks, and the number of grades."""
    if classes is not None:
        true, predicted = as_ranks("y_true", y_true, classes), as_ranks("y_pred", y_pred, classes)
        n_classes = len(np.asarray(classes))
    else:
        both = [as_integers("y_true", y_true), as_integers("y_pred", y_pred)]
        lowest = min(values.min() for values in both)
        true, predicted = (values - lowest for values in both)
        n_classes = int(max(true.max(), predicted.max())) + 1
        if n_classes > MOST_CLASSES:
            advice = "pass classes=, the grades in order, if they are far apart"
            raise complain("y_true and y_pred", f"span at most {MOST_CLASSES} grades", n_classes, advice)
    as_same_length("y_pred", len(predicted), "y_true", len(true))
    return true, predicted, n_classes


def _refuse_text(argument: str, values: ArrayLike) -> None:
    """Refuse text, which would be converted to numbers silently, in an order that nobody stated."""
    try:
        items = np.asarray(values)
    except ValueError:
        raise complain(argument, "be one column of labels", f"a {type(values).__name__} of unequal parts") from None
    if items.dtype.kind in "biufc":
        return
    text = next((value for value in items.ravel().tolist() if isinstance(value, (str, bytes))), None)
    if text is not None:
        raise complain(argument, "hold whole numbers", repr(text), "pass classes=, the grades in order")


def as_integers(argument: str, values: ArrayLike) -> Ints:
    _refuse_text(argument, values)
    numbers = as_floats(argument, values, 1)
    if (numbers != np.floor(numbers)).any():
        raise complain(argument, "hold whole numbers", f"{numbers[numbers != np.floor(numbers)][0]:g}")
    if np.abs(numbers).max() > LARGEST_WHOLE:
        raise complain(argument, "hold whole numbers that a float can tell apart", f"{np.abs(numbers).max():g}")
    return numbers.astype(np.int64)


def ranks_among(argument: str, values: ArrayLike, classes: Labels, n_classes: int) -> Ints:
    """Ranks 0..n_classes-1: positions in `classes`, or without `classes` the values themselves."""
    if classes is None:
        _refuse_text(argument, values)
        try:
            return as_labels(argument, values, n_classes)
        except ValueError as error:
            raise ValueError(f"{error}; pass classes=, the grades in order, if they are others") from None
    ranks = as_ranks(argument, values, classes)
    if len(classes) != n_classes:
        raise complain("classes", f"name all {n_classes} grades", len(classes))
    if len(ranks) == 0:
        raise complain(argument, "not be empty", "no labels")
    return ranks
