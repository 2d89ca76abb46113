"""The text of a CSV file with other cells or with more fields in its rows: every other byte stays as it is."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import records


@dataclass(frozen=True, eq=False)
class CsvText:
    """The text of a CSV file and where its rows are.

    Attributes
    ----------
    text : bytes
        In UTF-8, with the line ends of the file.
    delimiter : str
    is_quoted : bool
        Whether text between quotes is one field; otherwise quotes are ordinary characters.
    places : list of (int, int)
        Where every line begins and ends, without its line end; a line end inside quotes is part of its line.
    header : int or None
        Number of the line with the names, from 0; None without one.
    rows : list of int
        Numbers of the lines with the rows of the table, from 0.
    """

    text: bytes
    delimiter: str
    is_quoted: bool
    places: list[tuple[int, int]]
    header: int | None
    rows: list[int]

    def field(self, line: int, column: int) -> tuple[int, int] | None:
        """Where a field of a line begins and ends; None if the line has fewer."""
        start, end = self.places[line]
        mark = self.delimiter.encode()
        fields = _quoted_fields(mark) if self.is_quoted and b'"' in self.text[start:end] else _plain_fields(mark)
        for _ in range(column):
            match = fields.match(self.text, start, end)
            if match is None or match.end() == end:
                return None
            start = match.end() + 1
        match = fields.match(self.text, start, end)
        return None if match is None else match.span()

    def cell(self, row: int, column: int) -> str | None:
        """The text of a cell of the table, without its quotes; None if it is empty or not there."""
        place = self.field(self.rows[row], column)
        if place is None:
            return None
        found = self.text[place[0] : place[1]].decode()
        if self.is_quoted and len(found) > 1 and found[0] == found[-1] == '"':
            found = found[1:-1].replace('""', '"')
        return found or None

    def with_cells(self, cells: Mapping[tuple[int, int], str]) -> bytes:
        """The text with other cells, by row and column; one has quotes if the old one had them or if it needs them."""
        edits = []
        for (row, column), cell in cells.items():
            place = self.field(self.rows[row], column)
            if place is None:
                raise complain("file", "have a cell for every grade", f"fewer fields in row {row} of its table")
            has_quotes = self.is_quoted and self.text[place[0] : place[0] + 1] == b'"'
            edits.append((*place, self._spelled(cell, has_quotes=has_quotes)))
        return _spliced(self.text, edits)

    def with_fields(self, names: bytes, fields: Sequence[bytes], n_fields: int) -> bytes:
        """The text with more fields after those of the header and of each row; they are spelled and delimited already.

        Lines above and below the table get empty ones if they have as many fields as it: they are part of its grid.
        """
        if not self.is_quoted and any(b'"' in spelled for spelled in (names, *fields)):
            raise complain("grades", "be without delimiters", "others in a file whose quotes are ordinary characters")
        mark, first = self.delimiter.encode(), self.rows[0] if self.header is None else self.header
        width, padding = self._width(first), mark * n_fields
        added = dict(zip(self.rows, fields, strict=True)) | ({} if self.header is None else {self.header: names})
        edits = []
        for line, (start, end) in enumerate(self.places):
            if line in added:
                edits.append((end, end, mark + added[line]))
            elif width > 1 and start < end and self._width(line) == width:
                edits.append((end, end, padding))
        return _spliced(self.text, edits)

    def _width(self, line: int) -> int:
        start, end = self.places[line]
        record = self.text[start:end]
        if self.is_quoted and b'"' in record:
            record = b"".join(record.split(b'"')[::2])
        return record.count(self.delimiter.encode()) + 1

    def _spelled(self, cell: str, *, has_quotes: bool = False) -> bytes:
        needs_quotes = any(sign in cell for sign in (self.delimiter, "\r", "\n"))
        if needs_quotes and not self.is_quoted:
            got = f"{cell!r} in a file whose quotes are ordinary characters"
            raise complain("grades", "be without delimiters", got, "nothing was written")
        if has_quotes or needs_quotes or (self.is_quoted and '"' in cell):
            cell = '"' + cell.replace('"', '""') + '"'
        return cell.encode()


def csv_text(
    text: bytes,
    delimiter: str,
    *,
    header: bool = True,
    n_above: int = 0,
    n_below: int = 0,
    is_quoted: bool = True,
    has_blank_rows: bool = False,
) -> CsvText:
    """The text of a CSV file with the places of its rows; blank lines are none.

    Parameters
    ----------
    text : bytes
        In UTF-8, with the line ends of the file.
    delimiter : str
    header : bool
        Whether the first line of the table has the names of the columns.
    n_above, n_below : int
        Number of lines above and below the table that are not blank.
    is_quoted : bool
        Whether text between quotes is one field.
    has_blank_rows : bool
        Whether a blank line below the header is a row, as in a table of one column.
    """
    places, at = [], 0
    for record in _records(text, is_quoted=is_quoted):
        places.append((at, at + len(_without_end(record))))
        at += len(record)
    blanks = b" \r\n" if delimiter != " " else b"\r\n"
    filled = [line for line, (start, end) in enumerate(places) if text[start:end].strip(blanks)]
    first = filled[n_above : n_above + 1]
    rows = filled[n_above + header : len(filled) - n_below]
    if has_blank_rows and first:
        rows = list(range(first[0] + header, len(places)))
    return CsvText(text, delimiter, is_quoted, places, first[0] if header and first else None, rows)


def _records(text: bytes, *, is_quoted: bool) -> Iterator[bytes]:
    """The lines of a text with their ends, a line end inside quotes being part of its line."""
    # A file whose lines end with CR alone has no LF; the places are the same.
    lines = io.BytesIO(text if b"\n" in text else text.replace(b"\r", b"\n"))
    return (record for _, record in records(lines)) if is_quoted else iter(lines)


def _without_end(record: bytes) -> bytes:
    return record.removesuffix(b"\n").removesuffix(b"\r")


def _plain_fields(mark: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"[^%s]*" % re.escape(mark))


def _quoted_fields(mark: bytes) -> re.Pattern[bytes]:
    return re.compile(rb'(?:[^"%s]+|"[^"]*")*' % re.escape(mark))


def _spliced(text: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """The text with other bytes in some places."""
    pieces, at = [], 0
    for start, end, made in sorted(edits):
        pieces += [text[at:start], made]
        at = end
    return b"".join([*pieces, text[at:]])
