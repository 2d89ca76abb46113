"""The cells of a CSV file as text; one sentence about a row that does not fit."""

from __future__ import annotations

import io

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import n_fields, open_quote, records
from ordinoise.app.tables.layout import CsvLayout
from ordinoise.app.tables.source import FORMATS, check_size
from ordinoise.columns.inference import nameless

# Some damaged files make polars panic, which is a BaseException in Python.
_FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OverflowError)


def read_cells(layout: CsvLayout) -> pl.DataFrame:
    """The cells of a table in the text of a CSV file; blank lines are no rows."""
    check_size(layout.path, layout.text.count(b"\n"), len(layout.names), len(layout.text))
    quote: str | None = '"'
    frame = _parsed(layout, quote)
    if frame is None:
        frame, quote = _parsed_unquoted(layout), None
    if frame.width != len(layout.names):
        got = f"{frame.width} in {str(layout.path)!r}"
        raise complain("file", f"have {len(layout.names)} fields per row, as its header", got)
    frame.columns = list(layout.names)
    return _without_nameless(_without_blank_lines(frame, layout, quote), layout)


def _without_nameless(frame: pl.DataFrame, layout: CsvLayout) -> pl.DataFrame:
    """The table without columns at its end that have neither a name nor a cell."""
    n_named = max(frame.width - layout.nameless, 1)
    while frame.width > n_named and not (frame.to_series(-1).str.len_bytes() > 0).any():
        frame = frame[:, :-1]
    return frame


def _parsed(layout: CsvLayout, quote: str | None) -> pl.DataFrame | None:
    """Every cell as text; None if polars cannot parse the file."""
    has_header, separator = layout.reading.has_header, layout.reading.delimiter
    try:
        return pl.read_csv(
            layout.text, has_header=has_header, separator=separator, quote_char=quote, infer_schema_length=0
        )
    except _FAILURES:
        return None


def _parsed_unquoted(layout: CsvLayout) -> pl.DataFrame:
    """The cells of a file whose quotes are ordinary characters, as in ``5" pipe``; refuses any other file."""
    frame = _parsed(layout, None)
    is_whole = frame is not None and frame.width == len(layout.names)
    if frame is not None and is_whole and not any(map(_opens_a_quote, frame.get_columns())):
        return frame
    _check_fields(layout, '"')
    raise _inseparable(layout)


def _inseparable(layout: CsvLayout) -> ValueError:
    return complain("file", FORMATS, f"rows that cannot be separated in {str(layout.path)!r}")


def _opens_a_quote(column: pl.Series) -> bool:
    return bool(nameless(column).str.starts_with('"').any())


def _check_fields(layout: CsvLayout, quote: str | None) -> tuple[list[int], int]:
    """Numbers of the rows that are blank lines, and of all rows; refuses a row with too many or too few fields."""
    delimiter, n_columns = layout.reading.delimiter, len(layout.names)
    mark, blanks = delimiter.encode(), b" \r\n" if delimiter != " " else b"\r\n"
    blank_rows = []
    row = -1 if layout.reading.has_header else 0
    lines = io.BytesIO(layout.text)
    for line, record in records(lines) if quote else enumerate(lines, start=1):
        if not record.strip(blanks):
            blank_rows.append(row)
        elif (found := n_fields(record, mark) if quote else record.count(mark) + 1) != n_columns:
            raise _wrong_width(record, line + layout.first_line - 1, found, n_columns)
        row += 1
    return blank_rows, row


def _wrong_width(record: bytes, line: int, found: int, n_columns: int) -> ValueError:
    if record.count(b'"') % 2:
        return open_quote(line)
    return complain("file", f"have {n_columns} fields per row, as its header", f"{found} on line {line}")


def _without_blank_lines(frame: pl.DataFrame, layout: CsvLayout, quote: str | None) -> pl.DataFrame:
    """The frame without the rows that come from blank lines; refuses rows with too few fields.

    Both kinds of row end in a null, so that a file without a null in its last column need not be checked.
    """
    if frame.width < 2 or frame.to_series(-1).null_count() == 0:
        return frame
    blank_rows, n_rows = _check_fields(layout, quote)
    if n_rows != frame.height:
        # Older versions of polars accept quotes that are ordinary characters.
        blank_rows, n_rows = _check_fields(layout, None)
    if n_rows != frame.height:
        raise _inseparable(layout)
    if not blank_rows:
        return frame
    return frame.filter(~pl.Series(range(frame.height), dtype=pl.Int64).is_in(blank_rows))
