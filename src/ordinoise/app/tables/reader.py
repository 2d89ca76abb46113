"""Reader of CSV, JSON lines, Excel, Parquet and Feather files; one sentence for each thing that can be wrong."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import check_names, delimiter_in, header_of, n_fields, open_quote, records
from ordinoise.app.tables.folder import check_same_columns, is_folder, parquet_files
from ordinoise.app.tables.label_studio import task_table
from ordinoise.app.tables.lines import read_lines
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.source import FORMATS, Source, check_size, not_utf8, open_source, too_large, unreadable
from ordinoise.app.tables.trial import damaged, stored_size
from ordinoise.app.tables.workbook import read_workbook, sheet_note
from ordinoise.columns.inference import as_text, nameless, typed

# Some damaged files make polars panic, which is a BaseException in Python.
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError)


def read_table(path: str | Path, *, keep_text: Collection[str] = (), asked: Reading = BY_RULES) -> pl.DataFrame:
    """The table in a CSV, JSON lines, Excel, Parquet or Feather file, with the types that all rows of a column allow.

    The format is inferred from the content. Of a workbook, the first visible sheet is read. In a CSV file the
    delimiter is inferred (`delimiter_of`) and blank lines
    are skipped. A file of JSON lines has one object per row; a key that an object lacks is missing there, and lists and
    objects in a cell stay JSON text. Text is typed by one rule in every format, so that a CSV file and its Parquet copy
    give the same table: a column becomes numbers, flags or dates if every cell is one, and the cells NA,
    N/A, NaN, nan, null, NULL, None, ? and empty ones are missing.

    Parameters
    ----------
    path : str or Path
        A text file, in UTF-8 or in UTF-16 with its mark, may be compressed with gzip.
    keep_text : collection of str
        Columns that stay text, such as categories that look like numbers in this file.
    asked : Reading
        What is not left to the rules. Without a header the columns are column_1, column_2, ...

    Raises
    ------
    ValueError
        One sentence about what is wrong with the file.
    """
    return read_opened(path, keep_text=keep_text, asked=asked).frame


@dataclass(frozen=True, eq=False)
class Opened:
    """A table and what is known of its file.

    Attributes
    ----------
    frame : polars.DataFrame
    digest : str
        SHA-256 of the file.
    nested : frozenset of str
        Columns with lists or objects in JSON lines, as JSON text.
    note : str
        Which of several sheets was read; empty if there is nothing to say.
    reading : Reading
        How the file was read.
    """

    frame: pl.DataFrame
    digest: str
    nested: frozenset[str] = frozenset()
    note: str = ""
    reading: Reading = BY_RULES


def read_opened(path: str | Path, *, keep_text: Collection[str] = (), asked: Reading = BY_RULES) -> Opened:
    """The table of a file with the digest of the file, from one reading."""
    found = _read(path, asked)
    columns, known = found.frame.get_columns(), (found.digest, found.nested, found.note, found.reading)
    del found
    return Opened(typed_columns(columns, {*keep_text, *known[1]}), *known)


def open_stored(path: str | Path, *, asked: Reading = BY_RULES) -> Opened:
    """The table with its cells as stored, with the digest of the file and how it was read."""
    return _read(path, asked)


def read_stored(path: str | Path, *, asked: Reading = BY_RULES) -> pl.DataFrame:
    """The table with its cells as stored: text for a CSV file, the stored types for the other formats."""
    return _read(path, asked).frame


def typed_columns(columns: list[pl.Series], keep_text: Collection[str] = ()) -> pl.DataFrame:
    """A table of the columns with the types that all of their rows allow; modifies the list."""
    for index, column in enumerate(columns):
        # Replaced one by one, so that the whole text is never in memory twice.
        if column.dtype == pl.String and column.name not in keep_text:
            columns[index] = typed(column)
    return pl.DataFrame(columns)


def read_text(path: str | Path, *, asked: Reading = BY_RULES) -> pl.DataFrame:
    """The table with every cell as its text in the file, null if the cell is empty.

    Rows and columns are those of `read_table`. Values that the file stores with a type are formatted as text.
    """
    return pl.DataFrame([as_text(column) for column in _read(path, asked).frame.get_columns()])


def _read(path: str | Path, asked: Reading) -> Opened:
    """The stored table with NaN and empty text as null, and the digest of the file."""
    source, header, reading = open_source(path), asked.has_header, asked
    if not header and source.kind != "text":
        raise complain("no-header", "be used with CSV alone", f"{str(path)!r}, which names its columns", "leave it out")
    nested: frozenset[str] = frozenset()
    try:
        if source.kind == "json":
            frame, nested = read_lines(source)
            _check_rows(frame, source.path)
        else:
            if source.kind == "text":
                frame, reading = _read_cells(source, asked)
            else:
                frame = _stored(source)
        text = pl.col(pl.String, pl.Categorical, pl.Enum)
        filled = pl.when(text.cast(pl.String) != "").then(text)
        frame = frame.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None), filled)
    except MemoryError:
        raise too_large(source.path) from None
    note = sheet_note(source.path, source.text) if source.kind == "excel" else ""
    if is_folder(source.path) and (n_files := len(parquet_files(source.path))) > 1:
        note = f"{n_files:,} Parquet files are read as one table, in the order of their names"
    return Opened(frame, source.digest, nested, note, reading)


def read_exact(path: str | Path) -> pl.DataFrame:
    """The table of a file that stores types, with NaN and empty text as they are."""
    return _stored(open_source(path))


def _stored(source: Source) -> pl.DataFrame:
    """The table of a file that stores types."""
    if source.kind not in ("excel", "tasks"):
        return _read_typed(source.path, source.kind)
    frame = (read_workbook if source.kind == "excel" else task_table)(source.path, source.text)
    _check_rows(frame, source.path)
    return frame


def _read_typed(path: Path, kind: str) -> pl.DataFrame:
    """The table of a Parquet or Feather file, or of a folder of Parquet files."""
    if is_folder(path):
        return _read_files(parquet_files(path), path)
    try:
        # Given a path, polars would open a Parquet file twice, and take some names for patterns.
        with path.open("rb") as file:
            size = stored_size(path, file, kind)
            with _complete(path, kind):
                n_rows, n_columns = size[:2] if size else _stated_size(file, kind)
            check_size(path, n_rows, n_columns)
            file.seek(0)
            with _complete(path, kind):
                frame = pl.read_parquet(file) if kind == "parquet" else pl.read_ipc(file)
                _check_times(frame)
    except OSError as error:
        raise unreadable(path, error) from None
    check_names(frame.columns)
    _check_rows(frame, path)
    return frame


def _read_files(files: list[Path], path: Path) -> pl.DataFrame:
    """The rows of several Parquet files, one after the other."""
    frames: list[pl.DataFrame] = []
    for file in files:
        frames.append(_read_typed(file, "parquet"))
        check_same_columns(frames[0].columns, frames[-1].columns, file)
        check_size(path, sum(frame.height for frame in frames), frames[0].width)
    return merged(frames)


def merged(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Rows of several files as one frame; types that differ between files become one that holds both."""
    try:
        return pl.concat(frames, how="vertical_relaxed")
    except FAILURES:
        raise complain("file", "have columns of one kind in every Parquet file", "numbers and others") from None


