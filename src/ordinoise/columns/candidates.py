"""What the distinct cells of a column of text could stand for: numbers, dates or times of day."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from ordinoise.columns.dates import COMPACT, LOOKS_LIKE_A_DATE, OTHER_MONTH, dates, hours
from ordinoise.columns.inference import ISO_DATE, MISSING
from ordinoise.columns.numerals import NUMERAL, PATTERNS, numerals, plain_cells, whole_or_not
from ordinoise.columns.words import CURRENCIES, GAP_WORDS

SHARE = 0.9
"""Share of the cells, gaps left out, that must fit one spelling: decision 0030, where .8 and .95 were tried."""
LEAST_SHARE = 0.5  # from here on a column that stays text is said to look like numbers; a round number, by no run
MOST_WORDS = 20  # different words that are read as gaps; a round number, chosen by no run
MOST_UNITS = 3  # of more, the cells are no measures (house numbers such as 12a); a round number, chosen by no run
LONGEST = 40  # characters of a number or date; longer cells are text


@dataclass(frozen=True, eq=False)
class Cells:
    """The different cells of a column of text.

    Attributes
    ----------
    frame : polars.DataFrame
        Each ``cell`` that is not missing, without outer blanks, and in how many rows it stands (``n``).
    gaps : polars.DataFrame
        Those that are words for a missing value, if the column holds numbers or dates.
    rest : polars.DataFrame
        All others.
    """

    frame: pl.DataFrame
    gaps: pl.DataFrame
    rest: pl.DataFrame

    @classmethod
    def of(cls, bare: pl.Series, words: Collection[str]) -> Cells:
        """The cells of a column; `words` are more words for a missing value."""
        frame = bare.alias("cell").drop_nulls().value_counts(name="n").filter(~pl.col("cell").is_in(list(MISSING)))
        gap_words = list(GAP_WORDS | {word.strip().casefold() for word in words})
        is_gap = (pl.col("cell").str.len_bytes() <= LONGEST) & pl.col("cell").str.to_lowercase().is_in(gap_words)
        return cls(frame, frame.filter(is_gap), frame.filter(~is_gap))

    @property
    def n_rows(self) -> int:
        """Rows with a cell that is no gap."""
        return int(self.rest["n"].sum())


@dataclass(frozen=True, eq=False)
class Candidate:
    """A reading of a column that fits many of its cells.

    Attributes
    ----------
    kind : {"number", "percent", "date", "hours"}
    cells : Cells
    frame : polars.DataFrame
        The cells that look so: ``cell``, ``n``, ``is_bound``, and a column with the values of each option, null where
        it does not fit.
    options : tuple of str
        The ways to read it that fit equally well: "." or ",", "dmy" or "mdy"; one if the column itself decides.
    unit : str
    reason : str
        Why the cells cannot be used together; empty if they can.
    """

    kind: str
    cells: Cells
    frame: pl.DataFrame
    options: tuple[str, ...]
    unit: str = ""
    reason: str = ""

    def share(self, option: str) -> float:
        """Share of the rows without a gap that an option fits."""
        fitting = self.frame.filter(pl.col(option).is_not_null())["n"].sum()
        return float(fitting) / max(self.cells.n_rows, 1)

    def others(self, option: str) -> pl.DataFrame:
        """The cells that an option does not fit, the commonest first."""
        fitting = self.frame.filter(pl.col(option).is_not_null())
        others = self.cells.rest.join(fitting.select("cell"), on="cell", how="anti")
        return others.sort(["n", "cell"], descending=[True, False])

    @property
    def is_enough(self) -> bool:
        """Whether it fits so many cells that the others are gaps."""
        if self.reason or self.share(self.options[0]) < SHARE:
            return False
        return len(self.others(self.options[0])) <= MOST_WORDS


def number_candidate(cells: Cells, least: float = LEAST_SHARE) -> Candidate | None:
    """The column as numbers in one spelling; None if less than a share of the cells looks so."""
    found = _looking(cells, NUMERAL, least)
    if found is None:
        return None
    frame = pl.concat([found, numerals(found["cell"])], how="horizontal")
    frame = frame.filter(pl.col("unit").is_not_null() & pl.any_horizontal(pl.col(list(PATTERNS)).is_not_null()))
    frame, unit, reason = _of_one_unit(frame, cells.n_rows)
    if not len(frame):
        return None
    is_point, is_comma = (pl.col(mark).is_not_null() for mark in PATTERNS)
    n_point, n_comma = (
        int(frame.filter(one & ~other)["n"].sum()) for one, other in ((is_point, is_comma), (is_comma, is_point))
    )
    if n_point or n_comma:
        options: tuple[str, ...] = (".",) if n_point >= n_comma else (",",)
    else:
        is_same = bool((frame["."].cast(pl.Float64) == frame[","].cast(pl.Float64)).all())
        options = ("",) if is_same else (".", ",")
    if n_point and n_comma and int(frame.filter(pl.col(options[0]).is_not_null())["n"].sum()) < SHARE * cells.n_rows:
        reason = reason or f"has decimal points ({n_point:,}) and commas ({n_comma:,})"
    if not reason and int(frame.filter("is_bound")["n"].sum()) > frame["n"].sum() / 2:
        reason = f"holds mostly bounds such as {frame.filter('is_bound')['cell'].min()!r}"
    frame = frame.with_columns(whole_or_not(frame["."]).alias(""))
    values = {option: whole_or_not(frame[option]) for option in options if option}
    frame = frame.with_columns(**values)
    return Candidate("percent" if unit == "%" else "number", cells, frame, options, unit, reason)


def _of_one_unit(frame: pl.DataFrame, n_rows: int) -> tuple[pl.DataFrame, str, str]:
    """The cells of the commonest unit, that unit, and why cells of several cannot be used."""
    rows = frame.group_by("unit").agg(pl.col("n").sum()).sort(["n", "unit"], descending=[True, False])
    units = [unit for unit in rows["unit"] if unit]
    if not units:
        return frame, "", ""
    most = rows["unit"].item(0)
    money = set(CURRENCIES.values())
    if most == "" and rows["n"].item(0) >= SHARE * n_rows and not set(units) <= money:
        return frame.filter(pl.col("unit") == ""), "", ""
    if len(units) > MOST_UNITS:
        return frame.clear(), "", ""
    if len(units) > 1:
        return frame, "", f"has several units ({', '.join(units)})"
    if units[0] in money:
        return frame, units[0], ""
    return frame.filter(pl.col("unit") == most), most, ""


def is_code(bare: pl.Series, values: pl.Series) -> bool:
    """Whether whole numbers are digits of one length that some begin with 0, such as postal codes."""
    digits = bare.filter(values.is_not_null()) if values.null_count() else bare
    lengths = digits.str.len_bytes()
    if lengths.min() != lengths.max() or lengths.max() == 1:
        return False
    return bool(digits.str.starts_with("0").any() and digits.str.contains(r"^[0-9]+$").all())


def date_candidate(cells: Cells, least: float = LEAST_SHARE) -> Candidate | None:
    """The column as dates in one spelling; None if less than a share of the cells looks so."""
    found = _looking(cells, f"{LOOKS_LIKE_A_DATE}|{ISO_DATE}|{COMPACT}", least)
    if found is None:
        return None
    frame = pl.concat([found, dates(found["cell"])], how="horizontal").with_columns(is_bound=pl.lit(False))
    rows = {name: int(frame.filter(pl.col(name).is_not_null())["n"].sum()) for name in DATE_OPTIONS}
    best = max(rows, key=lambda name: rows[name])
    if best == "compact" and rows[best] < cells.n_rows:  # in every cell, or they are numbers
        return None
    if best in ("dmy", "mdy") and rows["dmy"] == rows["mdy"]:
        is_either = bool((frame["dmy"].is_not_null() == frame["mdy"].is_not_null()).all())
        reason = "" if is_either else "has days before months in some rows and after them in others"
        return Candidate("date", cells, frame, ("dmy", "mdy"), reason=reason)
    return Candidate("date", cells, frame, (best,))


DATE_OPTIONS: Mapping[str, str] = {
    "dots": "dmy",
    "dmy": "dmy",
    "mdy": "mdy",
    "names": "",
    "ymd": "ymd",
    "compact": "ymd",
}
"""Spellings of dates, and the order of day, month and year in each."""


def hour_candidate(cells: Cells, least: float = LEAST_SHARE) -> Candidate | None:
    """The column as times of day; None if less than a share of the cells looks so."""
    found = _looking(cells, r"^[0-9]{1,2}:[0-9]{2}", least)
    if found is None:
        return None
    frame = found.with_columns(hours(found["cell"]).alias("hours"), is_bound=pl.lit(False))
    return Candidate("hours", cells, frame, ("hours",))


def has_other_months(cells: Cells) -> bool:
    """Whether the cells look like dates with names of months that are not English."""
    found = _looking(cells, OTHER_MONTH)
    return found is not None and int(found["n"].sum()) >= SHARE * cells.n_rows


def _looking(cells: Cells, pattern: str, least: float = LEAST_SHARE) -> pl.DataFrame | None:
    """The short cells that match a pattern; None if there are none, or fewer than a share of the rows."""
    short = cells.rest.filter(pl.col("cell").str.len_bytes() <= LONGEST)
    if short["n"].sum() < least * cells.n_rows or not len(short):
        return None
    found = short.filter(plain_cells(short["cell"]).str.contains(pattern))
    return found if len(found) and found["n"].sum() >= least * cells.n_rows else None
