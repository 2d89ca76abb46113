"""Tables with missing values and categories as numbers: what each code stands for is remembered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, complain

CATEGORICAL = (nw.Categorical, nw.Enum, nw.String)


@dataclass(frozen=True)
class Columns:
    """The categories of a table's categorical columns, in the order of their codes.

    Attributes
    ----------
    categories : mapping of int to tuple
        Column number, and what the codes 0, 1, ... of that column stand for.
    """

    categories: Mapping[int, tuple[Any, ...]]

    @classmethod
    def of(cls, X: Any, categorical_features: Any) -> Columns:
        """Those that a table has, or that it is said to have."""
        chosen = _chosen(X, categorical_features)
        return cls({j: _categories(column) for j, column in enumerate(_each_column(X)) if j in chosen})

    def encoded(self, X: Any) -> NDArray[np.floating]:
        """The table as numbers; NaN where a value is missing or a category unknown."""
        if not self.categories and not is_frame(X):
            return np.asarray(X)
        columns = [
            _codes(column, self.categories[j]) if j in self.categories else _numbers(column, j)
            for j, column in enumerate(_each_column(X))
        ]
        return np.column_stack(columns)


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas, polars or pyarrow."""
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def rows_of(X: Any, rows: Any) -> Any:
    """Some rows of a frame or an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


def _each_column(X: Any) -> Iterator[Any]:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        yield from frame.iter_columns()
    else:
        yield from np.asarray(X).T


def _chosen(X: Any, categorical_features: Any) -> set[int]:
    """Numbers of the categorical columns."""
    columns = nw.from_native(X, eager_only=True, pass_through=True)
    frame = columns if isinstance(columns, nw.DataFrame) else None
    if isinstance(categorical_features, str) and categorical_features == "auto":
        return set() if frame is None else {j for j, kind in enumerate(frame.schema.dtypes()) if kind in CATEGORICAL}
    names = [] if frame is None else list(frame.columns)
    n_columns = len(names) if frame is not None else np.asarray(X).shape[1]
    return {_position(column, names, n_columns) for column in _listed(categorical_features)}


def _listed(categorical_features: Any) -> list[Any]:
    if categorical_features is None:
        return []
    if isinstance(categorical_features, str):
        raise complain("categorical_features", "be 'auto' or a list of columns", repr(categorical_features))
    return list(categorical_features)


def _position(column: Any, names: list[str], n_columns: int) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < n_columns:
        return int(column)
    known = f" or of {names[:8]}" if names else ""
    raise complain("categorical_features", f"hold column numbers below {n_columns}{known}", repr(column))


def _categories(column: Any) -> tuple[Any, ...]:
    """What occurs, in order; the whole of its own list where the column has one."""
    if isinstance(column, nw.Series):
        if isinstance(column.dtype, nw.Enum):
            return tuple(column.dtype.categories)
        column = column.drop_nulls().unique().to_list()
    found = {value for value in np.asarray(column, dtype=object).tolist() if not _is_missing(value)}
    return tuple(sorted(found, key=lambda value: (isinstance(value, str), value)))


def _codes(column: Any, categories: tuple[Any, ...]) -> Floats:
    codes = {value: float(code) for code, value in enumerate(categories)}
    values = column.to_list() if isinstance(column, nw.Series) else column.tolist()
    return np.fromiter((codes.get(value, np.nan) for value in values), dtype=np.float64, count=len(values))


def _numbers(column: Any, j: int) -> Floats:
    try:
        numbers = column.cast(nw.Float64).to_numpy() if isinstance(column, nw.Series) else column
        return np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, ArithmeticError, nw.exceptions.NarwhalsError):
        kind = column.dtype
    name = repr(column.name) if isinstance(column, nw.Series) else j
    raise complain(f"column {name}", "hold numbers or be among categorical_features", kind)


def _is_missing(value: Any) -> bool:
    return value is None or value != value
