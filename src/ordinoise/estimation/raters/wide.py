"""Ratings from a table with one column per rater, and the check that none of a column is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import complain


def from_wide(ratings: Any, missing: Any = -1) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Items, raters and labels, one entry per rating, from a table with one row per item and one column per rater.

    Parameters
    ----------
    ratings : array or frame of shape (n_items, n_raters)
        None and NaN are missing ratings. The columns of a frame name the raters; items are numbered by row.
    missing : default=-1
        A value that also marks a missing rating; None if there is none.
    """
    table = np.asarray(ratings)
    if table.ndim != 2:
        raise complain("ratings", "have one row per item and one column per rater", f"shape {table.shape}")
    absent = np.array([_is_blank(value) or value == missing for value in table.flat], dtype=bool)
    items, columns = np.nonzero(~absent.reshape(table.shape))
    names = np.asarray(getattr(ratings, "columns", np.arange(table.shape[1])))
    labels = table[items, columns]
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    return items, names[columns], np.array(labels.tolist()) if labels.dtype.kind == "O" else labels


def check_present(argument: str, column: NDArray[Any]) -> None:
    """Refuse a column with a missing value."""
    for place, value in enumerate(column.tolist() if column.dtype.kind in "fO" else ()):
        if _is_blank(value):
            advice = "drop the rating, or convert a table with blanks by from_wide"
            raise complain(argument, "have no missing value", f"{value} at {place}", advice)


def _is_blank(value: Any) -> bool:
    """Whether a value is None, NaN or the NA of pandas, whose comparisons have no truth value."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
