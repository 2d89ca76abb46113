"""Grades that reviewers settled, in this round and in earlier ones, for the next audit or fit of the same file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ordinoise._validation import Ints, complain
from ordinoise.app.records.audit import AuditRecord, read_record
from ordinoise.app.records.history import Repeat, Round
from ordinoise.app.records.plan import read_plans, repeats_of
from ordinoise.app.records.ratings import RatersRecord, is_of_ratings
from ordinoise.app.review.decisions import DECISIONS, open_decisions
from ordinoise.app.review.repeats import repeated, settled_states
from ordinoise.app.rounds.items import settled_items
from ordinoise.app.tables import digest_of, read_table
from ordinoise.app.verbs.request import Request
from ordinoise.audit.certificate import SpotCheck
from ordinoise.columns.inference import as_text
from ordinoise.columns.names import as_column


class Trusted(NamedTuple):
    """Rows of the file that were reviewed, their reviewed grades as text, who chose them, and rows graded twice."""

    rows: Ints
    grades: tuple[str, ...]
    reviewers: tuple[str, ...] = ()
    repeats: tuple[Repeat, ...] = ()


@dataclass(frozen=True)
class Reviewed:
    """Settled grades with their history.

    Attributes
    ----------
    grades : mapping of int to (str, str)
        By the number of the row: the grade, and who chose it.
    rounds : tuple of Round
        The audits that were reviewed.
    spot_check : SpotCheck or None
        The last spot check among them.
    repeats : tuple of Repeat
        Rows that were graded twice, blind, in all rounds.
    """

    grades: Mapping[int, tuple[str, str]]
    rounds: tuple[Round, ...] = ()
    spot_check: SpotCheck | None = None
    repeats: tuple[Repeat, ...] = ()

    @property
    def trusted(self) -> Trusted:
        """The grades in the order of the file."""
        rows = sorted(self.grades)
        grades, reviewers = (tuple(self.grades[row][at] for row in rows) for at in range(2))
        return Trusted(np.array(rows, dtype=np.int64), grades, reviewers, self.repeats)


def reviewed_grades(folder: Path, request: Request) -> Reviewed:
    """What the review of an audit of the same file settled, or that of the items that its rows are grades of."""
    if not folder.is_dir():
        raise complain("reviewed", "be a folder written by ordinoise audit or ordinoise raters", repr(str(folder)))
    if is_of_ratings(folder):
        found = Reviewed(_grades_of_items(settled_items(folder), request))
    else:
        record = read_record(folder)
        check_same(record, request.file)
        settled = settled_in(folder, record)
        certificate, twice = last_spot_check(folder, record, settled), repeats_in(folder, record)
        found = Reviewed(settled, (*record.rounds, record.as_round), certificate, twice)
    if not found.grades:
        advice = f"settle some with ordinoise review {folder}"
        raise complain("reviewed", "be a folder with settled grades", f"none in {str(folder)!r}", advice)
    return found


def settled_in(folder: Path, record: AuditRecord) -> dict[int, tuple[str, str]]:
    """Settled grades of a folder: those it began with, and those of its own review; disputed ones are skipped."""
    known = {one.row: (one.grade, one.reviewer) for one in record.settled}
    if not (folder / DECISIONS).exists():
        return known
    with open_decisions(folder, record) as store:
        states = settled_states(store.history(), repeats_of(read_plans(folder, record))).values()
    agreed = {one.row: (one.grade, one.reviewer or "") for one in states if one.grade and not one.is_disputed}
    return known | agreed


def repeats_in(folder: Path, record: AuditRecord) -> tuple[Repeat, ...]:
    """Rows that were graded twice, blind, in this round and before."""
    if not (folder / DECISIONS).exists():
        return record.repeats
    with open_decisions(folder, record) as store:
        return (*record.repeats, *repeated(store.history(), repeats_of(read_plans(folder, record))))


def last_spot_check(folder: Path, record: AuditRecord, settled: Mapping[int, tuple[str, str]]) -> SpotCheck | None:
    """What the last spot check of a folder shows; that of an earlier round if the folder has none of its own."""
    grades = {row: grade for row, (grade, _) in settled.items()}
    found = [plan.certificate(grades) for plan in read_plans(folder, record) if plan.is_spot_check]
    begun = [one for one in found if one.n_checked]  # one that nobody has looked at says nothing
    return begun[-1] if begun else record.spot_check


def check_same(record: AuditRecord | RatersRecord, file: Path) -> None:
    """Refuse a file that is not the audited one: its rows may be others."""
    if digest_of(file) != record.digest:
        advice = "row numbers may have shifted; audit the file again"
        if Path(record.source).name != file.name and ".reviewed" in file.name:
            advice = f"settled grades are applied to the original: audit {Path(record.source).name} again"
        raise complain("file", "be unchanged since its audit", f"{str(file)!r}, which has changed", advice)


def _grades_of_items(settled: Mapping[str, str], request: Request) -> dict[int, tuple[str, str]]:
    if request.item is None:
        raise complain("reviewed", "come with --item if it is a folder of ordinoise raters", "no item")
    frame = read_table(request.file, keep_text=[request.item])
    names = as_text(frame.get_column(as_column("item", request.item, frame.columns))).str.strip_chars().to_list()
    return {row: (settled[name], "") for row, name in enumerate(names) if name in settled}
