"""What kind of file it is and how its fields are set apart, found from its first bytes."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ordinoise._validation import complain
from ordinoise.tables.names import meant

SAMPLE_BYTES = 1 << 18
SAMPLE_RECORDS = 200
# Where two fit equally well, the one least likely to stand inside a field comes first; a blank is the last resort.
DELIMITERS = ("\t", ";", "|", ",")
BLANK = " "
BINARY_SUFFIXES = (".parquet", ".feather", ".arrow", ".ipc")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_ARCHIVES = {b"PK\x03\x04": "a zip archive or an Excel workbook", b"\xd0\xcf\x11\xe0": "an Excel workbook"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def as_file(path: str | Path) -> Path:
    """`path` if a plain file stands there that may be read."""
    path = Path(path)
    try:
        if path.is_dir():
            raise complain("file", "be a file", f"the folder {str(path)!r}")
        if not path.exists():
            raise complain("file", "exist", repr(str(path)), _near_file(path))
        if not path.is_file():
            raise complain("file", "be a plain file", repr(str(path)))
        with path.open("rb") as file:
            if not file.read(1):
                raise complain("file", "hold a table", f"the empty file {str(path)!r}")
    except OSError as error:
        raise unreadable(path, error) from None
    return path


def kind_of(path: Path) -> str:
    """``"parquet"``, ``"arrow"`` or ``"text"``: what the bytes say, whatever the suffix."""
    head = _head(path)
    if head.startswith(b"ARROW1\0\0"):
        return "arrow"
    if head.startswith(b"PAR1") and b"\0" in head:
        return "parquet"
    if head[:2] in _MARKS:
        raise complain("file", "be text in UTF-8", f"{_MARKS[head[:2]]} in {str(path)!r}", "save it as UTF-8")
    if head[:4] in _ARCHIVES:
        advice = "save the sheet as CSV (UTF-8)"
        raise complain("file", "be CSV, Parquet or Feather", f"{_ARCHIVES[head[:4]]}, {str(path)!r}", advice)
    if b"\0" in head and path.suffix.lower() in BINARY_SUFFIXES:
        raise complain("file", "be readable", f"damaged content in {str(path)!r}", "make the file anew")
    if b"\0" in head:
        raise complain("file", "be CSV, Parquet or Feather", f"the binary file {str(path)!r}")
    if b"\r" in head and b"\n" not in head:
        advice = "save it as CSV (UTF-8)"
        raise complain("file", "end its lines with a line feed", f"carriage returns alone in {str(path)!r}", advice)
    return "text"


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
    sample = _head(path)
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
    """Names of the columns of a text file, all different and none empty."""
    with opened(path) as file:
        line, record = next(((line, record) for line, record in records(file) if record.strip(b"\r\n")), (0, b""))
    if not record.strip():
        raise complain("file", "hold a table", f"nothing but blanks in {str(path)!r}")
    if record.count(b'"') % 2:
        raise open_quote(line)
    try:
        text = record.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as error:
        raise not_utf8(path, line, error.object[error.start]) from None
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        raise complain("file", "have a header of short names", f"{len(text)} characters on line {line}") from None
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


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is a gzip file; what goes wrong on the way is a sentence."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                yield cast(IO[bytes], file)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None


def not_utf8(path: Path, line: int, byte: int) -> ValueError:
    """The error about a byte that UTF-8 does not have there."""
    return complain(
        "file", "be text in UTF-8", f"byte 0x{byte:02x} on line {line} of {str(path)!r}", "save it as UTF-8"
    )


def open_quote(line: int) -> ValueError:
    """The error about a quoted field that never ends."""
    return complain("file", "close every quote", f"an open one on line {line}", 'write a quote in a field as ""')


def _head(path: Path) -> bytes:
    """The first bytes of a file, unpacked."""
    with opened(path) as file:
        return file.read(SAMPLE_BYTES)


def _outside(record: str) -> str:
    """A row without what stands between quotes."""
    return "".join(record.split('"')[::2])


def _near_file(path: Path) -> str:
    """Which file was probably meant."""
    try:
        return meant(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    except OSError:
        return f"there is no folder {str(path.parent)!r}"


def unreadable(path: Path, error: Exception) -> ValueError:
    """The error about a file that the system will not hand out."""
    reason = getattr(error, "strerror", None) or "it is damaged"
    return complain("file", "be readable", f"{str(path)!r}: {reason}")
