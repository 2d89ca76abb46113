from __future__ import annotations

import datetime
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from ordinoise.app.tables import Dialect, delimiter_of, read_table, read_text, write_table
from ordinoise.app.tables.reading import Reading

Put = Callable[..., Path]
FRAME = pl.DataFrame({"a": [1, None], "b": ["x", "y, z"]})
SUFFIXES = [".csv", ".tsv", ".parquet", ".feather", ".arrow", ".CSV"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_suffix_names_the_format_and_nothing_else_is_left_in_the_folder(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    write_table(FRAME, str(path))
    assert read_table(path).equals(FRAME)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o644
    magic = {".parquet": b"PAR1", ".feather": b"ARRO", ".arrow": b"ARRO", ".tsv": b"a\tb\n"}
    assert path.read_bytes()[:4] == magic.get(suffix, b"a,b\n")


def test_the_delimiter_is_the_one_asked_for(tmp_path: Path) -> None:
    write_table(FRAME, tmp_path / "out.csv", dialect=Dialect(";"))
    assert delimiter_of(tmp_path / "out.csv") == ";"


def test_a_cell_changes_and_all_the_others_stay_as_they_stood(put: Put, tmp_path: Path) -> None:
    content = 'id,note,stars\n007,"a, ""b""",3\n 8,NA,1.50\n,,\n'
    text = read_text(put(content))
    write_table(text.with_columns(stars=pl.Series(["4", "1.50", None])), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == content.replace(",3\n", ",4\n")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_there_stays_as_it_is(put: Put, suffix: str) -> None:
    path = put("precious", f"out{suffix}")
    with pytest.raises(ValueError, match=r"^out must not exist yet, got '.*'; choose another, or remove it first$"):
        write_table(FRAME, path)
    assert path.read_text() == "precious"


def test_a_link_to_nowhere_counts_as_there(tmp_path: Path) -> None:
    (tmp_path / "out.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"^out must not exist yet"):
        write_table(FRAME, tmp_path / "out.csv")


@pytest.mark.parametrize("name", ["out", "out.xls", "out.csv.gz"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"^out must end in one of '.csv', .*'.arrow', got '.*'$"):
        write_table(FRAME, tmp_path / name)


def test_the_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^out must be in a folder that exists, got "):
        write_table(FRAME, tmp_path / "nowhere" / "out.csv")


@contextmanager
def at_most(n_bytes: int) -> Iterator[None]:
    """No file grows beyond a size, which looks like a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_disk_that_is_full_leaves_nothing_behind(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": [str(i * 7919 % 100_003) for i in range(100_000)]})
    sentence = r"^out must be writable, got '.*': .*; nothing was written$"
    with at_most(10_000), pytest.raises(ValueError, match=sentence):
        write_table(frame, tmp_path / f"out{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_delimiter_of_several_characters_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^delimiter must be a single character, got '::'$"):
        write_table(FRAME, tmp_path / "out.csv", dialect=Dialect("::"))


RISKY = ["=1+2", "+cmd", "-x", "@SUM(1)", "\t=1", "\r=1", "-", "+-3", "-inf", "-1-2", "=5"]
HARMLESS = ["-5", "+3.25", "-.5", "+1e-9", "x=1", "'=1", "", " =1", "5"]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(tmp_path: Path, dtype: type[pl.DataType]) -> None:
    frame = pl.DataFrame({"n": range(len(RISKY + HARMLESS)), "=name": pl.Series(RISKY + HARMLESS, dtype=dtype)})
    write_table(frame, tmp_path / "out.csv", excel_safe=True)
    written = read_text(tmp_path / "out.csv")
    assert written.columns == ["n", "'=name"]
    expected = [f"'{text}" for text in RISKY] + [text or None for text in HARMLESS]
    assert written.get_column("'=name").to_list() == expected


def test_numbers_below_zero_are_no_formulas(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [-1, 2], "b": [-0.5, None]})
    write_table(frame, tmp_path / "out.csv", excel_safe=True)
    assert read_table(tmp_path / "out.csv").equals(frame)


def test_text_keeps_its_formulas_unless_asked_and_in_parquet_always(tmp_path: Path) -> None:
    frame = pl.DataFrame({"=a": RISKY})
    write_table(frame, tmp_path / "out.csv")
    write_table(frame, tmp_path / "out.parquet", excel_safe=True)
    assert read_text(tmp_path / "out.csv").equals(frame)
    assert read_text(tmp_path / "out.parquet").equals(frame)


def test_what_csv_cannot_hold_is_written_out(tmp_path: Path) -> None:
    noon = datetime.datetime(2024, 1, 31, 12, tzinfo=datetime.UTC)
    frame = pl.DataFrame(
        {"list": [[1, 2]], "gap": [datetime.timedelta(days=2)], "noon": [noon], "half": [noon.replace(tzinfo=None)]}
    )
    write_table(frame, tmp_path / "out.csv")
    expected = ("[1, 2]", "2 days, 0:00:00", "2024-01-31 12:00:00+00:00", "2024-01-31 12:00:00")
    assert read_text(tmp_path / "out.csv").row(0) == expected
    assert read_table(tmp_path / "out.csv").row(0)[2:] == (noon, noon.replace(tzinfo=None))


GERMAN = Dialect(";", ",", "\r\n", mark=True, is_for_people=True)


def test_a_table_is_written_in_the_dialect_of_a_file(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"Süd": ["a;b", None], "x": [0.9891385160287993, 2e-6], "n": [12345678, 1], "y": [123456.7, None]}
    )
    write_table(GERMAN.shortened(frame), tmp_path / "out.csv", dialect=GERMAN)
    lines = ["Süd;x;n;y", '"a;b";0,9891;12345678;123457,0', ";0,000002;1;", ""]
    assert (tmp_path / "out.csv").read_bytes() == "\r\n".join(lines).encode("utf-8-sig")
    back = read_text(tmp_path / "out.csv")
    assert back["x"].to_list() == ["0,9891", "0,000002"]


@pytest.mark.parametrize(
    ("reading", "wanted"),
    [
        (Reading(), Dialect()),
        (Reading(encoding="utf-8", delimiter=",", line_end="\n", decimal="."), Dialect()),
        (Reading(encoding="utf-8", delimiter=",", line_end="\r"), Dialect()),
        (Reading(encoding="cp1252", delimiter=";", line_end="\r\n", decimal=","), GERMAN),
        (Reading(encoding="utf-16-le", mark=True, delimiter="\t"), Dialect("\t", mark=True, is_for_people=True)),
        (Reading(encoding="utf-8", delimiter=",", line_end="\r\n"), Dialect(line_end="\r\n", is_for_people=True)),
        (Reading(sheet="Kredite", decimal=","), GERMAN),
    ],
)
def test_the_dialect_of_an_output_is_that_of_the_file(reading: Reading, wanted: Dialect) -> None:
    assert Dialect.of(reading) == wanted
    assert Dialect.of(reading, is_plain=True) == Dialect()


def test_grades_have_the_decimal_mark_of_the_file() -> None:
    frame = pl.DataFrame({"grade": ["2.5", "v1.5", None], "x": ["2.5", "", "3"]})
    assert GERMAN.with_numbers(frame, ["grade", "other"]).rows() == [("2,5", "2.5"), ("v1.5", ""), (None, "3")]
    assert Dialect().with_numbers(frame, ["grade"]).equals(frame)


@pytest.mark.parametrize(
    "cells", [["a\tb", "c\td", "e\tf"], ["New York", "San Jose", "St Paul"], ["a;b", "c;d", "e;f"]]
)
def test_one_column_whose_text_holds_another_delimiter_comes_back(tmp_path: Path, cells: list[str]) -> None:
    frame = pl.DataFrame({cells[0]: cells})
    write_table(frame, tmp_path / "t.csv")
    assert read_text(tmp_path / "t.csv").equals(frame)
