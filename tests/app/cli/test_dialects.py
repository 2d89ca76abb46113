"""Files beside a person's file are written in its dialect, and read again in whichever a spreadsheet made of them."""

from __future__ import annotations

import codecs
import csv
import io
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.cli.command import few_models, run
from app.cli.graded import GRADES, write_graded
from app.review.sample import sample_audit
from ordinoise.app.records.audit import read_record, write_record
from ordinoise.app.records.labels import read_labels
from ordinoise.app.records.plan import NO_GRADE
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.review.desk import ReviewDesk
from ordinoise.app.tables import Dialect, read_text, write_table
from ordinoise.app.verbs.model import predict_file
from ordinoise.app.verbs.request import PredictionRequest

Rows = list[list[str]]


@pytest.fixture
def folder(rounds: Path, tmp_path: Path) -> Path:
    """A copy of two rounds that a test may change."""
    return Path(shutil.copytree(rounds, tmp_path / "rounds"))


def _spelled(rows: Rows, delimiter: str, decimal: str, line_end: str) -> str:
    text = io.StringIO(newline="")
    body = [[cell.replace(".", decimal) for cell in row] for row in rows[1:]]
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows([rows[0], *body])
    return text.getvalue()


SAVED: dict[str, Callable[[Rows], bytes]] = {
    "commas": lambda rows: _spelled(rows, ",", ".", "\n").encode(),
    "by an English Excel": lambda rows: _spelled(rows, ",", ".", "\r\n").encode("utf-8-sig"),
    "by a German Excel": lambda rows: _spelled(rows, ";", ",", "\r\n").encode("cp1252"),
    "by a German Excel as UTF-8": lambda rows: _spelled(rows, ";", ",", "\r\n").encode("utf-8-sig"),
    "as Unicode text": lambda rows: codecs.BOM_UTF16_LE + _spelled(rows, "\t", ",", "\r\n").encode("utf-16-le"),
    "commas for both": lambda rows: _spelled(rows, ",", ",", "\n").encode(),
}


def _answers(folder: Path) -> dict[str, Any]:
    """What the verbs that read labels.csv say."""
    planned = run("next", folder / "two", "--budget", "15", "--json")
    checked = run("next", folder / "two", "--budget", "15", "--spot-check", "--json")
    assert (planned.code, checked.code) == (0, 0), planned.err + checked.err
    labels = read_labels(folder / "two", read_record(folder / "two")).to_dict(as_series=False)
    return {"rows": planned.json["rows"], "gains": planned.json["gains"], "drawn": checked.json["rows"], **labels}


