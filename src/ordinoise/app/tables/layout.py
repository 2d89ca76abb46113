"""Where the table is in a file: the row with the names, lines above and below that are no part of it, and the names."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from ordinoise._text import shortened
from ordinoise._validation import complain
from ordinoise.app.tables.dialect import (
    MOST_ABOVE,
    MOST_BELOW,
    NO_HEADER,
    SAMPLE_RECORDS,
    SEPARATOR,
    UNNAMED,
    check_names,
    commonest,
    delimiter_in,
    fields_of,
    looks_like_data,
    records,
)
from ordinoise.app.tables.reading import Reading
from ordinoise.app.tables.source import SAMPLE_BYTES, Source, check_size
from ordinoise.columns.names import LISTED

# Shares of the usual number of filled cells; round numbers, chosen by no run.
HEADER_FILLED, FIRST_FILLED, FOOTER_FILLED, TOTAL_FILLED = 0.7, 0.5, 0.5, 2 / 3
MOST_TAIL = 40  # lines at the end of a file that are looked at; a round number, chosen by no run
TOTALS = (
    "summe", "gesamt", "insgesamt", "mittelwert", "mittel", "durchschnitt", "anzahl", "total", "totals", "grand total",
    "sum", "average", "mean", "count", "somme", "moyenne", "nombre", "totale", "somma", "media", "suma", "promedio",
    "razem", "średnia", "liczba", "totaal", "gemiddelde", "celkem", "průměr", "soma", "média", "summa", "medelvärde",
)  # fmt: skip
"""First words of a row below a table that sums it up."""
_NUMBER = re.compile(r"[\W_]*\d[\d\W_]*")
Cells = Sequence[str]


@dataclass(frozen=True, eq=False)
class CsvLayout:
    """Where the table is in the text of a CSV file.

    Attributes
    ----------
    path : Path
    text : bytes
        The line with the names and the rows, without what is above and below.
    first_line : int
        Number of its first line in the file, from 1.
    names : tuple of str
        Names of the columns, all different and none empty.
    nameless : int
        How many of the last columns have no name, and are read only if they have a cell.
    reading : Reading
    messages, cautions : tuple of str
        Clauses on names and rows.
    """

    path: Path
    text: bytes
    first_line: int
    names: tuple[str, ...]
    nameless: int
    reading: Reading
    messages: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shape:
    """The usual row of a table: its number of cells, and how many of them are filled."""

    width: int
    filled: int

    @classmethod
    def of(cls, rows: Sequence[Cells]) -> Shape:
        """The usual row among the first rows of a file, none of them blank."""
        width = commonest([len(row) for row in rows])
        counts = sorted(n_filled(row) for row in rows if len(row) == width)
        return cls(width, counts[len(counts) // 2])


def csv_layout(source: Source, asked: Reading) -> CsvLayout:
    """Where the table of a CSV file is, by rules where nothing is asked."""
    delimiter = asked.delimiter or delimiter_in(source.text)
    check_size(source.path, 1, source.text.partition(b"\n")[0].count(delimiter.encode()) + 1)
    head = _leading(source.text, max(MOST_ABOVE, asked.header_row) + SAMPLE_RECORDS)
    rows = [_cells(record, delimiter) for _, _, record in head]
    remarks = {at for at, (_, _, record) in enumerate(head) if _is_remark(record, is_first=at == 0)}
    kept = [at for at, row in enumerate(rows) if row]
    if not kept:
        raise complain("file", "hold a table", f"only blanks in {str(source.path)!r}")
    shape = Shape.of([rows[at] for at in kept if at not in remarks] or [rows[at] for at in kept])
    top = top_row([[] if at in remarks else row for at, row in enumerate(rows)], shape, asked)
    offset, line, record = head[top]
    check_size(source.path, 1, record.count(delimiter.encode()) + 1)
    names = fields_of(source.path, record, line, delimiter)
    body = [rows[at] for at in kept if at > top]
    end, n_below, cautions = _end(source.text, offset + len(record), delimiter, shape, len(body))
    text = source.text if offset == 0 and end == len(source.text) else source.text[offset:end]
    n_above, header_row = kept.index(top), top + 1 if asked.has_header else 0
    reading = replace(asked, delimiter=delimiter, header_row=header_row, rows_above=n_above, rows_below=n_below)
    if not asked.has_header:
        numbered = tuple(f"column_{number}" for number in range(1, len(names) + 1))
        return CsvLayout(source.path, text, line, numbered, 0, reading, (), cautions)
    width = _width(names, body)
    if width != len(names):
        names = [*names[:width], *[""] * (width - len(names))]
        dummy = delimiter.join(map(str, range(width))).encode()  # the names are ours: only their number counts
        text = dummy + b"\n" * record.count(b"\n") + text[len(record) :]
    named, messages = names_of(names)
    nameless = len(names) - max((at + 1 for at, name in enumerate(names) if name.strip()), default=0)
    return CsvLayout(source.path, text, line, named, nameless, reading, messages, cautions)


def _leading(text: bytes, most: int) -> list[tuple[int, int, bytes]]:
    """Place, line and bytes of the first records of a text."""
    found: list[tuple[int, int, bytes]] = []
    at = 0
    for line, record in islice(records(io.BytesIO(text)), most):
        found.append((at, line, record))
        at += len(record)
        if at > SAMPLE_BYTES and len(found) > 1:
            break
    return found


def _cells(record: bytes, delimiter: str) -> list[str]:
    """The cells of a line; none if it is blank."""
    if not record.strip(b" \r\n" if delimiter != " " else b"\r\n"):
        return []
    text = record.decode(errors="replace").rstrip("\r\n")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:  # a cell that is too long for the module
        return text.split(delimiter)


def _is_remark(record: bytes, *, is_first: bool) -> bool:
    """Whether a line says something about the file: ``# made by``, or ``sep=;`` in the first one."""
    return record.startswith((b"# ", b"##")) or (is_first and bool(SEPARATOR.match(record)))


