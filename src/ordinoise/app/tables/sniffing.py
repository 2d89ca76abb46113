"""How the fields and rows of a text file are set apart, and what its columns are called."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from ordinoise._validation import complain
from ordinoise.app.tables.opening import SAMPLE_BYTES, as_file, head_of, kind_of, not_utf8, opened

SAMPLE_RECORDS = 200
# Where two fit equally well, the one least likely to stand inside a field comes first; a blank is the last resort.
DELIMITERS = ("\t", ";", "|", ",")
BLANK = " "
UNNAMED = "unnamed"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def delimiter_of(path: str | Path) -> str:
    r"""The character between the fields of a CSV file: one of comma, semicolon, tab, bar and blank.

    It is the one that cuts the first lines into equally many fields, as many as can be. Where none cuts them at all,
    the file has one column and the answer is the comma.
    """
    path = as_file(path)
    if kind_of(path) != "text":
        raise complain("file", "be text for it to have a delimiter", repr(str(path)))
    return sniffed_delimiter(path)


def sniffed_delimiter(path: Path) -> str:
    """`delimiter_of` a file that is known to be readable text."""
    sample = head_of(path)
    whole = len(sample) < SAMPLE_BYTES
    found = [record for _, record in records(io.BytesIO(sample))]
    kept = [record for record in (found if whole or len(found) == 1 else found[:-1]) if record.strip(b" \r\n")]
    rows = [_outside(record.decode("utf-8", "replace")) for record in kept[:SAMPLE_RECORDS]]
    if not rows:
        return ","
    fits = {delimiter: _fit([row.count(delimiter) for row in rows]) for delimiter in (*DELIMITERS, BLANK)}
    best = max(DELIMITERS, key=lambda delimiter: fits[delimiter])
    if fits[best] == (0.0, 0) and fits[BLANK][0] == 1.0:
        return BLANK
    return best if fits[best] > (0.0, 0) else ","


def _fit(counts: list[int]) -> tuple[float, int]:
    """How well a delimiter fits: whether the lines agree with the first one, then how many fields there are."""
    agreeing = sum(count == counts[0] for count in counts) / len(counts)
    if counts[0] == 0 or agreeing < 0.5:
        return 0.0, 0
    return float(agreeing > 0.9), counts[0]


def header_of(path: Path, delimiter: str) -> tuple[str, ...]:
    """Names of the columns of a text file, all different and none empty.

    A first column without a name, as pandas writes its row numbers, is called "unnamed".
    """
    with opened(path) as file:
        line, record = next(((line, record) for line, record in records(file) if record.strip(b"\r\n")), (0, b""))
    record = record.removeprefix(_BYTE_ORDER_MARK)
    if not record.strip():
        raise complain("file", "hold a table", f"nothing but blanks in {str(path)!r}")
    if record.count(b'"') % 2:
        raise open_quote(line)
    try:
        text = record.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(path, line, error.object[error.start]) from None
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        raise complain("file", "have a header of short names", f"{len(text)} characters on line {line}") from None
    if len(names) > 1 and not names[0].strip() and UNNAMED not in names:
        names[0] = UNNAMED
    check_names(names)
    return tuple(names)


def check_names(names: list[str]) -> None:
    """Refuse names that are empty or stand twice."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise complain("file", "name every column", f"an empty name for column {number}", "give it a name")
        if name in seen:
            got = f"{name!r} for columns {seen[name]} and {number}"
            raise complain("file", "name every column differently", got, "rename one of them")
        seen[name] = number


def records(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Rows of a text file as they stand, each with the number of its first line; quoted line ends do not end a row."""
    pending: list[bytes] = []
    start = 1
    for number, line in enumerate(lines, start=1):
        odd = line.count(b'"') % 2 == 1
        if not pending and not odd:
            yield number, line
        elif not pending:
            pending, start = [line], number
        else:
            pending.append(line)
            if odd:
                yield start, b"".join(pending)
                pending = []
    if pending:
        yield start, b"".join(pending)


def n_fields(record: bytes, delimiter: bytes) -> int:
    """Number of fields of a row; delimiters between quotes do not count."""
    if b'"' not in record:
        return record.count(delimiter) + 1
    return b"".join(record.split(b'"')[::2]).count(delimiter) + 1


def open_quote(line: int) -> ValueError:
    """The error about a quoted field that never ends."""
    return complain("file", "close every quote", f"an open one on line {line}", 'write a quote in a field as ""')


def _outside(record: str) -> str:
    """A row without what stands between quotes."""
    return "".join(record.split('"')[::2])