@pytest.mark.parametrize("saved", SAVED)
def test_labels_that_a_spreadsheet_saved_are_read_as_they_were_written(folder: Path, saved: str) -> None:
    path = folder / "two" / "labels.csv"
    kept = shutil.copytree(folder, folder.with_name("kept"))
    with path.open(newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    path.write_bytes(SAVED[saved](rows))
    assert _answers(folder) == _answers(kept)


def test_grades_that_a_spreadsheet_spells_in_its_own_way_are_read(tmp_path: Path) -> None:
    made = sample_audit(tmp_path)
    shares = {f"graded_{grade}": [1 / 6] * 3 for grade in ("0.5", "1.0", "1.5", "2.0", "2.5", "low")}
    record = replace(made, n_rows=3, n_graded=2, suspects=(), classes=("0.5", "1.0", "1.5", "2.0", "2.5", "low"))
    labels = pl.DataFrame({"row": [0, 1, 2], "recorded": ["1", " 2,5", None], "suggested": ["0,5", "low", "2,0"]})
    frame = labels.with_columns(suspicion=pl.Series([0.5, 2e-6, None]), **{k: pl.Series(v) for k, v in shares.items()})
    dialect = Dialect(";", ",", is_for_people=True)
    write_table(frame, tmp_path / "audit" / "labels.csv", dialect=dialect)
    found = read_labels(tmp_path / "audit", record)
    assert found["recorded"].to_list() == ["1.0", "2.5", NO_GRADE]
    assert found["suggested"].to_list() == ["0.5", "low", "2.0"]
    assert found["suspicion"].to_list() == [0.5, 2e-6, 0.0]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    words = ("--target", "quality", "--order", ",".join(GRADES), "--learner", "mlp", "--noise", "none", "--jobs", "1")
    with few_models():
        done = run("fit", write_graded(folder / "table.csv"), *words, "--out", folder / "model")
    assert done.code == 0, done.err
    return folder


def _graded(folder: Path, *words: str) -> bytes:
    done = run("predict", folder / "model", folder / "new.csv", "--out", folder / "out.csv", *words)
    assert done.code == 0, done.err
    content = (folder / "out.csv").read_bytes()
    (folder / "out.csv").unlink()
    return content


def test_predictions_for_a_file_with_commas_and_points_are_its_table_with_more_columns(model: Path) -> None:
    lines = read_text(model / "table.csv")[:9]
    write_table(lines, model / "new.csv", dialect=Dialect())
    frame = predict_file(PredictionRequest(model / "model", model / "new.csv"))
    (model / "wanted.csv").unlink(missing_ok=True)
    write_table(frame, model / "wanted.csv")
    assert _graded(model) == _graded(model, "--dialect", "plain") == (model / "wanted.csv").read_bytes()


def test_predictions_keep_every_line_and_have_the_dialect_of_the_file(model: Path) -> None:
    lines = (model / "table.csv").read_text().splitlines()[:5]
    lines[2] = lines[2].replace("blue", '"blue"')
    text = "\r\n".join([lines[0], "", *lines[1:], "", ""])
    (model / "new.csv").write_bytes(text.encode("utf-8-sig"))
    found = _graded(model).decode("utf-8-sig").split("\r\n")
    names = ["predicted_quality", *(f"probability_{grade}" for grade in GRADES)]
    assert found[0] == ";".join([lines[0], *names])
    assert [one[: len(old)] for one, old in zip(found, text.split("\r\n"), strict=True)] == text.split("\r\n")
    added = [one.split(";")[4:] for one in found[2:6]]
    exact = [one.decode().split(",")[4:] for one in _graded(model, "--dialect", "plain").split(b"\n")[1:5]]
    assert [row[0] for row in added] == [row[0] for row in exact]
    for short, full in zip(added, exact, strict=True):
        assert [float(cell) for cell in short[1:]] == [float(f"{float(cell):.4g}") for cell in full[1:]]
        assert all(len(cell.strip("0.")) <= 4 and "e" not in cell for cell in short[1:])


def test_a_file_without_a_header_gets_one_with_its_predictions(model: Path) -> None:
    lines = (model / "table.csv").read_text().splitlines()[1:4]
    (model / "new.csv").write_text("\n".join(lines))
    with few_models():
        (model / "bare.csv").write_text("\n".join((model / "table.csv").read_text().splitlines()[1:]))
        words = ("--target", "column_4", "--order", ",".join(GRADES), "--learner", "mlp", "--noise", "none")
        done = run("fit", model / "bare.csv", *words, "--no-header", "--out", model / "bare", "--jobs", "1")
    assert done.code == 0, done.err
    done = run("predict", model / "bare", model / "new.csv", "--no-header", "--out", model / "out.csv")
    assert done.code == 0, done.err
    found = (model / "out.csv").read_text().split("\n")
    (model / "out.csv").unlink()
    assert found[0].startswith("column_1;column_2;column_3;column_4;predicted_column_4;probability_poor;")
    assert [one.startswith(f"{old};") for one, old in zip(found[1:], lines, strict=True)] == [True] * 3


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An audit of a table as a German Excel saves it, below a title, and what it printed."""
    folder = tmp_path_factory.mktemp("german")
    names, *rows = (line.split(";") for line in write_graded(folder / "plain.csv").read_text().splitlines())
    lines = [";".join(["Kreditnr", *names])]
    lines += [";".join([f"Süd-{at:04}", *row]).replace(".", ",") for at, row in enumerate(rows)]
    text = "\r\n".join(["Kredite 2020;;;;", "", *lines, ""])
    (folder / "t.csv").write_bytes(text.encode("cp1252"))
    words = ("--target", "quality", "--order", ",".join(GRADES), "--learner", "mlp", "--jobs", "1")
    with few_models():
        done = run("audit", folder / "t.csv", *words, "--out", folder / "audit")
    assert done.code == 0, done.err
    return folder, done.out


def test_rows_have_the_lines_of_the_file_and_their_names_everywhere(german: tuple[Path, str]) -> None:
    folder, said = german
    record = read_record(folder / "audit")
    first = record.suspects[0]
    lines = (folder / "t.csv").read_text(encoding="cp1252").split("\n")
    name = f"Süd-{first.row:04}"
    assert first.line is not None
    assert lines[first.line - 1].startswith(f"{name};")
    assert all(lines[one.line - 1].startswith(f"Süd-{one.row:04};") for one in first.similar if one.line)
    assert f"│ {first.line} " in said
    assert name in said
    assert "Lines are those of t.csv." in said
    page = (folder / "audit" / "report.html").read_text()
    assert f'<th scope="row" class="num">{first.line}</th><td dir="auto">{name}</td>' in page
    assert "Lines are those of t.csv." in page
    with (folder / "audit" / "suspects.csv").open(encoding="utf-8-sig", newline="") as file:
        suspects = list(csv.DictReader(file, delimiter=";"))
    assert (suspects[0]["row"], suspects[0]["line"], suspects[0]["Kreditnr"]) == (str(first.row), str(first.line), name)
    sizes = [float(one["size"].replace(",", ".")) for one in suspects]
    assert not any("." in one["size"] + one["suspicion"] for one in suspects)
    assert sizes == [float(one.cells[1] or "nan") for one in record.suspects]
    desk = ReviewDesk(folder / "audit")
    assert desk.overview()["items"][0]["title"] == f"Line {first.line}: {name}"
    desk.close()


def test_added_noise_changes_the_grades_and_nothing_else(german: tuple[Path, str], tmp_path: Path) -> None:
    file = german[0] / "t.csv"
    words = ("--target", "quality", "--order", ",".join(GRADES), "--rate", "0.2", "--out", tmp_path / "noisy.csv")
    done = run("corrupt", file, *words, "--json")
    assert done.code == 0, done.err
    old, new = (path.read_bytes().split(b"\r\n") for path in (file, tmp_path / "noisy.csv"))
    differing = [(a.rpartition(b";"), b.rpartition(b";")) for a, b in zip(old, new, strict=True) if a != b]
    assert len(differing) == done.json["n_changed"] > 0
    assert all(a[0] == b[0] and b[2].decode() in GRADES for a, b in differing)


def test_a_german_file_goes_round(german: tuple[Path, str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(german[0], tmp_path / "round"))
    record = replace(read_record(folder / "audit"), source=str(folder / "t.csv"))
    write_record(folder / "audit", record)
    chosen = {one.row: (one.line, one.recorded, one.suggested) for one in record.suspects[:5]}
    with open_decisions(folder / "audit", record) as store:
        for row, (_, _, grade) in chosen.items():
            store.decide("Ada", row, grade)
    desk = ReviewDesk(folder / "audit")
    written = Path(desk.export({})["path"])
    desk.close()
    lines = (folder / "t.csv").read_bytes().split(b"\r\n")
    for line, old, new in chosen.values():
        assert line is not None
        lines[line - 1] = lines[line - 1].removesuffix(f";{old}".encode()) + f";{new}".encode()
    assert written.read_bytes() == b"\r\n".join(lines)
    planned = run("next", folder / "audit", "--budget", "9", "--json")
    assert planned.code == 0, planned.err
    assert not set(planned.json["rows"]) & set(chosen)
    assert planned.json["lines"] == [row + 4 for row in planned.json["rows"]]
    content = (folder / "audit" / "next-1.csv").read_bytes()
    assert content.startswith(codecs.BOM_UTF8 + b"row;line;gain;Kreditnr;")
    words = ("--target", "quality", "--order", ",".join(GRADES), "--reviewed", folder / "audit")
    with few_models():
        fitted = run("fit", folder / "t.csv", *words, "--learner", "mlp", "--jobs", "1", "--out", folder / "model")
    assert fitted.code == 0, fitted.err
    checked = run("check", folder / "t.csv", *words, "--max-wrong", "0.9", "--json")
    assert checked.code == 0, checked.err
    graded = run("predict", folder / "model", folder / "t.csv", "--out", folder / "out.csv")
    assert graded.code == 0, graded.err
    rows = (folder / "out.csv").read_bytes().decode("cp1252").split("\r\n")
    kept = (folder / "t.csv").read_bytes().decode("cp1252").split("\r\n")
    assert rows[0] == kept[0] + ";" * 5
    assert [one[: len(line)] for one, line in zip(rows, kept, strict=True)] == kept
    assert all("," in row.split(";")[7] and "." not in row for row in rows[3:-1])
    (folder / "one.csv").write_text("Kreditnr;size;weight;color\nK1;1;2;red\n")
    assert run("predict", folder / "model", folder / "one.csv", "--out", folder / "two.csv").code == 0
    assert (folder / "two.csv").read_text().splitlines()[1].count(",") == len(GRADES)