@contextmanager
def _complete(path: Path, kind: str) -> Iterator[None]:
    """Turn failures of polars to read a Parquet or Feather file into one-sentence errors."""
    try:
        yield
    except FAILURES:
        raise damaged(path, kind) from None


def _check_times(frame: pl.DataFrame) -> None:
    """Fail if a date or time is out of range: only its text would show it."""
    for column in map(nameless, frame.get_columns()):
        if column.dtype.is_temporal():
            as_text(column.gather([at for at in (column.arg_min(), column.arg_max()) if at is not None]))


def _stated_size(file: BinaryIO, kind: str) -> tuple[int, int]:
    """Numbers of rows and columns that the metadata of a Parquet or Feather file state."""
    file.seek(0)
    lazy = pl.scan_parquet(file) if kind == "parquet" else pl.scan_ipc(file)
    n_columns = len(lazy.collect_schema())
    return int(lazy.select(pl.len()).collect().item()), n_columns


def _read_cells(source: Source, asked: Reading) -> tuple[pl.DataFrame, Reading]:
    """The cells of a text file as text, and how they were found."""
    delimiter, header = delimiter_in(source.text), asked.has_header
    check_size(source.path, 1, source.text.partition(b"\n")[0].count(delimiter.encode()) + 1)
    names = header_of(source, delimiter, header=header)
    check_size(source.path, source.text.count(b"\n"), len(names))
    quote: str | None = '"'
    frame = _parsed(source, delimiter, quote, header)
    if frame is None:
        frame, quote = _parsed_unquoted(source, delimiter, len(names), header), None
    if frame.width != len(names):
        raise complain(
            "file", f"have {len(names)} fields per row, as its header", f"{frame.width} in {str(source.path)!r}"
        )
    frame.columns = list(names)
    frame = _without_blank_lines(frame, source, delimiter, quote, header)
    _check_rows(frame, source.path)
    return frame, replace(asked, delimiter=delimiter)


