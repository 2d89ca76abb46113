"""Excel workbooks: read with their types, bounded whatever they state, and corrected cell by cell."""

import builtins
import datetime as dt
import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from app.tables.alone import refused_alone
from ordinoise.app.tables import (
    ColumnRoles,
    graded_table,
    read_stored,
    read_table,
    workbook,
    workbook_with,
    write_table,
)

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")

ROWS: list[list[Any]] = [
    ["id", "stars", "day", "note", "ok"],
    [1, 4, dt.date(2024, 1, 2), "a", True],
    [2, 5, dt.date(2024, 1, 3), None, False],
    [3, 3, dt.date(2024, 1, 2), "=1+1", True],
]


def _workbook(path: Path, rows: list[list[Any]] = ROWS, *, at: tuple[int, int] = (0, 0), hidden: bool = False) -> Path:
    with xlsxwriter.Workbook(path) as book:
        if hidden:
            first = book.add_worksheet("notes")
            first.write(0, 0, "private")
        sheet, day = book.add_worksheet("grades"), book.add_format({"num_format": "yyyy-mm-dd", "bold": True})
        if hidden:
            sheet.activate()
            sheet.set_first_sheet()
            first.hide()
        for row, cells in enumerate(rows, start=at[0]):
            for column, value in enumerate(cells, start=at[1]):
                if isinstance(value, str):
                    sheet.write_string(row, column, value)
                elif isinstance(value, dt.date):
                    sheet.write_datetime(row, column, value, day)
                elif value is not None:
                    sheet.write(row, column, value)
        book.add_worksheet("more").write_formula(0, 0, "=1+1")
    return path


def _parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(parts: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


@pytest.mark.parametrize("at", [(0, 0), (2, 3)])
def test_numbers_dates_flags_and_text_are_read_as_such_wherever_the_table_begins(
    tmp_path: Path, at: tuple[int, int]
) -> None:
    table = read_table(_workbook(tmp_path / "t.xlsx", at=at))
    assert table.columns == ROWS[0]
    assert [table[name].dtype for name in table.columns] == [pl.Int64, pl.Int64, pl.Date, pl.String, pl.Boolean]
    assert table.rows() == [tuple(row) for row in ROWS[1:]]


def test_the_first_visible_sheet_is_read(tmp_path: Path) -> None:
    assert read_table(_workbook(tmp_path / "t.xlsx", hidden=True)).columns == ROWS[0]


def test_a_message_says_which_of_several_visible_sheets_is_read(tmp_path: Path) -> None:
    rows = [ROWS[0], *([row, 1 + row % 3, dt.date(2024, 1, 1 + row % 5), "ab"[row % 2], True] for row in range(20))]
    said = "the sheet 'grades' is read, not 'more'; --sheet changes it."
    assert graded_table(_workbook(tmp_path / "t.xlsx", rows, hidden=True), ColumnRoles("stars")).messages[0] == said
    write_table(pl.DataFrame(rows[1:], schema=rows[0], orient="row"), tmp_path / "one.xlsx")
    assert not any("sheet" in message for message in graded_table(tmp_path / "one.xlsx", ColumnRoles("stars")).messages)


def test_a_table_comes_back_from_a_workbook_with_its_types_and_no_formula(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "=name": ["=1+1", "http://x.example/", None],
            "number": [0.5, None, 2.0],
            "whole": [1, 2**60, None],
            "day": [dt.date(2024, 1, 2), None, dt.date(1999, 12, 31)],
            "time": [dt.datetime(2024, 1, 2, 3, 4, 5), None, None],
        }
    )
    write_table(table, tmp_path / "out.xlsx")
    assert b"<f>" not in _parts((tmp_path / "out.xlsx").read_bytes())["xl/worksheets/sheet1.xml"]
    found = read_stored(tmp_path / "out.xlsx")
    expected = table.with_columns(pl.col("whole").cast(pl.String), pl.col("time").dt.cast_time_unit("ms"))
    assert found.equals(expected)  # a number of 60 bits would lose digits, so it is text


