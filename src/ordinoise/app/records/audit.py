"""The record of an audit, stored as JSON: what was found in a file, and the labels to review."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ordinoise._files import MOST_SETTINGS, regular_content, write_whole
from ordinoise._text import TextTable, hypertext, percent, shortened
from ordinoise._validation import as_number, complain
from ordinoise.app.records.history import Repeat, Round, Settled
from ordinoise.audit.certificate import SpotCheck
from ordinoise.columns.findings import ColumnFindings
from ordinoise.noise import Noise

FORMAT, FORMAT_VERSION = "ordinoise-audit", 5
RECORD = "audit.json"
MOST_SHOWN = 10  # suspects in a notebook
LISTS = ("columns", "suspects", "settled", "rounds", "oddities", "repeats")
LARGEST = 2**63  # whole numbers from here on are damage


@dataclass(frozen=True)
class Contribution:
    """A column, or a word of a text column, that speaks for the suggested or the recorded grade.

    Attributes
    ----------
    column : str
        Name of the column, or of columns that count as one.
    value : float
        What it adds to the log-odds of the suggested against the recorded grade; negative if it speaks for the recorded
        one.
    """

    column: str
    value: float


@dataclass(frozen=True)
class WordContribution(Contribution):
    """A word of a text column: the characters `start` to `end` of the suspect's cell."""

    start: int
    end: int


@dataclass(frozen=True)
class Similar:
    """A row that is similar to a suspect: its recorded grade, its cells as text, its settled grade if it has one."""

    row: int
    recorded: str
    cells: tuple[str | None, ...]
    settled: str | None = None

    @property
    def grade_in_words(self) -> str:
        """The settled grade, called so; else the recorded one."""
        return self.recorded if self.settled is None else f"{self.settled}, settled"


@dataclass(frozen=True)
class Suspect:
    """A label that is probably wrong, with its row.

    Attributes
    ----------
    row : int
        Number of the data row in the file, from 0.
    rank : int
        1 is the most suspicious.
    recorded, suggested : str
        Grades as text, both among the classes of the record.
    probability_wrong, expected_distance : float
        Probability that the true grade is another, and expected number of grades between the two.
    posterior : tuple of float
        Probability of each grade, given the features and the recorded grade.
    cells : tuple of (str or None)
        The row as text, one cell per column of the record; None if missing.
    contributions : tuple of Contribution
        Columns that speak most for or against the suggestion, the strongest first.
    words : tuple of WordContribution
        Words of text columns that do, in the order of the text.
    similar : tuple of Similar
        The most similar rows, the nearest first.
    """

    row: int
    rank: int
    recorded: str
    suggested: str
    probability_wrong: float
    expected_distance: float
    posterior: tuple[float, ...]
    cells: tuple[str | None, ...]
    contributions: tuple[Contribution, ...] = ()
    words: tuple[WordContribution, ...] = ()
    similar: tuple[Similar, ...] = ()


