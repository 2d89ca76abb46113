"""Columns that could be read in two ways, decided by the others, and what is said of a column that was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from ordinoise.columns.candidates import DATE_OPTIONS, LEAST_SHARE, MOST_WORDS, SHARE, Candidate
from ordinoise.columns.dates import is_midnight
from ordinoise.columns.findings import SpelledColumn, Spelling, SpellingHints
from ordinoise.columns.inference import nameless
from ordinoise.columns.names import listed

GROUPS_OR_DECIMALS = r"^[+-]?(?:[0-9]{1,3}|[1-9][0-9]{0,2}\.[0-9]{3})$"
SHOWN = 3  # cells in a sentence
MARKS = {".": "points", ",": "commas"}
ORDERS = {"dmy": "day/month", "mdy": "month/day"}
MODEL = "as when the model was made"
OTHER = {".": ",", ",": ".", "dmy": "mdy", "mdy": "dmy"}


def is_ambiguous(bare: pl.Series, values: pl.Series) -> bool:
    """Whether every number could have groups of three in place of decimals: 1.234 and 12, but not 0.631 or 1.5."""
    first = bare.filter(values.is_not_null()).head(1)
    if not first.str.contains(GROUPS_OR_DECIMALS).all():
        return False
    return bool(bare.filter(values.is_not_null()).str.contains(GROUPS_OR_DECIMALS).all())


@dataclass(frozen=True)
class Choice:
    """The option of a column that could be read in two ways, and why.

    `is_weak` if hardly anything decided, so that it must not be overlooked; not `is_said` if a person did.
    """

    option: str
    why: str = ""
    is_weak: bool = False
    is_said: bool = True


@dataclass(frozen=True)
class Votes:
    """What the columns that decide themselves say of the others: the mark of decimals, and the order of dates."""

    decimal: str
    dates: str
    hints: SpellingHints

    @classmethod
    def of(cls, spellings: Sequence[Spelling], hints: SpellingHints) -> Votes:
        """The votes of the columns that were read, or else of those of the model."""
        known = list(hints.known.values())
        decimal = _majority([one.decimal for one in spellings]) or _majority([one.decimal for one in known])
        dates = [[one.dates for one in some if one.dates != "ymd"] for some in (spellings, known)]
        return cls(decimal, _majority(dates[0]) or _majority(dates[1]), hints)

    def choice(self, candidate: Candidate, name: str) -> Choice:
        """How to read a column."""
        is_date, known = candidate.kind == "date", self.hints.known.get(name)
        asked = self.hints.dates if is_date else self.hints.decimal
        if asked in candidate.options:
            return Choice(asked, is_said=False)
        before = "" if known is None else known.dates if is_date else known.decimal
        if before in candidate.options:
            return Choice(before, MODEL)
        voted = self.dates if is_date else self.decimal
        if voted:
            return Choice(voted, "as other columns are" if is_date else f"as other columns have decimal {MARKS[voted]}")
        if self.hints.delimiter == ";":
            decimal = self.decimal or ","
            option = ("dmy" if decimal == "," else "mdy") if is_date else ","
            return Choice(option, "as the fields are separated by semicolons", is_weak=True)
        if is_date and self.decimal == ",":
            return Choice("dmy", "as other columns have decimal commas")
        return Choice("mdy" if is_date else ".", "")


def _majority(marks: Sequence[str]) -> str:
    """The commonest mark; empty if there is none or two are equally common."""
    counts = Counter(mark for mark in marks if mark).most_common(2)
    return counts[0][0] if counts and (len(counts) == 1 or counts[0][1] > counts[1][1]) else ""


def finished(
    column: pl.Series, candidate: Candidate, choice: Choice, known: Spelling | None = None
) -> tuple[pl.Series, SpelledColumn]:
    """A column by one of its readings, and what is to be said of it."""
    option, name = choice.option, column.name
    fitting = candidate.frame.filter(pl.col(option).is_not_null())
    bare, values = nameless(column).str.strip_chars(), fitting[option]
    if candidate.kind == "date" and is_midnight(values):
        values = values.cast(pl.Date)
    read = bare.replace_strict(fitting["cell"], values, default=None, return_dtype=values.dtype).alias(name)
    others = candidate.others(option)
    gaps = candidate.cells.gaps.sort(["n", "cell"], descending=[True, False])
    spelling = Spelling(
        candidate.kind,
        decimal=option if option in MARKS else "",
        dates=DATE_OPTIONS[option] if candidate.kind == "date" else "",
        unit="" if candidate.unit == "%" else candidate.unit,
        missing=tuple(gaps["cell"].head(MOST_WORDS)) + tuple(others["cell"].head(MOST_WORDS)),
    )
    messages = [*_of_gaps(gaps, name), *_of_bounds(fitting, option, name)]
    if spelling.unit:
        messages.append(f"{spelling.unit} is left out of {name!r}")
    cautions = [*_of_others(others, candidate.kind, name), *changes(spelling, known, name)]
    if len(candidate.options) > 1 and choice.is_said:
        (cautions if choice.is_weak else messages).extend(_of_choice(candidate, choice, name))
    return read, SpelledColumn(spelling, tuple(messages), tuple(cautions))


def _of_choice(candidate: Candidate, choice: Choice, name: str) -> Iterator[str]:
    """The sentence on a column that could be read in two ways; none where the usual way is taken, as others are."""
    option, why = choice.option, f", {choice.why}" if choice.why else ""
    if candidate.kind == "date":
        other = OTHER[option]
        yield (f"{name!r} could be day/month or month/day, read as {ORDERS[option]}{why}; --dates {other} changes it")
        return
    differing = candidate.frame.filter(pl.col(".").cast(pl.Float64) != pl.col(",").cast(pl.Float64))
    cell, value = differing.sort("cell").select("cell", option).row(0)
    are_groups = float(value) >= 1000
    if are_groups or choice.why in ("", MODEL):
        yield f"{name!r}: {cell} read as {value}{why}; --decimal {OTHER[option]} changes it"


def _of_gaps(gaps: pl.DataFrame, name: str) -> Iterator[str]:
    if len(gaps):
        yield f"{listed(gaps['cell'], SHOWN)} in {_rows(gaps)} of {name!r} read as missing"


def _of_others(others: pl.DataFrame, kind: str, name: str) -> Iterator[str]:
    if len(others):
        n, what = int(others["n"].sum()), {"date": "date", "hours": "time"}.get(kind, "number")
        are = f"cell of {name!r} is no {what}" if n == 1 else f"cells of {name!r} are no {what}s"
        yield f"{n:,} {are} ({listed(others['cell'], SHOWN)}), read as missing"


def _of_bounds(fitting: pl.DataFrame, option: str, name: str) -> Iterator[str]:
    bounds = fitting.filter("is_bound").sort(["n", "cell"], descending=[True, False])
    if len(bounds):
        more = f" and {len(bounds) - 1} more" if len(bounds) > 1 else ""
        first, value = bounds.select("cell", option).row(0)
        yield f"{first!r}{more} in {_rows(bounds)} of {name!r} read as {value}{', ...' if more else ''}"


def changes(found: Spelling, known: Spelling | None, name: str) -> tuple[str, ...]:
    """Where a column is spelled as the one that a model was made of was not, and may not mean the same."""
    if known is None:
        return ()
    said = []
    if found.decimal and known.decimal and found.decimal != known.decimal:
        said.append(f"{name!r} has decimal {MARKS[found.decimal]} here, {MARKS[known.decimal]} when the model was made")
    units = ["percent" if one.kind == "percent" else one.unit or "none" for one in (found, known)]
    if units[0] != units[1]:
        said.append(f"{name!r} has the unit {units[0]} here, {units[1]} when the model was made")
    return tuple(said)


def _rows(cells: pl.DataFrame) -> str:
    n = int(cells["n"].sum())
    return f"{n:,} row{'s' * (n != 1)}"


def refusal(name: str, candidate: Candidate | None) -> str:
    """Why a column that looks like numbers or dates stays text, and what to do; empty if it does not look so."""
    if candidate is None:
        return ""
    if candidate.reason:
        return candidate.reason
    what = {"date": "dates", "hours": "times"}.get(candidate.kind, "numbers")
    share = candidate.share(candidate.options[0])
    if share < LEAST_SHARE:
        return ""
    n_words = len(candidate.others(candidate.options[0]))
    found = f"holds {what} in {share:.0%} of its cells"
    if share >= SHARE:
        found += f" and {n_words:,} different words"
    asked = "date" if candidate.kind == "date" else "number"
    return f"{found}; --as {name}={asked} reads the rest as missing"