def n_filled(row: Cells) -> int:
    """Number of cells that are not blank."""
    return sum(bool(cell.strip()) for cell in row)


def top_row(rows: Sequence[Cells], shape: Shape, asked: Reading, word: str = "line", first: int = 1) -> int:
    """Position of the row with the names, or of the first row where there are none.

    That is the first row if at least half as many of its cells are filled as usual. Else lines above the names are no
    part of the table, and the first row of words with nearly as many cells as usual has the names. `first` is the
    number of the first of the rows in the file.
    """
    kept = [at for at, row in enumerate(rows) if n_filled(row)]
    if asked.header_row:
        at = asked.header_row - first
        if at not in kept:
            why = f"the last one is {kept[-1] + first}" if kept and at > kept[-1] else "it is blank"
            raise complain("header-row", f"be a {word} with names", f"{asked.header_row}; {why}")
        return at

    def is_near(at: int, share: float) -> bool:
        return len(rows[at]) >= max(shape.width - 1, shape.filled) and n_filled(rows[at]) >= share * shape.filled

    if not kept or is_near(kept[0], FIRST_FILLED):
        return kept[0] if kept else 0
    near = [at for at in kept[:-1] if at < MOST_ABOVE and is_near(at, HEADER_FILLED)]
    words = [at for at in near if not any(_NUMBER.fullmatch(cell.strip()) for cell in rows[at])]
    return (words if words and asked.has_header else near or kept)[0]


def _width(names: Cells, body: Sequence[Cells]) -> int:
    """Number of columns: that of the rows, if what the header has more or less is empty."""
    width = commonest([len(row) for row in body]) if body else len(names)
    if width < len(names):
        return width if not n_filled(names[width:]) else len(names)
    is_empty = not any(n_filled(row[len(names) :]) for row in body if len(row) == width)
    return width if is_empty else len(names)


