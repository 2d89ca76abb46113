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
from ordinoise.app.records.audit import AuditRecord, Suspect
from ordinoise.app.review.events import RowState
from ordinoise.app.tables import (
    delimiter_of,
    digest_of,
    format_of,
    grades_of,
    lines_with,
    read_exact,
    read_stored,
    read_text,
    tasks_with,
    workbook_with,
    write_content,
    write_lines,
    write_stored_with,
    write_table,
)
from ordinoise.app.tables.dialect import UNNAMED, has_unnamed_column
from ordinoise.app.tables.folder import whole_folder


@dataclass(frozen=True)
class Corrected:
    """A corrected file.

    Attributes
    ----------
    path : path
    n_changed : int
        Settled grades that differ from the recorded ones, as counted in the file.
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


def write_corrected(record: AuditRecord, states: Iterable[RowState], planned: Iterable[Suspect] = ()) -> Corrected:
    """Write ``<name>.reviewed.csv`` beside the audited file, with the settled grades in place of the recorded ones.

    Grades of earlier rounds are written too.

    Any other format stays what it is, with its types: JSON lines, Excel, Parquet and Feather. All other cells are kept
    exactly. If the name is taken, the new file gets a number. `planned` are rows that were reviewed though the audit
    does not suspect them.
    """
    source = Path(record.source)
    if digest_of(source) != record.digest:
        advice = "audit it again; nothing was written"
        raise complain("the audited file", "be unchanged since its audit", f"other content in {str(source)!r}", advice)
    graded = [state for state in states if state.grade is not None]
    decided = {one.row: one.grade for one in record.settled}
    decided |= {state.row: state.grade for state in graded if state.grade is not None}
    changes = _changes(record, decided, planned)
    beside = whole_folder(source)
    with tempfile.TemporaryDirectory(prefix=".reviewed-", dir=beside.parent) as folder:
        written = Path(folder) / f"reviewed{_suffix(source, format_of(source))}"
        _write(record, source, changes, written)
        n_changed = _count_changes(record, source, decided, written)
        path = placed(written, beside)
    n_disputed = sum(state.is_disputed for state in graded)
    return Corrected(path, n_changed, len(decided) - n_changed, n_disputed)


def _write(record: AuditRecord, source: Path, changes: dict[int, str], path: Path) -> None:
    """Write the corrected file, in the format and with the types of the original."""
    kind, target = format_of(source), record.target
    if kind == "text":
        table = _with_changes(read_text(source, asked=record.reading), target, changes)
        if record.reading.has_header and table.columns[0] == UNNAMED and has_unnamed_column(source):
            table = table.rename({UNNAMED: ""})
        write_table(table, path, delimiter=delimiter_of(source), header=record.reading.has_header)
    elif kind == "tasks":
        write_content(tasks_with(source, target, changes), path)
    elif kind == "json":
        write_lines(lines_with(source, target, _values(read_stored(source), target, changes)), path)
    else:
        stored = read_exact(source)
        values = _values(stored, target, changes)
        if kind == "excel":
            write_content(workbook_with(source, target, values), path)
        elif not write_stored_with(source, kind, target, values, path):
            write_table(_with_values(stored, target, values), path)


def _count_changes(record: AuditRecord, source: Path, decided: dict[int, str], written: Path) -> int:
    """Number of grades that differ between the files; refuses a written one that differs from what was decided."""
    before, after = (read_stored(path, asked=record.reading) for path in (source, written))
    was, now = (_grades(table, record) for table in (before, after))
    others = [name for name in before.columns if name != record.target]
    if now != was | decided or not after.drop(record.target).select(others).equals(before.select(others)):
        rule = "hold every decision and every other cell"
        raise complain("the corrected file", rule, "another content when it was read again", "nothing was written")
    return sum(was.get(row) != grade for row, grade in now.items())


def _grades(table: pl.DataFrame, record: AuditRecord) -> dict[int, str | None]:
    """The grade of every row that has one."""
    labels, rows = grades_of(table, record.target, record.classes)
    return dict(zip(rows.tolist(), labels.tolist(), strict=True))


def _has_header(record: AuditRecord) -> bool:
    return not record.settings.get("no_header", False)


def _suffix(source: Path, kind: str) -> str:
    """The suffix of the original where it fits the format, else the usual one."""
    usual = {
        "text": (".csv",),
        "json": (".jsonl",),
        "tasks": (".json",),
        "excel": (".xlsx", ".xlsm"),
        "parquet": (".parquet",),
        "arrow": (".feather", ".arrow"),
    }
    return source.suffix.lower() if source.suffix.lower() in usual[kind] else usual[kind][0]


def _changes(record: AuditRecord, decided: dict[int, str], planned: Iterable[Suspect]) -> dict[int, str]:
    """The new text of every cell that changes, spelled as in the file if a suspect has that grade."""
    target = [column.name for column in record.columns].index(record.target)
    spelling = {suspect.recorded: suspect.cells[target] or suspect.recorded for suspect in record.suspects}
    recorded = {one.row: one.recorded for one in record.settled}
    recorded |= {one.row: one.recorded for one in (*planned, *record.suspects)}
    return {row: spelling.get(grade, grade) for row, grade in decided.items() if grade != recorded.get(row)}


def _values(stored: pl.DataFrame, target: str, changes: dict[int, str]) -> dict[int, Any]:
    """The new values, with the type of the column."""
    _check_fits(stored, target, changes)
    text, dtype = pl.Series(list(changes.values()), dtype=pl.String), stored[target].dtype
    if dtype == pl.Boolean:
        values = text.str.to_lowercase() == "true"
    else:  # a whole number may be spelled 3.0
        values = text.cast(dtype, strict=False)
        if dtype.is_integer():
            values = values.zip_with(
                values.is_not_null(), text.cast(pl.Float64, strict=False).cast(dtype, strict=False)
            )
    if values.null_count():
        got = f"{text.filter(values.is_null())[0]!r} in {target!r}"
        raise complain("grades", f"be of the type of their column, {dtype}", got, "nothing was written")
    return dict(zip(changes, values, strict=True))


def _with_values(stored: pl.DataFrame, target: str, values: dict[int, Any]) -> pl.DataFrame:
    """The table with other values in some rows of a column, whose type stays."""
    cells = stored[target].to_list()
    for row, value in values.items():
        cells[row] = value
    return stored.with_columns(pl.Series(target, cells, dtype=stored[target].dtype))


def _with_changes(table: pl.DataFrame, target: str, changes: dict[int, str]) -> pl.DataFrame:
    _check_fits(table, target, changes)
    cells = table[target].to_list()
    for row, cell in changes.items():
        cells[row] = cell
    return table.with_columns(pl.Series(target, cells, dtype=pl.String))


def _check_fits(table: pl.DataFrame, target: str, changes: dict[int, str]) -> None:
    if target not in table.columns or max(changes, default=-1) >= table.height:
        got = f"{table.height} rows of {len(table.columns)} columns"
        raise complain("audit.json", "name rows and columns of the audited file", got, "it is damaged")


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
