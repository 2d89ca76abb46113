"""Reader of CSV, JSON lines, Excel, Parquet and Feather files; one sentence for each thing that can be wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.csv_cells import read_cells
from ordinoise.app.tables.dialect import check_names
from ordinoise.app.tables.folder import check_same_columns, is_folder, parquet_files
from ordinoise.app.tables.label_studio import task_table
from ordinoise.app.tables.layout import csv_layout, without_names
from ordinoise.app.tables.lines import read_lines
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.source import Source, check_size, open_source, too_large, unreadable
from ordinoise.app.tables.trial import damaged, stored_size
from ordinoise.app.tables.workbook import SheetTable, read_workbook
from ordinoise.columns.findings import SpelledColumn, SpellingHints
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.names import spread
from ordinoise.columns.spelling import SpelledTable, spelled_table

# Some damaged files make polars panic, which is a BaseException in Python.
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError)


def read_table(
    path: str | Path, *, keep_text: Collection[str] = (), asked: Reading = BY_RULES, hints: SpellingHints | None = None
) -> pl.DataFrame:
    """The table in a CSV, JSON lines, Excel, Parquet or Feather file, with the types that all rows of a column allow.

    The format is inferred from the content. Of a workbook, the first visible sheet is read. Of a CSV file the encoding,
    the delimiter and the row with the names are inferred, and blank lines are skipped. A file of JSON lines has one
    object per row; a key that an object lacks is missing there, and lists and objects in a cell stay JSON text. Text is
    typed by one rule in every format, so that a CSV file and its Parquet copy give the same table: a column becomes
    numbers or dates if nine tenths of its cells are, in one spelling, and flags if every cell is one. The cells NA,
    N/A, NaN, nan, null, NULL, None, ? and empty ones are missing, and among numbers and dates other words too.

    Parameters
    ----------
    path : str or Path
        A text file may be compressed with gzip.
    keep_text : collection of str
        Columns that stay text, such as categories that look like numbers in this file.
    asked : Reading
        What is not left to the rules. Without a header the columns are column_1, column_2, ...
    hints : SpellingHints, optional
        What is known of the spelling of the columns, as by a model.

    Raises
    ------
    ValueError
        One sentence about what is wrong with the file.
    """
    return read_opened(path, keep_text=keep_text, asked=asked, hints=hints).frame


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
    messages, cautions : tuple of str
        Sentences on how the file was read; the cautions must not be overlooked.
    reading : Reading
        How the file was read.
    spelled : mapping of str to SpelledColumn
        How each column of text was read.
    """

    frame: pl.DataFrame
    digest: str
    nested: frozenset[str] = frozenset()
    messages: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    reading: Reading = BY_RULES
    spelled: Mapping[str, SpelledColumn] = field(default_factory=dict)

    @property
    def said(self) -> tuple[str, ...]:
        """How the file was read, if that is not usual, and the messages."""
        words = self.reading.words()
        return (f"read as {words}.", *self.messages) if words else self.messages


def read_opened(
    path: str | Path,
    *,
    keep_text: Collection[str] = (),
    asked: Reading = BY_RULES,
    wanted: Collection[str] = (),
    hints: SpellingHints | None = None,
) -> Opened:
    """The table of a file with the digest of the file, from one reading; of a workbook, one with `wanted` columns.

    `hints` say more of the spelling of the columns.
    """
    found = _read(path, asked, wanted)
    columns, known = found.frame.get_columns(), {name: value for name, value in vars(found).items() if name != "frame"}
    del found
    spelled = typed_columns(columns, {*keep_text, *known["nested"]}, known["reading"], hints)
    reading = replace(known["reading"], decimal=known["reading"].decimal or spelled.decimal.replace(".", ""))
    return Opened(spelled.frame, **known | {"reading": reading, "spelled": spelled.columns})


def open_stored(path: str | Path, *, asked: Reading = BY_RULES, wanted: Collection[str] = ()) -> Opened:
    """The table with its cells as stored, with the digest of the file and how it was read."""
    return _read(path, asked, wanted)


def read_stored(path: str | Path, *, asked: Reading = BY_RULES) -> pl.DataFrame:
    """The table with its cells as stored: text for a CSV file, the stored types for the other formats."""
    return _read(path, asked).frame


