"""Tables written as CSV, Parquet and Feather files: whole or not at all, and never over a file that is there."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import polars as pl

from ordinoise._files import refuse_existing, whole_file
from ordinoise._validation import complain
from ordinoise.app.tables.inference import DATE_TEXT, TIME_TEXT, as_text
from ordinoise.app.tables.names import listed
from ordinoise.app.tables.reading import FAILURES

SUFFIXES = (".csv", ".tsv", ".parquet", ".feather", ".arrow")
_FORMULA = r"^[=+\-@\t\r]"
_PLAIN_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def write_table(frame: pl.DataFrame, path: str | Path, *, delimiter: str = ",", neutral: bool = False) -> None:
    """Write a table in the format that the suffix of `path` names.

    Parameters
    ----------
    frame : polars.DataFrame
    path : str or Path
        A new file ending in .csv, .tsv, .parquet, .feather or .arrow, in a folder that exists.
    delimiter : str
        What stands between the fields of a .csv file; a .tsv file has tabs.
    neutral : bool
        Put an apostrophe before text that a spreadsheet would take for a formula; in .csv and .tsv files only.

    Raises
    ------
    ValueError
        One sentence about why nothing was written.
    """
    if len(delimiter.encode()) != 1:
        raise complain("delimiter", "be a single character", repr(delimiter))
    path = _as_new_file(path)
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        frame = pl.DataFrame([_writable(column) for column in frame.get_columns()])
        frame = _neutral(frame) if neutral else frame
    try:
        _write_beside(frame, path, suffix, "\t" if suffix == ".tsv" else delimiter)
    except FAILURES as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise complain("out", "be a place to write to", f"{str(path)!r}: {reason}", "nothing was written") from None


def _as_new_file(path: str | Path) -> Path:
    """`path` if a table can be made there."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise complain("out", f"end in one of {listed(SUFFIXES)}", repr(str(path)))
    refuse_existing("out", path)
    if not path.parent.is_dir():
        raise complain("out", "be in a folder that exists", repr(str(path)))
    return path


def _write_beside(frame: pl.DataFrame, path: Path, suffix: str, delimiter: str) -> None:
    """Write under another name in the same folder, then rename."""
    with whole_file(path) as file:
        _write(frame, file, suffix, delimiter)


def _write(frame: pl.DataFrame, file: IO[bytes], suffix: str, delimiter: str) -> None:
    if suffix == ".parquet":
        frame.write_parquet(file)
    elif suffix in (".feather", ".arrow"):
        frame.write_ipc(file, compression="lz4")
    else:
        frame.write_csv(file, separator=delimiter, date_format=DATE_TEXT, datetime_format=TIME_TEXT)


def _writable(column: pl.Series) -> pl.Series:
    """A column that CSV can hold: lists, bytes and times of a zone become text."""
    odd = column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Duration, pl.Object)
    zoned = isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None
    return as_text(column) if odd or zoned else column


def _neutral(frame: pl.DataFrame) -> pl.DataFrame:
    """Text and names that no spreadsheet takes for a formula."""
    texts = pl.col(pl.String, pl.Categorical).cast(pl.String)
    risky = texts.str.contains(_FORMULA) & ~texts.str.contains(_PLAIN_NUMBER)
    frame = frame.with_columns(pl.when(risky).then(pl.lit("'") + texts).otherwise(texts).name.keep())
    frame.columns = [f"'{name}" if name[:1] in tuple("=+-@\t\r") else name for name in frame.columns]
    return frame
