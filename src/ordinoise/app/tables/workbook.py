"""Excel workbooks: the first visible sheet as a table, with limits that hold for forged files too.

The parts of the archive are unpacked here, up to the size that the archive states, and only those that a table needs
are handed on, so that no other program unpacks what a stranger packed.
"""

from __future__ import annotations

import io
import logging
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import check_names
from ordinoise.app.tables.source import check_bytes, check_size, most_unpacked
from ordinoise.app.tables.trial import check_sheet, damaged
from ordinoise.columns.refusals import is_sentence

MOST_PARTS = 10_000  # far above what any workbook needs; a round number, chosen by no run
MOST_INDEX = 2**22  # bytes of the list of sheets; a round number, chosen by no run
NEEDED = (
    "[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/sharedStrings.xml",
    "xl/styles.xml",
)  # fmt: skip
# A cell in memory takes more than its number; the reader makes a rectangle of all of them.
CELL_SIZE = 4
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,20})(\d{1,20})["']""")
_ROW = re.compile(rb"<(?:[^\s<>/:]+:)?row(?=[\s/>])")
_UNPLACED_ROW = re.compile(_ROW.pattern + rb"(?![^<>]*\sr\s*=)")
_UNPLACED_CELL = re.compile(rb"<(?:[^\s<>/:]+:)?c(?=[\s/>])(?![^<>]*\sr\s*=)")
_FAILURES = (
    zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ElementTree.ParseError, LookupError,
    ValueError, OverflowError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Workbook:
    """The parts of a workbook that are needed to read its first visible sheet.

    Attributes
    ----------
    parts : dict of str to bytes
        Content by the name of the part.
    sheet, part : str
        Name of the sheet, and of the part that holds it.
    """

    parts: dict[str, bytes]
    sheet: str
    part: str


def read_workbook(path: Path, content: bytes) -> pl.DataFrame:
    """The first visible sheet: names in its first row that is not empty, then one row per row."""
    book = open_workbook(path, content)
    check_size(path, *_extent(book.parts[book.part]))
    packed = _packed(book.parts)
    check_sheet(path, packed, book.sheet, len(content))
    return _table(path, packed, book.sheet)


def open_workbook(path: Path, content: bytes) -> Workbook:
    """The needed parts of a workbook, unpacked and checked."""
    found = parts_of(path, content, NEEDED)
    with _complete(path):
        name, part = _sheets(path, found)[0]
    found |= parts_of(path, content, [part])
    _check_plain(path, found)
    if not found.get(part):
        raise damaged(path, "excel")
    return Workbook(found, name, part)


def _check_plain(path: Path, parts: dict[str, bytes]) -> None:
    """Refuse XML that defines entities, which unpack once more, or that hides its text in another encoding."""
    if any(b"<!DOCTYPE" in one or b"\0" in one for one in parts.values()):
        rule = "be a workbook in UTF-8 without a document type"
        raise complain("file", rule, f"another kind of XML in {str(path)!r}")


def parts_of(path: Path, content: bytes, names: Iterable[str] | None = None) -> dict[str, bytes]:
    """Parts of an archive by name, all of them by default, none larger than the archive states."""
    with _complete(path), zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_PARTS:
            raise complain("file", f"have at most {MOST_PARTS} parts", f"{len(entries)} in {str(path)!r}")
        wanted = {one.filename: one for one in entries if names is None or one.filename in set(names)}
        check_bytes(path, sum(one.file_size for one in wanted.values()), most_unpacked(len(content)))
        return {name: archive.read(one) for name, one in wanted.items()}


def sheet_note(path: Path, content: bytes) -> str:
    """Which of several visible sheets is read, as a message; empty if there is one."""
    with _complete(path):
        (read, _), *others = _sheets(path, parts_of(path, content, NEEDED[2:4]))
    names = ", ".join(repr(name) for name, _ in others)
    return f"the sheet {read!r} is read, not {names}; drag another one to the front to read that" if others else ""


def _sheets(path: Path, parts: dict[str, bytes]) -> list[tuple[str, str]]:
    """Name and part of every visible sheet with cells."""
    _check_plain(path, parts)
    if max(len(parts.get(name, b"")) for name in NEEDED[2:4]) > MOST_INDEX:
        raise complain("file", f"list its sheets in at most {MOST_INDEX} bytes", f"more in {str(path)!r}")
    relations = ElementTree.fromstring(parts["xl/_rels/workbook.xml.rels"])
    targets = {one.get("Id"): one.get("Target", "") for one in relations if one.get("Type", "").endswith("/worksheet")}
    found = []
    for one in ElementTree.fromstring(parts["xl/workbook.xml"]).iter():
        identity = next((value for key, value in one.attrib.items() if key.endswith("}id")), None)
        if one.tag.rpartition("}")[2] == "sheet" and identity in targets and one.get("state") in (None, "visible"):
            part = posixpath.normpath(posixpath.join("/xl", targets[identity])).lstrip("/")
            found.append((one.get("name", ""), part))
    if not found:
        raise KeyError("no sheet")
    return found


def _extent(sheet: bytes) -> tuple[int, int]:
    """Most rows and columns that the cells of a sheet can span, before they are read.

    A cell or a row without a place comes after the one before.
    """
    row = column = 1
    for letters, digits in _PLACE.findall(sheet):
        row = max(row, int(digits))
        column = max(column, column_number(letters.decode()))
    rows = _ROW.split(sheet)
    n_unplaced = max(len(_UNPLACED_CELL.findall(one)) for one in rows)
    return CELL_SIZE * (row + len(_UNPLACED_ROW.findall(sheet))), column + n_unplaced


def column_number(letters: str) -> int:
    """The number of a column from 1: A is 1, AB is 28; 0 for no letters."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _packed(parts: dict[str, bytes]) -> bytes:
    """A workbook of these parts alone, not compressed."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def _table(path: Path, content: bytes, sheet: str) -> pl.DataFrame:
    try:
        import fastexcel
    except ImportError:
        advice = "pip install 'ordinoise[excel]', or save the sheet as CSV (UTF-8)"
        raise complain("file", "be CSV where fastexcel is missing", f"the workbook {str(path)!r}", advice) from None
    # Without a handler Python prints its notes, one for every empty column.
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())
    try:
        reader = fastexcel.read_excel(content)
        names = reader.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
        cells = reader.load_sheet(sheet, header_row=0, schema_sample_rows=None).to_polars()
    except BaseException as error:  # the reader panics at some damage, with a class of its own
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        raise damaged(path, "excel") from None
    if names.height == 0:
        raise complain("file", "hold a table", f"the empty sheet {sheet!r} in {str(path)!r}")
    named = ["" if name is None else str(name) for name in names.row(0)]
    check_names(named)
    cells.columns = named
    return pl.DataFrame([_as_stored(column) for column in cells.get_columns()])


def _as_stored(column: pl.Series) -> pl.Series:
    """Whole numbers as such and days without a time: a workbook has only one kind of each."""
    if column.dtype.is_float() and bool(((column.abs() < 2**53) & (column == column.round())).all()):
        return column.cast(pl.Int64)
    if column.dtype == pl.Datetime and (column == column.dt.truncate("1d")).all():
        return column.cast(pl.Date)
    return column


@contextmanager
def _complete(path: Path) -> Iterator[None]:
    """Turn failures to unpack or parse a workbook into one sentence."""
    try:
        yield
    except _FAILURES as error:
        raise (error if is_sentence(error) else damaged(path, "excel")) from None
