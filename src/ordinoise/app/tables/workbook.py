"""Excel workbooks: a sheet as a table, with limits that hold for forged files too.

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
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import MOST_ABOVE, SAMPLE_RECORDS
from ordinoise.app.tables.layout import MOST_TAIL, Shape, footer, n_filled, names_of, top_row, without_names
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.source import check_bytes, check_size, most_unpacked
from ordinoise.app.tables.trial import check_sheet, damaged
from ordinoise.columns.inference import as_text
from ordinoise.columns.names import listed, meant
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
_FILLED = re.compile(rb"<(?:[^\s<>/:]+:)?(?:v|is)[\s>]")
_ROW_NUMBER = re.compile(rb"""[^<>]*?\sr\s*=\s*["'](\d{1,7})["']""")
_FAILURES = (
    zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ElementTree.ParseError, LookupError,
    ValueError, OverflowError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Workbook:
    """The parts of a workbook that are needed to read one of its sheets.

    Attributes
    ----------
    parts : dict of str to bytes
        Content by the name of the part.
    sheet, part : str
        Name of the sheet, and of the part that holds it.
    others : tuple of str
        The other visible sheets.
    """

    parts: dict[str, bytes]
    sheet: str
    part: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SheetTable:
    """The table on a sheet, how it was found, and clauses on it."""

    frame: pl.DataFrame
    reading: Reading
    messages: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


def read_workbook(path: Path, content: bytes, asked: Reading = BY_RULES, wanted: Collection[str] = ()) -> SheetTable:
    """The table on the sheet that is asked for, else on the first visible one that has the `wanted` columns.

    The row with the names, and rows below that are no part of the table, are found by the rules for CSV files.
    """
    names = _sheet_names(path, content)
    chosen = asked.sheet or names[0]
    if not asked.sheet and len(names) > 1 and wanted:
        chosen = next((name for name in names if {*wanted} <= {*_columns(path, content, name, asked)}), chosen)
    book = open_workbook(path, content, chosen)
    found = _sheet_table(path, book, replace(asked, sheet=chosen), len(content))
    if not book.others or asked.sheet:
        return found
    others = ", ".join(repr(name) for name in book.others)
    return replace(found, messages=(f"the sheet {chosen!r} is read, not {others}; --sheet changes it", *found.messages))


def open_workbook(path: Path, content: bytes, sheet: str = "") -> Workbook:
    """The needed parts of a workbook, unpacked and checked; the first visible sheet unless one is named."""
    found = parts_of(path, content, NEEDED)
    with _complete(path):
        sheets = _sheets(path, found)
    known = dict(sheets)
    if sheet and sheet not in known:
        advice = meant(sheet, known) or f"the sheets are {listed(known)}"
        raise complain("sheet", "name a visible sheet of the workbook", repr(sheet), advice)
    name = sheet or sheets[0][0]
    found |= parts_of(path, content, [known[name]])
    _check_plain(path, found)
    if not found.get(known[name]):
        raise damaged(path, "excel")
    return Workbook(found, name, known[name], tuple(other for other in known if other != name))


def _sheet_names(path: Path, content: bytes) -> list[str]:
    """The visible sheets."""
    with _complete(path):
        return [name for name, _ in _sheets(path, parts_of(path, content, NEEDED[2:4]))]


def _columns(path: Path, content: bytes, sheet: str, asked: Reading) -> tuple[str, ...]:
    """The names of the columns of a sheet; none if it holds no table."""
    book = open_workbook(path, content, sheet)
    check_size(path, *_extent(book.parts[book.part]))
    packed = _packed(book.parts)
    check_sheet(path, packed, sheet, len(content))
    rows = _top_rows(path, packed, sheet, asked)
    if not any(map(n_filled, rows)):
        return ()
    shape = Shape.of([row for row in rows if n_filled(row)])
    return names_of(rows[top_row(rows, shape, asked, "row", first_row(book.parts[book.part]))])[0]


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


def _sheet_table(path: Path, book: Workbook, asked: Reading, n_packed: int) -> SheetTable:
    """The table on the sheet of an opened workbook."""
    sheet = book.parts[book.part]
    check_size(path, *_extent(sheet))
    packed = _packed(book.parts)
    check_sheet(path, packed, book.sheet, n_packed)
    rows, first = _top_rows(path, packed, book.sheet, asked), first_row(sheet)
    if not any(map(n_filled, rows)):
        raise complain("file", "hold a table", f"the empty sheet {book.sheet!r} in {str(path)!r}")
    shape = Shape.of([row for row in rows if n_filled(row)])
    top = top_row(rows, shape, asked, "row", first)
    frame = _loaded(path, packed, book.sheet, first, top)
    if (
        tuple(cell or None for cell in rows[top]) in _texts(frame.head(MOST_ABOVE)).rows()
    ):  # the rows are numbered oddly
        raise damaged(path, "excel")
    tail = [[cell or "" for cell in row] for row in _texts(frame.tail(MOST_TAIL)).rows()]
    n_cut, cautions = footer(tail, shape, frame.height)
    n_below = sum(map(bool, map(n_filled, tail[len(tail) - n_cut :])))
    if n_cut:  # read again, as a total makes text of a column of numbers
        frame = _loaded(path, packed, book.sheet, first, top, frame.height - n_cut)
    names, messages = names_of(rows[top])
    frame.columns = list(names)
    n_named = max((at for at, cell in enumerate(rows[top], start=1) if cell.strip()), default=1)
    n_dropped = 0
    while frame.width > n_named and frame.to_series(-1).null_count() == frame.height:
        frame, n_dropped = frame[:, :-1], n_dropped + 1
    n_above = sum(bool(n_filled(row)) for row in rows[:top])
    reading = replace(asked, sheet=book.sheet, header_row=first + top, rows_above=n_above, rows_below=n_below)
    said = (*messages, *without_names(n_dropped))
    return SheetTable(pl.DataFrame([_as_stored(column) for column in frame.get_columns()]), reading, said, cautions)


def first_row(sheet: bytes) -> int:
    """Number of the first row of a sheet that has a cell which is not empty; 1 if there is none."""
    filled = _FILLED.search(sheet)
    number = 0
    for row in _ROW.finditer(sheet, 0, filled.start() if filled else 0):
        place = _ROW_NUMBER.match(sheet, row.end())
        number = int(place[1]) if place else number + 1
    return max(number, 1)


def _top_rows(path: Path, packed: bytes, sheet: str, asked: Reading) -> list[list[str]]:
    """The first rows of a sheet as text, from the first one that is not empty."""
    with _loading(path):
        n_rows = max(MOST_ABOVE, asked.header_row) + SAMPLE_RECORDS
        frame = _reader(packed).load_sheet(sheet, header_row=None, n_rows=n_rows, dtypes="string").to_polars()
    return [[cell or "" for cell in row] for row in frame.rows()]


def _loaded(path: Path, packed: bytes, sheet: str, first: int, top: int, n_rows: int | None = None) -> pl.DataFrame:
    """The cells below the names, with the types that they have in the sheet."""
    with _loading(path):
        skipped = first + top  # rows from the very first one of the sheet
        loaded = _reader(packed).load_sheet(
            sheet, header_row=None, skip_rows=skipped, n_rows=n_rows, schema_sample_rows=None
        )
        return loaded.to_polars()


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([as_text(column) for column in frame.get_columns()])


def _reader(packed: bytes) -> Any:
    import fastexcel

    # Without a handler Python prints its notes, one for every empty column.
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())
    return fastexcel.read_excel(packed)


@contextmanager
def _loading(path: Path) -> Iterator[None]:
    """Turn whatever the reader of workbooks raises into one sentence."""
    try:
        yield
    except ImportError:
        advice = "pip install 'ordinoise[excel]', or save the sheet as CSV (UTF-8)"
        raise complain("file", "be CSV where fastexcel is missing", f"the workbook {str(path)!r}", advice) from None
    except BaseException as error:  # the reader panics at some damage, with a class of its own
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        raise damaged(path, "excel") from None


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
