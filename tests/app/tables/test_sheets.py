"""Where the table is in a workbook: title rows, footers, names, sheets."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ordinoise.app.tables import ColumnRoles, graded_table, workbook_with
from ordinoise.app.tables.reader import open_stored
from ordinoise.app.tables.reading import Reading

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")

NAMES = ["Nr", "Quote", "Tag", "Note"]
ROWS: list[list[Any]] = [
    [1, 0.5, dt.date(2019, 5, 3), "A"], [2, None, dt.date(2019, 5, 4), "B"], [3, 0.75, dt.date(2019, 5, 5), "A"],
    [4, 1.25, dt.date(2019, 5, 6), "C"],
]  # fmt: skip
DTYPES = [pl.Int64, pl.Float64, pl.Date, pl.String]
TITLE: list[list[Any]] = [["Kredite 2019"], [], ["Stand", dt.date(2019, 6, 1)], []]
TOTAL: list[list[Any]] = [["Summe", 2.5]]


def _book(path: Path, *sheets: list[list[Any]], at: tuple[int, int] = (0, 0), hide: tuple[int, ...] = ()) -> Path:
    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "dd.mm.yyyy"})
        for number, rows in enumerate(sheets):
            sheet = book.add_worksheet(f"sheet {number}")
            for row, cells in enumerate(rows, start=at[0]):
                for column, value in enumerate(cells, start=at[1]):
                    write = sheet.write_datetime if isinstance(value, dt.date) else sheet.write
                    if value is not None:
                        write(row, column, value, *([day] if isinstance(value, dt.date) else []))
            if number in hide:
                sheet.hide()
    return path


@pytest.mark.parametrize("at", [(0, 0), (3, 2)])
@pytest.mark.parametrize("above", [[], TITLE], ids=["bare", "title"])
@pytest.mark.parametrize("below", [[], [[], *TOTAL], TOTAL], ids=["end", "gap and total", "total"])
def test_the_table_is_found_with_its_types(
    tmp_path: Path, at: tuple[int, int], above: list[Any], below: list[Any]
) -> None:
    opened = open_stored(_book(tmp_path / "t.xlsx", [*above, NAMES, *ROWS, *below], at=at))
    assert opened.frame.columns == NAMES
    assert opened.frame.dtypes == DTYPES
    assert opened.frame.rows() == [tuple(row) for row in ROWS]
    assert (opened.reading.header_row, opened.reading.rows_above) == (at[0] + len(above) + 1, 2 if above else 0)
    assert opened.reading.rows_below == len(below and TOTAL)
    assert bool(opened.cautions) == (below == TOTAL)


@pytest.mark.parametrize("above", [[], TITLE], ids=["bare", "title"])
def test_a_corrected_grade_goes_into_its_own_cell(tmp_path: Path, above: list[Any]) -> None:
    path = _book(tmp_path / "t.xlsx", [*above, NAMES, *ROWS, [], *TOTAL], at=(2, 1))
    before = open_stored(path)
    (tmp_path / "new.xlsx").write_bytes(workbook_with(path, "Note", {1: "C", 3: "A"}, before.reading))
    after = open_stored(tmp_path / "new.xlsx")
    assert after.frame["Note"].to_list() == ["A", "C", "A", "A"]
    assert after.reading == before.reading
    assert after.frame.drop("Note").equals(before.frame.drop("Note"))


def test_names_that_are_twice_or_missing_get_a_name(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["a", "b", "a", None, "c", None], *([1, 2, 3, 4, 5, ""] for _ in range(3))]
    opened = open_stored(_book(tmp_path / "t.xlsx", rows))
    assert opened.frame.columns == ["a", "b", "a (2)", "column D", "c"]
    assert opened.messages[0] == "column C has the name of another one, 'a': it is called 'a (2)'."


def test_the_first_visible_sheet_with_the_target_is_read(tmp_path: Path) -> None:
    rows = [[number, number / 8, dt.date(2019, 5, 1 + number), "AB"[number % 2]] for number in range(24)]
    path = _book(tmp_path / "t.xlsx", [["notes"], ["see below"]], [NAMES, *rows], [NAMES, *ROWS], hide=())
    table = graded_table(path, ColumnRoles("Note", "A,B"))
    assert (table.n_rows, table.reading.sheet) == (24, "sheet 1")
    assert table.messages[0] == "the sheet 'sheet 1' is read, not 'sheet 0', 'sheet 2'; --sheet changes it."
    table = graded_table(path, ColumnRoles("Note", "A,B,C"), asked=Reading(sheet="sheet 2"))
    assert (table.n_rows, table.reading.sheet) == (4, "sheet 2")
    with pytest.raises(
        ValueError, match=r"^sheet must name a visible sheet of the workbook, got 'sheet 9'; did you mean"
    ):
        graded_table(path, ColumnRoles("Note"), asked=Reading(sheet="sheet 9"))


def test_a_hidden_sheet_is_not_read(tmp_path: Path) -> None:
    path = _book(tmp_path / "t.xlsx", [["notes"], ["see below"]], [NAMES, *ROWS], hide=(1,))
    with pytest.raises(ValueError, match="target must name a column of the file, got 'Note'"):
        graded_table(path, ColumnRoles("Note"))
    with pytest.raises(ValueError, match="sheet must name a visible sheet"):
        open_stored(path, asked=Reading(sheet="sheet 1"))


def test_the_row_with_the_names_can_be_told(tmp_path: Path) -> None:
    path = _book(tmp_path / "t.xlsx", [["x", "y"], ["a", "b"], [1, 2], [3, 4]], at=(4, 0))
    assert open_stored(path).frame.columns == ["x", "y"]
    opened = open_stored(path, asked=Reading(header_row=6))
    assert (opened.frame.rows(), opened.frame.columns) == ([(1, 2), (3, 4)], ["a", "b"])
    for row, why in ((2, "it is blank"), (5000, "the last one is 8")):
        with pytest.raises(ValueError, match=f"^header-row must be a row with names, got {row}; {why}$"):
            open_stored(path, asked=Reading(header_row=row))
