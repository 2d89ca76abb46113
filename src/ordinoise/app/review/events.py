"""What reviewers did, as events that are never changed, and what follows from them for each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

KINDS = ("grade", "skip", "undo", "note")


@dataclass(frozen=True)
class Event:
    """One thing that a reviewer did.

    Attributes
    ----------
    id : int
        Place in the history, from 1.
    key : str
        Chosen by the sender: the same event sent twice is kept once.
    time : str
        When it was kept, UTC, ISO 8601.
    reviewer : str
    row : int
        Number of the data row in the file, from 0.
    kind : {"grade", "skip", "undo", "note"}
    grade : str or None
        The grade chosen; for an undo, the grade that was taken back.
    note : str
        Text of a note; empty otherwise.
    undoes : int or None
        For an undo, the event that it takes back.
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
    """Where a row stands.

    Attributes
    ----------
    row : int
    status : {"open", "settled", "skipped"}
        Settled where any reviewer's grade stands; skipped where all that stands is skips.
    grade : str or None
        The latest grade that stands, whoever gave it.
    reviewer : str or None
        Who gave it, or skipped the row last.
    grades : tuple of (str, str or None)
        What stands, by reviewer in the order decided: the grade, or None for a skip.
    is_disputed : bool
        Whether reviewers gave different grades.
    notes : tuple of (str, str)
        The notes that stand, by reviewer.
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
    standing: dict[str, Event] = {}
    notes: dict[str, str] = {}
    for event in events:
        if event.kind == "note":
            notes[event.reviewer] = event.note
        elif event.kind != "undo" and event.id not in undone:
            standing.pop(event.reviewer, None)  # what is decided again comes last
            standing[event.reviewer] = event
    graded = [event for event in standing.values() if event.kind == "grade"]
    last = next(reversed(graded or list(standing.values())), None)
    return RowState(
        row=row,
        status="settled" if graded else "skipped" if standing else "open",
        grade=last.grade if last else None,
        reviewer=last.reviewer if last else None,
        grades=tuple((name, event.grade) for name, event in standing.items()),
        is_disputed=len({event.grade for event in graded}) > 1,
        notes=tuple((name, note) for name, note in notes.items() if note),
    )