def _parsed(source: Source, delimiter: str, quote: str | None, header: bool) -> pl.DataFrame | None:
    """Every cell as text; None if polars cannot parse the file."""
    text = source.text if header else source.text.lstrip(b"\r\n")  # or polars takes a blank line for the first row
    try:
        return pl.read_csv(text, has_header=header, separator=delimiter, quote_char=quote, infer_schema_length=0)
    except FAILURES:
        return None


def _parsed_unquoted(source: Source, delimiter: str, n_columns: int, header: bool) -> pl.DataFrame:
    """The cells of a file whose quotes are ordinary characters, as in ``5" pipe``; refuses any other file."""
    _check_encoding(source)
    frame = _parsed(source, delimiter, None, header)
    if frame is not None and frame.width == n_columns and not any(map(_opens_a_quote, frame.get_columns())):
        return frame
    _check_fields(source.text, delimiter, '"', n_columns, header)
    raise _inseparable(source.path)


def _inseparable(path: Path) -> ValueError:
    return complain("file", FORMATS, f"rows that cannot be separated in {str(path)!r}")


def _opens_a_quote(column: pl.Series) -> bool:
    return bool(nameless(column).str.starts_with('"').any())


def _check_rows(frame: pl.DataFrame, path: Path) -> None:
    if frame.width == 0 or frame.height == 0:
        raise complain("file", "hold rows", f"only column names in {str(path)!r}")


def _check_encoding(source: Source) -> None:
    """Refuse the first byte that is not UTF-8."""
    for number, line in enumerate(io.BytesIO(source.text), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(source.path, number, line[error.start]) from None


def _check_fields(
    text: bytes, delimiter: str, quote: str | None, n_columns: int, header: bool
) -> tuple[list[int], int]:
    """Numbers of the rows that are blank lines, and of all rows; refuses a row without `n_columns` fields."""
    mark, blanks = delimiter.encode(), b" \r\n" if delimiter != " " else b"\r\n"
    blank_rows = []
    row, is_first = -1 if header else 0, True
    lines = io.BytesIO(text)
    for line, record in records(lines) if quote else enumerate(lines, start=1):
        is_blank = not record.strip(blanks)
        if is_blank and is_first:
            continue
        is_first = False
        if is_blank:
            blank_rows.append(row)
        elif (found := n_fields(record, mark) if quote else record.count(mark) + 1) != n_columns:
            raise _wrong_width(record, line, found, n_columns)
        row += 1
    return blank_rows, row


def _wrong_width(record: bytes, line: int, found: int, n_columns: int) -> ValueError:
    if record.count(b'"') % 2:
        return open_quote(line)
    return complain("file", f"have {n_columns} fields per row, as its header", f"{found} on line {line}")


def _without_blank_lines(
    frame: pl.DataFrame, source: Source, delimiter: str, quote: str | None, header: bool
) -> pl.DataFrame:
    """The frame without the rows that come from blank lines; refuses rows with too few fields.

    Both kinds of row end in a null, so that a file without a null in its last column need not be checked.
    """
    if frame.width < 2 or frame.to_series(-1).null_count() == 0:
        return frame
    blank_rows, n_rows = _check_fields(source.text, delimiter, quote, frame.width, header)
    if n_rows != frame.height:
        # Older versions of polars accept quotes that are ordinary characters.
        blank_rows, n_rows = _check_fields(source.text, delimiter, None, frame.width, header)
    if n_rows != frame.height:
        raise _inseparable(source.path)
    if not blank_rows:
        return frame
    return frame.filter(~pl.Series(range(frame.height), dtype=pl.Int64).is_in(blank_rows))
