from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.app.tables import delimiter_of
from ordinoise.app.tables.dialect import n_fields, records

Put = Callable[..., Path]
DELIMITERS = [",", ";", "\t", "|", " "]


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_the_delimiter_is_found(put: Put, delimiter: str) -> None:
    rows = [["name", "size", "grade"], ["a", "1", "2"], ["b", "", "3"]]
    assert delimiter_of(put("\n".join(delimiter.join(row) for row in rows))) == delimiter


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_what_stands_between_quotes_is_no_delimiter(put: Put, delimiter: str) -> None:
    others = "".join(other for other in DELIMITERS if other != delimiter)
    text = f'a{delimiter}"b{others * 3}"\n' + f'"{others}\n{others}"{delimiter}2\n' * 3
    assert delimiter_of(put(text)) == delimiter


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2,5\n2,5;3,5\n", ";"),
        ("place\tcity, country\n1\tRome, Italy\n", "\t"),
        ("a, b, c d\n1, 2, 3 4\n5, 6, 7 8\n", ","),
        ("first name,last name\nAda,Lovelace\n", ","),
        ("opinion\nrather good, I think\nbad; very bad\n", ","),
        ("a,b\n", ","),
        ("a,b,c\n1,2,3\n1,2\n1,2,3\n", ","),
        (" a b\n 1 2\n", " "),
    ],
)
def test_the_delimiter_that_all_rows_agree_on_wins(put: Put, text: str, delimiter: str) -> None:
    assert delimiter_of(put(text)) == delimiter


def test_a_file_that_is_not_text_has_no_delimiter(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"^file must be a text file to have a delimiter, got "):
        delimiter_of(tmp_path / "t.parquet")


@given(st.lists(st.lists(st.text('ab",;\n ', max_size=5), min_size=2, max_size=4), min_size=1, max_size=5))
def test_rows_and_fields_are_counted_as_they_were_written(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    found = list(records(io.BytesIO(file.getvalue().encode())))
    assert [n_fields(record, b",") for _, record in found] == [len(row) for row in rows]
    n_lines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    assert [line for line, _ in found] == [1 + sum(n_lines[:index]) for index in range(len(rows))]
