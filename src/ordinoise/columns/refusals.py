"""One sentence about features that cannot become numbers, in place of whatever numpy, pandas or polars would say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from ordinoise._frames import frame_of
from ordinoise._validation import complain

FAILURES = (TypeError, ValueError, ArithmeticError, LookupError, nw.exceptions.NarwhalsError, pl.exceptions.PolarsError)
# Sentences of scikit-learn that its users know, and that its own checks of estimators demand.
KNOWN = (
    "Expected 2D array",
    "Expected a 2-dimensional container",
    "Feature names",
    "Found array with",
    "Found input variables",
    "Input X contains",
    "Sparse data was passed",
    "The feature names",
    "X has ",
    "np.matrix is not supported",
)
TAKERS = (
    "OrdinalClassifier and OrdinalBoostingClassifier take categories, as text columns of a frame, and "
    "OrdinalClassifier free text"
)
FRAME = "OrdinalClassifier reads texts as a column of a frame, such as polars.DataFrame({'text': texts})"
PARTS = "ordinoise fit FOLDER --scheduler ADDRESS learns from Parquet files of any size on a Dask cluster"
GAPS = (
    "Input X contains NaN: X must hold finite numbers here, got a gap; OrdinalClassifier and OrdinalBoostingClassifier "
    "take gaps as they are"
)
ADVICE_BY_KIND = {"LazyFrame": "pass X.collect()", "DataLoader": "pass loader.dataset"}
NO_ARGUMENT = "a float() argument must be a string or a real number"  # as scikit-learn's checks demand it


def is_sentence(error: Exception) -> bool:
    """Whether an error already has our form, or is one of scikit-learn's well-known ones."""
    words = str(error)
    return (" must " in words and ", got " in words) or words.startswith(KNOWN)


@contextmanager
def one_sentence(X: Any) -> Iterator[None]:
    """Turn any other error about the features `X` into one sentence that names the column and the cell."""
    if hasattr(X, "__dask_graph__"):
        raise complain("X", "be in memory", "a Dask collection", PARTS)
    kind = type(X).__name__
    if kind in ADVICE_BY_KIND:
        raise complain("X", "be in memory", f"a {kind}", ADVICE_BY_KIND[kind])
    try:
        yield
    except FAILURES as error:
        if str(error).startswith("Input X contains NaN"):
            raise ValueError(GAPS) from None
        if is_sentence(error):
            raise
        raise _refusal(X, error) from None


def _refusal(X: Any, error: Exception) -> Exception:
    if "Complex data not supported" in str(error):
        return complain("X", "hold real numbers", "complex ones", "Complex data not supported")
    names = [str(name) for name in getattr(X, "columns", ())] if hasattr(X, "shape") else []
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        return complain("X", "name every column differently", f"{repeated[0]!r} twice", "rename one of them")
    try:
        found = _odd_cell(X)
    except FAILURES:
        found = None
    if found is None:
        table = _as_object(X)
        got = f"{type(X).__name__}" if table.ndim != 2 else f"{type(error).__name__}: {error}"
        holds_text = table.ndim == 1 and any(isinstance(cell, str) for cell in table)
        found = complain("X", "be a table of numbers, with one row per sample", got, FRAME if holds_text else "")
    is_demanded = isinstance(error, TypeError) and "argument must be" in str(error)
    return TypeError(f"{found}; {NO_ARGUMENT}") if is_demanded else found


def _odd_cell(X: Any) -> ValueError | None:
    """The error about the first cell that is no number; None if every cell is one."""
    frame = frame_of(X)
    if isinstance(frame, nw.DataFrame):
        columns = [(repr(column.name), column.to_list()) for column in frame.iter_columns()]
    else:
        table = _as_object(X)
        if table.ndim != 2:
            return None
        columns = [(str(number), cells.tolist()) for number, cells in enumerate(table.T)]
    for name, cells in columns:
        for row, cell in enumerate(cells):
            if not _is_number(cell):
                is_text = isinstance(cell, str)
                got = f"{cell!r} in row {row}" if is_text else f"a {type(cell).__name__} in row {row}"
                return complain(f"column {name}", "hold numbers", got, TAKERS if is_text else "")
    return None


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number, a text that spells one, or missing."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    try:
        float(cell)
    except FAILURES:
        return False
    return not isinstance(cell, (list, dict, np.ndarray))


def _as_object(X: Any) -> Any:
    try:
        return np.asarray(X, dtype=object)
    except FAILURES:
        return np.empty(0, dtype=object)
