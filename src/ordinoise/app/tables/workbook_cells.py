"""A workbook with other values in some cells of one column: every other byte of every sheet stays as it is."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.workbook import column_number, damaged, open_workbook, parts_of, read_workbook

_TAG = re.compile(rb"""<[^\s/>]+(\s+[^\s=/>]+\s*=\s*("[^"]*"|'[^']*'))*\s*/?>""")


@dataclass(frozen=True)
class _Cell:
    """A cell that is not empty: where it is in the sheet and in the bytes of its part."""

    row: int
    column: int
    start: int
    end: int
    prefix: str
    style: str
    has_formula: bool


def workbook_with(path: Path, target: str, changes: Mapping[int, Any]) -> bytes:
    """The workbook at `path` whose column `target` has the values of `changes`, by data row from 0.

    A number is written as a number and text as text, never as a formula. The result is read again before it is used.
    """
    content = path.read_bytes()
    book, table = open_workbook(path, content), read_workbook(path, content)
    cells = list(_cells(path, book.parts[book.part]))
    top, left = min(cell.row for cell in cells), min(cell.column for cell in cells)
    column = left + table.columns.index(target)
    places = {cell.row - top - 1: cell for cell in cells if cell.column == column}
    sheet = _spliced(book.parts[book.part], {places[row]: value for row, value in changes.items() if row in places})
    packed = _replaced(path, content, book.part, sheet)
    if not read_workbook(path, packed).equals(_expected(table, target, changes)):
        rule = "be a workbook whose cells can be changed one by one"
        raise complain("file", rule, repr(str(path)), "save the sheet as CSV")
    return packed


def _expected(table: pl.DataFrame, target: str, changes: Mapping[int, Any]) -> pl.DataFrame:
    values = table[target].to_list()
    for row, value in changes.items():
        values[row] = value
    return table.with_columns(pl.Series(target, values, dtype=table[target].dtype))


def _cells(path: Path, sheet: bytes) -> Iterator[_Cell]:
    """The cells of a sheet that hold something, in the order of its bytes."""
    found: list[_Cell] = []
    state: dict[str, Any] = {"row": 0, "column": 0, "cell": None, "holds": False, "formula": False}
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        if local == "row":
            state.update(row=int(attributes.get("r", state["row"] + 1)), column=0)
        elif local == "c":
            letters = re.sub(r"\d", "", attributes.get("r", ""))
            column = column_number(letters) if letters else state["column"] + 1
            cell = (column, parser.CurrentByteIndex, f"{prefix}:" if prefix else "", attributes.get("s", ""))
            state.update(column=column, cell=cell, holds=False, formula=False)
        elif state["cell"] is not None:
            state["holds"] |= local in ("v", "is")
            state["formula"] |= local == "f"

    def end(name: str) -> None:
        if name.rpartition(":")[2] != "c" or state["cell"] is None:
            return
        column, at, prefix, style = state["cell"]
        opened = _TAG.match(sheet, at)
        if opened is None:
            raise damaged(path)
        is_whole = opened[0].endswith(b"/>")
        after = opened.end() if is_whole else sheet.index(b">", parser.CurrentByteIndex) + 1
        if state["holds"]:
            found.append(_Cell(state["row"], column, at, after, prefix, style, state["formula"]))
        state["cell"] = None

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(sheet, True)
    except (expat.ExpatError, LookupError, ValueError):
        raise damaged(path) from None
    yield from found


def _spliced(sheet: bytes, changes: Mapping[_Cell, Any]) -> bytes:
    """The sheet with other cells in the places of some."""
    pieces, at = [], 0
    for cell in sorted(changes, key=lambda one: one.start):
        if cell.has_formula:
            advice = "copy the column and paste it as values"
            raise complain("file", "hold grades, not formulas, to be corrected", f"a formula in row {cell.row}", advice)
        pieces += [sheet[at : cell.start], _written(cell, changes[cell]).encode()]
        at = cell.end
    return b"".join([*pieces, sheet[at:]])


def _written(cell: _Cell, value: Any) -> str:
    p, place = cell.prefix, f"{_letters(cell.column)}{cell.row}"
    style = f' s="{cell.style}"' if cell.style.isdecimal() else ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<{p}c r="{place}"{style}><{p}v>{value!r}</{p}v></{p}c>'
    text = f'<{p}is><{p}t xml:space="preserve">{escape(str(value))}</{p}t></{p}is>'
    return f'<{p}c r="{place}"{style} t="inlineStr">{text}</{p}c>'


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, last = divmod(column - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def _replaced(path: Path, content: bytes, part: str, sheet: bytes) -> bytes:
    """The archive with another content of one part."""
    parts, packed = parts_of(path, content), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in parts.items():
            archive.writestr(name, sheet if name == part else each)
    return packed.getvalue()
