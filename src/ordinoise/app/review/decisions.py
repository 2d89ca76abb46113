"""Decisions on disk: an append-only SQLite file; an event is stored before it is confirmed."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ordinoise._databases import check_ours, is_empty
from ordinoise._validation import complain
from ordinoise.app.review.events import Event, RowState, states
from ordinoise.app.review.presence import Presence

if TYPE_CHECKING:
    from ordinoise.app.records.subject import Subject

DECISIONS = "decisions.sqlite"
APPLICATION_ID = 0x6F726472
"""Marks an SQLite file as ours in its header: "ordr"."""

FORMAT_VERSION = 1
SECONDS_TO_WAIT = 10.0  # for the lock of another process; a round number, chosen by no run

TABLES = (
    """CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, time TEXT NOT NULL, reviewer TEXT NOT NULL,
        row INTEGER NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('grade', 'skip', 'undo', 'note')), grade TEXT,
        note TEXT NOT NULL DEFAULT '', undoes INTEGER UNIQUE REFERENCES events (id)
    )""",
    "CREATE INDEX events_of_row ON events (row)",
    "CREATE TABLE subject (about TEXT NOT NULL)",
    # The database itself refuses to change or remove events, also for other programs.
    "CREATE TRIGGER no_change BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    "CREATE TRIGGER no_loss BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never removed'); END",
)
COLUMNS = "SELECT id, key, time, reviewer, row, kind, grade, note, undoes FROM events"
FILES_OF_SQLITE = ("", "-wal", "-shm", "-journal")  # what it opens, beside each other
FOREIGN = "another program edited it"
ODD_EVENTS = f"""SELECT count(*) FROM events WHERE id NOT BETWEEN 1 AND {2**53} OR typeof(row) <> 'integer' OR row < 0
    OR typeof(key) <> 'text' OR typeof(time) <> 'text' OR typeof(reviewer) <> 'text' OR typeof(note) <> 'text'
    OR typeof(grade) NOT IN ('text', 'null') OR typeof(undoes) NOT IN ('integer', 'null')"""
LAST_DECISION = f"""{COLUMNS} WHERE reviewer = ? AND kind IN ('grade', 'skip')
    AND id NOT IN (SELECT undoes FROM events WHERE undoes IS NOT NULL) ORDER BY id DESC LIMIT 1"""


def open_decisions(folder: str | os.PathLike[str], record: Subject | None = None) -> DecisionStore:
    """The decisions about an audit or about ratings, in their folder; refuses decisions about another file.

    Parameters
    ----------
    folder : path
        Folder written by ``ordinoise audit`` or ``ordinoise raters``.
    record : AuditRecord or RatersRecord, optional
        Its record; read from the folder by default.
    """
    from ordinoise.app.records.ratings import read_any_record  # slow to import, and not needed by DecisionStore

    record = record or read_any_record(Path(folder))
    subject = json.dumps([record.digest, record.target, list(record.classes)])
    return DecisionStore(Path(folder) / DECISIONS, about=hashlib.sha256(subject.encode()).hexdigest())


def events_in(folder: Path, record: Subject) -> list[Event]:
    """The events of the review of a folder, oldest first; none if it was not reviewed."""
    if not os.path.lexists(folder / DECISIONS):
        return []
    with open_decisions(folder, record) as store:
        return store.history()


class StoreError(ValueError):
    """The file of decisions cannot be read or written; the request itself may be valid."""


class ReusedKeyError(ValueError):
    """A key that was stored with other content."""


class DecisionStore:
    """The decisions of one review, shared by threads, tabs and processes. The file is created on first use.

    Parameters
    ----------
    path : path
        The SQLite file. While it is open, SQLite keeps two more beside it, ``-wal`` and ``-shm``.
    about : str, optional
        Identifies the audit. Stored in a new file; a file about another audit is refused.
    """

    def __init__(self, path: str | os.PathLike[str], *, about: str | None = None) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._check_files()
        with self._sqlite_errors():
            self._connection = sqlite3.connect(
                self.path, timeout=SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False
            )
        try:
            with self._sqlite_errors():
                self._open(about)
            self._presence = Presence(self.path)
        except BaseException:
            self.close()
            raise

    def decide(self, reviewer: str, row: int, grade: str | None, *, key: str | None = None) -> Event:
        """Store a decision: a grade, or None to skip the row. It is on disk when this returns."""
        return self._add(key, reviewer, row, "skip" if grade is None else "grade", grade=grade)

    def write_note(self, reviewer: str, row: int, note: str, *, key: str | None = None) -> Event:
        """Store a reviewer's note on a row, which replaces the previous one; an empty note removes it."""
        return self._add(key, reviewer, row, "note", note=note)

    def undo(self, reviewer: str, *, key: str | None = None) -> Event | None:
        """Undo the reviewer's last decision; returns the undo event, or None if there is nothing to undo.

        An earlier decision of the reviewer about that row is valid again.
        """
        with self._transaction():
            stored = self._of_key(key, reviewer=reviewer, kind="undo")
            if stored is not None:
                return stored
            last = self._first(LAST_DECISION, reviewer)
            if last is None:
                return None
            return self._insert(key, reviewer, last.row, "undo", grade=last.grade, undoes=last.id)

    def state(self, row: int) -> RowState:
        """The state of a row."""
        return states(self.history(row)).get(row, RowState(row))

    def states(self) -> dict[int, RowState]:
        """The state of every row that has events."""
        return states(self.history())

    def history(self, row: int | None = None, *, after: int = 0) -> list[Event]:
        """Events, of one row if it is given, with an id larger than `after`; oldest first."""
        where, values = ("WHERE id > ?", [after]) if row is None else ("WHERE row = ? AND id > ?", [row, after])
        with self._lock, self._sqlite_errors():
            return [Event(*found) for found in self._connection.execute(f"{COLUMNS} {where} ORDER BY id", values)]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _add(self, key: str | None, reviewer: str, row: int, kind: str, **more: Any) -> Event:
        with self._transaction():
            stored = self._of_key(key, reviewer=reviewer, row=row, kind=kind, **more)
            return stored or self._insert(key, reviewer, row, kind, **more)

    def _insert(
        self,
        key: str | None,
        reviewer: str,
        row: int,
        kind: str,
        *,
        grade: str | None = None,
        note: str = "",
        undoes: int | None = None,
    ) -> Event:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        values = (key or uuid.uuid4().hex, time, reviewer, int(row), kind, grade, note, undoes)
        added = self._connection.execute(
            "INSERT INTO events (key, time, reviewer, row, kind, grade, note, undoes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        event = Event(int(added.lastrowid or 0), *values)
        if added.rowcount != 1 or self._first(f"{COLUMNS} WHERE id = ?", event.id) != event:
            raise self._complaint(
                "keep what is written", "another event after writing one", "another program edited it"
            )
        return event

    def _of_key(self, key: str | None, **content: Any) -> Event | None:
        """The event with this key if it is already stored: its sender missed the answer and sent it again."""
        stored = None if key is None else self._first(f"{COLUMNS} WHERE key = ?", key)
        if stored is not None and any(getattr(stored, name) != value for name, value in content.items()):
            got = f"{key!r}, which event {stored.id} has with other content"
            raise ReusedKeyError(*complain("key", "be new for every action", got, "nothing was stored").args)
        return stored

    def _first(self, statement: str, value: str | int) -> Event | None:
        found = self._connection.execute(statement, (value,)).fetchone()
        return Event(*found) if found else None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """A transaction for reading and writing: all of it is on disk at the end, or nothing."""
        with self._lock, self._sqlite_errors():
            self._check_in_place()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back after some errors, such as a full disk.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                # Also if SQLite itself failed, since this sentence is the one that helps.
                self._check_in_place()

    def _check_in_place(self) -> None:
        """Refuse to confirm an event in a file that was deleted, moved or replaced."""
        loss = self._presence.loss()
        if loss is not None:
            raise self._complaint("stay in place during a review", loss, self._presence.rescue(self._connection))

    def _check_files(self) -> None:
        """Refuse links and pipes, which a folder of somebody else may hold: SQLite would write where they lead."""
        for suffix in FILES_OF_SQLITE:
            path = self.path.with_name(f"{self.path.name}{suffix}")
            mode = os.lstat(path).st_mode if os.path.lexists(path) else stat.S_IFREG
            if not stat.S_ISREG(mode):
                kind = "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "pipe or device"
                rule = "be files in their folder"
                raise StoreError(*complain("decisions", rule, f"a {kind} {path.name} in {str(path.parent)!r}").args)

    def _open(self, about: str | None) -> None:
        found = self._execute("PRAGMA application_id"), self._execute("PRAGMA user_version")
        if found == (APPLICATION_ID, FORMAT_VERSION):
            self._check_rules()  # before SQLite computes those of somebody else to check what they say of the rows
        check_ours(
            self._execute, self._complaint, what="decisions", application_id=APPLICATION_ID, version=FORMAT_VERSION
        )
        self._execute("PRAGMA journal_mode = WAL")
        # A commit returns only when it is on disk, so that even a power failure loses no decision.
        self._execute("PRAGMA synchronous = FULL")
        self._execute("BEGIN IMMEDIATE")
        if is_empty(self._execute):
            for table in TABLES:
                self._execute(table)
            self._connection.execute("INSERT INTO subject VALUES (?)", (about or "",))
            self._execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        self._execute("COMMIT")
        self._check_schema()
        if about is not None and self._execute("SELECT about FROM subject") != about:
            advice = "move the file away to start a new review; it was not changed"
            raise self._complaint("be about this audit", "decisions about another", advice)

    def _check_schema(self) -> None:
        """Refuse triggers, tables and rows that are not ours: they could drop a decision after it is confirmed."""
        self._check_rules()
        if self._execute("SELECT count(*) FROM subject") != 1:
            raise self._complaint("hold its own tables and rules alone", "not one subject", FOREIGN)
        if self._execute(ODD_EVENTS):
            raise self._complaint("hold events as they are written", "others", FOREIGN)

    def _check_rules(self) -> None:
        """Refuse tables, indices and triggers that are not ours."""
        found = self._connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        schema = sorted(" ".join(str(sql).split()) for (sql,) in found)
        if schema != sorted(" ".join(table.split()) for table in TABLES):
            raise self._complaint("hold its own tables and rules alone", "others", FOREIGN)

    def _execute(self, statement: str) -> Any:
        """The first value in the result of a statement; None if there is none."""
        row = self._connection.execute(statement).fetchone()
        return row[0] if row else None

    def _complaint(self, rule: str, got: object, advice: str = "") -> StoreError:
        return StoreError(*complain("decisions", rule, f"{got} in {str(self.path)!r}", advice).args)

    @contextmanager
    def _sqlite_errors(self) -> Iterator[None]:
        """Turn errors of SQLite into one-sentence errors."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # The low byte is the primary error code; errors of Python's wrapper have none.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise self._complaint("be free for writing", f"a lock of more than {SECONDS_TO_WAIT:g} s") from None
            if code == sqlite3.SQLITE_CANTOPEN and not self.path.parent.is_dir():
                raise self._complaint("be a file in a folder that exists", "no such folder") from None
            raise self._complaint("be an undamaged, writable file", f"{str(error)!r}") from error
