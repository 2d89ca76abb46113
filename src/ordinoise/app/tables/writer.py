"""Writer of CSV, JSON lines, Excel, Parquet and Feather files: never over a file, never an incomplete one."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal

import polars as pl

from ordinoise._files import refuse_existing, whole_file
from ordinoise._validation import complain
from ordinoise.app.tables.dialect import delimiter_in
from ordinoise.app.tables.output_dialect import PLAIN, Dialect
from ordinoise.app.tables.reader import FAILURES
from ordinoise.app.tables.source import WORKBOOKS
from ordinoise.columns.inference import DATE_TEXT, TIME_TEXT, as_text, nameless
from ordinoise.columns.names import listed
from ordinoise.columns.refusals import is_sentence

TEXTS, LINES = (".csv", ".tsv"), (".jsonl", ".ndjson")
STORED = {"parquet": (".parquet",), "arrow": (".feather", ".arrow")}
"""Suffixes by the kind of files that store types."""
STORED_SUFFIXES = tuple(suffix for suffixes in STORED.values() for suffix in suffixes)
SUFFIXES = (*TEXTS, *LINES, ".xlsx", *STORED_SUFFIXES)
MOST_SHEET_ROWS, MOST_SHEET_COLUMNS, LONGEST_TEXT = 2**20, 2**14, 2**15 - 1  # limits of the format
_FORMULA = r"^[=+\-@\t\r]"
MARK = "\ufeff"
"""The byte order mark."""
_PLAIN_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def write_table(
    frame: pl.DataFrame,
    path: str | Path,
    *,
    dialect: Dialect = PLAIN,
    header: bool = True,
    excel_safe: bool = False,
) -> None:
    """Write a table in the format that the suffix of `path` names.

    Parameters
    ----------
    frame : polars.DataFrame
    path : str or Path
        New file ending in .csv, .tsv, .jsonl, .ndjson, .xlsx, .parquet, .feather or .arrow, in a folder that exists.
    dialect : Dialect
        How a .csv or .tsv file is spelled; a .tsv file has tabs.
    header : bool
        Whether the first row of a .csv or .tsv file has the names of the columns.
    excel_safe : bool
        Whether to put an apostrophe before text that a spreadsheet would run as a formula (.csv and .tsv only). Such a
        file is for reading in a spreadsheet: its text is no longer what the table holds.

    Raises
    ------
    ValueError
        Why nothing was written, in one sentence.
    """
    if len(dialect.delimiter.encode()) != 1:
        raise complain("delimiter", "be a single character", repr(dialect.delimiter))
    path = _as_new_file(path)
    suffix = path.suffix.lower()
    if suffix in TEXTS:
        names = frame.columns
        frame = pl.DataFrame([_writable(column) for column in frame.get_columns()])
        frame.columns = names  # polars would name a column without a name
        frame = _excel_safe(frame) if excel_safe else frame
    with _writing(path) as file:
        if suffix in TEXTS:
            dialect = replace(dialect, delimiter="\t") if suffix == ".tsv" else dialect
            file.write(csv_bytes(frame, dialect, header=header))
        elif suffix in LINES:
            pl.DataFrame([_as_json(column) for column in frame.get_columns()]).write_ndjson(file)
        elif suffix == ".xlsx":
            _write_sheet(frame, file)
        elif suffix == ".parquet":
            frame.write_parquet(file)
        else:
            frame.write_ipc(file, compression="lz4")


def csv_bytes(frame: pl.DataFrame, dialect: Dialect = PLAIN, *, header: bool = True) -> bytes:
    """The table as the bytes of a CSV file."""
    # A mark at the very beginning of a file is not read as part of its text: a quote goes before it.
    if not _first_field(frame, header).startswith(MARK):
        text = _csv_bytes(frame, dialect, header, "necessary")
        found = delimiter_in(text)
        if found == dialect.delimiter or found.encode() not in text:
            return text
    return _csv_bytes(frame, dialect, header, "always")  # text with tabs in one column looks like several


def _csv_bytes(frame: pl.DataFrame, dialect: Dialect, header: bool, quotes: Literal["necessary", "always"]) -> bytes:
    file = io.BytesIO()
    dialect.with_decimals(frame).write_csv(
        file,
        include_header=header,
        include_bom=dialect.mark,
        separator=dialect.delimiter,
        line_terminator=dialect.line_end,
        quote_style=quotes,
        date_format=DATE_TEXT,
        datetime_format=TIME_TEXT,
    )
    return file.getvalue()


def write_content(content: bytes, path: str | Path) -> None:
    """Write the whole content of a new file."""
    with _writing(_as_new_file(path, (*SUFFIXES, *WORKBOOKS, ".json"))) as file:
        file.write(content)


@contextmanager
def new_table_file(path: Path) -> Iterator[IO[bytes]]:
    """A new file for a table, whole or not at all; what goes wrong is one sentence."""
    with _writing(_as_new_file(path)) as file:
        yield file


def _write_sheet(frame: pl.DataFrame, file: IO[bytes]) -> None:
    """Write a workbook with one sheet; numbers, flags, dates and text are written as such, never as formulas."""
    try:
        import xlsxwriter
    except ImportError:
        advice = "pip install 'ordinoise[excel]'"
        raise complain("out", "end in .csv where xlsxwriter is missing", ".xlsx", advice) from None
    if frame.height >= MOST_SHEET_ROWS or frame.width > MOST_SHEET_COLUMNS:
        rule = f"end in .csv or .parquet for more than {MOST_SHEET_ROWS - 1} rows or {MOST_SHEET_COLUMNS} columns"
        raise complain("out", rule, f"{frame.height} rows of {frame.width} columns")
    with xlsxwriter.Workbook(file, {"in_memory": True, "default_date_format": "yyyy-mm-dd"}) as book:
        sheet = book.add_worksheet("table")
        times = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for at, column in enumerate(frame.get_columns()):
            sheet.write_string(0, at, column.name)
            _write_column(sheet, at, column, times)


def _write_column(sheet: Any, at: int, column: pl.Series, times: Any) -> None:
    is_time, is_day = column.dtype == pl.Datetime and not _is_zoned(column), column.dtype == pl.Date
    is_number = column.dtype.is_float() or (column.dtype.is_integer() and _fits(column))
    if not (is_number or is_time or is_day or column.dtype == pl.Boolean):
        column = as_text(column)
        if (nameless(column).str.len_chars() > LONGEST_TEXT).any():
            got = f"a longer one in column {column.name!r}"
            raise complain("out", f"end in .csv or .parquet for text of more than {LONGEST_TEXT} characters", got)
    for row, value in enumerate(column, start=1):
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            continue
        if is_time:
            sheet.write_datetime(row, at, value, times)
        elif is_day:
            sheet.write_datetime(row, at, value)
        elif isinstance(value, bool):
            sheet.write_boolean(row, at, value)
        elif is_number:
            sheet.write_number(row, at, value)
        else:
            sheet.write_string(row, at, value)


def _fits(column: pl.Series) -> bool:
    """Whether a sheet, whose numbers are floats, can hold these whole numbers."""
    return bool((nameless(column).cast(pl.Float64).abs() < 2**53).all())


def write_lines(lines: Iterable[bytes], path: str | Path) -> None:
    """Write lines of JSON to a new file ending in .jsonl or .ndjson."""
    with _writing(_as_new_file(path, LINES)) as file:
        file.writelines(lines)


@contextmanager
def _writing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, whole or not at all; failures become one sentence."""
    try:
        with whole_file(path) as file:
            yield file
    except FAILURES as error:
        if is_sentence(error):
            raise
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise complain("out", "be writable", f"{str(path)!r}: {reason}", "nothing was written") from None


