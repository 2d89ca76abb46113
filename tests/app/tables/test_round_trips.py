"""Whatever is written is read back, and both ways of reading see the same rows."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ordinoise.app.tables import Dialect, delimiter_of, read_table, read_text, write_table
from ordinoise.columns.inference import MISSING

# Surrogates are no text, and a file with a null byte near its beginning is taken for a binary one.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
AWKWARD = "\",;\t| \n\r'=é☃"
TEXTS = st.one_of(st.text(LETTERS, max_size=6), st.text(AWKWARD, max_size=6), st.sampled_from(MISSING))
# Names that the engine would take for patterns of names.
PATTERNS = st.sampled_from(["^$", "*", "^.*$", "^a|b$", "-"])
NAMES = st.one_of(TEXTS.filter(lambda name: bool(name.strip())), PATTERNS)
TEXT_SUFFIXES = [".csv", ".tsv"]
# Each example is a file made, renamed and read twice.
few = settings(max_examples=30)
TYPED_SUFFIXES = [".parquet", ".feather", ".arrow"]


def through_a_file(frame: pl.DataFrame, suffix: str, delimiter: str = ",") -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frame written and read back both ways."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        write_table(frame, path, dialect=Dialect(delimiter))
        if suffix in TEXT_SUFFIXES:
            # Cells like "a;b" down a whole file leave two answers open.
            assume(delimiter_of(path) == ("\t" if suffix == ".tsv" else delimiter))
        return read_table(path), read_text(path)


@st.composite
def text_frames(draw: st.DrawFn) -> pl.DataFrame:
    names = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    n_rows = draw(st.integers(1, 6))
    cells = st.lists(st.one_of(st.none(), TEXTS), min_size=n_rows, max_size=n_rows)
    return pl.DataFrame({name: draw(cells) for name in names}, schema=dict.fromkeys(names, pl.String))


@st.composite
def typed_frames(draw: st.DrawFn) -> pl.DataFrame:
    n_rows = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, min_size=4, max_size=4, unique=True))

    def column(first: object, values: st.SearchStrategy[Any], dtype: Any) -> pl.Series:
        """Cells below a first one that shows the type."""
        cells = st.lists(st.one_of(values, st.none()), min_size=n_rows, max_size=n_rows)
        return pl.Series([first, *draw(cells)], dtype=dtype)

    columns = [
        column(1, st.integers(-(2**63), 2**63 - 1), pl.Int64),
        column(0.5, st.floats(allow_nan=False), pl.Float64),
        column(True, st.booleans(), pl.Boolean),
        column(draw(st.dates()), st.dates(), pl.Date),
    ]
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES + TYPED_SUFFIXES)
@few
@given(frame=text_frames())
def test_text_comes_back_cell_by_cell_with_empty_cells_as_null(suffix: str, frame: pl.DataFrame) -> None:
    _, text = through_a_file(frame, suffix)
    assert text.equals(frame.with_columns(pl.when(pl.all() != "").then(pl.all())))


@few
@given(frame=text_frames())
def test_a_csv_file_and_its_parquet_and_feather_twins_are_read_alike(frame: pl.DataFrame) -> None:
    table, _ = through_a_file(frame, ".csv")
    for suffix in TYPED_SUFFIXES:
        twin, _ = through_a_file(frame, suffix)
        assert twin.schema == table.schema
        assert twin.equals(table)


@few
@given(frame=typed_frames(), suffix=st.sampled_from(TEXT_SUFFIXES + TYPED_SUFFIXES))
def test_numbers_flags_and_dates_come_back_with_their_types(suffix: str, frame: pl.DataFrame) -> None:
    table, _ = through_a_file(frame, suffix)
    assert table.schema == frame.schema
    assert table.equals(frame)


@few
@given(frame=st.one_of(text_frames(), typed_frames()), suffix=st.sampled_from(TEXT_SUFFIXES + TYPED_SUFFIXES))
def test_both_ways_of_reading_see_the_same_rows_and_columns(suffix: str, frame: pl.DataFrame) -> None:
    table, text = through_a_file(frame, suffix)
    assert (table.columns, table.height) == (text.columns, text.height)
    assert set(text.dtypes) == {pl.String}
    absent = text.select(pl.all().is_null())
    # What has no text has no value; the other way round, NA has a text and no value.
    assert (table.select(pl.all().is_null()).to_numpy() >= absent.to_numpy()).all()


@given(rows=st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=1, max_size=6), quoting=st.booleans())
def test_text_is_what_the_standard_library_wrote(rows: list[list[str]], quoting: bool) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_ALL if quoting else csv.QUOTE_MINIMAL)
    writer.writerows([["a", "b", "c"], *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(file.getvalue().encode())
        assert read_text(path).rows() == [tuple(cell or None for cell in row) for row in rows]


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t", " "])
def test_any_delimiter_writes_a_file_that_reads_back(tmp_path: Path, delimiter: str) -> None:
    frame = pl.DataFrame({"a": ["x, y", "z|;\t w", None], "b": [1, 2, 3]})
    write_table(frame, tmp_path / "t.csv", dialect=Dialect(delimiter))
    assert read_table(tmp_path / "t.csv").equals(frame)


@pytest.mark.parametrize("name", ["\ufeff", "\ufeffx", "x"])
def test_a_name_that_begins_with_a_byte_order_mark_comes_back(tmp_path: Path, name: str) -> None:
    table = pl.DataFrame({name: ["\ufeff", "1"]})
    write_table(table, tmp_path / "t.csv")
    assert read_text(tmp_path / "t.csv").equals(table)


def test_a_single_column_with_gaps_comes_back(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [None, "x", None, None, "y", None]})
    write_table(frame, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").equals(frame)


@given(st.one_of(st.text('a1,"\n\r \t;', max_size=30).map(str.encode), st.binary(max_size=30)))
def test_any_bytes_are_a_table_or_get_a_sentence(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        try:
            table, text = read_table(path), read_text(path)
        except ValueError as error:
            assert str(error).startswith("file must ")  # noqa: PT017
        else:
            assert (table.columns, table.height) == (text.columns, text.height)
