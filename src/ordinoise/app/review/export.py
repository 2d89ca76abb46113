"""The corrected file: the audited file with the settled grades, written as a new file beside it."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.record import AuditRecord
from ordinoise.app.review.events import RowState
from ordinoise.app.tables import (
    delimiter_of,
    digest_of,
    is_lines,
    lines_with,
    read_stored,
    read_text,
    write_lines,
    write_table,
)
from ordinoise.columns.inference import as_text


@dataclass(frozen=True)
class Corrected:
    """A corrected file.

    Attributes
    ----------
    path : path
    n_changed : int
        Settled grades that differ from the recorded ones.
    n_kept : int
        Settled grades that confirm the recorded ones.
    n_disputed : int
        Settled rows with different grades by different reviewers; the latest grade is written.
    also : tuple of path
        Other files that were written with it.
    """

    path: Path
    n_changed: int
    n_kept: int
    n_disputed: int
    also: tuple[Path, ...] = ()


def write_corrected(record: AuditRecord, states: Iterable[RowState]) -> Corrected:
    """Write ``<name>.reviewed.csv`` beside the audited file, with the settled grades in place of the recorded ones.

    A file of JSON lines becomes ``<name>.reviewed.jsonl``. All other cells are kept exactly. If the name is taken, the
    new file gets a number.
    """
    source = Path(record.source)
    if digest_of(source) != record.digest:
        advice = "audit it again; nothing was written"
        raise complain("the audited file", "be unchanged since its audit", f"other content in {str(source)!r}", advice)
    settled = {state.row: state for state in states if state.grade is not None}
    changes = _changes(record, settled)
    suffix = ".jsonl" if is_lines(source) else ".csv"
    with tempfile.TemporaryDirectory(prefix=".reviewed-", dir=source.parent) as folder:
        written = Path(folder) / f"reviewed{suffix}"
        if suffix == ".jsonl":
            write_lines(lines_with(source, record.target, _values(source, record.target, changes)), written)
        else:
            header = not record.settings.get("no_header", False)
            table = _with_changes(read_text(source, header=header), record.target, changes)
            write_table(table, written, delimiter=_delimiter(source), header=header)
        path = placed(written, source)
    n_disputed = sum(state.is_disputed for state in settled.values())
    return Corrected(path, len(changes), len(settled) - len(changes), n_disputed)


def _changes(record: AuditRecord, settled: dict[int, RowState]) -> dict[int, str]:
    """The new text of every cell that changes, spelled as in the file if a suspect has that grade."""
    target = [column.name for column in record.columns].index(record.target)
    spelling = {suspect.recorded: suspect.cells[target] or suspect.recorded for suspect in record.suspects}
    recorded = {suspect.row: suspect.recorded for suspect in record.suspects}
    return {
        row: spelling.get(state.grade, state.grade)
        for row, state in settled.items()
        if state.grade is not None and state.grade != recorded.get(row)
    }


def _values(source: Path, target: str, changes: dict[int, str]) -> dict[int, Any]:
    """The new values of JSON lines, with the type of the column."""
    stored = read_stored(source)
    table = _with_changes(stored.with_columns(as_text(stored[target])), target, changes)
    return dict(zip(changes, table[target].gather(list(changes)).cast(stored[target].dtype), strict=True))


def _with_changes(table: pl.DataFrame, target: str, changes: dict[int, str]) -> pl.DataFrame:
    if target not in table.columns or max(changes, default=-1) >= table.height:
        got = f"{table.height} rows of {len(table.columns)} columns"
        raise complain("audit.json", "name rows and columns of the audited file", got, "it is damaged")
    cells = table[target].to_list()
    for row, cell in changes.items():
        cells[row] = cell
    return table.with_columns(pl.Series(target, cells, dtype=pl.String))


def _delimiter(source: Path) -> str:
    """The delimiter of a text file; a comma for Parquet and Feather."""
    try:
        return delimiter_of(source)
    except ValueError:
        return ","


def placed(written: Path, source: Path) -> Path:
    """The path of a written file, once it has a free name beside the original, with ``.reviewed`` before its suffix."""
    return next(path for path in _names(source, written.suffix) if _is_placed(written, path))


def _names(source: Path, suffix: str) -> Iterator[Path]:
    """Names for the new file, best first."""
    stem = Path(source.name.removesuffix(".gz")).stem
    yield source.with_name(f"{stem}.reviewed{suffix}")
    for number in itertools.count(2):
        yield source.with_name(f"{stem}.reviewed-{number}{suffix}")


def _is_placed(written: Path, path: Path) -> bool:
    """Give a file its name unless the name is taken, in one step, so that no other process is overwritten."""
    try:
        os.link(written, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        try:
            with path.open("xb") as file:
                file.write(written.read_bytes())
        except FileExistsError:
            return False
    return True