@dataclass(frozen=True)
class Oddity:
    """Something else that deserves a look.

    Attributes
    ----------
    kind : {"duplicates", "outliers", "groups"}
        Nearly identical rows with different grades, rows unlike all others, or a group whose grades are wrong more or
        less often.
    sentence : str
    rows : tuple of int
        The first rows that it is about.
    """

    kind: str
    sentence: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class AuditRecord:
    """What an audit of a file found.

    Attributes
    ----------
    source : str
        Absolute path of the file, or of the folder or pattern of Parquet files.
    digest : str
        SHA-256 of the file when it was read; of several files that of their paths, sizes and times.
    target : str
        Column of grades.
    classes : tuple of str
        Grades from lowest to highest, as text.
    columns : tuple of ColumnFindings
        Every column of the file, the target among them, in the file's order.
    n_rows, n_graded : int
        Rows of the file, and those of them with a grade.
    noise : Noise
        Its replicates are not written to disk.
    wrong, wrong_low, wrong_high : float or None
        Number of wrong labels among those that are not settled, with an interval of level `confidence`. Without
        `wrong` only the range is known; without any of them there are too few rows.
    confidence : float
    learner : str
        Learner whose predictions were used.
    settings : mapping of str to plain values
        Options of the audit (learner, seed, order, number of trusted labels ...).
    suspects : tuple of Suspect
        The most suspicious first.
    cautions : tuple of str
        Sentences on columns that should perhaps not be features.
    settled : tuple of Settled
        Grades settled in earlier rounds, in the order of the file; none of their rows is suspected.
    rounds : tuple of Round
        The audits whose reviews settled them, the first one first.
    oddities : tuple of Oddity
        What else deserves a look.
    spot_check : SpotCheck or None
        The last spot check of an earlier round: about the grades that were not settled when it was drawn.
    repeats : tuple of Repeat
        Rows that reviewers graded twice, blind.
    settled_wrong : float
        Expected number of settled grades that are wrong themselves, by the errors that the repeats show.
    ordinoise : str
        Version that wrote it.
    says_nothing : bool
        Whether the columns say next to nothing about the grade: held-out grades are no likelier by them than by the
        shares of the grades alone. Then no label is suspected.
    """

    source: str
    digest: str
    target: str
    classes: tuple[str, ...]
    columns: tuple[ColumnFindings, ...]
    n_rows: int
    n_graded: int
    noise: Noise
    wrong: float | None
    wrong_low: float | None
    wrong_high: float | None
    confidence: float
    learner: str
    settings: Mapping[str, Any]
    suspects: tuple[Suspect, ...]
    cautions: tuple[str, ...]
    ordinoise: str
    says_nothing: bool = False
    settled: tuple[Settled, ...] = ()
    rounds: tuple[Round, ...] = ()
    oddities: tuple[Oddity, ...] = ()
    spot_check: SpotCheck | None = None
    repeats: tuple[Repeat, ...] = ()
    settled_wrong: float = 0.0

    @property
    def certified(self) -> int | None:
        """Most wrong grades that are left by the spot check: those that it found are settled."""
        found = self.spot_check
        return None if found is None else min(found.at_most - found.n_wrong, self.n_left)

    @property
    def n_fixed(self) -> int:
        """Number of settled grades that differ from the recorded ones."""
        return sum(one.is_fixed for one in self.settled)

    @property
    def n_left(self) -> int:
        """Number of graded rows that are not settled."""
        return self.n_graded - self.n_trusted

    @property
    def n_trusted(self) -> int:
        """Number of settled grades that models learn from: those of graded rows."""
        return sum(not one.is_added for one in self.settled)

    @property
    def n_differing(self) -> int:
        """Number of rows that were graded twice, blind, and differently."""
        return sum(one.is_differing for one in self.repeats)

    @property
    def settled_words(self) -> str:
        """How many settled grades were fixed, confirmed and added."""
        n_added = len(self.settled) - self.n_trusted
        added = f", {n_added:,} added to rows without a grade" if n_added else ""
        return f"{self.n_fixed:,} fixed, {self.n_trusted - self.n_fixed:,} confirmed{added}"

    @property
    def as_round(self) -> Round:
        """What this audit knew, for the history of the next one."""
        n_confirmed = self.n_trusted - self.n_fixed
        return Round(self.n_fixed, n_confirmed, self.n_left, self.wrong, self.wrong_low, self.wrong_high)

    @property
    def suspicion(self) -> str:
        """What `probability_wrong` of a suspect is called; unless the noise is believed, the record gets no credit."""
        return "probability wrong" if self.noise.answer == "corrected" else "chance of another grade"

    @property
    def left_out(self) -> tuple[ColumnFindings, ...]:
        """Columns that are not features, though nobody asked for that."""
        return tuple(one for one in self.columns if one.role == "ignored" and one.note != "as requested")

    @property
    def is_known(self) -> bool:
        """Whether the number of wrong labels was estimated."""
        return self.wrong is not None

    @property
    def is_range(self) -> bool:
        """Whether the number of wrong labels is known as a range only."""
        return self.wrong is None and self.wrong_low is not None

    def _repr_html_(self) -> str:
        first = self.suspects[:MOST_SHOWN]
        rows = tuple(
            (str(one.row), shortened(one.recorded), shortened(one.suggested), percent(one.probability_wrong))
            for one in first
        )
        more = f"{len(self.suspects)} suspects, of which {len(first)} are shown; " if first else "no suspects; "
        notes = (f"{more}noise {self.noise.words}",)
        columns = ("row", "recorded", "suggested", self.suspicion)
        return hypertext(TextTable(f"Audit of {Path(self.source).name}", columns, rows, notes, n_names=3))

    def to_dict(self, *, suspects: bool = True) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {"noise": self.noise.to_dict(replicates=False), "settings": dict(self.settings)}
        plain |= {name: [asdict(one) for one in getattr(self, name)] for name in LISTS}
        plain["spot_check"] = None if self.spot_check is None else asdict(self.spot_check)
        if not suspects:
            del plain["suspects"]
        return {"format": FORMAT, "format_version": FORMAT_VERSION, **plain}