def test_a_correction_changes_its_cells_and_nothing_else(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx", at=(1, 1))
    before, after = _parts(path.read_bytes()), _parts(changed := workbook_with(path, "stars", {0: 1, 2: 2}))
    assert list(before) == list(after)
    differing = [name for name in before if before[name] != after[name]]
    assert differing == ["xl/worksheets/sheet1.xml"]
    sheet = before[differing[0]].replace(b'<c r="C3"><v>4</v></c>', b'<c r="C3"><v>1</v></c>')
    assert after[differing[0]] == sheet.replace(b'<c r="C5"><v>3</v></c>', b'<c r="C5"><v>2</v></c>')
    (tmp_path / "new.xlsx").write_bytes(changed)
    assert read_table(tmp_path / "new.xlsx")["stars"].to_list() == [1, 5, 2]


def test_text_that_looks_like_a_formula_or_markup_stays_text(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx", [["grade"], ["a"], ["b"]])
    (tmp_path / "new.xlsx").write_bytes(workbook_with(path, "grade", {1: '=HYPERLINK("x")<b> & '}))
    assert read_stored(tmp_path / "new.xlsx")["grade"].to_list() == ["a", '=HYPERLINK("x")<b> & ']


def test_a_formula_among_the_grades_is_not_overwritten(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["grade", 1, 2])
        sheet.write_formula(3, 0, "=A2+A3", None, 3)
    assert read_table(tmp_path / "t.xlsx")["grade"].to_list() == [1, 2, 3]
    with pytest.raises(
        ValueError, match=r"^file must hold grades, not formulas, to be corrected, got a formula in row 4;"
    ):
        workbook_with(tmp_path / "t.xlsx", "grade", {2: 1})


# Forged and damaged -------------------------------------------------------------------------------------


def _far_cell(parts: dict[str, bytes]) -> bytes:
    name = "xl/worksheets/sheet1.xml"
    return _packed(
        parts
        | {
            name: parts[name].replace(
                b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
            )
        }
    )


def _unplaced_cells(parts: dict[str, bytes]) -> bytes:
    """A far row whose cells say nothing of their place."""
    name = "xl/worksheets/sheet1.xml"
    row = b'<row r="1048570">' + b"<c/>" * 16_000 + b"<c><v>1</v></c></row></sheetData>"
    return _packed(parts | {name: parts[name].replace(b"</sheetData>", row)})


def _entities(parts: dict[str, bytes]) -> bytes:
    """A list of sheets that defines an entity, which is used 1,900 times."""
    name, entity = "xl/workbook.xml", b'<!DOCTYPE x [<!ENTITY e "' + b"z" * 100_000 + b'">]>'
    head, _, rest = parts[name].partition(b"?>")
    return _packed(parts | {name: head + b"?>" + entity + rest.replace(b"<sheets>", b"&e;" * 1900 + b"<sheets>")})


def _stated_small(parts: dict[str, bytes]) -> bytes:
    """An archive whose directory states a small size for a part that unpacks to a megabyte."""
    content = bytearray(_packed(parts | {"xl/sharedStrings.xml": b"\n" * 1_234_567}))
    size, small = (1_234_567).to_bytes(4, "little"), (100).to_bytes(4, "little")
    assert content.count(size) == 2
    return bytes(content.replace(size, small))


FORGED: dict[str, tuple[Callable[[dict[str, bytes]], bytes], str]] = {
    "a bomb": (lambda parts: _packed(parts | {"xl/styles.xml": b" " * 3_000_000}), "file must hold at most 2000000 bytes unpacked, got more"),
    "a far cell": (_far_cell, "file must have at most 250000 cells, got 4194304 rows of 16384 columns"),
    "cells without places": (_unplaced_cells, "file must have at most 250000 cells, got 4194280 rows of 16006 columns"),
    "entities": (_entities, "file must be a workbook in UTF-8 without a document type"),
    "a long list of sheets": (lambda parts: _packed(parts | {"xl/workbook.xml": parts["xl/workbook.xml"] + b" " * 1_000_000}), "file must list its sheets in at most 100000 bytes"),
    "a size that is not so": (_stated_small, "file must be a complete Excel workbook, got damaged content"),
    "too many parts": (lambda parts: _packed(parts | {str(at): b"" for at in range(100)}), "file must have at most 50 parts"),
    "a document type": (lambda parts: _packed(parts | {"xl/styles.xml": b"<!DOCTYPE x>" + parts["xl/styles.xml"]}), "file must be a workbook in UTF-8 without a document type"),
    "no workbook": (lambda parts: _packed({name: part for name, part in parts.items() if name != "xl/workbook.xml"}), "file must be a complete Excel workbook"),
    "no sheet": (lambda parts: _packed({name: part for name, part in parts.items() if "sheet1" not in name}), "file must be a complete Excel workbook"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_workbook_is_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "2000000")
    monkeypatch.setattr(workbook, "MOST_PARTS", 50)
    monkeypatch.setattr(workbook, "MOST_INDEX", 100_000)
    parse = ElementTree.fromstring
    monkeypatch.setattr(
        ElementTree, "fromstring", lambda text: pytest.fail("parsed") if b"&e;" in text else parse(text)
    )
    forge, sentence = FORGED[name]
    path = _workbook(tmp_path / "t.xlsx")
    path.write_bytes(forge(_parts(path.read_bytes())))
    with pytest.raises(ValueError, match=f"^{sentence}"):
        read_table(path)


@pytest.mark.slow
def test_a_long_text_in_many_cells_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx")
    parts = _parts(path.read_bytes())
    name, strings = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
    rows = b"".join(b'<row r="%d"><c r="D%d" t="s"><v>5</v></c></row>' % (at, at) for at in range(5, 2005))
    parts[name] = parts[name].replace(b"</sheetData>", rows + b"</sheetData>")
    parts[strings] = parts[strings].replace(b"<t>a</t>", b"<t>" + b"y" * 3_000_000 + b"</t>")
    path.write_bytes(_packed(parts))
    assert path.stat().st_size < 100_000
    sentence, most_kib = refused_alone(path)
    assert re.search(r"^file must hold at most \d+ bytes unpacked, got more in .*; set ORDINOISE_MAX", sentence)
    assert most_kib < 2**20


def test_a_damaged_workbook_is_read_or_refused_with_one_sentence(tmp_path: Path) -> None:
    path, rng = _workbook(tmp_path / "t.xlsx"), Random(0)
    content, sentences = path.read_bytes(), list[str]()
    for _ in range(60):
        edited = bytearray(
            content[: rng.randrange(len(content) // 2, len(content) + 1)] if rng.random() < 0.3 else content
        )
        for _ in range(rng.randrange(1, 6)):
            edited[rng.randrange(4, len(edited))] = rng.randrange(256)
        path.write_bytes(bytes(edited))
        try:
            read_table(path)
        except ValueError as error:
            sentences.append(str(error))
    assert len(sentences) > 30
    assert [one for one in sentences if " must " not in one or "\n" in one] == []


def test_without_the_reader_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, load = _workbook(tmp_path / "t.xlsx"), builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name in ("fastexcel", "xlsxwriter"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        ValueError, match=r"^file must be CSV where fastexcel is missing, .*pip install 'ordinoise\[excel\]'"
    ):
        read_table(path)
    with pytest.raises(ValueError, match=r"^out must end in \.csv where xlsxwriter is missing"):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / "out.xlsx")


def test_an_empty_column_prints_nothing(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["a", "b", "stars"], *([at, None, at % 3] for at in range(5))]
    path = _workbook(tmp_path / "t.xlsx", rows)
    code = f"from ordinoise.app.tables import read_table; read_table({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
