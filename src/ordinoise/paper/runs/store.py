"""Results on disk: one SQLite file, one transaction a result, so that whatever was finished survives any death."""

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
from ordinoise.paper.runs.trials import as_plain

APPLICATION_ID = 0x6F726478
"""Marks an SQLite file as ours: "ordx" in the file's header."""

FORMAT_VERSION = 1
SECONDS_TO_WAIT = 0.5

TABLE = "CREATE TABLE results (key TEXT PRIMARY KEY, trial TEXT NOT NULL, result TEXT NOT NULL, seconds REAL NOT NULL)"
COLUMNS = "SELECT key, trial, result, seconds FROM results"


@dataclass(frozen=True)
class StoredResult:
    """What one trial gave.

    Attributes
    ----------
    key : str
        The trial's key, see `trial_key`.
    trial : dict
        The trial's record, see `trial_record`.
    result : dict
        What the trial gave, in plain JSON form.
    seconds : float
        Time the trial took where it ran.
    """

    key: str
    trial: dict[str, Any]
    result: dict[str, Any]
    seconds: float


class ResultStore:
    """Results of trials in one file, for one run at a time. A context manager; made on first use.

    Parameters
    ----------
    path : path
        The SQLite file, in nobody else's use as long as the store is open. After a run that was killed there is one
        more beside it, ending in ``-wal``, which belongs to it: move or copy both.
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
        """Keys of the trials whose result is here."""
        with self._one_sentence():
            return {key for (key,) in self._connection.execute("SELECT key FROM results")}

    def add(self, key: str, trial_record: Mapping[str, Any], result: Mapping[str, Any], seconds: float) -> None:
        """Keep a result for good before returning; of two with the same key the first is kept.

        Parameters
        ----------
        key : str
            The trial's key.
        trial_record : mapping
            The trial's record.
        result : mapping
            Plain values; numpy's numbers and arrays become Python's. Floats come back exactly.
        seconds : float
            Time the trial took.
        """
        texts = [
            json.dumps(as_plain(name, value)) for name, value in (("trial_record", trial_record), ("result", result))
        ]
        with self._one_sentence():
            self._connection.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?)", (key, *texts, float(seconds)))

    def results(self, keys: Iterable[str] | None = None) -> list[StoredResult]:
        """The results of the keys asked for, in that order; all, in the order they came, if None."""
        with self._one_sentence():
            if keys is None:
                return [_stored(row) for row in self._connection.execute(f"{COLUMNS} ORDER BY rowid")]
            return [self._result(key) for key in keys]

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        # Held until the file is closed or the process dies. It also spares the shared memory that write-ahead
        # logging needs otherwise, which a network drive does not have.
        self._execute("PRAGMA locking_mode = EXCLUSIVE")
        check_ours(
            self._execute, self._complaint, what="results", application_id=APPLICATION_ID, version=FORMAT_VERSION
        )
        self._execute("PRAGMA journal_mode = WAL")
        # A power cut may cost the last few results, which are then run again; a killed process costs none.
        self._execute("PRAGMA synchronous = NORMAL")
        self._execute("BEGIN IMMEDIATE")
        if is_empty(self._execute):
            self._execute(TABLE)
            self._execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        self._execute("COMMIT")

    def _execute(self, statement: str) -> Any:
        """The first value that a statement gives, if any."""
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
        """Say what SQLite has to say about the file in our way."""
        try:
            yield
        except sqlite3.Error as error:
            # The lower byte is the kind of error, the rest its variety; errors of Python's wrapper have none.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise self._complaint(
                    "be used by one run at a time", "another", "wait for it, or choose another path"
                ) from None
            if code == sqlite3.SQLITE_CANTOPEN:
                raise self._complaint("be a file in a folder that exists", "no such place") from None
            raise self._complaint("be a sound, writable store of results", f"{str(error)!r}") from error
        except json.JSONDecodeError as error:
            raise self._complaint("be undamaged", f"{str(error)!r}") from error


def _stored(row: tuple[str, str, str, float]) -> StoredResult:
    key, trial, result, seconds = row
    return StoredResult(key, json.loads(trial), json.loads(result), seconds)


def write_table(results: Sequence[StoredResult], path: str | os.PathLike[str], *, seconds: bool = True) -> None:
    """Write results as a table, one row each: key, trial, result, seconds.

    Records inside records give columns like ``noise.rate``, lists become JSON. A result's column with the name of a
    trial's is called ``result.<name>``.

    Parameters
    ----------
    results : sequence of StoredResult
        The rows, in this order.
    path : path
        Ends in ``.csv`` or ``.parquet`` (which needs pyarrow); there is a whole file or none.
    seconds : bool, default=True
        Whether to write how long each trial took: all else is the same from run to run.
    """
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise complain("path", "end in .csv or .parquet", repr(str(target)))
    if not target.parent.is_dir():
        raise complain("path", "lie in a folder that exists", repr(str(target)))
    columns = _columns(results, seconds)
    write_whole(target, _as_csv(columns) if target.suffix == ".csv" else _as_parquet(columns))


def _columns(results: Sequence[StoredResult], seconds: bool) -> dict[str, list[Any]]:
    """Cells by column; a cell is None where a row has none."""
    trials = [_flat(stored.trial) for stored in results]
    outcomes = [_flat(stored.result) for stored in results]
    columns: dict[str, list[Any]] = {"key": [stored.key for stored in results]}
    taken = {"key", "seconds"}
    for part, rows in (("trial", trials), ("result", outcomes)):
        names = dict.fromkeys(name for row in rows for name in row)
        columns |= {f"{part}.{name}" if name in taken else name: [row.get(name) for row in rows] for name in names}
        taken |= names.keys()
    return columns | ({"seconds": [stored.seconds for stored in results]} if seconds else {})


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{prefix}{name}.")
        else:
            row[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return row


def _as_csv(columns: dict[str, list[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _as_parquet(columns: dict[str, list[Any]]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        advice = "pip install pyarrow, or write a .csv"
        raise ImportError(str(complain("path", "end in .csv without pyarrow", "'.parquet'", advice))) from None
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({name: _arrow(cells, pa) for name, cells in columns.items()}), sink)
    return sink.getvalue().to_pybytes()


def _arrow(cells: list[Any], pa: Any) -> Any:
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # Numbers beside words, or numbers beyond 64 bits: no one type holds them, their text does.
        return pa.array([None if cell is None else str(cell) for cell in cells])
