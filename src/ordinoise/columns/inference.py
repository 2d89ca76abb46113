"""The type that the text of a column stands for: whole numbers, numbers, true and false, dates, or text."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

# Spellings of a missing value, compared after stripping blanks.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
_DATES = ("%Y-%m-%d", "%Y/%m/%d")
_TIMES = tuple(f"%Y-%m-%d{between}%H:%M{seconds}" for between in " T" for seconds in (":%S%.f", ""))
_LOOKS_LIKE_A_DATE = r"^\d{4}[-/]\d{1,2}[-/]\d{1,2}"
DATE_TEXT, TIME_TEXT = "%Y-%m-%d", "%Y-%m-%d %H:%M:%S%.f"


def typed(text: pl.Series) -> pl.Series:
    """A column of text converted to the type it stands for, missing spellings as null.

    The first type that fits every cell is taken: Int64, Float64, Boolean, Date, Datetime, else String.
    Text keeps its blanks; the other types are read without them. A column without any value stays text.
    """
    name, text = text.name, nameless(text)
    bare = text.str.strip_chars()
    for read in (_whole_numbers, _numbers, _flags, *_date_readers(bare)):
        values = read(bare)
        unread = bare.filter(values.is_null() & bare.is_not_null())
        if values.null_count() < len(values) and set(unread.unique().to_list()) <= set(MISSING):
            return values.alias(name)
    return _where(~bare.is_in(list(MISSING)), text).alias(name)


def nameless(column: pl.Series) -> pl.Series:
    """The column with an empty name, as polars reads a name like ``^x$`` as a pattern."""
    return column.alias("")


def as_text(column: pl.Series) -> pl.Series:
    """Any column as text, null where it is null."""
    if column.dtype == pl.String:
        return column
    if isinstance(column.dtype, pl.Datetime):
        zone = "" if column.dtype.time_zone is None else "%:z"
        return nameless(column).dt.to_string(TIME_TEXT + zone).alias(column.name)
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Duration, pl.Object):
        cells = [None if cell is None else str(cell) for cell in column.to_list()]
        return pl.Series(column.name, cells, dtype=pl.String)
    return column.cast(pl.String)


def _where(mask: pl.Series, values: pl.Series) -> pl.Series:
    """The values where the mask is true, null elsewhere."""
    return pl.select(pl.when(mask).then(values)).to_series()


def _whole_numbers(bare: pl.Series) -> pl.Series:
    return bare.cast(pl.Int64, strict=False)


def _numbers(bare: pl.Series) -> pl.Series:
    """Numbers; digits too long for Int64 are an identifier and stay null."""
    values = bare.cast(pl.Float64, strict=False).fill_nan(None)
    is_huge = (values.abs() >= 2**63).fill_null(False)
    if not is_huge.any():
        return values
    return _where(~(is_huge & bare.str.contains(r"^[+-]?\d+$").fill_null(False)), values)


def _flags(bare: pl.Series) -> pl.Series:
    """True and false in any mix of capitals, null elsewhere."""
    # Lower-casing a long text column is slow: check its first value first.
    first = bare.filter(~bare.is_in(list(MISSING))).head(1).str.to_lowercase()
    if not first.is_in(["true", "false"]).any():
        return pl.Series([None], dtype=pl.Boolean).new_from_index(0, len(bare))
    lower = bare.str.to_lowercase()
    return _where(lower.is_in(["true", "false"]), lower == "true")


def _date_readers(bare: pl.Series) -> list[Callable[[pl.Series], pl.Series]]:
    """One reader per spelling of dates; none if the first value does not look like a date."""
    first = bare.filter(~bare.is_in(list(MISSING))).head(1)
    if not first.str.contains(_LOOKS_LIKE_A_DATE).any():
        return []
    dates = [_date_reader(spelling) for spelling in _DATES]
    return [*dates, *(_time_reader(spelling + zone) for spelling in _TIMES for zone in ("", "%#z"))]


def _date_reader(spelling: str) -> Callable[[pl.Series], pl.Series]:
    return lambda bare: bare.str.to_date(spelling, strict=False)


def _time_reader(spelling: str) -> Callable[[pl.Series], pl.Series]:
    return lambda bare: bare.str.to_datetime(spelling, strict=False, time_unit="us")
