"""What a review has settled, with rows that are shown again, blind: what counts meanwhile, and which answers differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ordinoise.app.records.audit import Suspect
from ordinoise.app.records.history import Repeat, Settled
from ordinoise.app.records.plan import Plan, repeats_of
from ordinoise.app.review.events import Event, RowState, states

Repeats = Mapping[int, int]
"""Rows that are shown again, and the last event before that."""


@dataclass(frozen=True)
class _Both:
    """The state of a row before it was shown again, since then, and the grades chosen since then."""

    first: RowState
    again: RowState
    n_again: int

    @property
    def settled(self) -> RowState:
        """What counts: the first answer until there is a second; different ones are disputed until a third."""
        if self.again.grade is None:
            return self.first
        if self.n_again > 1:  # whoever decides, with both answers in view, decides for all
            return replace(self.again, is_disputed=False)
        if self.again.grade == self.first.grade:
            return self.again
        both = (*self.first.grades, *self.again.grades)
        return replace(self.again, grades=both, is_disputed=True)

    @property
    def shown(self) -> RowState:
        """What reviewers see: nothing of the first answer until there is a second."""
        return self.again if self.again.grade is None else self.settled


def settled_rows(events: Iterable[Event], plans: Sequence[Plan], suspects: Iterable[Suspect]) -> list[Settled]:
    """The rows with a grade that is not disputed, in the order of the file, given all that were shown."""
    planned = [(one, plan.drawn) for plan in plans for one in plan.rows]
    recorded = {one.row: one.recorded or None for one in (*suspects, *(one for one, _ in planned))}
    random = {one.row for one, drawn in planned if drawn == "random"}
    agreed = [one for _, one in sorted(settled_states(events, repeats_of(plans)).items()) if not one.is_disputed]
    return [
        Settled(
            one.row, recorded.get(one.row), one.grade, one.reviewer or "", "random" if one.row in random else "chosen"
        )
        for one in agreed
        if one.grade is not None
    ]


def settled_states(events: Iterable[Event], repeats: Repeats) -> dict[int, RowState]:
    """The state of every row that counts for the next audit and for the corrected file."""
    events = list(events)
    return states(events) | {row: both.settled for row, both in _both(events, repeats).items()}


def shown_states(events: Iterable[Event], repeats: Repeats) -> dict[int, RowState]:
    """The state of every row as reviewers see it."""
    events = list(events)
    return states(events) | {row: both.shown for row, both in _both(events, repeats).items()}


def shown_events(events: Iterable[Event], row: int, repeats: Repeats) -> list[Event]:
    """The events of a row that reviewers see: none before it was shown again, until there is a second answer."""
    events = list(events)
    both = _both(events, repeats).get(row)
    hidden = both is not None and both.again.grade is None
    return [event for event in events if not hidden or event.id > repeats[row]]


def repeated(events: Iterable[Event], repeats: Repeats) -> tuple[Repeat, ...]:
    """The rows that were answered twice, with the first answer and the second, whatever was decided later."""
    events = list(events)
    undone = {event.undoes for event in events}
    found = []
    for row, both in _both(events, repeats).items():
        later = (event for event in events if event.row == row and event.id > repeats[row])
        second = next((event for event in later if event.kind == "grade" and event.id not in undone), None)
        if second is not None and second.grade is not None and both.first.grade is not None:
            found.append(Repeat(row, both.first.grade, second.grade, both.first.reviewer or "", second.reviewer))
    return tuple(found)


def _both(events: list[Event], repeats: Repeats) -> dict[int, _Both]:
    undone = {event.undoes for event in events}
    found = {}
    for row, last in repeats.items():
        before = [event for event in events if event.row == row and event.id <= last]
        after = [event for event in events if event.row == row and event.id > last]
        n_again = sum(event.kind == "grade" and event.id not in undone for event in after)
        nothing = RowState(row)
        found[row] = _Both(states(before).get(row, nothing), states(after).get(row, nothing), n_again)
    return found
