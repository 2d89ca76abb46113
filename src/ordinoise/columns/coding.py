"""Tables with missing values, dates and categories as numbers, and the meaning of each code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._frames import frame_of
from ordinoise._validation import Floats, complain
from ordinoise._warning import warn_caller
from ordinoise.columns.categories import folded, folded_once
from ordinoise.columns.features import findings_of, numbers_of
from ordinoise.columns.findings import Spelling
from ordinoise.columns.spelling import SpelledTable, SpellingHints, spelled_table, typed


class IgnoredColumnsWarning(UserWarning):
    """Some columns of a frame are ignored: names of pictures, identifiers, row numbers, nested cells."""


class SpellingWarning(UserWarning):
    """Text in a frame is read as numbers, dates, gaps or categories in a way that should be looked at."""


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are features, and how each becomes numbers.

    Attributes
    ----------
    categories : mapping of int to tuple
        Position among the features, and the categories of the codes 0, 1, ... of that column.
    kept : tuple of int or None
        Positions among the columns of the features that become numbers; None if every column is one.
    spelled : mapping of int to str
        Position among the features of columns of text or dates, and the kind they are converted to: "number", "flag"
        or "date".
    texts : tuple of int
        Positions among the columns of free text, which does not become numbers here.
    spellings : mapping of int to Spelling
        Position among the features of columns of text that are converted, and how they were spelled.
    """

    categories: Mapping[int, tuple[Any, ...]]
    kept: tuple[int, ...] | None = None
    spelled: Mapping[int, str] = field(default_factory=dict)
    texts: tuple[int, ...] = ()
    spellings: Mapping[int, Spelling] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Any, categorical_features: Any, text_features: Any = None) -> Columns:
        """The columns of a table, inferred or as `categorical_features` and `text_features` state.

        Columns of a frame follow the same rules as columns of a file; an array is all numbers. Without `text_features`
        free text is ignored.
        """
        texts = () if is_auto(text_features) else tuple(sorted(_positions("text_features", X, text_features)))
        if is_auto(categorical_features):
            return _inferred_columns(X, texts, is_auto(text_features)) if is_frame(X) else _stated(X, set(), texts)
        chosen = _positions("categorical_features", X, categorical_features)
        if is_auto(text_features) and is_frame(X):
            texts = tuple(j for j, column in enumerate(_each_column(X)) if j not in chosen and _is_prose(column))
        return _stated(X, chosen, texts)

    def n_features(self, n_columns: int) -> int:
        """Number of features of a table with `n_columns` columns."""
        return n_columns if self.kept is None else len(self.kept)

    def encoded(self, X: Any) -> NDArray[np.floating]:
        """The features as numbers; NaN where a value is missing or a category unknown."""
        if not self.categories and self.kept is None and not is_frame(X):
            return np.asarray(X)
        columns = list(_each_column(X))
        if self.kept == ():
            return np.empty((len(columns[0]), 0))
        features = columns if self.kept is None else [columns[j] for j in self.kept]
        return np.column_stack([self._numbers(at, column) for at, column in enumerate(features)])

    def cells(self, X: Any) -> list[list[str]]:
        """The cells of every column of free text, empty where missing."""
        columns = list(_each_column(X)) if self.texts else []
        return [["" if _is_missing(cell) else str(cell) for cell in _as_values(columns[j])] for j in self.texts]

    def _numbers(self, at: int, column: Any) -> Floats:
        if at in self.categories:
            return _codes(column, self.categories[at])
        if at in self.spelled and isinstance(column, nw.Series):
            return numbers_of(_as_polars(column), self.spelled[at], self.spellings.get(at))
        return _numbers(column, at if self.kept is None else self.kept[at])


def is_auto(chosen: Any) -> bool:
    """Whether a choice of columns is left to the rules."""
    return isinstance(chosen, str) and chosen == "auto"


def _stated(X: Any, categorical: set[int], texts: tuple[int, ...]) -> Columns:
    """The columns as the caller states them: all that are not text become numbers."""
    both = sorted(categorical & set(texts))
    if both:
        raise complain("text_features", "not name categorical columns", both[0])
    columns = list(_each_column(X)) if categorical or texts else []
    kept = [j for j in range(len(columns)) if j not in texts]
    categories = {at: _categories(columns[j]) for at, j in enumerate(kept) if j in categorical}
    return Columns(categories, tuple(kept) if texts else None, texts=texts)


def _is_prose(column: nw.Series[Any]) -> bool:
    if not isinstance(column.dtype, (nw.String, nw.Object, nw.Categorical, nw.Enum)):
        return False
    found = findings_of(typed(_as_polars(column)), "feature")
    return found.kind == "text" and found.role == "feature"


