"""What the page can ask for and do, as plain values in and out: an audit, and the decisions about it."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ordinoise._validation import complain
from ordinoise.app.record import Suspect, read_record
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.review.events import Event, states
from ordinoise.app.review.export import write_corrected
from ordinoise.app.review.images import picture
from ordinoise.app.review.reasons import grade_keys, reasons
from ordinoise.app.review.refit import Refit, Refitting

LONGEST_NAME, LONGEST_NOTE = 60, 4000
Plain = dict[str, Any]


class ReviewDesk:
    """An audit and the decisions about it, on one desk.

    Parameters
    ----------
    folder : path
        What ``ordinoise audit`` wrote.
    refit : callable, optional
        ``refit(rows, grades) -> RefitOutcome``.
    """

    def __init__(self, folder: Path, refit: Refit | None = None) -> None:
        self.record = read_record(folder)
        self.store = open_decisions(folder, self.record)
        self.data_folder = Path(self.record.source).parent
        self._suspects = {suspect.row: suspect for suspect in self.record.suspects}
        self._exporting = threading.Lock()
        self._refitting = Refitting(refit, self.record.classes)

    def overview(self) -> Plain:
        """Everything that the page shows, but for the histories."""
        record = self.record
        plain = record.to_dict(suspects=False)
        kept = ("source", "target", "classes", "columns", "n_rows", "n_graded", "learner")
        return {
            **{name: plain[name] for name in kept},
            "name": Path(record.source).name,
            "subject": f"{record.digest[:16]}-{record.target}",
            "keys": grade_keys(record.classes),
            "items": [self._item(suspect) for suspect in record.suspects],
            "refit": self._refitting.report(),
            **self.changes(0),
        }

    def changes(self, after: int) -> Plain:
        """States of the rows that anything happened to after an event, and the last event there is."""
        events = self.store.history()
        rows = {event.row for event in events if event.id > after}
        of_rows = states(event for event in events if event.row in rows)
        return {
            "states": [asdict(state) for row, state in of_rows.items() if row in self._suspects],
            "last": events[-1].id if events else 0,
        }

    def history(self, row: int) -> Plain:
        """Every event of a row, oldest first."""
        return {"events": [_told(event) for event in self.store.history(row)]}

    def decide(self, body: Mapping[str, Any]) -> Plain:
        """Keep a grade, or a skip where the grade is null."""
        row, reviewer, key = self._row(body), as_reviewer(body.get("reviewer")), _key(body)
        grade = body.get("grade")
        if grade is not None and grade not in self.record.classes:
            raise complain("grade", f"be one of {list(self.record.classes)}", repr(grade))
        return self._answer(self.store.decide(reviewer, row, grade, key=key))

    def note(self, body: Mapping[str, Any]) -> Plain:
        """Keep a note."""
        row, reviewer, key = self._row(body), as_reviewer(body.get("reviewer")), _key(body)
        note = body.get("note")
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise complain("note", f"be text of at most {LONGEST_NOTE} characters", type(note).__name__)
        return self._answer(self.store.write_note(reviewer, row, _printable(note.strip()), key=key))

    def undo(self, body: Mapping[str, Any]) -> Plain:
        """Take back the reviewer's last decision."""
        event = self.store.undo(as_reviewer(body.get("reviewer")), key=_key(body))
        return self._answer(event) if event else {"event": None, "state": None}

    def export(self, body: Mapping[str, Any]) -> Plain:  # noqa: ARG002 - every write has a body
        """Write the corrected file beside the original."""
        with self._exporting:  # two at once would choose the same free name
            written = write_corrected(self.record, self.store.states().values())
        return {**asdict(written), "path": str(written.path)}

    def refit(self, body: Mapping[str, Any]) -> Plain:  # noqa: ARG002 - every write has a body
        """Begin the estimate anew with the decisions trusted."""
        rows, grades = self.store.trusted()
        if not rows:
            raise complain("decisions", "hold a settled row before the estimate is made anew", "none")
        started = self._refitting.start(rows, grades)
        return {"started": started, **self._refitting.report()}

    def refit_report(self) -> Plain:
        """How the estimate goes."""
        return self._refitting.report()

    def picture(self, row: int, column: int) -> tuple[Path, str] | None:
        """The picture that a cell names and its content type."""
        suspect, columns = self._suspects.get(row), self.record.columns
        if suspect is None or not 0 <= column < len(columns) or columns[column].kind != "image":
            return None
        return picture(self.data_folder, suspect.cells[column])

    def close(self) -> None:
        """Let go of the decisions."""
        self.store.close()

    def _item(self, suspect: Suspect) -> Plain:
        n_columns = len(self.record.columns)
        return {
            **asdict(suspect),
            "reasons": reasons(self.record, suspect),
            "pictures": [column for column in range(n_columns) if self.picture(suspect.row, column)],
        }

    def _row(self, body: Mapping[str, Any]) -> int:
        row = body.get("row")
        if not isinstance(row, int) or isinstance(row, bool) or row not in self._suspects:
            raise complain("row", "be the row of a suspected label", repr(row)[:40])
        return row

    def _answer(self, event: Event) -> Plain:
        return {"event": _told(event), "state": asdict(self.store.state(event.row))}


def _told(event: Event) -> Plain:
    """An event without the key of its sender."""
    return {name: value for name, value in asdict(event).items() if name != "key"}


def as_reviewer(name: object) -> str:
    """A reviewer's name without needless blanks."""
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
    """Text without what SQLite or a terminal would stumble over: lone surrogates and control characters."""
    return "".join(sign for sign in text if sign in "\n\t" or sign.isprintable())
