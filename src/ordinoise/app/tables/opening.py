"""Files opened for reading: whether one is there, what its bytes say it is, and its text unpacked."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ordinoise._validation import complain
from ordinoise.app.tables.names import meant

SAMPLE_BYTES = 1 << 18
BINARY_SUFFIXES = (".parquet", ".feather", ".arrow", ".ipc")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_ARCHIVES = {b"PK\x03\x04": "a zip archive or an Excel workbook", b"\xd0\xcf\x11\xe0": "an Excel workbook"}


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
    head = head_of(path)
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


def head_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked."""
    with opened(path) as file:
        return file.read(SAMPLE_BYTES)


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