def write_record(folder: Path, record: AuditRecord) -> None:
    """Write ``audit.json`` into an existing folder."""
    write_whole(folder / RECORD, json.dumps(record.to_dict(), indent=1, allow_nan=False).encode())


def read_record(folder: Path) -> AuditRecord:
    """The record in a folder written by ``ordinoise audit``; refuses damaged records and other versions."""
    return read_whole(folder, RECORD, FORMAT, FORMAT_VERSION, "audit", _from_plain)


Record = TypeVar("Record")


def read_whole(
    folder: Path, name: str, form: str, version: int, verb: str, from_plain: Callable[[dict[str, Any]], Record]
) -> Record:
    """The record in the JSON file `name` of a folder written by a verb; one sentence about a damaged or other one."""
    try:
        found = json.loads(regular_content(folder / name, MOST_SETTINGS).decode(), parse_constant=_refused)
    except (OSError, ValueError, RecursionError, MemoryError):
        advice = f"run ordinoise {verb} first"
        raise complain("folder", f"hold a readable {name}", repr(str(folder)), advice) from None
    if not isinstance(found, dict) or found.pop("format", None) != form:
        raise complain("folder", f"be written by ordinoise {verb}", repr(str(folder)))
    stored = found.pop("format_version", None)
    if type(stored) is not int or stored != version:
        advice = f"it was written by another version of ordinoise; run ordinoise {verb} again"
        raise complain("folder", f"hold {name} of format version {version}", stored, advice)
    try:
        return from_plain(found)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        got = f"{type(error).__name__}: {error}".encode(errors="backslashreplace").decode()
        raise complain("folder", f"hold a complete {name}", got, "it is damaged") from None


def _refused(constant: str) -> None:
    raise complain("JSON", "hold finite numbers", constant)