def _as_new_file(path: str | Path, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """`path` if a new table can be written there."""
    path = Path(path)
    if path.suffix.lower() not in suffixes:
        raise complain("out", f"end in one of {listed(suffixes)}", repr(str(path)))
    refuse_existing("out", path)
    if not path.parent.is_dir():
        raise complain("out", "be in a folder that exists", repr(str(path)))
    return path


def _first_field(frame: pl.DataFrame, header: bool) -> str:
    if header or not len(frame):
        return frame.columns[0] if frame.columns else ""
    return str(frame[0, 0])


def _writable(column: pl.Series) -> pl.Series:
    """The column as CSV can hold it: lists, bytes and times with a time zone become text."""
    is_odd = column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Duration, pl.Object)
    return as_text(column) if is_odd or _is_zoned(column) else column


def _is_zoned(column: pl.Series) -> bool:
    return isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None


def _as_json(column: pl.Series) -> pl.Series:
    """The column as JSON can hold it: dates, times and bytes become text; lists and objects stay."""
    dtype = column.dtype
    is_odd = dtype.is_temporal() or dtype in (pl.Binary, pl.Object, pl.Categorical, pl.Enum) or dtype.is_decimal()
    if dtype.is_float():
        if nameless(column).is_infinite().any():
            got = f"one in column {column.name!r}"
            raise complain("out", "end in .csv or .parquet to hold infinite numbers", got, "nothing was written")
        return nameless(column).fill_nan(None).alias(column.name)
    return as_text(column) if is_odd else column


def _excel_safe(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text and name that a spreadsheet would run as a formula."""
    texts = pl.col(pl.String, pl.Categorical).cast(pl.String)
    risky = texts.str.contains(_FORMULA) & ~texts.str.contains(_PLAIN_NUMBER)
    frame = frame.with_columns(pl.when(risky).then(pl.lit("'") + texts).otherwise(texts).name.keep())
    frame.columns = [f"'{name}" if name[:1] in tuple("=+-@\t\r") else name for name in frame.columns]
    return frame
