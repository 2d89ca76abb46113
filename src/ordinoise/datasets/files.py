"""Data files: location, checksums and parsing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from ordinoise._validation import Floats, complain

DATA_VARIABLE = "ORDINOISE_DATA"
"""The environment variable with the data folder, for calls without `data_dir`."""

DataDir = str | os.PathLike[str] | None


class MissingFileError(ValueError):
    """A data file is missing; the message names the file and the folder."""


@dataclass(frozen=True)
class DataFile:
    """A published file: its path relative to the data folder, its checksum, and its number of rows without header."""

    path: str
    n_rows: int
    sha256: str
    source: str
    n_header: int = 0

    @property
    def name(self) -> str:
        """The file's own name."""
        return PurePosixPath(self.path).name

    @property
    def places(self) -> tuple[str, ...]:
        """Accepted paths of the file relative to the user's folder, deepest first."""
        parts = PurePosixPath(self.path).parts
        return tuple("/".join(parts[start:]) for start in range(len(parts)))


def verified(file: DataFile, data_dir: DataDir = None, *, verify: bool = True, advice: str = "") -> Path:
    """Path of `file`; with `verify`, a file with another checksum is refused."""
    path = locate(file, data_dir, advice)
    if verify:
        _check(path, file)
    return path


def locate(file: DataFile, data_dir: DataDir = None, advice: str = "") -> Path:
    """Path of `file` below `data_dir`, or below ORDINOISE_DATA if that is None.

    The folder may be the root of the data or any subfolder on the path to the file.
    """
    argument, folder = _folder(data_dir)
    if folder is None:
        got = f"None and no {DATA_VARIABLE}"
    else:
        for place in file.places:
            if (folder / place).is_file():
                return folder / place
        got = f"{str(folder)!r} without it" if folder.is_dir() else f"{str(folder)!r}, which is not a folder"
    rule = f"hold {file.name!r}, as one of {list(file.places)}"
    remedy = f"pass its folder as data_dir or set {DATA_VARIABLE}{advice} (source: {file.source})"
    raise MissingFileError(str(complain(argument, rule, got, remedy)))


def read_numbers(
    path: Path, n_columns: int, delimiter: str | None = ",", codes: Mapping[str, float] | None = None
) -> Floats:
    """A file of numbers without header as an array of shape (n_rows, n_columns).

    ``delimiter=None`` splits at blanks; `codes` maps letters in the first column to numbers.
    """
    letters: dict[int | str, Callable[[str], float]] | None = {0: codes.__getitem__} if codes else None
    rule = f"hold rows of {n_columns} finite numbers"
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        table = np.loadtxt(lines, delimiter=delimiter, ndmin=2, converters=letters) if lines else None
    except (ValueError, KeyError) as error:
        raise complain(path.name, rule, f"one that does not parse ({str(error).rstrip('.')})") from None
    if table is None:
        raise complain(path.name, rule, "an empty file")
    if table.shape[1] != n_columns:
        raise complain(path.name, rule, f"rows of {table.shape[1]}")
    if not np.isfinite(table).all():
        raise complain(path.name, rule, f"{table[~np.isfinite(table)][0]}")
    return table.astype(np.float64, copy=False)


def _folder(data_dir: DataDir) -> tuple[str, Path | None]:
    """The name of the argument or variable that gives the folder, for errors, and the folder."""
    if data_dir is not None:
        return "data_dir", Path(data_dir).expanduser()
    named = os.environ.get(DATA_VARIABLE)
    return (DATA_VARIABLE, Path(named).expanduser()) if named else ("data_dir", None)


def _check(path: Path, file: DataFile) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    n_rows = _count_rows(path) - file.n_header
    if found != file.sha256 or n_rows != file.n_rows:
        raise complain(
            str(path),
            f"be the archive's file of {file.n_rows} rows with sha256 {file.sha256[:12]}...",
            f"{n_rows} rows with sha256 {found[:12]}...",
            "get the file again, or pass verify=False to read another version of it",
        )


def _count_rows(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for line in stream if line.strip())
