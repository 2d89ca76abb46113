"""The record of an audit, stored as JSON: what was found in a file, and the labels to review."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ordinoise._plain import of_plain
from ordinoise._text import TextTable, hypertext, shortened
from ordinoise._validation import complain
from ordinoise.app.records.history import Repeat, Round, Settled
from ordinoise.app.records.stored import Envelope, read_stored, write_stored
from ordinoise.app.records.subject import Subject
from ordinoise.audit.certificate import SpotCheck
from ordinoise.audit.graders.record import GraderEffects
from ordinoise.columns.findings import ColumnFindings
from ordinoise.estimate import Estimate
from ordinoise.finding import Finding, finding_of

ENVELOPE = Envelope("ordinoise-audit", 6, "audit", earlier=(5,))
RECORD = "audit.json"
MOST_SHOWN = 10  # suspects in a notebook


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
    line: int | None = None

    @property
    def grade_in_words(self) -> str:
        """The settled grade, called so; else the recorded one."""
        return self.recorded if self.settled is None else f"{self.settled}, settled"


@dataclass(frozen=True)
class Suspect:
    """A label that looks wrong, with its row.

    Attributes
    ----------
    row : int
        Number of the data row in the file, from 0.
    rank : int
        1 is the most suspicious.
    recorded, suggested : str
        Grades as text, both among the classes of the record.
    cells : tuple of (str or None)
        The row as text, one cell per column of the record; None if missing.
    suspicion : float
        How suspicious the grade is, from 0 to 1: no probability.
    graded : tuple of float
        How rows like this one are graded: the share of each grade, by models that did not see the row.
    contributions : tuple of Contribution
        Columns that speak most for or against the suggestion, the strongest first.
    words : tuple of WordContribution
        Words of text columns that do, in the order of the text.
    similar : tuple of Similar
        The most similar rows, the nearest first.
    probability_wrong, expected_distance : float or None
        Probability that the true grade is another, and expected number of grades between the two; None where nobody
        can know them: before rows that were drawn at random are verified, unless the noise matrix is given.
    line : int or None
        Its line in the file, from 1, or its row in a sheet; None where there is no such thing.
    """

    row: int
    rank: int
    recorded: str
    suggested: str
    cells: tuple[str | None, ...]
    suspicion: float = 0.0
    graded: tuple[float, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    words: tuple[WordContribution, ...] = ()
    similar: tuple[Similar, ...] = ()
    probability_wrong: float | None = None
    expected_distance: float | None = None
    line: int | None = None


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
    lines : tuple of int
        Their lines in the file, as of a `Suspect`; empty where there is no such thing.
    """

    kind: str
    sentence: str
    rows: tuple[int, ...]
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AuditRecord(Subject):
    """What an audit of a file found; the target is among the columns, which are in the file's order.

    Attributes
    ----------
    n_rows, n_graded : int
        Rows of the file, and those of them with a grade.
    wrong, wrong_low, wrong_high : float or None
        Number of wrong labels among those that are not settled, with an interval of level `confidence`. Without
        `wrong` only the range is known; without any of them nothing is.
    stage : {"nothing", "chosen", "random", "given"}
        What that number stands on: rows that were verified, and how they were drawn, or a matrix that is given.
    by_matrix : (float, float, float) or None
        That number and its interval if one matrix, fitted to the columns, describes the noise of all rows.
    n_next : int or None
        The most wrong grades to expect among the next 40 suspects; None before any was settled.
    design_effect : float
        Graded rows per independent one, where rows come in groups.
    count_doubts : tuple of str
        Sentences on why verified rows narrow the number down less than they might.
    learner : str
        Learner whose predictions were used.
    suspects : tuple of Suspect
        The most suspicious first.
    cautions : tuple of str
        Sentences on columns that should perhaps not be features.
    says_nothing : bool
        Whether the columns say next to nothing about the grade: held-out grades are no likelier by them than by the
        shares of the grades alone. Then no label is suspected.
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
    by_lot : int or None
        The fewest wrong grades of all, as graders differ who had rows given out at random; None if nobody said so.
    graders : GraderEffects or None
        Who grades higher or lower than the others on comparable rows; None unless a column says who graded.
    """

    n_rows: int
    n_graded: int
    wrong: float | None
    wrong_low: float | None
    wrong_high: float | None
    learner: str
    suspects: tuple[Suspect, ...]
    cautions: tuple[str, ...]
    says_nothing: bool = False
    settled: tuple[Settled, ...] = ()
    rounds: tuple[Round, ...] = ()
    oddities: tuple[Oddity, ...] = ()
    spot_check: SpotCheck | None = None
    repeats: tuple[Repeat, ...] = ()
    settled_wrong: float = 0.0
    stage: str = "nothing"
    by_matrix: tuple[float, float, float] | None = None
    n_next: int | None = None
    count_doubts: tuple[str, ...] = ()
    design_effect: float = 1.0
    by_lot: int | None = None
    graders: GraderEffects | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target not in [column.name for column in self.columns]:
            raise complain("target", "be one of the columns", repr(self.target))
        check_suspects("suspects", self.suspects, self, self.classes)
        rows = [one.row for one in self.settled] + [one.row for one in self.suspects]
        if len(set(rows)) < len(rows):
            raise complain("settled", "name no row twice, nor one that is suspected", "one that does")
        if any(one.row >= self.n_rows for one in self.settled):
            raise complain("settled", f"name rows below {self.n_rows}", max(one.row for one in self.settled))
        grades = {grade for one in self.settled for grade in (one.grade, one.recorded)} - {None}
        grades |= {grade for one in self.repeats for grade in (one.first, one.again)}
        if not grades <= set(self.classes):
            raise complain("settled", f"hold grades among {list(self.classes)}", "others")

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
        return self.n_graded - self.n_verified

    @property
    def n_verified(self) -> int:
        """Number of settled grades that models learn from: those of graded rows."""
        return sum(not one.is_added for one in self.settled)

    @property
    def n_differing(self) -> int:
        """Number of rows that were graded twice, blind, and differently."""
        return sum(one.is_differing for one in self.repeats)

    @property
    def settled_words(self) -> str:
        """How many settled grades were fixed, confirmed and added."""
        n_added = len(self.settled) - self.n_verified
        added = f", {n_added:,} added to rows without a grade" if n_added else ""
        return f"{self.n_fixed:,} fixed, {self.n_verified - self.n_fixed:,} confirmed{added}"

    @property
    def as_round(self) -> Round:
        """What this audit knew, for the history of the next one."""
        n_confirmed = self.n_verified - self.n_fixed
        return Round(self.n_fixed, n_confirmed, self.n_left, self.wrong, self.wrong_low, self.wrong_high)

    @property
    def left_out(self) -> tuple[ColumnFindings, ...]:
        """Columns that are not features, though nobody asked for that."""
        return tuple(one for one in self.columns if one.role == "ignored" and one.note != "as requested")

    @cached_property
    def finding(self) -> Finding:
        """What is known of the grades that are not settled."""
        return finding_of(
            self.noise, self.as_round.estimate(self.confidence), self.n_left, has_signal=not self.says_nothing,
            thing="grade", is_rest=bool(self.settled), n_next=self.n_next, count_doubts=self.count_doubts,
            by_lot=self.by_lot,
            by_matrix=None if self.by_matrix is None else Estimate(*self.by_matrix, self.confidence),
        )  # fmt: skip

    def _repr_html_(self) -> str:
        first = self.suspects[:MOST_SHOWN]
        rows = tuple(
            (str(one.row), shortened(one.recorded), shortened(one.suggested), f"{one.suspicion:.2f}") for one in first
        )
        more = f"{len(self.suspects)} suspects, of which {len(first)} are shown; " if first else "no suspects; "
        notes = (f"{more}{self.finding.phrase}",)
        columns = ("row", "recorded", "suggested", "suspicion")
        return hypertext(TextTable(f"Audit of {Path(self.source).name}", columns, rows, notes, n_names=3))


