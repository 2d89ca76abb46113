"""What reviewers settled in a file, in this round and in earlier ones, for its next audit or fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ordinoise._validation import complain
from ordinoise.app.records.audit import AuditRecord, read_record
from ordinoise.app.records.history import Repeat, Round, Settled
from ordinoise.app.records.plan import read_plans, repeats_of
from ordinoise.app.records.ratings import is_of_ratings
from ordinoise.app.records.reviewers import verifier_noise
from ordinoise.app.records.subject import Subject
from ordinoise.app.review.decisions import events_in
from ordinoise.app.review.settled import repeated, settled_rows
from ordinoise.app.rounds.items import settled_items
from ordinoise.app.tables import GradedTable, digest_of
from ordinoise.app.tables.reader import read_opened
from ordinoise.app.verbs.request import Request
from ordinoise.audit.certificate import SpotCheck
from ordinoise.columns.inference import as_text
from ordinoise.columns.names import as_column
from ordinoise.labels import Verified


@dataclass(frozen=True)
class History:
    """Settled grades with the rounds that led to them.

    Attributes
    ----------
    settled : tuple of Settled
        In the order of the file; disputed rows are not among them.
    rounds : tuple of Round
        The audits that were reviewed.
    repeats : tuple of Repeat
        Rows that were graded twice, blind, in all rounds.
    spot_check : SpotCheck or None
        The last spot check among them.
    """

    settled: tuple[Settled, ...]
    rounds: tuple[Round, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    spot_check: SpotCheck | None = None

    def verified(self, table: GradedTable) -> Verified:
        """The settled grades with the noise of their reviewers, by position: graded rows first, then the added ones.

        It estimates the reviewers, so call it once for each audit.
        """
        classes = {str(grade): rank for rank, grade in enumerate(table.classes)}
        unknown = next((one.grade for one in self.settled if one.grade not in classes), None)
        if unknown is not None:
            raise complain("reviewed", f"hold grades among {list(classes)}", repr(unknown))
        rows = np.array([one.row for one in self.settled], dtype=np.int64)
        places = {row: at for at, row in enumerate([*table.rows.tolist(), *np.setdiff1d(rows, table.rows).tolist()])}
        at = np.array([places[row] for row in rows.tolist()], dtype=np.int64)
        labels = np.array(table.classes)[[classes[one.grade] for one in self.settled]]
        drawn = np.array([one.drawn for one in self.settled])
        return Verified(at, labels, verifier_noise(self.settled, self.repeats, classes), at < len(table.rows), drawn)


def history_for(folder: Path, request: Request, *, may_be_empty: bool = False) -> History:
    """What the review of an audit of the same file settled, or that of the items that its rows are grades of."""
    if not folder.is_dir():
        raise complain("reviewed", "be a folder written by ordinoise audit or ordinoise raters", repr(str(folder)))
    if is_of_ratings(folder):
        history = History(_settled_by_item(folder, request))
    else:
        record = read_record(folder)
        check_same(record, request.file)
        history = history_in(folder, record)
    if not history.settled and (is_of_ratings(folder) or not may_be_empty):
        advice = f"settle some with ordinoise review {folder}"
        raise complain("reviewed", "be a folder with settled grades", f"none in {str(folder)!r}", advice)
    return history


def history_in(folder: Path, record: AuditRecord) -> History:
    """What the folder of an audit began with, and what its own review settled."""
    plans, events = read_plans(folder, record), events_in(folder, record)
    own = settled_rows(events, plans, record.suspects)
    settled = {one.row: one for one in (*record.settled, *own)}
    # Until all of a sample are settled those that are may be the easy ones: they count as chosen.
    samples = (plan.row_numbers for plan in plans if plan.drawn == "random")
    for row in set().union(*(rows & settled.keys() for rows in samples if not rows <= settled.keys())):
        settled[row] = replace(settled[row], drawn="chosen")
    begun = [
        check
        for plan in plans
        if plan.is_spot_check and (check := plan.certificate(settled.values())).n_checked  # else it says nothing
    ]
    return History(
        settled=tuple(one for _, one in sorted(settled.items())),
        rounds=(*record.rounds, record.as_round),
        repeats=(*record.repeats, *repeated(events, repeats_of(plans))),
        spot_check=begun[-1] if begun else record.spot_check,
    )


def check_same(record: Subject, file: Path) -> None:
    """Refuse a file that is not the audited one: its rows may be others."""
    if digest_of(file) != record.digest:
        advice = "row numbers may have shifted; audit the file again"
        if Path(record.source).name != file.name and ".reviewed" in file.name:
            advice = f"settled grades are applied to the original: audit {Path(record.source).name} again"
        raise complain("file", "be unchanged since its audit", f"{str(file)!r}, which has changed", advice)


def _settled_by_item(folder: Path, request: Request) -> tuple[Settled, ...]:
    """The rows that are grades of settled items; what was recorded in them is not looked up."""
    settled = settled_items(folder)
    if request.item is None:
        raise complain("reviewed", "come with --item if it is a folder of ordinoise raters", "no item")
    opened = read_opened(request.file, keep_text=[request.item], asked=request.reading, wanted=[request.target])
    frame = opened.frame
    names = as_text(frame.get_column(as_column("item", request.item, frame.columns))).str.strip_chars().to_list()
    return tuple(Settled(row, None, settled[name]) for row, name in enumerate(names) if name in settled)
