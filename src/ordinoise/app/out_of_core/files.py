"""A table in several Parquet files, read a part at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import check_names
from ordinoise.app.tables.folder import check_same_columns, is_folder, parquet_files
from ordinoise.app.tables.reader import FAILURES
from ordinoise.app.tables.source import CELL_BYTES, as_file, check_size, limit, most_bytes
from ordinoise.app.tables.trial import damaged, stored_size
from ordinoise.columns.refusals import is_sentence

PART_ROWS = 2**18
"""Most rows of a part; polars writes Parquet in row groups of so many."""
IN_MEMORY_ROWS = 1_000_000
"""A folder of no more rows is read as one file, if it fits into memory: a model of parts learns from all of them too. A
round number, chosen by no run."""
MAX_ROWS = "ORDINOISE_MAX_ROWS"


@dataclass(frozen=True)
class Part:
    """Some rows of a file: its path, the number of its first row in the whole table, where it begins, its size."""

    path: str
    first: int
    start: int
    n_rows: int


@dataclass(frozen=True)
class Parts:
    """The parts of all files in order, the names of the columns, and about how many bytes the values take."""

    parts: tuple[Part, ...]
    names: tuple[str, ...]
    n_bytes: int

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return self.parts[-1].first + self.parts[-1].n_rows


def is_read_in_parts(path: Path, scheduler: str | None = None) -> bool:
    """Whether a path means a folder that is given to a cluster, or larger than what is read as one file."""
    if not is_folder(path) or scheduler is not None:
        return scheduler is not None and is_folder(path)
    found = parts_of(parquet_files(path))
    return found.n_rows > limit(MAX_ROWS, IN_MEMORY_ROWS) or found.n_bytes > most_bytes()


AT_ONCE = f"{MAX_ROWS} is the most rows that are read at once, if they fit into memory"


def refuse_in_parts(advice: str = AT_ONCE, **options: Any) -> None:
    """Refuse options that need all rows at once."""
    odd = next((name for name, value in options.items() if value), None)
    if odd is not None:
        raise complain(odd.replace("_", "-"), "be left out for a table in parts", repr(str(options[odd])), advice)


def parts_of(files: Sequence[Path]) -> Parts:
    """The parts of all files; refuses files whose columns differ."""
    return _parts_of(tuple(files), state_of(files))


@lru_cache(maxsize=1)  # every value is read, and a command asks twice
def _parts_of(files: tuple[Path, ...], _: str) -> Parts:
    parts: list[Part] = []
    names: tuple[str, ...] = ()
    first = n_bytes = 0
    for file in files:
        own, n_rows, own_bytes = _shape(file)
        check_same_columns(names if parts else own, own, file)
        names, n_bytes = own, n_bytes + own_bytes
        for start in range(0, n_rows, PART_ROWS):
            size = min(PART_ROWS, n_rows - start)
            parts.append(Part(str(file.resolve()), first + start, start, size))
        first += n_rows
    if not first:
        raise complain("file", "hold rows", "only column names")
    return Parts(tuple(parts), names, n_bytes)


def _shape(file: Path) -> tuple[tuple[str, ...], int, int]:
    """Names of the columns, rows and bytes; every value is read once, by a process that may die of it."""
    try:
        with as_file(file).open("rb") as opened:
            n_rows, _, n_bytes = stored_size(file, opened, "parquet", is_whole=False) or (None, 0, 0)
            opened.seek(0)
            lazy = pl.scan_parquet(opened)
            names = lazy.collect_schema().names()
            n_rows = int(lazy.select(pl.len()).collect().item()) if n_rows is None else n_rows
    except FAILURES as error:
        raise (error if is_sentence(error) else damaged(file, "parquet")) from None
    check_size(file, min(n_rows, PART_ROWS), len(names))
    check_names(names)
    return tuple(names), n_rows, n_rows * len(names) * CELL_BYTES + n_bytes


def read_part(part: Part, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Some columns of a part, with NaN and empty text as null."""
    try:
        lazy = pl.scan_parquet(part.path, glob=False).slice(part.start, part.n_rows)
        frame = (lazy if columns is None else lazy.select(columns)).collect()
        text = pl.col(pl.String, pl.Categorical, pl.Enum)
        filled = pl.when(text.cast(pl.String) != "").then(text)
        frame = frame.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None), filled)
    except FAILURES:
        raise damaged(Path(part.path), "parquet") from None
    if frame.height != part.n_rows:
        raise complain("file", "not change while it is read", repr(part.path))
    return frame


def state_of(files: Sequence[Path]) -> str:
    """A digest of names, sizes and times of the files: another one if any of them changes."""
    states = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(states).encode()).hexdigest()