def write_record(folder: Path, record: AuditRecord) -> None:
    """Write ``audit.json`` into an existing folder."""
    write_stored(folder / RECORD, ENVELOPE, record.to_dict())


def read_record(folder: Path) -> AuditRecord:
    """The record in a folder written by ``ordinoise audit``; refuses damaged records and other versions."""
    return read_stored(folder / RECORD, ENVELOPE, lambda plain: of_plain(AuditRecord, _upgraded(plain)))


def _upgraded(plain: dict[str, Any]) -> dict[str, Any]:
    """A record as this version writes it: numbers that stood on a fitted matrix alone are not shown again."""
    if "reading" not in plain and isinstance(settings := plain.get("settings"), Mapping):
        plain = plain | {"reading": {"has_header": not settings.get("no_header", False)}}
    if "stage" in plain:
        return plain
    is_given = isinstance(plain.get("noise"), Mapping) and plain["noise"].get("source") == "given"
    unknown = {} if is_given else dict.fromkeys(("wrong", "wrong_low", "wrong_high"))
    suspects = plain.get("suspects")
    if isinstance(suspects, list):
        suspects = [upgraded_suspect(one, is_given=is_given) for one in suspects]
    return plain | unknown | {"stage": "given" if is_given else "nothing", "suspects": suspects}


def upgraded_suspect(plain: Any, *, is_given: bool = False) -> Any:
    """A suspect as this version writes it."""
    if not isinstance(plain, dict) or "suspicion" in plain or "posterior" not in plain or "item" in plain:
        return plain
    kept = {name: value for name, value in plain.items() if name != "posterior"}
    kept |= {"suspicion": plain.get("probability_wrong"), "graded": plain["posterior"]}
    return kept if is_given else kept | {"probability_wrong": None, "expected_distance": None}


def check_suspects(argument: str, suspects: Sequence[Suspect], subject: Subject, grades: Collection[str]) -> None:
    """Refuse suspects that do not fit the columns and grades of a record: their cells, words and similar rows."""
    names = [column.name for column in subject.columns]
    for at, one in enumerate(suspects):
        cells = dict(zip(names, one.cells, strict=False))
        near_grades = {grade for near in one.similar for grade in (near.recorded, near.settled)} - {None}
        rules = {
            "have a cell for every column": {len(one.cells), *(len(near.cells) for near in one.similar)}
            == {len(names)},
            "have a share for every grade": len(getattr(one, "posterior", one.graded)) == len(subject.classes),
            "have grades among the classes": {one.recorded, one.suggested} <= {*grades}
            and near_grades <= {*subject.classes},
            "have words that are in their cells": all(
                word.start < word.end <= len(cells.get(word.column) or "") for word in one.words
            ),
        }
        broken = next((rule for rule, is_kept in rules.items() if not is_kept), None)
        if broken is not None:
            raise complain(f"{argument}[{at}]", broken, "others")