def check_types(one: Any) -> None:
    """Refuse a record, column or suspect with a field whose value is not of the declared type."""
    for name, hint in get_type_hints(type(one)).items():
        if not _is_of(getattr(one, name), hint):
            kind = getattr(hint, "__name__", str(hint)) if isinstance(hint, type) else str(hint)
            raise complain(name, f"be {kind}", repr(getattr(one, name))[:60])


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; numbers must be finite, whole ones not negative, and text must be printable."""
    if get_origin(hint) is UnionType:
        return any(_is_of(value, part) for part in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_is_of(item, get_args(hint)[0]) for item in value)
    if get_origin(hint) is Mapping:
        return isinstance(value, dict)
    if hint is str:
        return isinstance(value, str) and value == value.encode(errors="replace").decode()
    if hint in (int, float):
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST
        return (whole and value >= 0) if hint is int else whole or (isinstance(value, float) and math.isfinite(value))
    return isinstance(value, hint)


def _from_plain(found: dict[str, Any]) -> AuditRecord:
    record = AuditRecord(
        **found
        | {
            "classes": tuple(found["classes"]),
            "cautions": tuple(found["cautions"]),
            "columns": tuple(ColumnFindings(**column) for column in found["columns"]),
            "noise": Noise.of(Noise.from_dict(found["noise"]), len(found["classes"])),
            "suspects": tuple(Suspect(**suspect_parts(one)) for one in found["suspects"]),
            "settled": tuple(Settled(**one) for one in found["settled"]),
            "rounds": tuple(Round(**one) for one in found["rounds"]),
            "oddities": tuple(Oddity(**one | {"rows": tuple(one["rows"])}) for one in found["oddities"]),
            "repeats": tuple(Repeat(**one) for one in found["repeats"]),
            "spot_check": None if found["spot_check"] is None else SpotCheck(**found["spot_check"]),
        }
    )
    parts = [part for one in record.suspects for part in (*one.contributions, *one.words, *one.similar)]
    lists = [one for name in LISTS for one in getattr(record, name)]
    for one in (record, *lists, *parts):
        check_types(one)
    if len(set(record.classes)) < len(record.classes):
        raise complain("classes", "name every grade once", list(record.classes))
    if record.target not in [column.name for column in record.columns]:
        raise complain("target", "be one of the columns", repr(record.target))
    as_number("confidence", record.confidence, 0.0, 1.0)
    if record.spot_check is not None:
        check_types(record.spot_check)
    _check_settled(record)
    for suspect in record.suspects:
        _check_reasons(record, suspect)
        if len(suspect.cells) != len(record.columns) or len(suspect.posterior) != len(record.classes):
            raise ValueError(f"suspect of row {suspect.row} does not fit the columns or classes")
        if {suspect.recorded, suspect.suggested} - set(record.classes):
            raise ValueError(f"suspect of row {suspect.row} has a grade that is not among the classes")
    return record


def _check_settled(record: AuditRecord) -> None:
    """Refuse settled grades that do not fit the record, and rows that are both settled and suspected."""
    rows = [one.row for one in record.settled]
    if len({*rows, *(one.row for one in record.suspects)}) < len(rows) + len(record.suspects):
        raise ValueError("a row is settled or suspected twice")
    if max(rows, default=0) >= max(record.n_rows, 1):
        raise ValueError(f"row {max(rows)} is settled, of {record.n_rows}")
    grades = {grade for one in record.settled for grade in (one.grade, one.recorded) if grade is not None}
    grades |= {grade for one in record.repeats for grade in (one.first, one.again)}
    if grades - set(record.classes):
        raise ValueError("a settled grade is not among the classes")


def suspect_parts(plain: dict[str, Any]) -> dict[str, Any]:
    """The fields of a suspect in JSON, with its lists as tuples of what they hold."""
    return plain | {
        "posterior": tuple(plain["posterior"]),
        "cells": tuple(plain["cells"]),
        "contributions": tuple(Contribution(**one) for one in plain["contributions"]),
        "words": tuple(WordContribution(**one) for one in plain["words"]),
        "similar": tuple(Similar(**one | {"cells": tuple(one["cells"])}) for one in plain["similar"]),
    }


def _check_reasons(record: AuditRecord, suspect: Suspect) -> None:
    """Refuse words that are not in their cells, and similar rows that do not fit the record."""
    cells = dict(zip([column.name for column in record.columns], suspect.cells, strict=False))
    for word in suspect.words:
        if not word.start < word.end <= len(cells.get(word.column) or ""):
            raise ValueError(f"a word of row {suspect.row} is not in its cell")
    for one in suspect.similar:
        known = {one.recorded} if one.settled is None else {one.recorded, one.settled}
        if len(one.cells) != len(record.columns) or known - set(record.classes):
            raise ValueError(f"row {one.row} does not fit the columns or classes")
