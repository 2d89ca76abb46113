"""Cells as the dates and times of day that they could be."""

from __future__ import annotations

import polars as pl

from ordinoise.columns.inference import plain_dates
from ordinoise.columns.words import LONG_MONTHS, MONTHS

_TIME = r"(?:,?[ T]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?(?:\s*([AaPp])\.?[Mm]\.?)?)?"
_NUMBERS = rf"^([0-9]{{1,2}})([./-])([0-9]{{1,2}})([./-])([0-9]{{4}}|[0-9]{{2}}){_TIME}$"
_NAMES = "|".join(sorted({*LONG_MONTHS, *MONTHS, "sept"}, key=len)[::-1])
_DAY_MONTH = rf"^(?i)([0-9]{{1,2}})(?:st|nd|rd|th)?\.?[ -]*({_NAMES})\.?[ ,-]*([0-9]{{4}}|[0-9]{{2}}){_TIME}$"
_MONTH_DAY = rf"^(?i)({_NAMES})\.?[ -]*([0-9]{{1,2}})(?:st|nd|rd|th)?,?[ -]+([0-9]{{4}}){_TIME}$"
_DAY = r"^([0-9]{1,2})(?::([0-5][0-9]))(?::([0-5][0-9])(?:[.,][0-9]+)?)?(?:\s*([AaPp])\.?[Mm]\.?)?$"
COMPACT = r"^(?:19|20)[0-9]{6}$|^2100[0-9]{4}$"
OTHER_MONTH = r"^[0-9]{1,2}\.?\s(?:de\s)?\p{L}{3,}\.?\s(?:de\s)?[0-9]{4}$"
"""A date with the name of a month, in any language."""
LOOKS_LIKE_A_DATE = rf"{_NUMBERS}|{_DAY_MONTH}|{_MONTH_DAY}"
CENTURY = 69  # years of two digits from here on are of the 20th century, as strptime has it


def dates(cells: pl.Series) -> pl.DataFrame:
    """Each cell as a date in each spelling, as Datetime, null where it is none.

    The columns: ``dots`` for 3.5.2019; ``dmy`` and ``mdy`` for 13/05/2019 or 05-13-2019; ``names`` for English names of
    months; ``ymd`` for 2019-05-03, and ``compact`` for 20190503.
    """
    parts = cells.str.extract_groups(_NUMBERS).struct.rename_fields(["a", "m1", "b", "m2", "year", *_CLOCK])
    of_numbers, first, second = parts.struct.unnest(), pl.col("a"), pl.col("b")
    is_one_mark = pl.col("m1") == pl.col("m2")
    has_dots = is_one_mark & (pl.col("m1") == ".")
    has_others = is_one_mark & (pl.col("m1") != ".")
    found = of_numbers.select(
        dots=pl.when(has_dots).then(_datetime(pl.col("year"), second, first)),
        dmy=pl.when(has_others).then(_datetime(pl.col("year"), second, first)),
        mdy=pl.when(has_others).then(_datetime(pl.col("year"), first, second)),
    )
    places = {name: str(at % 12 + 1) for names in (LONG_MONTHS, MONTHS) for at, name in enumerate(names)}
    month = pl.col("month").str.to_lowercase().replace_strict(places | {"sept": "9"}, default=None)
    named = [
        cells.str.extract_groups(pattern).struct.rename_fields([*names, *_CLOCK]).struct.unnest()
        .select(_datetime(pl.col("year"), month, pl.col("day"))).to_series()
        for pattern, names in ((_DAY_MONTH, ["day", "month", "year"]), (_MONTH_DAY, ["month", "day", "year"]))
    ]  # fmt: skip
    compact = cells.filter(cells.str.contains(COMPACT)).unique()
    of_compact = compact.str.to_date("%Y%m%d", strict=False).cast(pl.Datetime("us"))
    return found.with_columns(
        pl.Series("names", named[0].zip_with(named[0].is_not_null(), named[1])),
        plain_dates(cells).alias("ymd"),
        cells.replace_strict(compact, of_compact, default=None, return_dtype=pl.Datetime("us")).alias("compact"),
    )


_CLOCK = ["hour", "minute", "second", "half"]


def _datetime(year: pl.Expr, month: pl.Expr, day: pl.Expr) -> pl.Expr:
    """A moment of texts of its parts; null if it is not in the calendar or on the clock."""
    number = year.cast(pl.Int32, strict=False)
    century = pl.when(number < CENTURY).then(2000).otherwise(1900)
    full = pl.when(year.str.len_bytes() == 2).then(number + century).otherwise(number)
    parts = [full.cast(pl.String), *(one.str.zfill(2) for one in (month, day))]
    hour = _hour().fill_null(0).cast(pl.String).str.zfill(2)
    clock = [hour, *(pl.col(name).fill_null("00") for name in ("minute", "second"))]
    text = pl.concat_str(pl.concat_str(parts, separator="-"), pl.concat_str(clock, separator=":"), separator=" ")
    return text.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="us")


def _hour() -> pl.Expr:
    """The hour from 0 to 23 of what the clock says."""
    hour, half = pl.col("hour").cast(pl.Int32, strict=False), pl.col("half").str.to_lowercase()
    twelve = pl.when((hour >= 1) & (hour <= 12)).then(hour % 12 + pl.when(half == "p").then(12).otherwise(0))
    return pl.when(half.is_not_null()).then(twelve).otherwise(hour)


def hours(cells: pl.Series) -> pl.Series:
    """Each cell such as 12:30 or 7:05:10 as hours, Float64, null where it is none."""
    frame = cells.str.extract_groups(_DAY).struct.rename_fields(_CLOCK).struct.unnest()
    minutes, seconds = (pl.col(name).cast(pl.Float64, strict=False).fill_null(0) for name in ("minute", "second"))
    return frame.select((_hour() * 3600 + minutes * 60 + seconds) / 3600).to_series()


def is_midnight(moments: pl.Series) -> bool:
    """Whether no moment has a time of day."""
    return bool((moments.dt.truncate("1d") == moments).all())
