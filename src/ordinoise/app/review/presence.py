"""Whether an open SQLite file is still where it was opened, and a copy of its content if it is not."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import suppress
from pathlib import Path


class Presence:
    """The identity of an SQLite file and of its write-ahead log, taken while a connection has both open.

    A deleted or replaced file stays open: SQLite continues to write to it, and nobody finds what it wrote.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = {file: _identity(file) for file in (path, path.with_name(f"{path.name}-wal"))}
        self._rescued: Path | None = None

    def loss(self) -> str | None:
        """What happened to the first file that is not the opened one; None if both are in place."""
        for file, opened in self._files.items():
            found = _identity(file)
            if found != opened:
                return f"{'a deleted or moved' if found is None else 'another'} file {file.name!r}"
        self._rescued = None
        return None

    def rescue(self, connection: sqlite3.Connection) -> str:
        """Copy the content to a new file in the same folder, once for each loss; returns what to do next."""
        try:
            self._rescued = self._rescued or self._copied(connection)
        except (sqlite3.Error, OSError):
            return "move it back before you stop the review, or the decisions are lost"
        return (
            f"every confirmed decision is rescued in {str(self._rescued)!r}: "
            f"stop the review and rename that file to {self._path.name!r}"
        )

    def _copied(self, connection: sqlite3.Connection) -> Path:
        names = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
        paths = (self._path.with_name(f"{self._path.stem}.rescued{more}{self._path.suffix}") for more in names)
        path = next(path for path in paths if not path.exists() and not path.is_symlink())
        connection.execute("VACUUM INTO ?", (str(path),))
        # A log that is left behind would be replayed into the next file of this name. A moved file becomes complete.
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return path


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and number of a file; None if there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
