"""Corrected files: grades settled for rows that had none, in every format, and read again before they get a name."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.review.sample import sample_audit
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review.events import RowState
from ordinoise.app.review.export import write_corrected
from ordinoise.app.tables import digest_of, read_stored, write_table
from ordinoise.app.tables.reader import Opened
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.regraded import GradeColumn
from ordinoise.noise import Noise

UNGRADED = (0, 7, 8, 59)
GRADES = {0: "3", 7: "8", 59: "5"}  # one ungraded row stays so
NAMES = ("alcohol", "volatile acidity", "sulphates", "color", "quality", "tasting note", "label")


def _table(folder: Path) -> pl.DataFrame:
    table = read_stored(folder / "wine.csv").with_columns(pl.col("quality").cast(pl.Int64))
    cells = [None if row in UNGRADED else grade for row, grade in enumerate(table["quality"])]
    return table.with_columns(pl.Series("quality", cells, dtype=pl.Int64))


def _written(table: pl.DataFrame, path: Path) -> Path:
    write_table(table, path)
    return path


def _lines_without_keys(table: pl.DataFrame, path: Path) -> Path:
    rows = [{name: value for name, value in row.items() if value is not None} for row in table.to_dicts()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _sheet(table: pl.DataFrame, path: Path, edit: Callable[[str], str]) -> Path:
    """A workbook whose sheet was edited as text."""
    write_table(table, path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = edit(parts[name].decode()).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return path


def _styled(sheet: str) -> str:
    for row in UNGRADED:
        sheet = sheet.replace(f'<c r="F{row + 2}"', f'<c r="E{row + 2}" s="1"/><c r="F{row + 2}"')
    return sheet


def _without_places(sheet: str) -> str:
    """Rows and the cells before the grade are numbered by their order alone."""
    for row in range(1, 62):
        sheet = sheet.replace(f'<row r="{row}"', "<row")
        for letter in "ABCD":
            sheet = sheet.replace(f'<c r="{letter}{row}"', "<c")
    return sheet


def _tasks(table: pl.DataFrame, path: Path, ungraded: list[dict[str, Any]], kind: str) -> Path:
    def graded(grade: int) -> list[dict[str, Any]]:
        value = [str(grade)] if kind == "choices" else grade
        result = {"from_name": "quality", "to_name": "text", "type": kind, "value": {kind: value}}
        return [{"id": 1, "completed_by": 2, "was_cancelled": False, "result": [result]}]

    tasks = [
        {
            "id": number,
            "data": {name: value for name, value in row.items() if name != "quality"},
            "annotations": ungraded if row["quality"] is None else graded(row["quality"]),
        }
        for number, row in enumerate(table.to_dicts())
    ]
    path.write_text(json.dumps(tasks))
    return path


EMPTY = {"id": 9, "completed_by": 2, "was_cancelled": False, "result": []}
OTHER = {"from_name": "sure", "to_name": "text", "type": "number", "value": {"number": 1}}
FILES: dict[str, Callable[[pl.DataFrame, Path], Path]] = {
    **{
        suffix: lambda table, folder, suffix=suffix: _written(table, folder / f"t{suffix}")  # type: ignore[misc]
        for suffix in (".csv", ".tsv", ".jsonl", ".xlsx", ".parquet", ".feather")
    },
    "lines without the key": lambda table, folder: _lines_without_keys(table, folder / "t.jsonl"),
    "a blank cell with a style": lambda table, folder: _sheet(table, folder / "t.xlsx", _styled),
    "cells without places": lambda table, folder: _sheet(table, folder / "t.xlsx", _without_places),
    "no annotation": lambda table, folder: _tasks(table, folder / "t.json", [], "choices"),
    "an empty annotation": lambda table, folder: _tasks(table, folder / "t.json", [EMPTY], "rating"),
    "a cancelled annotation": lambda table, folder: _tasks(
        table, folder / "t.json", [EMPTY | {"was_cancelled": True}], "number"
    ),
    "another tag": lambda table, folder: _tasks(table, folder / "t.json", [EMPTY | {"result": [OTHER]}], "choices"),
}


@pytest.fixture
def audited(tmp_path: Path) -> Callable[[str], AuditRecord]:
    """The record of an audit of a file of any kind, with rows without a grade."""

    def record(kind: str) -> AuditRecord:
        made = sample_audit(tmp_path)
        source = FILES[kind](_table(tmp_path), tmp_path)
        suspects = tuple(one for one in made.suspects if one.row not in UNGRADED)
        return replace(made, source=str(source), digest=digest_of(source), suspects=suspects)

    return record


def _states(record: AuditRecord) -> list[RowState]:
    suspect = record.suspects[0]
    settled = {**GRADES, suspect.row: suspect.suggested, record.suspects[1].row: record.suspects[1].recorded}
    return [RowState(row, "settled", grade, "Ada") for row, grade in settled.items()]


@pytest.mark.parametrize("kind", FILES)
def test_a_grade_settled_for_a_row_without_one_is_written_in_every_format(
    audited: Callable[[str], AuditRecord], kind: str
) -> None:
    record = audited(kind)
    corrected = write_corrected(record, _states(record))
    was, now = read_stored(record.source), read_stored(corrected.path)
    wanted = [None if cell is None else str(cell) for cell in was["quality"]]
    for state in _states(record):
        wanted[state.row] = state.grade
    assert [None if cell is None else str(cell) for cell in now["quality"]] == wanted
    assert now.select(was.drop("quality").columns).equals(was.drop("quality"))
    assert now["quality"].dtype == was["quality"].dtype
    assert (corrected.n_changed, corrected.n_kept) == (4, 1)


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet", ".xlsx", "no annotation"])
def test_a_file_that_does_not_hold_the_decisions_gets_no_name(
    audited: Callable[[str], AuditRecord], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = audited(kind)
    before = set(tmp_path.iterdir())
    monkeypatch.setattr(GradeColumn, "_write", _writing_less(GradeColumn._write))
    with pytest.raises(
        ValueError,
        match=r"^the corrected file must hold every decision and every other cell, got .*; nothing was written$",
    ):
        write_corrected(record, _states(record))
    assert set(tmp_path.iterdir()) == before


def _writing_less(write: Callable[..., None]) -> Callable[..., None]:
    """The same writer, which loses one of the changes."""

    def writing(self: GradeColumn, opened: Opened, cells: dict[int, str], path: Path) -> None:
        write(self, opened, dict(list(cells.items())[1:]), path)

    return writing


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet", ".xlsx", "no annotation"])
def test_a_file_that_changes_while_it_is_written_gives_none(
    audited: Callable[[str], AuditRecord], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = audited(kind)
    before = set(tmp_path.iterdir())

    def writing(self: GradeColumn, opened: Opened, cells: dict[int, str], path: Path) -> None:
        write(self, opened, cells, path)
        with self.path.open("ab") as file:
            file.write(b"\n")

    write = GradeColumn._write
    monkeypatch.setattr(GradeColumn, "_write", writing)
    with pytest.raises(ValueError, match=r"^the audited file must be unchanged since its audit, got other content in"):
        write_corrected(record, _states(record))
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "kind", [".csv", ".jsonl", ".xlsx", ".parquet", ".feather", "no annotation", "an empty annotation"]
)
def test_a_grade_that_no_cell_has_is_written_as_it_is_called(audited: Callable[[str], AuditRecord], kind: str) -> None:
    made = audited(kind)
    record = replace(made, suspects=(), classes=(*made.classes, "9"), noise=_noise(len(made.classes) + 1))
    corrected = write_corrected(record, [RowState(0, "settled", "9", "Ada")])
    assert str(read_stored(corrected.path)["quality"][0]) == "9"


def _noise(n_classes: int) -> Noise:
    return Noise(np.full((n_classes, n_classes), 1 / n_classes))


@pytest.mark.parametrize("kind", [".jsonl", ".xlsx", ".parquet", ".feather", "an empty annotation"])
def test_a_grade_that_a_column_cannot_hold_is_refused_in_a_sentence(
    audited: Callable[[str], AuditRecord], kind: str, tmp_path: Path
) -> None:
    made = audited(kind)
    record = replace(made, suspects=(), classes=(*made.classes, "best"), noise=_noise(len(made.classes) + 1))
    before = set(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"^grades? must be (of the type of their column|a number where Label Studio)"):
        write_corrected(record, [RowState(0, "settled", "best", "Ada")])
    assert set(tmp_path.iterdir()) == before


TEXT = """id;alcohol;quality;note\r
1;1,5;"3";"a ""long""\r
note; with breaks"\r
2; 2,5;4 ;Süd\r
\r
3;3,5;4 ;\r
4;4,5;;"x"\r
5;5,5;5;y\r
6;6,5;"3";z"""
CHANGED = {'1;1,5;"3"': '1;1,5;"5"', "4;4,5;": "4;4,5;4 ", "5;5,5;5": "5;5,5;3"}
DIALECTS: dict[str, Callable[[str], bytes]] = {
    "as it is": lambda text: text.encode(),
    "LF": lambda text: text.replace("\r\n", "\n").encode(),
    "mixed": lambda text: text.replace("\r\n", "\n", 4).encode(),
    "comma": lambda text: text.replace(",", ".").replace(";", ",").encode(),
    "tab": lambda text: text.replace(";", "\t").encode(),
    "bar": lambda text: text.replace(";", "|").encode(),
    "a mark": lambda text: text.encode("utf-8-sig"),
    "two marks": lambda text: ("\ufeff" + text).encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 from the other end": lambda text: ("\ufeff" + text).encode("utf-16-be"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "Windows-1252": lambda text: text.encode("cp1252"),
    "Windows-1250": lambda text: text.replace("Süd", "Łódź").encode("cp1250"),
    "CR": lambda text: text.replace("\r\n", "\r").encode(),
    "CR in Windows-1252": lambda text: text.replace("\r\n", "\r").encode("cp1252"),
    "a title and a total": lambda text: f"Kredite 2020;;;\r\n\r\n{text}\r\nSumme;;24;\r\n".encode(),
    "sep=": lambda text: f"sep=;\r\n{text}".encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_corrected_csv_differs_in_the_grades_and_nowhere_else(
    audited: Callable[[str], AuditRecord], tmp_path: Path, dialect: str
) -> None:
    source = tmp_path / ("t.csv.gz" if dialect == "gzip" else "t.csv")
    source.write_bytes(DIALECTS[dialect](TEXT))
    made = sample_audit(tmp_path)
    asked = Reading(encoding="cp1250") if dialect == "Windows-1250" else BY_RULES
    columns = tuple(
        replace(made.columns[4], name=name, role="target" if name == "quality" else "ignored", note="-")
        for name in ("id", "alcohol", "quality", "note")
    )
    record = replace(
        made, source=str(source), digest=digest_of(source), columns=columns, suspects=(), classes=("3", "4", "5"),
        noise=_noise(3), reading=asked,
    )  # fmt: skip
    settled = {0: "5", 1: "4", 3: "4", 4: "3"}
    corrected = write_corrected(record, [RowState(row, "settled", grade, "Ada") for row, grade in settled.items()])
    wanted = TEXT
    for old, new in CHANGED.items():
        wanted = wanted.replace(old, new, 1)
    assert corrected.path.name == "t.reviewed.csv"
    content = DIALECTS[dialect](wanted)
    assert corrected.path.read_bytes() == (gzip.decompress(content) if dialect == "gzip" else content)
    assert (corrected.n_changed, corrected.n_kept) == (3, 1)


def test_a_grade_that_the_encoding_lacks_is_refused_in_a_sentence(tmp_path: Path) -> None:
    made = sample_audit(tmp_path)
    (tmp_path / "t.csv").write_bytes("x;grade\r\n1;mäßig\r\n2;gut\r\n3;gut\r\n".encode("cp1252"))
    columns = tuple(
        replace(made.columns[4], name=name, role=role) for name, role in (("x", "feature"), ("grade", "target"))
    )
    record = replace(
        made, source=str(tmp_path / "t.csv"), digest=digest_of(tmp_path / "t.csv"), target="grade", columns=columns,
        suspects=(), classes=("mäßig", "gut", "★"), noise=_noise(3),
    )  # fmt: skip
    before = set(tmp_path.iterdir())
    sentence = r"^grades must be spelled in the file's encoding, Windows-1252, got '★'; nothing was written$"
    with pytest.raises(ValueError, match=sentence):
        write_corrected(record, [RowState(0, "settled", "★", "Ada")])
    assert set(tmp_path.iterdir()) == before
    corrected = write_corrected(record, [RowState(1, "settled", "mäßig", "Ada")])
    assert corrected.path.read_bytes() == (tmp_path / "t.csv").read_bytes().replace(
        b"2;gut", "2;mäßig".encode("cp1252")
    )


def test_a_grade_that_no_cell_has_gets_the_decimal_mark_of_the_file(tmp_path: Path) -> None:
    made = sample_audit(tmp_path)
    content = b"x;grade\r\n1,5;2,0\r\n2,5;2,5\r\n3,5;2,5\r\n"
    (tmp_path / "t.csv").write_bytes(content)
    columns = tuple(
        replace(made.columns[4], name=name, role=role) for name, role in (("x", "feature"), ("grade", "target"))
    )
    record = replace(
        made, source=str(tmp_path / "t.csv"), digest=digest_of(tmp_path / "t.csv"), target="grade", columns=columns,
        suspects=(), classes=("2.0", "2.5", "3.5"), noise=_noise(3), reading=Reading(decimal=","),
    )  # fmt: skip
    states = [RowState(0, "settled", "3.5", "Ada"), RowState(2, "settled", "2.0", "Ada")]
    corrected = write_corrected(record, states)
    assert corrected.path.read_bytes() == content.replace(b"1,5;2,0", b"1,5;3,5").replace(b"3,5;2,5", b"3,5;2,0")


def test_only_the_new_cells_of_a_sheet_are_added(tmp_path: Path) -> None:
    from ordinoise.app.tables import workbook_with

    sheet = '<worksheet xmlns="x"><sheetData><row r="2" spans="2:3"><c r="B2" t="inlineStr"><is><t>a</t></is></c><c r="C2" t="inlineStr"><is><t>grade</t></is></c></row><row r="3"><c r="B3"><v>1</v></c></row><row r="5"><c r="B5"><v>1</v></c><c r="C5"><v>2</v></c></row></sheetData></worksheet>'
    sheet = sheet.replace('xmlns="x"', 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"')
    path = _sheet(pl.DataFrame({"a": [1]}), tmp_path / "t.xlsx", lambda _: sheet)
    changed = workbook_with(path, "grade", {0: 4, 1: 5})
    with zipfile.ZipFile(io.BytesIO(changed)) as archive:
        found = archive.read("xl/worksheets/sheet1.xml").decode()
    wanted = sheet.replace(
        '</c></row><row r="5">', '</c><c r="C3"><v>4</v></c></row><row r="4"><c r="C4"><v>5</v></c></row><row r="5">'
    )
    assert found == wanted


def test_a_first_column_without_a_name_stays_without_one(tmp_path: Path) -> None:
    made = sample_audit(tmp_path)
    lines = (tmp_path / "wine.csv").read_text().replace("alcohol", "", 1)
    (tmp_path / "t.csv").write_text(lines)
    record = replace(made, source=str(tmp_path / "t.csv"), digest=digest_of(tmp_path / "t.csv"))
    corrected = write_corrected(record, [])
    first = [next(csv.reader(text.splitlines())) for text in (lines, corrected.path.read_text())]
    assert first[0] == first[1]
    assert first[0][0] == ""