def names_of(cells: Cells) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of columns, all different and none empty, and what is to be said of them.

    A first column without a name, as pandas writes its row numbers, is called "unnamed", another one by its letter. A
    name that is there twice gets a number.
    """
    if looks_like_data(cells):
        check_names(cells, NO_HEADER)
    known, taken, numbers = set(cells), set[str](), dict[str, int]()
    n_named = max((at for at, cell in enumerate(cells, start=1) if cell.strip()), default=0)
    names, said = [], []
    for number, cell in enumerate(cells, start=1):
        name, letters = cell, column_letters(number)
        if not cell.strip():
            is_index = number == 1 and len(cells) > 1 and UNNAMED not in known
            name = UNNAMED if is_index else f"column {letters}"
        stem = name
        while name in taken or (name != cell and name in known):
            numbers[stem] = numbers.get(stem, 1) + 1
            name = f"{stem} ({numbers[stem]})"
        if cell.strip() and name != cell:
            said.append(
                f"column {letters} has the name of another one, {shortened(cell)!r}: it is called {shortened(name)!r}"
            )
        elif not cell.strip() and name != UNNAMED and number <= n_named:
            said.append(f"column {letters} has no name: it is called {name!r}")
        names.append(name)
        taken.add(name)
    if len(said) > LISTED:
        said = [*said[:LISTED], f"{len(said) - LISTED} more columns got a name"]
    return tuple(names), tuple(said)


def without_names(n_dropped: int) -> tuple[str, ...]:
    """What is to be said of columns at the end that have neither a name nor a cell."""
    if not n_dropped:
        return ()
    last, are = ("the last column has", "is") if n_dropped == 1 else (f"the last {n_dropped} columns have", "are")
    return (f"{last} neither a name nor a cell, and {are} not read",)


def column_letters(number: int) -> str:
    """A column as spreadsheets call it: 1 is A, 28 is AB."""
    letters = ""
    while number:
        number, last = divmod(number - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def _end(text: bytes, start: int, delimiter: str, shape: Shape, n_body: int) -> tuple[int, int, tuple[str, ...]]:
    """Where the rows of a text end, how many lines below are no rows, and what is to be said of them."""
    lines: list[tuple[int, bytes]] = []
    end = len(text)
    while end > start and len(lines) < MOST_TAIL:
        at = max(text.rfind(b"\n", start, end - 1) + 1, start)
        if text.count(b'"', at, end) % 2:
            break  # part of a quoted cell
        lines.append((at, text[at:end]))
        end = at
    rows = [_cells(line, delimiter) for _, line in reversed(lines)]
    n_cut, cautions = footer(rows, shape, n_body)
    below = lines[:n_cut]
    return below[-1][0] if below else len(text), sum(bool(row) for row in rows[len(rows) - n_cut :]), cautions


def footer(rows: Sequence[Cells], shape: Shape, n_body: int) -> tuple[int, tuple[str, ...]]:
    """How many of the last rows of a file are no part of its table, blank ones included, and what is to be said.

    Those after a blank row that have fewer cells, half of them empty or a total; and at most five directly below the
    table that have fewer cells, or are a total with gaps.
    """
    if shape.width < 2:
        return 0, ()
    n_run = next(
        (at for at, row in enumerate(reversed(rows)) if n_filled(row) and not _is_short(row, shape)), len(rows)
    )
    run = [n_filled(row) and row for row in rows[len(rows) - n_run :]]
    n_run = max((at + 1 for at, row in enumerate(run) if row), default=0)
    gap = next((at for at, row in enumerate(run[:n_run]) if not row), n_run)  # a blank row above others
    near = 0
    while near < gap and _is_below(run[gap - 1 - near] or (), shape):
        near += 1
    if near > min(MOST_BELOW, n_body // 2):
        near = 0
    n_cut = len(run) - (gap - near) if near or gap < n_run else 0
    if not near:
        return n_cut, ()
    shown = shortened(" ".join(cell.strip() for cell in run[gap - near] or () if cell.strip()))
    last = f"the last row ({shown!r}) is" if near == 1 else f"the last {near} rows (from {shown!r}) are"
    return n_cut, (f"{last} not like the others, and not read",)


def _is_short(row: Cells, shape: Shape) -> bool:
    """Whether a row after a blank one can be no row of the table."""
    return len(row) < shape.width or n_filled(row) < FOOTER_FILLED * shape.filled or _is_total(row)


def _is_below(row: Cells, shape: Shape) -> bool:
    """Whether a row directly below the table can be no row of it."""
    return len(row) < shape.width or (_is_total(row) and n_filled(row) <= TOTAL_FILLED * shape.filled)


def _is_total(row: Cells) -> bool:
    first = next((cell.strip().casefold() for cell in row if cell.strip()), "")
    return first.rstrip(" :.=") in TOTALS or first.partition(":")[0] in TOTALS
