"""A copy of a file with other grades in some rows: in every format all else stays, and the copy is read again."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import records
from ordinoise.app.tables.encoding import encoding_words
from ordinoise.app.tables.label_studio import tasks_with
from ordinoise.app.tables.lines import lines_with
from ordinoise.app.tables.output_dialect import Dialect
from ordinoise.app.tables.reader import Opened, open_stored, read_exact, read_stored
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.source import format_of, open_source, unpacked_bytes
from ordinoise.app.tables.splice import CsvText, csv_text
from ordinoise.app.tables.stored import write_stored_with
from ordinoise.app.tables.target import grades_of
from ordinoise.app.tables.workbook_cells import workbook_with
from ordinoise.app.tables.writer import csv_bytes, write_content, write_lines, write_table
from ordinoise.columns.inference import as_text

USUAL = {
    "text": (".csv", ".tsv"),
    "json": (".jsonl", ".ndjson"),
    "tasks": (".json",),
    "excel": (".xlsx", ".xlsm"),
    "parquet": (".parquet",),
    "arrow": (".feather", ".arrow"),
}
"""Suffixes of each format, the usual one first."""


@dataclass(frozen=True)
class GradeColumn:
    """The column of grades of a file.

    Attributes
    ----------
    path : Path
    name : str
    classes : tuple of str
        Grades from lowest to highest.
    reading : Reading
        How the file is read.
    """

    path: Path
    name: str
    classes: tuple[str, ...]
    reading: Reading = BY_RULES

    def suffix(self) -> str:
        """The suffix of the file where it fits its format, else the usual one."""
        usual, own = USUAL[format_of(self.path)], self.path.suffix.lower()
        return own if own in usual else usual[0]

    def write_with(self, grades: Mapping[int, str], path: Path) -> int:
        """Write a copy whose rows in `grades` have these grades, and return how many differ from those of the file.

        A new grade is spelled as the file spells it most often. The copy is read again before this returns.
        """
        before = open_stored(self.path, asked=self.reading)
        if self.name not in before.frame.columns or max(grades, default=-1) >= before.frame.height:
            got = f"{before.frame.height} rows of {before.frame.width} columns"
            raise complain("audit.json", "name rows and columns of the audited file", got, "it is damaged")
        recorded = self._grades(before.frame)
        changed = {row: grade for row, grade in grades.items() if recorded.get(row) != grade}
        spelling = _spellings(as_text(before.frame[self.name]), recorded)
        mark = self.reading.decimal if format_of(self.path) == "text" else ""
        unspelled = Dialect(decimal=mark or ".").spelled
        cells = {row: spelling.get(grade) or unspelled(grade) for row, grade in changed.items()}
        self._write(before, cells, path)
        self._check_copy(before, recorded | dict(grades), path)
        return len(changed)

    def _grades(self, table: pl.DataFrame) -> dict[int, str]:
        """The grade of every row that has one."""
        labels, rows = grades_of(table, self.name, self.classes)
        return dict(zip(rows.tolist(), labels.tolist(), strict=True))

    def _write(self, opened: Opened, cells: Mapping[int, str], path: Path) -> None:
        kind = format_of(self.path)
        if kind == "text":
            write_content(self._text_with(opened, cells), path)
        elif kind == "tasks":
            write_content(tasks_with(self.path, self.name, cells), path)
        elif kind == "json":
            values = _values(opened.frame[self.name], cells)
            write_lines(lines_with(self.path, self.name, values), path)
        else:
            stored = read_exact(self.path, asked=self.reading)
            values = _values(stored[self.name], cells)
            if kind == "excel":
                write_content(workbook_with(self.path, self.name, values, self.reading), path)
            elif not write_stored_with(self.path, kind, self.name, values, path):
                write_table(stored.with_columns(_with_values(stored[self.name], values)), path)

    def _text_with(self, opened: Opened, cells: Mapping[int, str]) -> bytes:
        """The bytes of a CSV file with other cells; all others, line ends, quotes and the encoding are kept."""
        at = opened.frame.columns.index(self.name)
        return text_with(self.path, opened, {(row, at): cell for row, cell in cells.items()})

    def _check_copy(self, before: Opened, grades: Mapping[int, str], path: Path) -> None:
        """Refuse a copy that differs from what it should hold."""
        after = read_stored(path, asked=self.reading)
        others = [name for name in before.frame.columns if name != self.name]
        is_same = {*others} <= {*after.columns} and after.select(others).equals(before.frame.select(others))
        if not is_same or self._grades(after) != grades:
            rule = "hold every decision and every other cell"
            raise complain("the corrected file", rule, "another content when it was read again", "nothing was written")


def text_with(path: Path, opened: Opened, cells: Mapping[tuple[int, int], str]) -> bytes:
    """The bytes of a CSV file with other cells, by row and column."""
    text = located_text(path, opened, cells)
    return in_encoding_of(path, opened.reading, text.text, text.with_cells(cells))


def text_and(path: Path, opened: Opened, added: pl.DataFrame, dialect: Dialect) -> bytes:
    """The bytes of a CSV file with more columns at its end; one without a header gets one."""
    text = located_text(path, opened)
    own = replace(dialect, delimiter=text.delimiter, line_end="\n", mark=False)
    names, *rows = [_without_end(record) for _, record in records(io.BytesIO(csv_bytes(added, own)))]
    made = text.with_fields(names, rows, added.width)
    if text.header is None:
        header = csv_bytes(opened.frame.clear(), replace(own, line_end="")) + text.delimiter.encode() + names
        made = header + dialect.line_end.encode() + made
    return in_encoding_of(path, opened.reading, text.text, made)


def _without_end(record: bytes) -> bytes:
    return record.removesuffix(b"\n")


def located_text(path: Path, opened: Opened, places: Collection[tuple[int, int]] = ()) -> CsvText:
    """The text of a CSV file with the places of the rows of its table; refuses one whose rows are elsewhere."""
    text = find_text(path, opened.reading, opened.frame, places)
    if text is None:
        raise complain("file", "have one line per row", f"others in {str(path)!r}", "nothing was written")
    return text


def find_text(
    path: Path, reading: Reading, frame: pl.DataFrame, places: Collection[tuple[int, int]] = ()
) -> CsvText | None:
    """The text of a CSV file with the places of the rows of its table, whose cells are compared at some places.

    None if they are not found.
    """
    source = open_source(path, reading.encoding)
    for is_quoted in (True, False):
        text = csv_text(
            source.text, reading.delimiter, header=reading.has_header, n_above=reading.rows_above,
            n_below=reading.rows_below, is_quoted=is_quoted, has_blank_rows=frame.width == 1,
        )  # fmt: skip
        if len(text.rows) == frame.height and all(text.cell(*place) == frame[place] for place in places):
            return text
    return None


def in_encoding_of(path: Path, reading: Reading, text: bytes, changed: bytes) -> bytes:
    """A changed text in the encoding of a file, after its mark; `text` is that of the file, in UTF-8."""
    raw = unpacked_bytes(path)
    encoding, words = reading.encoding, encoding_words(reading.encoding)
    if reading.line_end == "\r":  # the text has line feeds in their place
        text, changed = text.replace(b"\n", b"\r"), changed.replace(b"\n", b"\r")
    unchanged = text if encoding == "utf-8" else text.decode().encode(encoding)
    mark = raw[: len(raw) - len(unchanged)]
    if mark + unchanged != raw:
        raise complain("file", f"be whole text in {words}", "other bytes", "save it as UTF-8")
    try:
        return mark + (changed if encoding == "utf-8" else changed.decode().encode(encoding))
    except UnicodeEncodeError as error:
        got = repr(error.object[error.start : error.end])
        raise complain("grades", f"be spelled in the file's encoding, {words}", got, "nothing was written") from None


def _spellings(cells: pl.Series, recorded: Mapping[int, str]) -> dict[str, str]:
    """The commonest spelling of every grade in a column; the first of those that are equally common."""
    found: dict[str, Counter[str]] = {}
    for row, grade in recorded.items():
        found.setdefault(grade, Counter())[cells[row]] += 1
    return {grade: counts.most_common(1)[0][0] for grade, counts in found.items()}


def _values(stored: pl.Series, cells: Mapping[int, str]) -> dict[int, Any]:
    """The new cells with the type of their column."""
    text, dtype = pl.Series(list(cells.values()), dtype=pl.String), stored.dtype
    if dtype == pl.Boolean:
        values = text.str.to_lowercase() == "true"
    else:  # a whole number may be spelled 3.0
        values = text.cast(dtype, strict=False)
        if dtype.is_integer():
            whole = text.cast(pl.Float64, strict=False).cast(dtype, strict=False)
            values = values.zip_with(values.is_not_null(), whole)
    if values.null_count():
        got = f"{text.filter(values.is_null())[0]!r} in {stored.name!r}"
        raise complain("grades", f"be of the type of their column, {dtype}", got, "nothing was written")
    return dict(zip(cells, values, strict=True))


def _with_values(stored: pl.Series, values: Mapping[int, Any]) -> pl.Series:
    """The column with other values in some rows, of the same type."""
    cells = stored.to_list()
    for row, value in values.items():
        cells[row] = value
    return pl.Series(stored.name, cells, dtype=stored.dtype)
