import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.app.records.history import Settled
from ordinoise.app.review import DecisionStore, Event, RowState
from ordinoise.app.review.events import states
from ordinoise.app.review.settled import settled_rows

REVIEWERS, ROWS, GRADES = ("Ann", "Bob"), (3, 17), ("low", "high")

deeds = st.lists(
    st.one_of(
        st.tuples(
            st.just("decide"), st.sampled_from(REVIEWERS), st.sampled_from(ROWS), st.sampled_from((*GRADES, None))
        ),
        st.tuples(
            st.just("note"), st.sampled_from(REVIEWERS), st.sampled_from(ROWS), st.sampled_from(("", "odd", "see 4"))
        ),
        st.tuples(st.just("undo"), st.sampled_from(REVIEWERS), st.just(0), st.none()),
    ),
    min_size=8,
    max_size=25,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[DecisionStore]:
    with DecisionStore(path) as store:
        yield store


class Oracle:
    """The same rules with stacks: what a reviewer decided, in order, the last on top; an undo takes it off."""

    def __init__(self) -> None:
        self.clock = 0
        self.stacks: dict[str, list[tuple[int, int, str | None]]] = {name: [] for name in REVIEWERS}
        self.notes: dict[tuple[int, str], str] = {}

    def do(self, deed: str, reviewer: str, row: int, what: str | None) -> None:
        self.clock += 1
        if deed == "decide":
            self.stacks[reviewer].append((self.clock, row, what))
        elif deed == "note":
            self.notes[row, reviewer] = what or ""
        elif self.stacks[reviewer]:
            self.stacks[reviewer].pop()

    def standing(self, row: int) -> list[tuple[int, str, str | None]]:
        """When, who and what: the last decision of each reviewer about the row."""
        found = []
        for name, stack in self.stacks.items():
            of_row = [(when, name, what) for when, at, what in stack if at == row]
            found += of_row[-1:]
        return sorted(found)

    def state(self, row: int) -> RowState:
        standing = self.standing(row)
        graded = [(name, what) for _, name, what in standing if what is not None]
        last = graded[-1] if graded else standing[-1][1:] if standing else (None, None)
        return RowState(
            row=row,
            status="settled" if graded else "skipped" if standing else "open",
            grade=last[1],
            reviewer=last[0],
            grades=tuple((name, what) for _, name, what in standing),
            is_disputed=len({what for _, what in graded}) > 1,
            notes=tuple((name, note) for (at, name), note in self.notes.items() if at == row and note),
        )


def _do(store: DecisionStore, deed: str, reviewer: str, row: int, what: str | None) -> None:
    if deed == "decide":
        store.decide(reviewer, row, what)
    elif deed == "note":
        store.write_note(reviewer, row, what or "")
    else:
        store.undo(reviewer)


@given(sequence=deeds)
def test_any_sequence_of_two_reviewers_gives_what_stacks_give(
    sequence: list[tuple[str, str, int, str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    oracle = Oracle()
    with DecisionStore(tmp_path_factory.mktemp("store") / "decisions.sqlite") as store:
        store._execute("PRAGMA synchronous = OFF")  # the disk is not what this test is about
        for deed in sequence:
            _do(store, *deed)
            oracle.do(*deed)
        for row in ROWS:
            wanted = oracle.state(row)
            assert _ordered(store.state(row)) == _ordered(wanted)
            assert _ordered(store.states().get(row, RowState(row))) == _ordered(wanted)
        sure = [oracle.state(row) for row in ROWS if not oracle.state(row).is_disputed]
        settled = [(one.row, one.grade, one.reviewer) for one in settled_rows(store.history(), (), ())]
        assert settled == [(state.row, state.grade, state.reviewer) for state in sure if state.grade]


def _ordered(state: RowState) -> RowState:
    return replace(state, notes=tuple(sorted(state.notes)))


def test_nothing_in_the_history_is_ever_changed_or_removed(store: DecisionStore, path: Path) -> None:
    store.decide("Ann", 3, "low")
    store.decide("Ann", 3, "high")
    taken_back = store.undo("Ann")
    assert taken_back is not None
    assert (taken_back.grade, taken_back.undoes) == ("high", 2)
    assert [(event.kind, event.grade) for event in store.history(3)] == [
        ("grade", "low"), ("grade", "high"), ("undo", "high"),
    ]  # fmt: skip
    with sqlite3.connect(path) as other:
        for statement in ("DELETE FROM events", "UPDATE events SET grade = 'low'"):
            with pytest.raises(sqlite3.IntegrityError, match="events are never"):
                other.execute(statement)
    other.close()


def test_undo_takes_back_only_what_the_reviewer_decided(store: DecisionStore) -> None:
    store.decide("Ann", 3, "low")
    store.decide("Bob", 3, "high")
    assert store.state(3).is_disputed
    store.undo("Ann")
    assert store.state(3) == RowState(3, "settled", "high", "Bob", (("Bob", "high"),))
    assert store.undo("Ann") is None
    assert store.undo("Cleo") is None
    assert len(store.history()) == 3


def test_a_skip_does_not_wipe_out_the_grade_of_another(store: DecisionStore) -> None:
    store.decide("Ann", 3, "low")
    store.decide("Bob", 3, None)
    assert (store.state(3).status, store.state(3).grade, store.state(3).is_disputed) == ("settled", "low", False)
    store.decide("Ann", 3, None)
    assert (store.state(3).status, store.state(3).grade) == ("skipped", None)


def test_rows_in_dispute_are_not_settled(store: DecisionStore) -> None:
    store.decide("Ann", 40, "low")
    store.decide("Ann", 3, "high")
    store.decide("Bob", 40, "high")
    assert settled_rows(store.history(), (), ()) == [Settled(3, None, "high", "Ann")]


def test_what_is_sent_twice_is_kept_once(store: DecisionStore) -> None:
    first = store.decide("Ann", 3, "low", key="key-one")
    assert store.decide("Ann", 3, "low", key="key-one") == first
    undone = store.undo("Ann", key="key-two")
    assert store.undo("Ann", key="key-two") == undone
    assert store.write_note("Ann", 3, "odd", key="key-three") == store.write_note("Ann", 3, "odd", key="key-three")
    assert len(store.history()) == 3


def test_times_are_utc_and_names_may_be_anything(store: DecisionStore) -> None:
    event = store.decide("Zoë '); DROP TABLE events; --", 3, "low")
    offset = datetime.fromisoformat(event.time).utcoffset()
    assert offset is not None
    assert offset.total_seconds() == 0
    assert store.history() == [event]


def test_changes_are_those_after_an_event(store: DecisionStore) -> None:
    events = [store.decide("Ann", row, "low") for row in (3, 17, 3)]
    assert store.history(after=1) == events[1:]
    assert store.history(3, after=1) == events[2:]


def test_states_do_not_hang_on_the_order_events_come_in(store: DecisionStore) -> None:
    for grade in ("low", "medium", "high"):
        store.decide("Ann", 3, grade)
    assert states(reversed(store.history())) == store.states()


def test_many_threads_and_stores_at_once_lose_nothing(path: Path) -> None:
    def work(name: str) -> None:
        with DecisionStore(path) as store:
            for row in range(12):
                store.decide(name, row, "low")

    threads = [threading.Thread(target=work, args=(f"reviewer {number}",)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with DecisionStore(path) as store:
        assert len(store.history()) == 60
        assert all(len(store.state(row).grades) == 5 for row in range(12))


STREAM = """
import itertools, sys
from ordinoise.app.review.decisions import DecisionStore
store = DecisionStore(sys.argv[1])
for number in itertools.count():
    event = store.decide("Ann", number, f"grade {number}") if number % 5 else store.decide("Ann", number, None)
    print(event.id, event.row, event.grade, flush=True)
"""


def test_whatever_was_acknowledged_survives_kill_9(path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", STREAM, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    heard = [process.stdout.readline().rstrip("\n") for _ in range(40)]
    os.kill(process.pid, signal.SIGKILL)
    heard += process.stdout.read().splitlines()
    process.stdout.close()
    process.wait()
    # The last line may be cut where the pipe was.
    with DecisionStore(path) as store:
        kept = [f"{event.id} {event.row} {event.grade}" for event in store.history()]
        assert kept[: len(heard) - 1] == heard[:-1]
        assert len(kept) >= len(heard) >= 40
        store.decide("Ann", 10**6, "and on")


def test_commits_reach_the_disk_before_they_return(store: DecisionStore) -> None:
    pragma = {name: store._execute(f"PRAGMA {name}") for name in ("journal_mode", "synchronous")}
    assert pragma == {"journal_mode": "wal", "synchronous": 2}


def test_a_full_disk_is_one_sentence_and_loses_nothing(store: DecisionStore) -> None:
    store.decide("Ann", 3, "low")
    store._execute(f"PRAGMA max_page_count = {store._execute('PRAGMA page_count')}")
    with pytest.raises(ValueError, match=r"decisions must be an undamaged, writable file, got .*full"):
        store.write_note("Ann", 3, "x" * 100_000)
    store._execute("PRAGMA max_page_count = 100000")
    assert store.state(3).grade == "low"
    store.decide("Ann", 3, "high")


def test_a_damaged_file_is_refused_with_a_sentence(path: Path) -> None:
    with DecisionStore(path) as store:
        for row in range(200):
            store.decide("Ann", row, "low")
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 3000] = os.urandom(3000)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"decisions must be (undamaged|a sound)"):
        DecisionStore(path)
    path.write_bytes(b"not a database at all, but long enough to look at" * 9)
    with pytest.raises(ValueError, match="decisions must be an undamaged, writable file"):
        DecisionStore(path)


def test_a_newer_file_is_refused_with_a_sentence(path: Path) -> None:
    DecisionStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(ValueError, match="written by a newer ordinoise"):
        DecisionStore(path)


def test_a_file_of_another_program_is_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cats (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match="an SQLite file of another program"):
        DecisionStore(path)
    assert path.read_bytes() == before


def test_decisions_about_another_audit_are_refused(path: Path) -> None:
    with DecisionStore(path, about="one") as store:
        store.decide("Ann", 3, "low")
    with pytest.raises(ValueError, match="decisions must be about this audit"):
        DecisionStore(path, about="other")
    with DecisionStore(path, about="one") as store:
        assert store.state(3).grade == "low"


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="decisions must be a file in a folder that exists"):
        DecisionStore(tmp_path / "nowhere" / "decisions.sqlite")


def _replaced(path: Path) -> None:
    other = path.with_name("other.sqlite")
    DecisionStore(other).close()
    other.replace(path)


WAYS = {
    "deleted": lambda path: path.unlink(),
    "moved": lambda path: path.rename(path.with_name("moved.sqlite")),
    "replaced": _replaced,
    "without its log": lambda path: path.with_name(f"{path.name}-wal").unlink(),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_write_is_confirmed_without_its_file_and_the_confirmed_ones_are_rescued(path: Path, way: str) -> None:
    with DecisionStore(path, about="wine") as store:
        stored = [store.decide("Ann", row, "low") for row in (3, 17)]
        WAYS[way](path)
        for _ in range(2):
            with pytest.raises(ValueError, match=r"decisions must stay in place .* rescued") as refusal:
                store.decide("Ann", 40, "high")
        with pytest.raises(ValueError, match="decisions must stay in place"):
            store.undo("Ann")
    (rescued,) = path.parent.glob("*rescued*.sqlite")
    assert str(rescued) in str(refusal.value)
    with DecisionStore(rescued, about="wine") as copy:
        assert copy.history() == stored


def test_a_file_lost_during_a_write_is_noticed_before_the_confirmation(
    store: DecisionStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = store._insert

    def insert_and_lose(*given: Any, **more: Any) -> Event:
        path.unlink()
        return insert(*given, **more)

    monkeypatch.setattr(store, "_insert", insert_and_lose)
    with pytest.raises(ValueError, match="decisions must stay in place"):
        store.decide("Ann", 3, "low")


def test_a_file_that_is_moved_back_takes_decisions_again(store: DecisionStore, path: Path) -> None:
    store.decide("Ann", 3, "low")
    path.rename(path.with_name("moved.sqlite"))
    with pytest.raises(ValueError, match="decisions must stay in place"):
        store.decide("Ann", 17, "low", key="again")
    path.with_name("moved.sqlite").rename(path)
    store.decide("Ann", 17, "low", key="again")
    with DecisionStore(path) as other:
        assert [event.row for event in other.history()] == [3, 17]


def test_a_folder_that_is_gone_cannot_be_rescued_to_and_the_sentence_says_so(tmp_path: Path) -> None:
    (tmp_path / "audit").mkdir()
    with DecisionStore(tmp_path / "audit" / "decisions.sqlite") as store:
        store.decide("Ann", 3, "low")
        (tmp_path / "audit").rename(tmp_path / "elsewhere")
        with pytest.raises(ValueError, match=r"decisions must stay in place .*; move it back"):
            store.decide("Ann", 17, "low")
