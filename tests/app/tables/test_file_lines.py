"""A row is called by its line in the file, or by its row in a sheet."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ordinoise.app.tables import ColumnRoles, graded_table, write_table
from ordinoise.app.tables.file_lines import line_word, lines_of
from ordinoise.app.tables.reader import open_stored

TEXTS = {
    "plain": ("a,b\n1,2\n3,4\n", [2, 3]),
    "blank lines": ("\na,b\n\n1,2\n\n3,4\n\n", [4, 6]),
    "breaks in quotes": ('a,b\n"x\ny",1\nz,2\n"u\n\nv",3\nw,4\n', [2, 4, 5, 8]),
    "a break in the header": ('a,"b\nc"\n1,2\n3,4\n', [3, 4]),
    "CRLF": ('a;b\r\n"x\r\ny";1\r\nz;2\r\n', [2, 4]),
    "CR": ("a;b\rx;1\rz;2\r", [2, 3]),
    "title and total": ("Loans 2020;;\n\nid;a;b\n1;x;3\n2;y;4\n3;z;5\n4;u;1\nTotal;;13\n", [4, 5, 6, 7]),
}


def _lines(path: Path) -> list[int] | None:
    opened = open_stored(path)
    lines = lines_of(path, opened.reading, opened.frame)
    return None if lines is None else lines.tolist()


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_line_is_that_of_an_editor(tmp_path: Path, kind: str, encoding: str) -> None:
    text, lines = TEXTS[kind]
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert _lines(tmp_path / "t.csv") == lines


def test_json_lines_sheets_and_stored_tables(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    assert _lines(tmp_path / "t.jsonl") == [1, 3]
    frame = pl.DataFrame({"a": [1, 2]})
    for suffix in (".xlsx", ".parquet", ".feather"):
        write_table(frame, tmp_path / f"t{suffix}")
    assert _lines(tmp_path / "t.xlsx") == [2, 3]
    assert _lines(tmp_path / "t.parquet") is _lines(tmp_path / "t.feather") is None
    assert (line_word("t.xlsx"), line_word("t.csv")) == ("row", "line")


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
def test_an_error_about_a_cell_says_where_it_is_in_the_file(tmp_path: Path, suffix: str) -> None:
    table = pl.DataFrame({"who": ["ann", None, "cy"], "x": [1, 2, 5], "grade": [1, 2, 1]})
    write_table(table, tmp_path / f"t{suffix}")
    place = {".csv": "line 3", ".xlsx": "row 3", ".parquet": "row 1; rows are numbered from 0"}[suffix]
    sentence = f"^item must have a value in every graded row, got a missing cell of 'who' in {place}$"
    with pytest.raises(ValueError, match=sentence):
        graded_table(tmp_path / f"t{suffix}", ColumnRoles("grade", item="who"))


def test_a_file_that_has_changed_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    opened = open_stored(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert lines_of(tmp_path / "t.csv", opened.reading, opened.frame) is None
