"""The dialect of a CSV file: its delimiter, its quotes and the names of its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.source import SAMPLE_BYTES, Source, as_file, head_of, kind_of, not_utf8

# The delimiter is inferred from this many rows; a round number, chosen by no run.
SAMPLE_RECORDS = 200
# If two fit equally well, the one that is rarer inside a field comes first; a blank is the last resort.
DELIMITERS = ("\t", ";", "|", ",")
BLANK = " "
UNNAMED = "unnamed"
# A name that is longer is probably the cell of a row; a round number, chosen by no run.
LONGEST_NAME = 80
NO_HEADER = "if its first row is data, --no-header reads it"


def delimiter_of(path: str | Path) -> str:
    r"""The character between the fields of a CSV file: one of comma, semicolon, tab, bar and blank.

    It is the one that splits the first rows into the same, largest number of fields; the comma if the file has one
    column. Only the beginning of the file is read.
    """
    path = as_file(path)
    head = head_of(path)
    if kind_of(path, head) != "text":
        raise complain("file", "be a text file to have a delimiter", repr(str(path)))
    return delimiter_in(head)


def delimiter_in(text: bytes) -> str:
    """The delimiter in the text of a CSV file, or in its first rows."""
    sample = text[:SAMPLE_BYTES]
    is_whole = len(sample) < SAMPLE_BYTES
    found = [record for _, record in records(io.BytesIO(sample))]
    kept = [record for record in (found if is_whole or len(found) == 1 else found[:-1]) if record.strip(b" \r\n")]
    rows = [_outside(record.decode("utf-8", "replace")) for record in kept[:SAMPLE_RECORDS]]
    if not rows:
        return ","
    fits = {delimiter: _fit([row.count(delimiter) for row in rows]) for delimiter in (*DELIMITERS, BLANK)}
    best = max(DELIMITERS, key=lambda delimiter: fits[delimiter])
    if fits[best] == (0.0, 0) and fits[BLANK][0] == 1.0:
        return BLANK
    return best if fits[best] > (0.0, 0) else ","


def _fit(counts: list[int]) -> tuple[float, int]:
    """How well a delimiter fits, to be compared: do most rows have as many as the first row, and how many.

    The shares 0.5 and 0.9 are round numbers, chosen by no run.
    """
    agreeing = sum(count == counts[0] for count in counts) / len(counts)
    if counts[0] == 0 or agreeing < 0.5:
        return 0.0, 0
    return float(agreeing > 0.9), counts[0]


def header_of(source: Source, delimiter: str, *, header: bool = True) -> tuple[str, ...]:
    """Names of the columns of a text file, all different and none empty.

    A first column without a name, as pandas writes its row numbers, is called "unnamed". Without a header the names are
    column_1, column_2, ...
    """
    names = _first_row(source, delimiter)
    if not header:
        return tuple(f"column_{number}" for number in range(1, len(names) + 1))
    if len(names) > 1 and not names[0].strip() and UNNAMED not in names:
        names[0] = UNNAMED
    check_names(names, NO_HEADER if looks_like_data(names) else "")
    return tuple(names)


def _first_row(source: Source, delimiter: str) -> list[str]:
    """The fields of the first line that is not blank."""
    lines = io.BytesIO(source.text)
    line, record = next(((line, record) for line, record in records(lines) if record.strip(b"\r\n")), (0, b""))
    if not record.strip():
        raise complain("file", "hold a table", f"only blanks in {str(source.path)!r}")
    if record.count(b'"') % 2:
        raise open_quote(line)
    try:
        text = record.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(source.path, line, error.object[error.start]) from None
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        raise complain("file", "have a header of short names", f"{len(text)} characters on line {line}") from None


def looks_like_data(names: Sequence[str]) -> bool:
    """Whether a header is probably a row of data: it has a number, a date or a long text.

    Ascending whole numbers are names: pandas numbers its columns, and a table may have one column per year.
    """
    cells = pl.Series(names, dtype=pl.String).str.strip_chars()
    numbers = cells.filter(cells.str.contains(r"^[+-]?[\d.]*\d")).cast(pl.Float64, strict=False).drop_nulls()
    counts = bool((numbers == numbers.floor()).all()) and numbers.is_sorted() and numbers.n_unique() == len(numbers)
    is_named = len(numbers) == 0 or (counts and (len(numbers) > 1 or numbers.item(0) == 0))
    is_date = cells.str.contains(r"^\d{4}[-/]\d{1,2}[-/]\d{1,2}").any()
    return not is_named or is_date or bool((cells.str.len_chars() > LONGEST_NAME).any())


def check_names(names: Sequence[str], advice: str = "") -> None:
    """Refuse names that are empty or used twice."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise complain(
                "file", "name every column", f"an empty name for column {number}", advice or "give it a name"
            )
        if name in seen:
            got = f"{name!r} for columns {seen[name]} and {number}"
            raise complain("file", "name every column differently", got, advice or "rename one of them")
        seen[name] = number


def records(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Raw rows of a text file, each with the number of its first line; a line end inside quotes is part of the row."""
    pending: list[bytes] = []
    start = 1
    for number, line in enumerate(lines, start=1):
        is_odd = line.count(b'"') % 2 == 1
        if not pending and not is_odd:
            yield number, line
        elif not pending:
            pending, start = [line], number
        else:
            pending.append(line)
            if is_odd:
                yield start, b"".join(pending)
                pending = []
    if pending:
        yield start, b"".join(pending)


def n_fields(record: bytes, delimiter: bytes) -> int:
    """Number of fields of a row; delimiters inside quotes are not counted."""
    if b'"' not in record:
        return record.count(delimiter) + 1
    return b"".join(record.split(b'"')[::2]).count(delimiter) + 1


def open_quote(line: int) -> ValueError:
    """The error about a quote that is never closed."""
    return complain("file", "close every quote", f"an open one on line {line}", 'write a quote in a field as ""')


def _outside(record: str) -> str:
    """A row without its quoted text."""
    return "".join(record.split('"')[::2])
