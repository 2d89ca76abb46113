"""Actions of reviewers as immutable events, and the state of each row that follows from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One action of a reviewer.

    Attributes
    ----------
    id : int
        Position in the history, from 1.
    key : str
        Chosen by the sender: an event that is sent twice is stored once.
    time : str
        When it was stored, UTC, ISO 8601.
    reviewer : str
    row : int
        Number of the data row in the file, from 0.
    kind : {"grade", "skip", "undo", "note"}
    grade : str or None
        Chosen grade; for an undo, the grade that is undone.
    note : str
        Text of a note; empty otherwise.
    undoes : int or None
        For an undo, the id of the event that it undoes.
    """

    id: int
    key: str
    time: str
    reviewer: str
    row: int
    kind: str
    grade: str | None
    note: str
    undoes: int | None


@dataclass(frozen=True)
class RowState:
    """The state of a row on the review page.

    Not a `Settled`, because it keeps what every reviewer chose and noted, settled or not.

    Attributes
    ----------
    row : int
    status : {"open", "settled", "skipped"}
        Settled if any reviewer chose a grade; skipped if reviewers only skipped it.
    grade : str or None
        The latest grade of any reviewer that is not undone.
    reviewer : str or None
        Who chose it, or skipped the row last.
    grades : tuple of (str, str or None)
        Reviewers and their grades in the order of decision; None for a skip.
    is_disputed : bool
        Whether reviewers chose different grades.
    notes : tuple of (str, str)
        Reviewers and their notes.
    """

    row: int
    status: str = "open"
    grade: str | None = None
    reviewer: str | None = None
    grades: tuple[tuple[str, str | None], ...] = ()
    is_disputed: bool = False
    notes: tuple[tuple[str, str], ...] = ()


def states(events: Iterable[Event]) -> dict[int, RowState]:
    """The state of every row that the events name, given all events of these rows."""
    by_row: dict[int, list[Event]] = {}
    for event in sorted(events, key=lambda event: event.id):
        by_row.setdefault(event.row, []).append(event)
    return {row: _state(row, of_row) for row, of_row in by_row.items()}


def _state(row: int, events: list[Event]) -> RowState:
    undone = {event.undoes for event in events}
    valid: dict[str, Event] = {}
    notes: dict[str, str] = {}
    for event in events:
        if event.kind == "note":
            notes[event.reviewer] = event.note
        elif event.kind != "undo" and event.id not in undone:
            valid.pop(event.reviewer, None)  # a new decision of the same reviewer goes to the end
            valid[event.reviewer] = event
    graded = [event for event in valid.values() if event.kind == "grade"]
    last = next(reversed(graded or list(valid.values())), None)
    return RowState(
        row=row,
        status="settled" if graded else "skipped" if valid else "open",
        grade=last.grade if last else None,
        reviewer=last.reviewer if last else None,
        grades=tuple((name, event.grade) for name, event in valid.items()),
        is_disputed=len({event.grade for event in graded}) > 1,
        notes=tuple((name, note) for name, note in notes.items() if note),
    )
