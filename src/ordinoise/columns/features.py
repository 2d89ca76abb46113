"""What the columns of a file hold, and the columns as numbers and categories for a learner."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._validation import complain
from ordinoise.columns.cell_errors import CellError
from ordinoise.columns.findings import FEW, MANY, ColumnFindings, SpelledColumn, Spelling, SpellingHints, is_few
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.names import listed, meant
from ordinoise.columns.spelling import first_unread, typed

LEAST_WORDS = 3.0
"""Words per cell, on average, from which mostly distinct texts are prose, not names or identifiers. By no run."""
# A word has a letter and no blank; scripts without blanks between words count by the character.
WORDS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|\S*\p{L}\S*"
PICTURES = r"(?i)\.(png|jpe?g|gif|webp)\s*$"
EPOCH = date(1970, 1, 1)
MICROSECONDS_PER_DAY = 86_400_000_000
REMARKS = {"percent": "percent, 50 % is 0.5", "hours": "hours, 12:30 is 12.5"}
TEXTUAL = ("category", "text")  # kinds whose cells stay text
WANTED = {"number": "numbers", "flag": "true and false", "date": "dates", "category": "categories"}


def kind_of_column(column: pl.Series) -> str:
    """``"number"``, ``"flag"``, ``"date"``, ``"image"``, ``"category"`` or ``"text"``."""
    dtype, column = column.dtype, nameless(column)
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "flag"
    if dtype in (pl.Date, pl.Datetime):
        return "date"
    if dtype in (pl.Categorical, pl.Enum, pl.Null):
        return "category" if column.drop_nulls().n_unique() <= MANY else "text"
    return _kind_of_text(column.drop_nulls()) if dtype == pl.String else "text"


def _kind_of_text(values: pl.Series) -> str:
    if len(values) and values.str.contains(PICTURES).all():
        return "image"
    return "category" if is_few(values.n_unique(), len(values)) else "text"


def is_prose(column: pl.Series) -> bool:
    """Whether the cells of a column of text hold words rather than names or identifiers."""
    words = as_text(nameless(column)).drop_nulls().str.count_matches(WORDS)
    return len(words) > 0 and float(np.mean(words.to_numpy())) >= LEAST_WORDS


def findings_of(column: pl.Series, role: str, note: str = "", spelled: SpelledColumn | None = None) -> ColumnFindings:
    """What a column holds; picture names, identifiers and row numbers are ignored.

    The role "text" makes it a feature of free text, "image" a column of picture names, whatever its cells look like.
    `spelled` says how its text was read.
    """
    spelling = None if spelled is None else spelled.spelling
    if role == "text":
        return ColumnFindings(column.name, "text", "feature", column.null_count(), nameless(column).n_unique(), note)
    kind = "image" if role == "image" else kind_of_column(column)
    n_distinct = nameless(column).drop_nulls().n_unique() if _is_plain(column) else 0
    if role in ("feature", "image") and kind == "image":
        role, note = "ignored", "it names pictures"
    elif role == "feature" and kind == "text" and not _is_plain(column):
        role, note = "ignored", f"its type is {column.dtype.base_type()}"
    elif role == "feature" and kind == "text" and is_prose(column):
        note = "free text, read by its words"
    elif role == "feature" and kind == "text":
        many = f"{n_distinct} different values in {len(column)} rows, names or identifiers"
        role, note = "ignored", f"it {spelled.reason}" if spelled is not None and spelled.reason else many
    elif role == "feature" and is_row_number(column):
        role, note = "ignored", "it counts the rows"
    elif role == "feature":
        note = _remark(column, kind, n_distinct, spelling)
    return ColumnFindings(column.name, kind, role, column.null_count(), n_distinct, note, spelling)


def _is_plain(column: pl.Series) -> bool:
    """Whether the cells are single values of a usable type."""
    return not column.dtype.is_nested() and column.dtype not in (pl.Binary, pl.Object, pl.Duration, pl.Time)


def _remark(column: pl.Series, kind: str, n_distinct: int, spelling: Spelling | None) -> str:
    """The note on a feature; usually empty."""
    if spelling is not None and spelling.kind in REMARKS:
        return REMARKS[spelling.kind]
    if kind == "date":
        return f"days since {EPOCH} stand for it"
    if n_distinct == 1 and column.null_count() == 0:
        return "the same value in every row"
    return ""


def is_row_number(column: pl.Series) -> bool:
    """Whether a column counts the rows from 0 or 1, in a file of at least 20 rows."""
    if not column.dtype.is_integer() or len(column) < FEW or column.null_count() or column.item(0) not in (0, 1):
        return False
    return bool((column.to_numpy() == np.arange(len(column)) + column.item(0)).all())


def features_of(frame: pl.DataFrame, columns: Sequence[ColumnFindings]) -> pl.DataFrame:
    """The feature columns of a table, as numbers (Float64), categories and free text (String), typed as `columns` say.

    The table may be another file than that of the findings: its columns may be in any order among others, and may be
    empty. Numbers are kept, true and false become 1 and 0, dates become days since 1970, missing is null.

    Raises
    ------
    ValueError
        If a column is absent, has another kind, or holds an infinite number.
    """
    wanted = [column for column in columns if column.role == "feature"]
    return pl.DataFrame([_feature(frame, column) for column in wanted])


def _feature(frame: pl.DataFrame, wanted: ColumnFindings) -> pl.Series:
    if wanted.name not in frame.columns:
        advice = meant(wanted.name, frame.columns) or f"its columns are {listed(frame.columns)}"
        raise complain("file", f"have the column {wanted.name!r}", "none of that name", advice)
    column = nameless(frame.get_column(wanted.name))
    if column.null_count() == len(column):
        dtype = pl.String if wanted.kind in TEXTUAL else pl.Float64
        return pl.Series(wanted.name, [None], dtype=dtype).new_from_index(0, len(column))
    if wanted.kind in TEXTUAL:
        return as_text(column).alias(wanted.name)
    values = _as_floats(column, wanted)
    _check_finite(values, wanted.name)
    return values.alias(wanted.name)


def numbers_of(column: pl.Series, kind: str, spelling: Spelling | None = None) -> NDArray[np.float64]:
    """A column of the kind "number", "flag" or "date" as numbers, NaN where missing."""
    values = _as_floats(nameless(column), ColumnFindings(column.name, kind, "feature", 0, 0, spelling=spelling))
    return values.to_numpy().astype(np.float64)


def _as_floats(column: pl.Series, wanted: ColumnFindings) -> pl.Series:
    is_text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
    known = wanted.spelling or Spelling(wanted.kind)
    values = typed(as_text(column), SpellingHints(known={"": known})) if is_text else column
    if not _is_of_kind(values, wanted.kind):
        row, cell = first_unread(nameless(as_text(column)), wanted.kind, known)
        rule = f"hold {WANTED[wanted.kind]}, as when the model was made"
        raise CellError(f"column {wanted.name!r}", rule, f"{cell!r} in", row)
    if wanted.kind == "date":
        return values.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / MICROSECONDS_PER_DAY
    return values.cast(pl.Float64).fill_nan(None)


def _is_of_kind(values: pl.Series, kind: str) -> bool:
    """Whether the values fit a column of the kind; 0 and 1 fit flags, and a column without values fits any."""
    found = kind_of_column(values)
    if kind == "flag" and found == "number":
        return bool(values.drop_nulls().is_in([0, 1]).all())
    return found == kind or values.null_count() == len(values)


def _check_finite(values: pl.Series, name: str) -> None:
    infinite = values.is_infinite().fill_null(False)
    if infinite.any():
        row = infinite.arg_true().item(0)
        raise CellError("file", "hold finite numbers", f"{values.item(row)} in column {name!r},", row)
