"""A file opened for reading: its format, its digest and its unpacked text, with an error if it cannot be read."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BufferedReader
from pathlib import Path

from ordinoise._validation import complain
from ordinoise.app.tables.encoding import UTF8, Encoding, as_utf8, encoding_of
from ordinoise.app.tables.folder import is_folder, parquet_files
from ordinoise.columns.names import meant

# The format and the delimiter are inferred from this many bytes; a round number, chosen by no run.
SAMPLE_BYTES = 1 << 18
# A table may take a quarter of the memory, as its text, its columns and its features are there at the same time.
MEMORY_SHARE = 4
CELL_BYTES = 8
# Any file may unpack to so many bytes, and to so many times its size; round numbers, chosen by no run.
SMALL_BYTES, MOST_PACKED = 2**29, 32
MAX_BYTES, MAX_COLUMNS = "ORDINOISE_MAX_BYTES", "ORDINOISE_MAX_COLUMNS"
MOST_COLUMNS = 100_000  # reading more takes minutes; a round number, chosen by no run
BINARY_SUFFIXES = (".parquet", ".feather", ".arrow", ".ipc")
LINES_SUFFIXES = (".jsonl", ".ndjson")
FORMATS = "be CSV, JSON lines, Excel (.xlsx), Parquet or Feather"
_GZIP = b"\x1f\x8b"
WORKBOOKS = (".xlsx", ".xlsm")
_STORED = (b"PAR1", b"ARROW1\0\0")
_ARCHIVES = {b"PK\x03\x04": "a zip archive", b"\xd0\xcf\x11\xe0": "an old or protected Excel workbook"}


@dataclass(frozen=True)
class Source:
    """A file that was opened once.

    Attributes
    ----------
    path : Path
    kind : {"text", "json", "tasks", "excel", "parquet", "arrow"}
        Format, by the first bytes: "text" is CSV, "json" has one JSON object per line, "tasks" is a Label
        Studio export.
    digest : str
        SHA-256 of the file as it is on disk, as 64 hexadecimal digits.
    text : bytes
        The whole content of a text file, unpacked and in UTF-8, with line feeds where its lines end with carriage
        returns alone; or of a workbook as it is; empty for Parquet and Feather, which polars reads from the path.
    encoding : Encoding
    line_end : str
        What ends the first line of a text file.
    """

    path: Path
    kind: str
    digest: str
    text: bytes = field(default=b"", repr=False)
    encoding: Encoding = UTF8
    line_end: str = "\n"


def open_source(path: str | Path, encoding: str = "", likely: str = "") -> Source:
    """The file at `path`, opened once: its kind, its digest and, for text, its content.

    The encoding of text is found if none is given; where it can only be guessed, a `likely` one is tried first. Digest
    and text come from the same bytes, so that they agree even if the file is replaced meanwhile.
    """
    if is_folder(Path(path)):
        return Source(Path(path), "parquet", digest_of(path))
    path = as_file(path)
    with open_bytes(path) as file:
        kind = kind_of(path, _head(path, file, encoding))
        file.seek(0)
        if kind == "excel":
            check_bytes(path, path.stat().st_size)
            raw = file.read()
            return Source(path, kind, hashlib.sha256(raw).hexdigest(), raw)
        if kind not in ("text", "json", "tasks"):
            return Source(path, kind, hashlib.file_digest(file, "sha256").hexdigest())
        text, digest, found = _text_and_digest(path, file, encoding, likely)
    end = line_end_of(text)
    return Source(path, kind, digest, text.replace(b"\r", b"\n") if end == "\r" else text, found, end)


def line_end_of(text: bytes) -> str:
    """What ends the first line of a text: CR and LF, LF, or CR alone if there is no LF at all."""
    at = text.find(b"\n")
    if at < 0:
        return "\r" if b"\r" in text else "\n"
    return "\r\n" if text[at - 1 : at] == b"\r" else "\n"


def open_text(path: str | Path) -> tuple[bytes, str]:
    """The whole content of a text file of any kind in UTF-8, unpacked, and its digest."""
    path = as_file(path)
    with open_bytes(path) as file:
        return _text_and_digest(path, file)[:2]


def unpacked_bytes(path: str | Path) -> bytes:
    """The whole content of a text file in its own encoding, unpacked."""
    path = as_file(path)
    with open_bytes(path) as file:
        raw = file.read()
        return _unpacked(path, raw) if raw.startswith(_GZIP) else raw


def _text_and_digest(
    path: Path, file: BufferedReader, encoding: str = "", likely: str = ""
) -> tuple[bytes, str, Encoding]:
    check_bytes(path, path.stat().st_size)
    raw = file.read()
    text = _unpacked(path, raw) if raw.startswith(_GZIP) else raw
    found = encoding_of(path, text, encoding, likely=likely)
    return as_utf8(path, text, found), hashlib.sha256(raw).hexdigest(), found


def _unpacked(path: Path, raw: bytes) -> bytes:
    """The content of a gzip file, unpacked no further than the limit."""
    most = most_unpacked(len(raw))
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
        text = file.read(most + 1)
    check_bytes(path, len(text), most)
    return text


def check_bytes(path: Path, n_bytes: int, most: int | None = None) -> None:
    """Refuse more bytes than a table may take, or than `most`."""
    most = most_bytes() if most is None else most
    if n_bytes > most:
        got = f"more in {str(path)!r}"
        raise complain("file", f"hold at most {most} bytes unpacked", got, f"set {MAX_BYTES} to allow more")


def check_size(path: Path, n_rows: int, n_columns: int, size: int | None = None) -> None:
    """Refuse a table that would not fit into memory, or has too many columns, before it is read.

    One in `size` bytes of text is also refused if it has more cells than so little text may unpack to, as where every
    row of JSON has another key.
    """
    if n_columns > most_columns():
        got = f"{n_columns} in {str(path)!r}"
        raise complain("file", f"have at most {most_columns()} columns", got, f"set {MAX_COLUMNS} to allow more")
    most = most_bytes() if size is None else most_unpacked(size)
    if n_rows * n_columns * CELL_BYTES > most:
        got = f"{n_rows} rows of {n_columns} columns in {str(path)!r}"
        rule = f"have at most {most // CELL_BYTES} cells"
        raise complain("file", rule, got, f"set {MAX_BYTES} to allow more than {most} bytes")


def most_bytes() -> int:
    """Most bytes of a table: ``ORDINOISE_MAX_BYTES``, or a quarter of the memory."""
    return limit(MAX_BYTES, _memory() // MEMORY_SHARE)


def most_unpacked(size: int) -> int:
    """Most bytes that a file of `size` bytes may unpack to: a small one that holds a large table is a bomb."""
    return min(most_bytes(), sys.maxsize if _is_given(MAX_BYTES) else SMALL_BYTES + MOST_PACKED * size)


def most_columns() -> int:
    """Most columns of a table: ``ORDINOISE_MAX_COLUMNS``, or as many as are read in reasonable time."""
    return limit(MAX_COLUMNS, MOST_COLUMNS)


def _is_given(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())


def limit(variable: str, usual: int) -> int:
    """A positive whole number in the environment, or the usual one."""
    given = os.environ.get(variable, "").strip()
    if not given:
        return usual
    if not given.isdecimal() or len(given) > 18 or int(given) == 0:
        raise complain(variable, "be a positive whole number", repr(given))
    return int(given)


@cache
def _memory() -> int:
    """Bytes of memory for this process: those of the machine, or fewer where the system sets a limit."""
    found = [sys.maxsize]
    try:
        import resource

        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        found.append(resource.getrlimit(resource.RLIMIT_AS)[0])
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (ImportError, OSError, ValueError, AttributeError):
        pass  # not known here
    return min(number for number in found if number > 0)


def format_of(path: Path) -> str:
    """Format of a file, as in `Source`."""
    return "parquet" if is_folder(path) else kind_of(path, head_of(path))


def digest_of(path: str | Path) -> str:
    """SHA-256 of a file's bytes, or of the digests of several files, as 64 hexadecimal digits."""
    if is_folder(Path(path)):
        digests = [digest_of(file) for file in parquet_files(Path(path))]
        return hashlib.sha256("".join(digests).encode()).hexdigest()
    with open_bytes(as_file(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def head_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked if it is a gzip file, in UTF-8 if it is text."""
    with open_bytes(path) as file:
        return _head(path, file)


def as_file(path: str | Path) -> Path:
    """`path` if it is a regular file."""
    path = Path(path)
    try:
        if path.is_dir():
            raise complain("file", "be a file", f"the folder {str(path)!r}")
        if not path.exists():
            raise complain("file", "exist", repr(str(path)), _near_file(path))
        if not path.is_file():
            raise complain("file", "be a regular file", repr(str(path)))
    except OSError as error:
        raise unreadable(path, error) from None
    return path


@contextmanager
def open_bytes(path: Path) -> Iterator[BufferedReader]:
    """The open file; refuses an empty one, and turns failures to read or unpack it into one-sentence errors."""
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise complain("file", "hold a table", f"the empty file {str(path)!r}")
            file.seek(0)
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    except MemoryError:
        raise too_large(path) from None


def _head(path: Path, file: BufferedReader, encoding: str = "") -> bytes:
    is_packed = file.read(2) == _GZIP
    file.seek(0)
    head = (gzip.GzipFile(fileobj=file) if is_packed else file).read(SAMPLE_BYTES)
    if head.startswith(_STORED) and b"\0" in head:  # where small numbers look like text in UTF-16
        return head
    return as_utf8(path, head, encoding_of(path, head, encoding, is_whole=False), is_whole=False)


def kind_of(path: Path, head: bytes) -> str:
    """Format by the first bytes, as in `Source`."""
    if head.startswith(_STORED[1]):
        return "arrow"
    if head.startswith(_STORED[0]) and b"\0" in head:
        return "parquet"
    if head[:4] in _ARCHIVES:
        if head.startswith(b"PK") and (path.suffix.lower() in WORKBOOKS or b"[Content_Types].xml" in head):
            return "excel"
        advice = "save the sheet as .xlsx or as CSV (UTF-8)"
        raise complain("file", FORMATS, f"{_ARCHIVES[head[:4]]}, {str(path)!r}", advice)
    if b"\0" in head and path.suffix.lower() in BINARY_SUFFIXES:
        raise complain("file", "be readable", f"damaged content in {str(path)!r}", "create the file again")
    if b"\0" in head:
        raise complain("file", FORMATS, f"the binary file {str(path)!r}")
    if head.lstrip().startswith(b"[") and b'"annotations"' in head:
        return "tasks"
    return "json" if _is_json(path, head) else "text"


def _is_json(path: Path, head: bytes) -> bool:
    """Whether a text file has one JSON object per line, by its suffix or its first line; refuses any other JSON."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    first = head.lstrip().partition(b"\n")[0].strip()
    if suffix in LINES_SUFFIXES or _is_object(first):
        return True
    if suffix == ".json":
        advice = "write every object on its own line, as jq -c '.[]' does"
        raise complain("file", "hold one JSON object per line", f"another kind of JSON in {str(path)!r}", advice)
    return False


def _is_object(line: bytes) -> bool:
    try:
        return line.startswith(b"{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def too_large(path: Path) -> ValueError:
    """The error about a file for which the memory is not enough."""
    return complain("file", "fit into memory", f"more in {str(path)!r}", "read a part of its rows")


def unreadable(path: Path, error: Exception) -> ValueError:
    """The error about a file that cannot be read or unpacked."""
    reason = getattr(error, "strerror", None) or "it is damaged"
    return complain("file", "be readable", f"{str(path)!r}: {reason}")


def _near_file(path: Path) -> str:
    """Advice for a missing file: the file or folder that was probably meant."""
    try:
        return meant(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    except OSError:
        return f"there is no folder {str(path.parent)!r}"
