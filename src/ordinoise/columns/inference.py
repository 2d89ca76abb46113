"""The type that the text of a column stands for: whole numbers, numbers, true and false, dates, or text."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

# Spellings of a missing value, compared after stripping blanks.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d")
_TIMES = tuple(f"%Y-%m-%d{between}%H:%M{seconds}" for between in " T" for seconds in (":%S%.f", ""))
ISO_DATE = r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
FLAGS = (("true", "false"), ("wahr", "falsch"))
DATE_TEXT, TIME_TEXT = "%Y-%m-%d", "%Y-%m-%d %H:%M:%S%.f"


def plain_values(bare: pl.Series) -> pl.Series | None:
    """A column of text as the plain type that fits every cell, missing spellings as null; None if there is none.

    The types in turn: Int64, Float64 with a decimal point, Boolean, and Date and Datetime by year, month and day.
    """
    for read in (_whole_numbers, _numbers, _flags, *_date_readers(bare)):
        values = read(bare)
        if values.null_count() < len(values) and _is_rest_missing(bare, values):
            return values
    return None


def without_missing(text: pl.Series, bare: pl.Series) -> pl.Series:
    """The cells of a column of text as they stand, null for the spellings of a missing value."""
    return _where(~bare.is_in(list(MISSING)), text)


def plain_dates(cells: pl.Series) -> pl.Series:
    """Cells with year, month and day in this order as Datetime, in the first spelling that fits all that look so."""
    looking = cells.filter(cells.str.contains(ISO_DATE))
    for read in _date_readers(looking):
        values = read(looking)
        if len(values) and values.null_count() == 0:
            moments = values.cast(pl.Datetime("us"))
            return cells.replace_strict(looking, moments, default=None, return_dtype=pl.Datetime("us"))
    return pl.Series([None], dtype=pl.Datetime("us")).new_from_index(0, len(cells))


def _is_rest_missing(bare: pl.Series, values: pl.Series) -> bool:
    """Whether the cells without a value are spellings of a missing one."""
    unread = bare.filter(values.is_null() & bare.is_not_null())
    return set(unread.unique().to_list()) <= set(MISSING)


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
    """True and false in any mix of capitals, in English or German, null elsewhere."""
    # Lower-casing a long text column is slow: check its first value first.
    first = bare.filter(~bare.is_in(list(MISSING))).head(1).str.to_lowercase()
    pair = next((pair for pair in FLAGS if first.is_in(pair).any()), None)
    if pair is None:
        return pl.Series([None], dtype=pl.Boolean).new_from_index(0, len(bare))
    lower = bare.str.to_lowercase()
    return _where(lower.is_in(pair), lower == pair[0])


def _date_readers(bare: pl.Series) -> list[Callable[[pl.Series], pl.Series]]:
    """One reader per spelling of dates; none if the first value does not look like a date."""
    first = bare.filter(~bare.is_in(list(MISSING))).head(1)
    if not first.str.contains(ISO_DATE).any():
        return []
    dates = [_date_reader(spelling) for spelling in _DATES]
    return [*dates, *(_time_reader(spelling + zone) for spelling in _TIMES for zone in ("", "%#z"))]


def _date_reader(spelling: str) -> Callable[[pl.Series], pl.Series]:
    return lambda bare: bare.str.to_date(spelling, strict=False)


def _time_reader(spelling: str) -> Callable[[pl.Series], pl.Series]:
    return lambda bare: bare.str.to_datetime(spelling, strict=False, time_unit="us")