def typed_columns(
    columns: list[pl.Series],
    keep_text: Collection[str] = (),
    reading: Reading = BY_RULES,
    hints: SpellingHints | None = None,
) -> SpelledTable:
    """A table of the columns with the types that their text stands for; modifies the list."""
    hints = hints or SpellingHints()
    names = [column.name for column in columns]
    kinds = {name: kind for given, kind in hints.kinds.items() for name in spread([given], names)}
    hints = replace(
        hints,
        decimal=reading.decimal or hints.decimal,
        dates=reading.dates or hints.dates,
        missing=(*hints.missing, *reading.missing),
        delimiter=reading.delimiter,
        kinds={**kinds, **dict.fromkeys(spread(keep_text, names), "text")},
    )
    return spelled_table(columns, hints)


def read_text(path: str | Path, *, asked: Reading = BY_RULES) -> pl.DataFrame:
    """The table with every cell as its text in the file, null if the cell is empty.

    Rows and columns are those of `read_table`. Values that the file stores with a type are formatted as text.
    """
    return pl.DataFrame([as_text(column) for column in _read(path, asked).frame.get_columns()])


def _read(path: str | Path, asked: Reading, wanted: Collection[str] = ()) -> Opened:
    """The stored table with NaN and empty text as null, and the digest of the file."""
    source = open_source(path, asked.encoding)
    _check_asked(source, asked)
    try:
        found = _opened(source, asked, wanted)
        text = pl.col(pl.String, pl.Categorical, pl.Enum)
        filled = pl.when(text.cast(pl.String) != "").then(text)
        return replace(found, frame=found.frame.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None), filled))
    except MemoryError:
        raise too_large(source.path) from None


def _check_asked(source: Source, asked: Reading) -> None:
    """Refuse options that a file of this format cannot follow."""
    given = {"no-header": not asked.has_header, "sheet": asked.sheet, "header-row": asked.header_row}
    known = {"text": ("no-header", "header-row"), "excel": ("sheet", "header-row")}.get(source.kind, ())
    odd = next((option for option, value in given.items() if value and option not in known), None)
    rules = {"no-header": "CSV alone", "sheet": "a workbook", "header-row": "CSV or a workbook"}
    if odd is not None:
        got = f"{str(source.path)!r}, which names its columns" if odd == "no-header" else repr(str(source.path))
        raise complain(odd, f"be used with {rules[odd]}", got, "leave it out")


def _opened(source: Source, asked: Reading, wanted: Collection[str]) -> Opened:
    """The stored table of a file that was opened."""
    if source.kind == "json":
        frame, nested = read_lines(source)
        _check_rows(frame, source.path)
        return Opened(frame, source.digest, nested, cautions=_doubts(source), reading=of_source(asked, source))
    if source.kind != "text":
        found = _stored(source, asked, wanted)
        if is_folder(source.path) and (n_files := len(parquet_files(source.path))) > 1:
            note = f"{n_files:,} Parquet files are read as one table, in the order of their names"
            found = replace(found, messages=(note,))
        messages = tuple(f"{message}." for message in found.messages)
        return Opened(found.frame, source.digest, messages=messages, cautions=found.cautions, reading=found.reading)
    layout = csv_layout(source, of_source(asked, source))
    frame = read_cells(layout)
    _check_rows(frame, source.path)
    messages = (*layout.messages, *without_names(len(layout.names) - frame.width))
    cautions = (*_doubts(source), *layout.cautions)
    messages = tuple(f"{message}." for message in messages)
    return Opened(frame, source.digest, messages=messages, cautions=cautions, reading=layout.reading)


def of_source(asked: Reading, source: Source) -> Reading:
    """The reading with what is known of the text of a file before its table is looked for."""
    return replace(asked, encoding=source.encoding.name, mark=bool(source.encoding.mark), line_end=source.line_end)


def _doubts(source: Source) -> tuple[str, ...]:
    """What is to be said of an encoding that was guessed and does not fit well."""
    found = source.encoding
    if not found.doubt:
        return ()
    other = f"the file may be in another encoding than {found.words}, in which it has {found.doubt!r}"
    return (f"{other}; --encoding changes it",)


def read_exact(path: str | Path, *, asked: Reading = BY_RULES) -> pl.DataFrame:
    """The table of a file that stores types, with NaN and empty text as they are."""
    return _stored(open_source(path), asked).frame


def _stored(source: Source, asked: Reading, wanted: Collection[str] = ()) -> SheetTable:
    """The table of a file that stores types."""
    if source.kind == "excel":
        found = read_workbook(source.path, source.text, asked, wanted)
    elif source.kind == "tasks":
        found = SheetTable(task_table(source.path, source.text), asked)
    else:
        return SheetTable(_read_typed(source.path, source.kind), asked)
    _check_rows(found.frame, source.path)
    return found


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


def _check_rows(frame: pl.DataFrame, path: Path) -> None:
    if frame.width == 0 or frame.height == 0:
        raise complain("file", "hold rows", f"only column names in {str(path)!r}")
