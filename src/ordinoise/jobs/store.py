"""Results on disk: one SQLite file, one transaction per result, so that finished trials survive a killed process."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ordinoise._databases import check_ours, is_empty
from ordinoise._files import write_whole
from ordinoise._validation import complain
from ordinoise.jobs.records import as_plain

APPLICATION_ID = 0x6F726478
"""Marks an SQLite file as ours: "ordx" in the file's header."""

FORMAT_VERSION = 1
SECONDS_TO_WAIT = 0.5
"""How long to wait for another process to release the file: a round number, chosen by no run."""

TABLE = "CREATE TABLE results (key TEXT PRIMARY KEY, trial TEXT NOT NULL, result TEXT NOT NULL, seconds REAL NOT NULL)"
COLUMNS = "SELECT key, trial, result, seconds FROM results"


@dataclass(frozen=True)
class StoredResult:
    """The result of one trial.

    Attributes
    ----------
    key : str
        The trial's key, see `trial_key`.
    trial : dict
        The trial's record, see `trial_record`.
    result : dict
        Its result as JSON values.
    seconds : float
        Wall time of the trial on its worker.
    """

    key: str
    trial: dict[str, Any]
    result: dict[str, Any]
    seconds: float


class ResultStore:
    """Results of trials in one SQLite file, used by one run at a time; a context manager.

    Parameters
    ----------
    path : path
        The SQLite file, created if absent and locked while the store is open. A killed run leaves a second file beside
        it, ending in ``-wal``, which holds results too: move or copy both.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with self._one_sentence():
            self._connection = sqlite3.connect(self.path, timeout=SECONDS_TO_WAIT, isolation_level=None)
        try:
            with self._one_sentence():
                self._open()
        except BaseException:
            self.close()
            raise

    def keys(self) -> set[str]:
        """Keys of the stored results."""
        with self._one_sentence():
            return {key for (key,) in self._connection.execute("SELECT key FROM results")}

    def add(self, key: str, trial_record: Mapping[str, Any], result: Mapping[str, Any], seconds: float) -> None:
        """Write a result to disk; a second result with the same key is ignored.

        Parameters
        ----------
        key : str
            The trial's key.
        trial_record : mapping
            The trial's record.
        result : mapping
            Plain values; numpy numbers and arrays become Python numbers and lists. Floats are stored exactly.
        seconds : float
            Wall time of the trial.
        """
        texts = [
            json.dumps(as_plain(name, value)) for name, value in (("trial_record", trial_record), ("result", result))
        ]
        with self._one_sentence():
            self._connection.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?)", (key, *texts, float(seconds)))

    def results(self, keys: Iterable[str] | None = None) -> list[StoredResult]:
        """The results of these keys, in this order; all results, in the order they were added, if None."""
        with self._one_sentence():
            if keys is None:
                return [_stored(row) for row in self._connection.execute(f"{COLUMNS} ORDER BY rowid")]
            return [self._result(key) for key in keys]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        # The lock is held until the file is closed or the process dies. With it, write-ahead logging needs no shared
        # memory, which a network drive does not have.
        self._execute("PRAGMA locking_mode = EXCLUSIVE")
        check_ours(
            self._execute, self._complaint, what="results", application_id=APPLICATION_ID, version=FORMAT_VERSION
        )
        self._execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the last few results, which are then run again; a killed process loses none.
        self._execute("PRAGMA synchronous = NORMAL")
        self._execute("BEGIN IMMEDIATE")
        if is_empty(self._execute):
            self._execute(TABLE)
            self._execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        self._execute("COMMIT")

    def _execute(self, statement: str) -> Any:
        """The first value of the first row of a statement, or None."""
        row = self._connection.execute(statement).fetchone()
        return row[0] if row else None

    def _result(self, key: str) -> StoredResult:
        row = self._connection.execute(f"{COLUMNS} WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise complain("keys", "be keys of stored results", repr(key))
        return _stored(row)

    def _complaint(self, rule: str, got: object, advice: str = "") -> ValueError:
        return complain("path", rule, f"{got} in {str(self.path)!r}", advice)

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        """Turn errors of SQLite and of damaged records into errors of one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            # The low byte is the kind of error; errors of Python's wrapper have no code.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise self._complaint(
                    "be used by one run at a time", "another", "wait for it, or choose another path"
                ) from None
            if code == sqlite3.SQLITE_CANTOPEN:
                raise self._complaint("be a file in a folder that exists", "no such place") from None
            raise self._complaint("be a sound, writable store of results", f"{str(error)!r}") from error
        except (json.JSONDecodeError, UnicodeDecodeError, TypeError, RecursionError) as error:
            raise self._complaint("be undamaged", f"{str(error)!r}") from error


def _stored(row: tuple[str, str, str, float]) -> StoredResult:
    key, trial, result, seconds = row
    return StoredResult(key, json.loads(trial), json.loads(result), seconds)


def write_table(results: Sequence[StoredResult], path: str | os.PathLike[str]) -> None:
    """Write results as a CSV table, one row per result: key, fields of the trial, values of the result.

    Nested records become columns like ``noise.rate``, lists become JSON; a value of the result that has the name of a
    field of the trial becomes ``result.<name>``. Times are not written, so that the table is the same from run to run.

    Parameters
    ----------
    results : sequence of StoredResult
        The rows, in this order.
    path : path
        Ends in ``.csv``; the whole file is written or nothing.
    """
    target = Path(path)
    if target.suffix != ".csv":
        raise complain("path", "end in .csv", repr(str(target)))
    if not target.parent.is_dir():
        raise complain("path", "lie in a folder that exists", repr(str(target)))
    columns = _columns(results)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *zip(*columns.values(), strict=True)])
    write_whole(target, text.getvalue().encode())


def _columns(results: Sequence[StoredResult]) -> dict[str, list[Any]]:
    """Cells by column, None where a row has no such value."""
    columns: dict[str, list[Any]] = {"key": [stored.key for stored in results]}
    for part in ("trial", "result"):
        rows = [_flat(getattr(stored, part)) for stored in results]
        names = dict.fromkeys(name for row in rows for name in row)
        columns |= {f"{part}.{name}" if name in columns else name: [row.get(name) for row in rows] for name in names}
    return columns


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{prefix}{name}.")
        else:
            row[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return row
