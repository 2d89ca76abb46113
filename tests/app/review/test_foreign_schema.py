"""A file of decisions that another program changed: no decision is called saved that is not, and none is misread."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ordinoise.app.review.decisions import FILES_OF_SQLITE, DecisionStore, StoreError

EDITS = {
    "ignore": "CREATE TRIGGER x BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
    "delete": "CREATE TRIGGER x AFTER INSERT ON events BEGIN DELETE FROM events WHERE id = NEW.id; END",
    "update": "CREATE TRIGGER x AFTER INSERT ON events BEGIN UPDATE events SET grade = '1' WHERE id = NEW.id; END",
    "view": "ALTER TABLE events RENAME TO e; CREATE VIEW events AS SELECT * FROM e; "
    "CREATE TRIGGER x INSTEAD OF INSERT ON events BEGIN SELECT 1; END",
    "no rules": "DROP TRIGGER no_change",
    "no rules on removal": "DROP TRIGGER no_loss",
    "another table": "CREATE TABLE more (x)",
    "no subject": "DELETE FROM subject",
    "two subjects": "INSERT INTO subject VALUES ('x')",
    "bytes": "INSERT INTO events (key, time, reviewer, row, kind, grade) VALUES ('k', 't', x'ff', 1, 'grade', '2')",
    "text for a row": "INSERT INTO events (key, time, reviewer, row, kind, grade) VALUES ('k', 't', 'A', 'x', 'grade', '2')",
    "a last number": "INSERT INTO events (id, key, time, reviewer, row, kind, grade) "
    "VALUES (9223372036854775807, 'k', 't', 'A', 1, 'grade', '2')",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with DecisionStore(tmp_path / "decisions.sqlite", about="x") as store:
        store.decide("Ann", 1, "2")
    return tmp_path / "decisions.sqlite"


def _edit(path: Path, statements: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()


@pytest.mark.parametrize("statements", EDITS.values(), ids=EDITS)
def test_a_file_with_another_schema_is_refused_on_opening(path: Path, statements: str) -> None:
    _edit(path, statements)
    with pytest.raises(
        StoreError, match=r"^decisions must hold (its own tables and rules alone|events as they are written), got "
    ):
        DecisionStore(path, about="x")


@pytest.mark.parametrize("what", ["ignore", "delete", "update"])
def test_a_decision_that_another_program_drops_meanwhile_is_not_confirmed(path: Path, what: str) -> None:
    with DecisionStore(path, about="x") as store:
        if what != "ignore":
            _edit(path, "DROP TRIGGER no_loss; DROP TRIGGER no_change")
        _edit(path, EDITS[what])
        with pytest.raises(StoreError, match=r"^decisions must keep what is written, got another event "):
            store.decide("Ann", 2, "3")
        assert [event.row for event in store.history()] == [1]


def test_statistics_of_sqlite_are_no_foreign_table(path: Path) -> None:
    _edit(path, "ANALYZE")
    with DecisionStore(path, about="x") as store:
        assert store.state(1).grade == "2"


@pytest.mark.parametrize("suffix", FILES_OF_SQLITE)
@pytest.mark.parametrize("there", [False, True], ids=["nowhere", "a file"])
def test_a_link_is_not_followed(tmp_path: Path, suffix: str, *, there: bool) -> None:
    other = tmp_path / "precious"
    if there:
        other.write_bytes(b"x" * 5000)
    path = tmp_path / "decisions.sqlite"
    (tmp_path / f"decisions.sqlite{suffix}").symlink_to(other)
    with pytest.raises(StoreError, match=rf"^decisions must be files in their folder, got a link {path.name}{suffix} "):
        DecisionStore(path, about="x")
    assert other.exists() == there
    assert not there or other.read_bytes() == b"x" * 5000
    assert path.is_symlink() or not path.exists()


@pytest.mark.parametrize("suffix", FILES_OF_SQLITE)
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_is_no_file_of_decisions(tmp_path: Path, suffix: str, make: Callable[[Path], None]) -> None:
    make(tmp_path / f"decisions.sqlite{suffix}")
    with pytest.raises(StoreError, match=r"^decisions must be files in their folder, got a (pipe or device|folder) "):
        DecisionStore(tmp_path / "decisions.sqlite", about="x")
