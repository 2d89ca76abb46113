"""Tables of text in three formats."""

import csv
import io
from pathlib import Path

from ordinoise._text import TextTable, comma_separated, latex, markdown, write_tables

TABLE = TextTable("A & B", ("name", "value"), (("x|y", "1 ± 2"), ("50%_z", "3")), ("A note.",))


def test_csv_reads_back_as_it_was() -> None:
    assert [tuple(row) for row in csv.reader(io.StringIO(comma_separated(TABLE)))] == [TABLE.columns, *TABLE.rows]


def test_markdown_escapes_bars_and_aligns_numbers() -> None:
    lines = markdown(TABLE).splitlines()
    assert lines[0] == "**A & B**"
    assert lines[3] == "| --- | ---: |"
    assert lines[4] == r"| x\|y | 1 ± 2 |"
    assert "A note." in lines


def test_latex_escapes_what_it_would_take_for_commands() -> None:
    text = latex(TABLE)
    assert r"50\%\_z & 3 \\" in text
    assert r"\caption{A \& B}" in text


def test_three_files_are_written_and_nothing_else(tmp_path: Path) -> None:
    paths = write_tables(tmp_path, "t", TABLE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.md", "t.tex"]
    assert [path.name for path in paths] == ["t.md", "t.csv", "t.tex"]
