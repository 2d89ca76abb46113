"""A workbook with other values in some cells of one column: every other byte of every sheet stays as it is."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.layout import column_letters
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.trial import damaged
from ordinoise.app.tables.workbook import column_number, open_workbook, parts_of, read_workbook
from ordinoise.columns.refusals import is_sentence

_TAG = re.compile(rb"""<[^\s/>]+(\s+[^\s=/>]+\s*=\s*("[^"]*"|'[^']*'))*\s*/?>""")


@dataclass(frozen=True)
class _Cell:
    """A cell: its column and its place in the bytes of the sheet."""

    column: int
    start: int
    end: int
    style: str
    is_empty: bool
    has_formula: bool


@dataclass
class _Row:
    """A row of the sheet: its number, the place of its tag, of what is inside and of its end, and its cells."""

    number: int
    prefix: str
    start: int
    inside: int
    is_childless: bool
    end: int = 0
    cells: list[_Cell] = field(default_factory=list)


def workbook_with(path: Path, target: str, changes: Mapping[int, Any], asked: Reading = BY_RULES) -> bytes:
    """The workbook at `path` whose column `target` has the values of `changes`, by data row from 0.

    A number is written as a number and text as text, never as a formula. An empty cell is filled, and one that is not
    in the sheet is added. The result is read again before it is used.
    """
    content = path.read_bytes()
    found = read_workbook(path, content, asked, (target,))
    book, table = open_workbook(path, content, found.reading.sheet), found.frame
    sheet = book.parts[book.part]
    rows = _rows(path, sheet)
    column = min(cell.column for row in rows for cell in row.cells if not cell.is_empty) + table.columns.index(target)
    edits = [_edit(rows, found.reading.header_row + 1 + row, column, value) for row, value in sorted(changes.items())]
    packed = _replaced(path, content, book.part, _spliced(sheet, edits))
    if not read_workbook(path, packed, found.reading).frame.equals(_expected(table, target, changes)):
        rule = "be a workbook whose cells can be changed one by one"
        raise complain("file", rule, repr(str(path)), "save the sheet as CSV")
    return packed


def _expected(table: pl.DataFrame, target: str, changes: Mapping[int, Any]) -> pl.DataFrame:
    values = table[target].to_list()
    for row, value in changes.items():
        values[row] = value
    return table.with_columns(pl.Series(target, values, dtype=table[target].dtype))


def _rows(path: Path, sheet: bytes) -> list[_Row]:
    """The rows of a sheet with their cells, in the order of its bytes."""
    rows: list[_Row] = []
    state: dict[str, Any] = {"cell": None, "is_empty": True, "has_formula": False}
    parser = expat.ParserCreate()

    def tag() -> re.Match[bytes]:
        found = _TAG.match(sheet, parser.CurrentByteIndex)
        if found is None:
            raise damaged(path, "excel")
        return found

    def start(name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        if local == "row":
            number, opened = int(attributes.get("r", rows[-1].number + 1 if rows else 1)), tag()
            is_childless = opened[0].endswith(b"/>")
            rows.append(_Row(number, f"{prefix}:" if prefix else "", opened.start(), opened.end(), is_childless))
        elif local == "c" and rows:
            letters = re.sub(r"\d", "", attributes.get("r", ""))
            before = rows[-1].cells[-1].column if rows[-1].cells else 0
            column = column_number(letters) if letters else before + 1
            state.update(cell=(column, tag(), attributes.get("s", "")), is_empty=True, has_formula=False)
        elif state["cell"] is not None:
            state["is_empty"] &= local not in ("v", "is")
            state["has_formula"] |= local == "f"

    def end(name: str) -> None:
        local = name.rpartition(":")[2]
        if local == "row" and rows:
            rows[-1].end = rows[-1].inside if rows[-1].is_childless else parser.CurrentByteIndex
        elif local == "c" and state["cell"] is not None:
            column, opened, style = state["cell"]
            is_childless = opened[0].endswith(b"/>")
            after = opened.end() if is_childless else sheet.index(b">", parser.CurrentByteIndex) + 1
            cell = _Cell(column, opened.start(), after, style, state["is_empty"], state["has_formula"])
            rows[-1].cells.append(cell)
            state["cell"] = None

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(sheet, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise (error if is_sentence(error) else damaged(path, "excel")) from None
    return rows


def _edit(rows: list[_Row], number: int, column: int, value: Any) -> tuple[int, int, str]:
    """Bytes of the sheet, from and to, and what takes their place, so that a cell has a value."""
    row = next((one for one in rows if one.number == number), None)
    if row is None:
        after = next((one for one in rows if one.number > number), rows[-1])
        p = after.prefix
        made = f'<{p}row r="{number}">{_written(p, number, column, "", value)}</{p}row>'
        return after.start, after.start, made
    cell = next((one for one in row.cells if one.column == column), None)
    if cell is not None and cell.has_formula:
        advice = "copy the column and paste it as values"
        raise complain("file", "hold grades, not formulas, to be corrected", f"a formula in row {number}", advice)
    made = _written(row.prefix, number, column, "" if cell is None else cell.style, value)
    if cell is not None:
        return cell.start, cell.end, made
    if row.is_childless:  # <row/> becomes <row>...</row>
        return row.inside - 2, row.inside, f">{made}</{row.prefix}row>"
    at = next((one.start for one in row.cells if one.column > column), row.end)
    return at, at, made


def _spliced(sheet: bytes, edits: Iterable[tuple[int, int, str]]) -> bytes:
    """The sheet with other bytes in some places."""
    pieces, at = [], 0
    for start, end, made in sorted(edits, key=lambda edit: edit[0]):
        pieces += [sheet[at:start], made.encode()]
        at = end
    return b"".join([*pieces, sheet[at:]])


def _written(p: str, row: int, column: int, style: str, value: Any) -> str:
    """A cell with a value; `p` is the prefix of its tags."""
    place, style = f"{column_letters(column)}{row}", f' s="{style}"' if style.isdecimal() else ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<{p}c r="{place}"{style}><{p}v>{value!r}</{p}v></{p}c>'
    text = f'<{p}is><{p}t xml:space="preserve">{escape(str(value))}</{p}t></{p}is>'
    return f'<{p}c r="{place}"{style} t="inlineStr">{text}</{p}c>'


def _replaced(path: Path, content: bytes, part: str, sheet: bytes) -> bytes:
    """The archive with another content of one part."""
    parts, packed = parts_of(path, content), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in parts.items():
            archive.writestr(name, sheet if name == part else each)
    return packed.getvalue()
