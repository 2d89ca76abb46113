"""A table in several Parquet files, read a part at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import check_names
from ordinoise.app.tables.reader import FAILURES
from ordinoise.app.tables.source import check_size
from ordinoise.app.tables.trial import damaged, stored_size
from ordinoise.columns.names import listed
from ordinoise.columns.refusals import is_sentence

PART_ROWS = 2**18
"""Most rows of a part; polars writes Parquet in row groups of so many."""
MARKS = ("*", "?", "[")


@dataclass(frozen=True)
class Part:
    """Some rows of a file: its path, the number of its first row in the whole table, where it begins, its size."""

    path: str
    first: int
    start: int
    n_rows: int


def is_partitioned(path: Path) -> bool:
    """Whether a path means a folder or a pattern of Parquet files."""
    return path.is_dir() or (not path.exists() and any(mark in str(path) for mark in MARKS))


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder or a pattern, by name."""
    if path.is_dir():
        found = [entry for entry in path.rglob("*.parquet") if not _is_hidden(entry, path)]
        where = f"the folder {str(path)!r}"
    else:
        at = next(at for at, piece in enumerate(path.parts) if any(mark in piece for mark in MARKS))
        found, where = list(Path(*path.parts[:at]).glob(str(Path(*path.parts[at:])))), repr(str(path))
    files = sorted(entry for entry in found if entry.is_file())
    if not files:
        raise complain("file", "name Parquet files, a folder of them or one table", f"none in {where}")
    odd = next((entry for entry in files if entry.suffix.lower() not in (".parquet", ".pq")), None)
    if odd is not None:
        raise complain("file", "name Parquet files only where it names several", repr(str(odd)))
    return files


def _is_hidden(entry: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in entry.relative_to(folder).parts)


def parts_of(files: Sequence[Path]) -> tuple[list[Part], list[str]]:
    """The parts of all files in order, and the names of the columns; refuses files whose columns differ."""
    parts: list[Part] = []
    names: list[str] = []
    first = 0
    for file in files:
        own, n_rows = _shape(file)
        if parts and own != names:
            odd = sorted(set(own) ^ set(names))
            got = f"{listed(odd)} in some only, {str(file)!r} and others" if odd else f"another order in {str(file)!r}"
            raise complain("file", "have the same columns in every Parquet file", got)
        names = own
        for start in range(0, n_rows, PART_ROWS):
            size = min(PART_ROWS, n_rows - start)
            parts.append(Part(str(file.resolve()), first + start, start, size))
        first += n_rows
    if not first:
        raise complain("file", "hold rows", "only column names")
    return parts, names


def _shape(file: Path) -> tuple[list[str], int]:
    """Names of the columns and number of rows; every value is read once, by a process that may die of it."""
    try:
        with file.open("rb") as opened:
            n_rows = (stored_size(file, opened, "parquet", is_whole=False) or (None,))[0]
            opened.seek(0)
            lazy = pl.scan_parquet(opened)
            names = lazy.collect_schema().names()
            n_rows = int(lazy.select(pl.len()).collect().item()) if n_rows is None else n_rows
    except FAILURES as error:
        raise (error if is_sentence(error) else damaged(file, "parquet")) from None
    check_size(file, min(n_rows, PART_ROWS), len(names))
    check_names(names)
    return names, n_rows


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
