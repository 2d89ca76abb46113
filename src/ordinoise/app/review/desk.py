"""The actions of the review page, with plain values in and out."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ordinoise._plain import as_plain
from ordinoise._validation import complain
from ordinoise.app.records.audit import Suspect
from ordinoise.app.records.history import Settled
from ordinoise.app.records.labels import CountedLabels, counted_record
from ordinoise.app.records.places import title_of
from ordinoise.app.records.plan import NO_GRADE, Plan, read_plans, repeats_of
from ordinoise.app.records.ratings import RatedItem, RatersRecord, read_any_record
from ordinoise.app.records.reviewers import slip_rates
from ordinoise.app.review.consensus import write_reviewed
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.review.events import Event
from ordinoise.app.review.export import write_corrected
from ordinoise.app.review.images import picture
from ordinoise.app.review.reasons import grade_keys, item_reasons, reasons
from ordinoise.app.review.refit import Refit, RefitJob
from ordinoise.app.review.settled import repeated, settled_rows, settled_states, shown_events, shown_states
from ordinoise.app.tables.folder import folder_of

# Characters; round numbers, chosen by no run. The fields of the page have the same limits.
LONGEST_NAME, LONGEST_NOTE = 60, 4000
Plain = dict[str, Any]
AGAIN = (
    "Shown again, to learn how often two looks at a row differ. No earlier answer is shown: judge the row by itself."
)
BLIND = "Drawn at random for a spot check. What was recorded is not shown: judge the row by itself."


class UnknownRowError(ValueError):
    """A row that is not suspected."""


class ReviewDesk:
    """An audit, or the consensus of several raters, and the decisions about it.

    Parameters
    ----------
    folder : path
        Folder written by ``ordinoise audit`` or ``ordinoise raters``.
    refit : callable, optional
        ``refit(settled) -> RefitOutcome``.
    pictures : bool
        Whether to show pictures although the audited file is not beside the folder or below: whoever made the folder
        chose where they are.
    """

    def __init__(self, folder: Path, refit: Refit | None = None, *, pictures: bool = False) -> None:
        self.folder, self.record = folder, read_any_record(folder)
        self.store = open_decisions(folder, self.record)
        features = self.record.settings.get("features")
        self.data_folder = folder_of(Path(features if features and isinstance(features, str) else self.record.source))
        is_near = self.data_folder.resolve().is_relative_to(folder.resolve().parent)
        has_pictures = any(column.kind == "image" for column in self.record.columns)
        self.hidden_pictures = self.data_folder if has_pictures and not (pictures or is_near) else None
        self._all_plans = plans = read_plans(folder, self.record)
        self._plans = {one.row: plan for plan in plans for one in plan.rows}
        self._repeats = repeats_of(plans)
        planned = {one.row: one for plan in plans for one in plan.rows}
        # Planned rows come first; one that is suspected too keeps its place among them.
        self._suspects: dict[int, Suspect] = planned | {
            one.row: one for one in self.record.suspects if one.row not in planned
        }
        self._export_lock = threading.Lock()
        self._refit_job = RefitJob(refit, self.record.classes)

    @property
    def is_ratings(self) -> bool:
        """Whether items with grades of several raters are reviewed, rather than suspected labels."""
        return isinstance(self.record, RatersRecord)

    @property
    def n_items(self) -> int:
        """Number of rows or items to review."""
        return len(self._suspects)

    def overview(self) -> Plain:
        """Everything that the page shows, except the histories of the rows."""
        record = self.record
        return {
            "source": record.source,
            "target": record.target,
            "classes": record.classes,
            "columns": [asdict(column) for column in record.columns],
            "n_graded": record.n_graded,
            "is_ratings": self.is_ratings,
            "name": Path(record.source).name,
            "subject": f"{record.digest[:16]}-{record.target}",
            "keys": grade_keys(record.classes),
            "items": [self._item(suspect) for suspect in self._suspects.values()],
            "refit": self._refit_job.report(),
            **self.changes(0),
        }

    def changes(self, after: int) -> Plain:
        """States of the rows that changed after an event, and the id of the last event."""
        events = self.store.history()
        rows = {event.row for event in events if event.id > after}
        of_rows = shown_states((event for event in events if event.row in rows), self._repeats)
        return {
            "states": [asdict(state) for row, state in of_rows.items() if row in rows and row in self._suspects],
            "last": events[-1].id if events else 0,
            **({"certificates": self._certificates()} if rows or not after else {}),
        }

    def history(self, row: int) -> Plain:
        """Every event of a row, oldest first."""
        if row not in self._suspects:
            raise UnknownRowError(*complain("row", "be the row of a suspect", row).args)
        events = shown_events(self.store.history(row), row, self._repeats)
        return {"events": [_without_key(event) for event in events]}

    def decide(self, body: Mapping[str, Any]) -> Plain:
        """Store a grade, or a skip if the grade is null."""
        row, reviewer, key = self._row(body), as_reviewer(body.get("reviewer")), _key(body)
        grade = body.get("grade")
        if grade is not None and grade not in self.record.classes:
            raise complain("grade", f"be one of {list(self.record.classes)}", repr(grade))
        return self._answer(self.store.decide(reviewer, row, grade, key=key))

    def note(self, body: Mapping[str, Any]) -> Plain:
        """Store a note."""
        row, reviewer, key = self._row(body), as_reviewer(body.get("reviewer")), _key(body)
        note = body.get("note")
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise complain("note", f"be text of at most {LONGEST_NOTE} characters", type(note).__name__)
        return self._answer(self.store.write_note(reviewer, row, _printable(note.strip()), key=key))

    def undo(self, body: Mapping[str, Any]) -> Plain:
        """Undo the reviewer's last decision."""
        event = self.store.undo(as_reviewer(body.get("reviewer")), key=_key(body))
        return self._answer(event) if event else {"event": None, "state": None}

    def export(self, body: Mapping[str, Any]) -> Plain:  # noqa: ARG002 - every action takes a body
        """Write the corrected file beside the original, or the reviewed consensus into its folder."""
        with self._export_lock:  # two exports at once would choose the same free name
            states = settled_states(self.store.history(), self._repeats).values()
            if isinstance(self.record, RatersRecord):
                written = write_reviewed(self.folder, self.record, states)
            else:
                written = write_corrected(self.record, states)
        plain: Plain = as_plain(written)
        return plain

    def refit(self, body: Mapping[str, Any]) -> Plain:  # noqa: ARG002 - every action takes a body
        """Start a new estimate with what is settled as verified labels."""
        settled = self._settled()
        if not settled:
            raise complain("decisions", "hold a settled row before a new estimate", "none")
        started = self._refit_job.start(settled)
        return {"started": started, **self._refit_job.report()}

    def refit_report(self) -> Plain:
        """Status of the new estimate."""
        return self._refit_job.report()

    def picture(self, row: int, column: int) -> tuple[Path, str] | None:
        """Path and content type of the picture that a cell names; None if there is none."""
        suspect, columns = self._suspects.get(row), self.record.columns
        if suspect is None or not 0 <= column < len(columns) or columns[column].kind != "image":
            return None
        if self.hidden_pictures is not None:
            return None
        return picture(self.data_folder, suspect.cells[column])

    def close(self) -> None:
        """Close the file of decisions."""
        self.store.close()

    def _item(self, suspect: Suspect) -> Plain:
        n_columns = len(self.record.columns)
        pictures = [column for column in range(n_columns) if self.picture(suspect.row, column)]
        plan = self._plans.get(suspect.row)
        if plan is not None and plan.is_blind:
            return {**self._blind(suspect, plan), "pictures": pictures, **self._title(suspect)}
        plain = {**asdict(suspect), **self._title(suspect), "reasons": self._reasons(suspect), "pictures": pictures}
        return plain if plan is None else {**plain, "plan": self._plan_words(plan, suspect)}

    def _title(self, suspect: Suspect) -> Plain:
        """What the row is called; an item has a name of its own."""
        return {} if isinstance(self.record, RatersRecord) else {"title": title_of(self.record, suspect)}

    def _blind(self, suspect: Suspect, plan: Plan) -> Plain:
        """A row without any grade or guess that could sway the reviewer."""
        is_target = [column.role == "target" for column in self.record.columns]
        nothing = replace(
            suspect, recorded=NO_GRADE, suggested=NO_GRADE, suspicion=0.0, probability_wrong=None,
            expected_distance=None, graded=(), contributions=(), words=(), similar=(),
            cells=tuple(None if hidden else cell for cell, hidden in zip(suspect.cells, is_target, strict=True)),
        )  # fmt: skip
        reason, words = (BLIND, "spot check") if plan.is_spot_check else (AGAIN, "shown again")
        return {**asdict(nothing), "reasons": [reason], "plan": words, "is_blind": True}

    def _settled(self) -> list[Settled]:
        return settled_rows(self.store.history(), self._all_plans, self.record.suspects)

    def _certificates(self) -> list[str]:
        """What is known of the number of wrong grades so far; of a random sample only when it is whole."""
        settled = self._settled()
        done = {one.row for one in settled}
        samples = [plan for plan in self._all_plans if plan.drawn == "random" and self._labels is not None]
        bounds = [plan for plan in self._all_plans if plan.is_spot_check and plan not in samples]
        found = [f"Spot check: {plan.certificate(settled)}." for plan in bounds]
        growing = [plan for plan in samples if not plan.row_numbers <= done]
        for plan in growing:
            n_done = len(plan.row_numbers & done)
            found.append(f"Spot check: {n_done:,} of {len(plan.rows):,} rows are settled; all of them give a number.")
        hidden = set().union(*(plan.row_numbers for plan in growing))
        return [*found, *self._count_words([one for one in settled if one.row not in hidden])]

    def _count_words(self, settled: list[Settled]) -> list[str]:
        """How many of the others are wrong, by what is settled; nothing for raters or a matrix that was given."""
        if isinstance(self.record, RatersRecord):
            return []
        before = {one.row: one for one in self.record.settled}
        every = tuple({**before, **{one.row: one for one in settled}}.values())
        if self._labels is None or not every:
            return []
        repeats = (*self.record.repeats, *repeated(self.store.history(), self._repeats))
        slips = slip_rates(every, repeats, self.record.classes)
        count = self._labels.count(every, self.record.confidence, slips)
        return counted_record(self.record, count, every).finding.sentences

    @cached_property
    def _labels(self) -> CountedLabels | None:
        return None if isinstance(self.record, RatersRecord) else CountedLabels.of(self.folder, self.record)

    def _plan_words(self, plan: Plan, suspect: Suspect) -> str:
        asked = dict(zip((one.row for one in plan.rows), plan.asked, strict=False)).get(suspect.row)
        return f"to verify next, by {asked}" if asked else "to verify next"

    def _reasons(self, suspect: Suspect) -> list[str]:
        if isinstance(self.record, RatersRecord):
            assert isinstance(suspect, RatedItem)
            return item_reasons(self.record, suspect)
        return reasons(self.record, suspect)

    def _row(self, body: Mapping[str, Any]) -> int:
        row = body.get("row")
        if not isinstance(row, int) or isinstance(row, bool) or row not in self._suspects:
            raise complain("row", "be the row of a suspect", repr(row)[:40])
        return row

    def _answer(self, event: Event) -> Plain:
        state = shown_states(self.store.history(event.row), self._repeats)[event.row]
        return {"event": _without_key(event), "state": asdict(state)}


def _without_key(event: Event) -> Plain:
    """An event without the key of its sender."""
    return {name: value for name, value in asdict(event).items() if name != "key"}


def as_reviewer(name: object) -> str:
    """A valid reviewer's name, with single blanks."""
    name = _printable(" ".join(name.split())) if isinstance(name, str) else ""
    if not 0 < len(name) <= LONGEST_NAME:
        raise complain("reviewer", f"be a name of 1 to {LONGEST_NAME} characters", f"{len(name)}")
    return name


def _key(body: Mapping[str, Any]) -> str:
    key = body.get("key")
    if not isinstance(key, str) or not re.fullmatch(r"[0-9A-Za-z-]{8,64}", key):
        raise complain("key", "be 8 to 64 letters, digits or hyphens", repr(key)[:40])
    return key


def _printable(text: str) -> str:
    """Text without lone surrogates and control characters, which SQLite or a terminal cannot handle."""
    return "".join(sign for sign in text if sign in "\n\t" or sign.isprintable())
