"""The dialect of a CSV file: its delimiter, its quotes and the names of its columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.source import SAMPLE_BYTES, as_file, head_of, kind_of, line_end_of

# The delimiter is inferred from this many rows; a round number, chosen by no run.
SAMPLE_RECORDS = 200
# If two fit equally well, the one that is rarer inside a field comes first; a blank is the last resort.
DELIMITERS = ("\t", ";", "|", ",")
BLANK = " "
# A header is looked for in so many lines, and so many below the table may be no rows; round numbers, chosen by no run.
MOST_ABOVE, MOST_BELOW = 30, 5
NO_FIT = (0.0, -MOST_ABOVE - 1, 0)
SEPARATOR = re.compile(rb'"?sep=([^\w\s"]|\t)"?\s*$', re.IGNORECASE)
"""A first line that names the delimiter, for Excel."""
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
    if line_end_of(sample) == "\r":
        sample = sample.replace(b"\r", b"\n")
    is_whole = len(sample) < SAMPLE_BYTES
    found = [record for _, record in records(io.BytesIO(sample))]
    named = SEPARATOR.match(found[0]) if found else None
    if named:
        return named[1].decode()
    kept = [record for record in (found if is_whole or len(found) == 1 else found[:-1]) if record.strip(b" \r\n")]
    rows = [_outside(record.decode("utf-8", "replace")) for record in kept[:SAMPLE_RECORDS]]
    if not rows:
        return ","
    fits = {
        delimiter: _fit([row.count(delimiter) for row in rows], rows, delimiter) for delimiter in (*DELIMITERS, BLANK)
    }
    best = max(DELIMITERS, key=lambda delimiter: fits[delimiter])
    if fits[best] == NO_FIT and fits[BLANK][:2] == (1.0, 0):
        return BLANK
    return best if fits[best] > NO_FIT else ","


def _fit(counts: list[int], rows: Sequence[str], delimiter: str) -> tuple[float, int, int]:
    """How well a delimiter fits, to be compared: do most rows have as many, how far down they begin, how many.

    The shares 0.5 and 0.9 are round numbers, chosen by no run.
    """
    usual = commonest(counts)
    body = counts[len(counts) // 2 :]
    for _ in range(MOST_BELOW):
        if len(body) > 2 and body[-1] != usual:
            body = body[:-1]
    n_others = sum(count != usual for count in body)
    agreeing = 1 - n_others / len(body)
    places = (at for at, pair in enumerate(pairwise([*counts, usual])) if pair == (usual, usual))
    top = next(places, len(counts))
    if usual == 0 or agreeing < 0.5 or top > MOST_ABOVE or top == len(counts):
        return NO_FIT
    if top and ((agreeing <= 0.9 and n_others > 1) or looks_like_data(rows[top].split(delimiter))):
        return NO_FIT  # names below other lines are words
    return float(agreeing > 0.9), -top, usual


def commonest(counts: Sequence[int]) -> int:
    """The number that the second half of the rows has most often: lines above the table are in the first."""
    body, everywhere = Counter(counts[len(counts) // 2 :]), Counter(counts)
    return max(body, key=lambda count: (body[count], everywhere[count], count))


def fields_of(path: Path, record: bytes, line: int, delimiter: str) -> list[str]:
    """The fields of the line with the names."""
    if not record.strip():
        raise complain("file", "hold a table", f"only blanks in {str(path)!r}")
    if record.count(b'"') % 2:
        raise open_quote(line)
    text = record.decode()
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
