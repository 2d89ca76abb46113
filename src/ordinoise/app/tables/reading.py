"""Tables read from CSV, Parquet and Feather files, with one sentence for everything that can be wrong with one."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.inference import as_text, nameless, typed
from ordinoise.app.tables.opening import as_file, kind_of, not_utf8, opened, unreadable
from ordinoise.app.tables.sniffing import check_names, header_of, n_fields, open_quote, records, sniffed_delimiter

# A file that is damaged in the right place makes the engine panic, which Python knows as a BaseException.
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError)


def read_table(path: str | Path, *, keep_text: Collection[str] = ()) -> pl.DataFrame:
    """The table in a CSV, Parquet or Feather file, every column with the type that all of its rows allow.

    The content decides the format, whatever the suffix. In a CSV file the delimiter is found (`delimiter_of`), blank
    lines are passed over, and the cells NA, N/A, NaN, nan, null, NULL, None, ? and nothing at all are missing.

    Parameters
    ----------
    path : str or Path
        A text file may be packed with gzip.
    keep_text : collection of str
        Columns whose text is left alone, such as categories that another file spelled like numbers.

    Raises
    ------
    ValueError
        One sentence about what is wrong with the file.
    """
    path = as_file(path)
    kind = kind_of(path)
    if kind != "text":
        return _without_nan(_read_typed(path, kind))
    columns = _read_cells(path).get_columns()
    for index, column in enumerate(columns):
        # One column at a time gives way to its typed twin, so that the text is never held twice.
        columns[index] = column if column.name in keep_text else typed(column)
    return pl.DataFrame(columns)


def read_text(path: str | Path) -> pl.DataFrame:
    """The table with every cell as the text that stands in the file, null where nothing does.

    Rows and columns are those of `read_table`. The values of Parquet and Feather files are written out.
    """
    path = as_file(path)
    kind = kind_of(path)
    if kind != "text":
        return pl.DataFrame([as_text(column) for column in _without_nan(_read_typed(path, kind)).get_columns()])
    return _read_cells(path)


def digest_of(path: str | Path) -> str:
    """SHA-256 of a file's bytes, as 64 hexadecimal digits."""
    path = as_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None


def _read_typed(path: Path, kind: str) -> pl.DataFrame:
    """The frame of a Parquet or Feather file."""
    try:
        if kind == "parquet":
            frame = pl.read_parquet(path, glob=False)
        else:
            with path.open("rb") as file:
                frame = pl.read_ipc(file)
    except FAILURES:
        name = {"parquet": "Parquet", "arrow": "Feather"}[kind]
        raise complain("file", f"be a whole {name} file", f"damaged content in {str(path)!r}") from None
    check_names(frame.columns)
    _check_rows(frame, path)
    return frame


def _without_nan(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None))


def _read_cells(path: Path) -> pl.DataFrame:
    """The cells of a text file as they stand."""
    delimiter = sniffed_delimiter(path)
    names = header_of(path, delimiter)
    quote: str | None = '"'
    frame = _parsed(path, delimiter, quote)
    if frame is None:
        frame, quote = _parsed_unquoted(path, delimiter, len(names)), None
    if frame.width != len(names):
        raise complain("file", f"have {len(names)} fields a row, as its header", f"{frame.width} in {str(path)!r}")
    frame.columns = list(names)
    frame = _without_blank_lines(frame, path, delimiter, quote)
    _check_rows(frame, path)
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))


def _parsed(path: Path, delimiter: str, quote: str | None) -> pl.DataFrame | None:
    """Every cell as text; None where the engine cannot tell the cells apart."""
    try:
        return pl.read_csv(path, separator=delimiter, quote_char=quote, infer_schema_length=0, glob=False)
    except FAILURES:
        return None


def _parsed_unquoted(path: Path, delimiter: str, n_columns: int) -> pl.DataFrame:
    """The cells of a file with quotes that quote nothing, as in ``5" pipe``; else the sentence about the file."""
    _check_encoding(path)
    frame = _parsed(path, delimiter, None)
    if frame is not None and frame.width == n_columns and not any(map(_opens_a_quote, frame.get_columns())):
        return frame
    _check_fields(path, delimiter, '"', n_columns)
    raise _muddled(path)


def _muddled(path: Path) -> ValueError:
    return complain("file", "be CSV, Parquet or Feather", f"rows that cannot be told apart in {str(path)!r}")


def _opens_a_quote(column: pl.Series) -> bool:
    return bool(nameless(column).str.starts_with('"').any())


def _check_rows(frame: pl.DataFrame, path: Path) -> None:
    if frame.width == 0 or frame.height == 0:
        raise complain("file", "hold rows", f"only the names of columns in {str(path)!r}")


def _check_encoding(path: Path) -> None:
    """Complain about the first byte that is not UTF-8."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise not_utf8(path, number, line[error.start]) from None


def _check_fields(path: Path, delimiter: str, quote: str | None, n_columns: int) -> tuple[list[int], int]:
    """Which rows are blank lines, and how many rows there are; complains about the first one with other fields."""
    mark, blanks = delimiter.encode(), b" \r\n" if delimiter != " " else b"\r\n"
    blank_rows = []
    row = -1  # the header
    with opened(path) as file:
        for line, record in records(file) if quote else enumerate(file, start=1):
            is_blank = not record.strip(blanks)
            if is_blank and row < 0:
                continue
            if is_blank:
                blank_rows.append(row)
            elif (found := n_fields(record, mark) if quote else record.count(mark) + 1) != n_columns:
                raise _ragged(record, line, found, n_columns)
            row += 1
    return blank_rows, row


def _ragged(record: bytes, line: int, found: int, n_columns: int) -> ValueError:
    if record.count(b'"') % 2:
        return open_quote(line)
    return complain("file", f"have {n_columns} fields a row, as its header", f"{found} on line {line}")


def _without_blank_lines(frame: pl.DataFrame, path: Path, delimiter: str, quote: str | None) -> pl.DataFrame:
    """The frame without the rows that blank lines became; complains about rows with too few fields.

    Both end in a null, so that files without one in the last column need no second look.
    """
    if frame.width < 2 or frame.to_series(-1).null_count() == 0:
        return frame
    blank_rows, n_rows = _check_fields(path, delimiter, quote, frame.width)
    if n_rows != frame.height:
        # Older engines do not stumble over a quote that quotes nothing.
        blank_rows, n_rows = _check_fields(path, delimiter, None, frame.width)
    if n_rows != frame.height:
        raise _muddled(path)
    if not blank_rows:
        return frame
    return frame.filter(~pl.Series(range(frame.height), dtype=pl.Int64).is_in(blank_rows))