def _inferred_columns(X: Any, texts: tuple[int, ...], finds_text: bool) -> Columns:
    """The features of a frame by the rules for files, with a warning about ignored columns."""
    columns = list(_each_column(X))
    kinds = {str(columns[j].name): "text" for j in texts}
    spelled = spelled_table([_as_polars(column) for column in columns], SpellingHints(kinds=kinds))
    findings = [
        findings_of(column, "text" if j in texts else "feature", "", spelled.columns.get(column.name))
        for j, column in enumerate(spelled.frame.get_columns())
    ]
    if finds_text:
        texts = tuple(j for j, found in enumerate(findings) if found.role == "feature" and found.kind == "text")
    else:
        findings = [
            replace(found, role="ignored", note="free text, which OrdinalClassifier reads")
            if found.role == "feature" and found.kind == "text" and j not in texts
            else found
            for j, found in enumerate(findings)
        ]
    kept = [j for j, found in enumerate(findings) if found.role == "feature" and j not in texts]
    ignored = [f"column {found.name!r} is ignored: {found.note}" for found in findings if found.role != "feature"]
    if not kept and not texts:
        raise complain("X", "have a column to learn from", "; ".join(ignored) or "none")
    if ignored:
        warn_caller("; ".join(ignored), IgnoredColumnsWarning)
    _warn_of_spellings(spelled)
    categories = [at for at, j in enumerate(kept) if findings[j].kind == "category"]
    converted = [at for at, j in enumerate(kept) if at not in categories and not columns[j].dtype.is_numeric()]
    found = {at: (findings[kept[at]].kind, findings[kept[at]].spelling) for at in converted}
    return Columns(
        {at: _merged(columns[kept[at]], spelled.frame.to_series(kept[at])) for at in categories},
        tuple(kept) if ignored or texts else None,
        {at: kind for at, (kind, _) in found.items()},
        texts,
        {at: spelling for at, (_, spelling) in found.items() if spelling is not None},
    )


def _warn_of_spellings(spelled: SpelledTable) -> None:
    """One warning with all that is to be said of the cells; options of the command line are left out."""
    names = spelled.frame.columns
    clauses = [clause.partition("; --")[0] for clause in (*spelled.messages(names), *spelled.cautions(names))]
    if clauses:
        warn_caller("; ".join(clauses), SpellingWarning)


def _merged(column: Any, read: pl.Series) -> tuple[Any, ...]:
    """The categories of a column, those that differ in blanks and capitals alone as one."""
    found = _categories(column)
    if len({folded(value) for value in found if isinstance(value, str)}) == len(found) or read.dtype != pl.String:
        return found
    return tuple(sorted(read.drop_nulls().unique().to_list()))


def _as_polars(column: nw.Series[Any]) -> pl.Series:
    """Any column of a frame as polars, text as text."""
    name = str(column.name)
    if column.dtype.is_numeric():
        plain = column if column.null_count() == 0 else column.cast(nw.Float64)
        return pl.Series(name, plain.to_numpy(), nan_to_null=True)
    values = [None if _is_missing(value) else value for value in column.to_list()]
    if isinstance(column.dtype, (nw.Categorical, nw.Enum)):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.Categorical)
    if all(value is None or isinstance(value, str) for value in values):
        return pl.Series(name, values, dtype=pl.String)
    try:
        return pl.Series(name, values)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas, polars or pyarrow."""
    return isinstance(frame_of(X), nw.DataFrame)


def _each_column(X: Any) -> Iterator[Any]:
    frame = frame_of(X)
    if isinstance(frame, nw.DataFrame):
        yield from frame.iter_columns()
    else:
        yield from np.asarray(X).T


def _positions(argument: str, X: Any, named: Any) -> set[int]:
    """Positions of the columns that an argument names."""
    columns = frame_of(X)
    frame = columns if isinstance(columns, nw.DataFrame) else None
    names = [] if frame is None else list(frame.columns)
    n_columns = len(names) if frame is not None else np.asarray(X).shape[1]
    return {_position(argument, column, names, n_columns) for column in _as_list(argument, named)}


def _as_list(argument: str, named: Any) -> list[Any]:
    if named is None:
        return []
    if isinstance(named, str):
        raise complain(argument, "be 'auto' or a list of columns", repr(named))
    return list(named)


def _position(argument: str, column: Any, names: list[str], n_columns: int) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < n_columns:
        return int(column)
    known = f" or of {names[:8]}" if names else ""
    raise complain(argument, f"hold column numbers below {n_columns}{known}", repr(column))


def _categories(column: Any) -> tuple[Any, ...]:
    """The sorted categories of a column; all of its own list if it has one."""
    if isinstance(column, nw.Series):
        if isinstance(column.dtype, nw.Enum):
            return tuple(column.dtype.categories)
        column = column.drop_nulls().unique().to_list()
    found = {value for value in np.asarray(column, dtype=object).tolist() if not _is_missing(value)}
    return tuple(sorted(found, key=lambda value: (isinstance(value, str), value)))


def _codes(column: Any, categories: tuple[Any, ...]) -> Floats:
    codes = {value: float(code) for code, value in enumerate(categories)}
    values = _as_values(column)
    by_fold = folded_once(value for value in categories if isinstance(value, str))
    for value in set(values) - codes.keys() if by_fold else ():
        if isinstance(value, str) and folded(value) in by_fold:
            codes[value] = codes[by_fold[folded(value)]]
    return np.fromiter((codes.get(value, np.nan) for value in values), dtype=np.float64, count=len(values))


def _as_values(column: Any) -> list[Any]:
    values: list[Any] = column.to_list() if isinstance(column, nw.Series) else column.tolist()
    return values


def _numbers(column: Any, j: int) -> Floats:
    try:
        numbers = column.cast(nw.Float64).to_numpy() if isinstance(column, nw.Series) else column
        return np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, ArithmeticError, nw.exceptions.NarwhalsError):
        kind = column.dtype
    name = repr(column.name) if isinstance(column, nw.Series) else j
    raise complain(f"column {name}", "hold numbers or be among categorical_features", kind)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    unequal = value != value  # of pandas' NA this is NA, of an array one flag per entry
    return bool(unequal) if isinstance(unequal, (bool, np.bool_)) else type(value).__name__ == "NAType"
