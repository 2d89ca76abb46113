"""A table as a German spreadsheet saves it: the same features, suspects and predictions as its plain spelling."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.command import run
from ordinoise.app.records.audit import AuditRecord, read_record
from ordinoise.app.records.model import read_model
from ordinoise.app.tables import ColumnRoles, graded_table

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")
pytestmark = pytest.mark.usefixtures("few_models")

NAMES = ["Nr", "Einkommen (€)", "Jahre", "Quote", "Filiale", "Antrag", "Note"]
WORDS = ("--target", "Note", "--order", "D,C,B,A", "--learner", "mlp", "--jobs", "1")


def _rows(n_rows: int = 120) -> list[dict[str, Any]]:
    """Cells as values; the grade follows income and share, some grades are wrong."""
    rng = np.random.default_rng(0)
    found = []
    for row in range(n_rows):
        income, share = round(float(rng.uniform(900, 90_000)), 2), int(rng.integers(0, 1000))
        rank = int(np.clip((income / 90_000 + 1 - share / 1000) * 2, 0, 3)) if row % 11 else int(rng.integers(0, 4))
        day = dt.date(2019, 1, 1) + dt.timedelta(days=int(rng.integers(0, 700)))
        cells = [f"K{row:04}", income, round(float(rng.uniform(0, 30)), 1), share, "SN"[row % 2], day, "DCBA"[rank]]
        found.append(dict(zip(NAMES, cells, strict=True)) | ({"Einkommen (€)": None} if row % 30 == 7 else {}))
    return found


def _english(cells: dict[str, Any]) -> list[str]:
    income = "" if cells["Einkommen (€)"] is None else f"{cells['Einkommen (€)']:.2f}"
    share, day = f"{cells['Quote']}e-3", cells["Antrag"].isoformat()
    return [cells["Nr"], income, f"{cells['Jahre']}", share, BRANCHES[cells["Filiale"]], day, cells["Note"]]


def _german(cells: dict[str, Any]) -> list[str]:
    income = "k.A."
    if cells["Einkommen (€)"] is not None:
        income = f"{cells['Einkommen (€)']:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")
    share = f"{cells['Quote'] // 10},{cells['Quote'] % 10} %"
    years, day = f"{cells['Jahre']:.1f}".replace(".", ","), f"{cells['Antrag']:%d.%m.%Y}"
    return [cells["Nr"], income, years, share, BRANCHES[cells["Filiale"]], day, cells["Note"]]


BRANCHES = {"S": "Süd", "N": "Nord"}
TITLE, TOTAL = ["Kreditprüfung 2019", "Stand: 01.06.2020", ""], ["", "Summe;5.123.456,00"]


def _write_plain(path: Path) -> Path:
    lines = [NAMES, *map(_english, _rows())]
    path.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _write_german(path: Path) -> Path:
    lines = [*TITLE, *(";".join(line) for line in [NAMES, *map(_german, _rows())]), *TOTAL]
    path.write_bytes("".join(line + "\r\n" for line in lines).encode("cp1252"))
    return path


def _write_workbook(path: Path) -> Path:
    """Numbers and days as a workbook stores them, with words among them, below a title and above a total."""
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Hinweise").write(0, 0, "Bitte nicht ändern")
        sheet, day = book.add_worksheet("Kredite"), book.add_format({"num_format": "dd.mm.yyyy"})
        share = book.add_format({"num_format": "0.0 %"})
        sheet.write_column(0, 0, TITLE)
        sheet.write_row(3, 0, NAMES)
        for row, cells in enumerate(_rows(), start=4):
            income = cells["Einkommen (€)"]
            sheet.write_row(row, 0, [cells["Nr"], "k.A." if income is None else income, cells["Jahre"]])
            sheet.write_number(row, 3, float(f"{cells['Quote']}e-3"), share)
            sheet.write(row, 4, BRANCHES[cells["Filiale"]])
            sheet.write_datetime(row, 5, cells["Antrag"], day)
            sheet.write(row, 6, cells["Note"])
        sheet.write_row(len(_rows()) + 5, 0, ["Summe", 5123456.0])
    return path


WRITERS = {"kredite.csv": _write_german, "kredite.xlsx": _write_workbook}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write_plain(tmp_path_factory.mktemp("plain") / "plain.csv")


@pytest.mark.parametrize("name", WRITERS)
def test_the_features_are_those_of_the_plain_spelling(plain: Path, tmp_path: Path, name: str) -> None:
    roles = ColumnRoles("Note", "D,C,B,A")
    expected, found = graded_table(plain, roles), graded_table(WRITERS[name](tmp_path / name), roles)
    assert found.features.columns == ["Einkommen (€)", "Jahre", "Quote", "Filiale", "Antrag"]
    assert found.features.equals(expected.features)
    assert (found.labels.tolist(), found.rows.tolist()) == (expected.labels.tolist(), expected.rows.tolist())
    assert (found.reading.header_row, found.reading.rows_above, found.reading.rows_below) == (4, 2, 1)
    said = " ".join(found.messages)
    assert "'k.A.' in 4 rows of 'Einkommen (€)' read as missing" in said
    if name.endswith(".csv"):
        assert "read as Windows-1252, ; between cells, decimal commas, names in row 4 (2 rows above and 1 row" in said
    else:
        assert "the sheet 'Kredite' is read, not 'Hinweise'" in said


def _suspects(record: AuditRecord) -> list[tuple[int, str, float]]:
    return [(one.row, one.suggested, one.suspicion) for one in record.suspects]


@pytest.mark.parametrize("name", WRITERS)
def test_the_suspects_are_those_of_the_plain_spelling(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    WRITERS[name](tmp_path / name)
    for file, out in ((plain, "plain"), (tmp_path / name, "german")):
        done = run("audit", file, *WORDS, "--out", out)
        assert done.code == 0, done.err
    expected, found = read_record(tmp_path / "plain"), read_record(tmp_path / "german")
    assert _suspects(found) == _suspects(expected)
    assert len(found.suspects) > 3
    stored = json.loads((tmp_path / "german" / "audit.json").read_text())["reading"]
    assert (stored["header_row"], stored["rows_below"]) == (4, 1)
    page = (tmp_path / "german" / "report.html").read_text(encoding="utf-8")
    assert "names in row 4 (2 rows above and 1 row below are no part of the table)" in page


def test_a_model_of_a_german_file_reads_other_spellings(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("fit", _write_german(tmp_path / "kredite.csv"), *WORDS, "--out", "model")
    assert done.code == 0, done.err
    task = read_model(tmp_path / "model")[1]
    assert (task.reading.encoding, task.reading.decimal, task.reading.header_row) == ("cp1252", ",", 4)
    files = {
        "german.csv": ";".join(NAMES) + "\nK1;12.345,50;7,5;48,7 %;Süd;03.05.2019;\n",
        "english.csv": ",".join(NAMES) + "\nK1,12345.50,7.5,0.487,Süd,2019-05-03,\n",
        "groups.csv": ";".join(NAMES) + "\nK1;12.345;7;48,7 %;Süd;03.05.2019;\n",  # 12.345 alone could be 12.345
        "whole.csv": ",".join(NAMES) + "\nK1,12345,7,0.487,Süd,2019-05-03,\n",
    }
    grades = {}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        done = run("predict", "model", name, "--json")
        assert done.code == 0, done.err
        assert ("has decimal points here, commas when the model was made" in done.err) == (
            "," in text.partition("\n")[0]
        )
        row = done.json[0]
        grades[name] = [row["predicted_Note"], *(row[f"probability_{grade}"] for grade in "DCBA")]
    assert grades["german.csv"] == grades["english.csv"]
    assert grades["groups.csv"] == grades["whole.csv"]
    assert grades["german.csv"] != grades["groups.csv"]
