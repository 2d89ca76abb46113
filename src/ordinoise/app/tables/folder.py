"""A table in several Parquet files: a folder of them, or a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ordinoise._validation import complain
from ordinoise.columns.names import listed

MARKS = ("*", "?", "[")


def is_folder(path: Path) -> bool:
    """Whether a path means a folder or a pattern of Parquet files."""
    return path.is_dir() or (not path.exists() and any(mark in str(path) for mark in MARKS))


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder or a pattern, by name."""
    if path.is_dir():
        found = [entry for entry in path.rglob("*.parquet") if not _is_hidden(entry, path)]
        where = f"the folder {str(path)!r}"
    else:
        folder = whole_folder(path)
        found, where = list(folder.glob(str(path.relative_to(folder)))), repr(str(path))
    files = sorted(entry for entry in found if entry.is_file())
    if not files:
        raise complain("file", "name Parquet files, a folder of them or one table", f"none in {where}")
    odd = next((entry for entry in files if entry.suffix.lower() not in (".parquet", ".pq")), None)
    if odd is not None:
        raise complain("file", "name Parquet files only where it names several", repr(str(odd)))
    return files


def whole_folder(path: Path) -> Path:
    """The folder that a pattern looks in; any other path as it is."""
    at = next((at for at, piece in enumerate(path.parts) if any(mark in piece for mark in MARKS)), None)
    return path if at is None or path.exists() else Path(*path.parts[:at])


def folder_of(path: Path) -> Path:
    """The folder that a table is in, from which its cells name pictures."""
    whole = whole_folder(path)
    return whole if whole.is_dir() else path.parent


def _is_hidden(entry: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in entry.relative_to(folder).parts)


def check_same_columns(first: Sequence[str], own: Sequence[str], file: Path) -> None:
    """Refuse a file whose columns are not those of the first one."""
    if list(own) != list(first):
        odd = sorted(set(own) ^ set(first))
        got = f"{listed(odd)} in some only, {str(file)!r} and others" if odd else f"another order in {str(file)!r}"
        raise complain("file", "have the same columns in every Parquet file", got)
