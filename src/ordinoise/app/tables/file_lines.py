"""Where the rows of a table are in its file: the line of a text file, the row of a sheet."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise._validation import Ints
from ordinoise.app.tables.reader import Opened
from ordinoise.app.tables.reading import Reading
from ordinoise.app.tables.regraded import find_text
from ordinoise.app.tables.source import WORKBOOKS, format_of, open_source
from ordinoise.app.tables.splice import CsvText
from ordinoise.columns.cell_errors import CellError


def lines_of(path: Path, reading: Reading, frame: pl.DataFrame) -> Ints | None:
    """The line of each row in its file, from 1, as an editor shows it, or its row in the sheet.

    None for a file that stores a table without lines, and for one that does not have so many rows any more.
    """
    kind, n_rows = format_of(path), frame.height
    if kind == "text":
        text = find_text(path, reading, frame)
        lines = np.zeros(0, dtype=np.int64) if text is None else _lines_of_text(text)
    elif kind == "json":
        content = io.BytesIO(open_source(path).text)
        lines = np.array([number for number, line in enumerate(content, start=1) if line.strip()], dtype=np.int64)
    elif kind == "excel" and reading.header_row:
        lines = np.arange(n_rows, dtype=np.int64) + reading.header_row + 1
    else:
        return None
    return lines if len(lines) == n_rows else None


@contextmanager
def placed_errors(path: Path, opened: Opened) -> Iterator[None]:
    """Say where in its file a cell is that something is wrong with."""
    try:
        yield
    except CellError as error:
        lines = lines_of(path, opened.reading, opened.frame)
        raise (error if lines is None else error.at(f"{line_word(str(path))} {lines[error.row]}")) from None


def line_word(source: str) -> str:
    """What the place of a row is called: a sheet has rows, a text file lines."""
    return "row" if Path(source).suffix.lower() in WORKBOOKS else "line"


def _lines_of_text(text: CsvText) -> Ints:
    """The number of the first line of each row; a line end inside quotes counts."""
    starts = [start for start, _ in text.places]
    ends = [text.text.count(b"\n", start, after) for start, after in zip(starts, [*starts[1:], None], strict=True)]
    before = np.array([0, *accumulate(ends)], dtype=np.int64)
    return before[np.array(text.rows, dtype=np.int64)] + 1
