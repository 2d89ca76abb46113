"""Grades and names that a spreadsheet would take for formulas, from the audit to the next fit."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from ordinoise import corrupt, inverse_decay
from ordinoise.app.records.audit import read_record
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.review.events import RowState
from ordinoise.app.review.export import write_corrected
from ordinoise.app.tables import digest_of
from ordinoise.app.tables.reading import Reading

pytestmark = pytest.mark.usefixtures("few_models")

GRADES = ["--", "-", "0", "+", "++"]
WORDS = ("--target", "@grade", f"--order={','.join(GRADES)}", "--learner", "mlp", "--jobs", "1")
NAMES = ["-x", "=y", "+note", "@grade"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200))
    true = np.digitize(x, [-1.0, -0.3, 0.3, 1.0])
    grades = np.array(GRADES)[corrupt(true, inverse_decay(5, 0.1), random_state=0)]
    notes = rng.choice(["=1+2", "-a", "@b", '"a, b"'], size=200)
    rows = [f"{a:.4f},{b:.4f},{note},{grade}" for a, b, note, grade in zip(x, y, notes, grades, strict=True)]
    path = tmp_path_factory.mktemp("formulas") / "table.csv"
    path.write_text("\n".join([",".join(NAMES), *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def audit(table: Path) -> Path:
    result = run("audit", table, *WORDS, "--out", table.parent / "audit")
    assert result.code == 0, result.err
    return table.parent / "audit"


def test_a_corrected_file_differs_only_in_the_changed_grades_and_can_be_fitted(table: Path, audit: Path) -> None:
    record = read_record(audit)
    changed = {one.row: (one.recorded, one.suggested) for one in record.suspects[:12] if one.recorded != one.suggested}
    assert changed
    with open_decisions(audit, record) as store:
        for row, (_, grade) in changed.items():
            store.decide("Ada", row, grade)
        corrected = write_corrected(record, store.states().values())
    assert corrected.n_changed == len(changed)
    lines = table.read_text().splitlines(keepends=True)
    for row, (recorded, grade) in changed.items():
        lines[row + 1] = lines[row + 1].removesuffix(f"{recorded}\n") + f"{grade}\n"
    assert corrected.path.read_bytes() == "".join(lines).encode()
    fitted = run("fit", corrected.path, *WORDS, "--out", table.parent / "model")
    assert fitted.code == 0, fitted.err


@pytest.mark.parametrize("kind", ["jsonl", "bare"])
def test_the_corrected_file_has_the_form_of_the_audited_one(
    table: Path, audit: Path, tmp_path: Path, kind: str
) -> None:
    record, source = read_record(audit), tmp_path / ("t.jsonl" if kind == "jsonl" else "t.csv")
    content = table.read_text().partition("\n")[2]
    if kind == "jsonl":
        rows = [dict(zip(NAMES, row, strict=True)) for row in csv.reader(content.splitlines())]
        content = "".join(json.dumps(row | {"n": 1.50}) + "\n" for row in rows)
    source.write_text(content)
    target = "@grade" if kind == "jsonl" else "column_4"
    columns = tuple(
        replace(one, name=f"column_{at}" if kind == "bare" else one.name) for at, one in enumerate(record.columns, 1)
    )
    moved = replace(
        record, source=str(source), digest=digest_of(source), target=target, columns=columns,
        reading=Reading(has_header=kind != "bare"),
    )  # fmt: skip
    worst = record.suspects[0]
    state = RowState(worst.row, "settled", worst.suggested, "Ada")
    corrected = write_corrected(moved, [state])
    assert corrected.path.name == f"t.reviewed{source.suffix}"
    before, after = (path.read_text().splitlines() for path in (source, corrected.path))
    assert [row for row, (one, other) in enumerate(zip(before, after, strict=True)) if one != other] == [worst.row]
    assert after[worst.row].count(worst.suggested) > before[worst.row].count(worst.suggested)


def test_labels_and_suspects_hold_the_text_of_the_file(audit: Path) -> None:
    record = read_record(audit)
    labels, suspects = (
        pl.read_csv(audit / name, infer_schema=False, quote_char='"') for name in ("labels.csv", "suspects.csv")
    )
    assert set(labels["recorded"]) == set(GRADES)
    assert suspects.columns[-4:] == NAMES
    assert suspects["+note"].to_list() == [one.cells[2] for one in record.suspects]


@pytest.mark.slow
def test_suspects_can_be_guarded_for_a_spreadsheet_and_labels_never_are(table: Path, audit: Path) -> None:
    result = run("audit", table, *WORDS, "--excel-safe", "--out", table.parent / "guarded")
    assert result.code == 0, result.err
    guarded, plain = (
        pl.read_csv(folder / "suspects.csv", infer_schema=False) for folder in (table.parent / "guarded", audit)
    )
    assert guarded.columns[-4:] == [f"'{name}" for name in NAMES]
    expected = [text if text == "0" else f"'{text}" for text in plain["recorded"]]
    assert guarded["recorded"].to_list() == expected
    assert (table.parent / "guarded" / "labels.csv").read_bytes() == (audit / "labels.csv").read_bytes()


def test_the_suffix_in_capitals_keeps_the_cells_too(tmp_path: Path) -> None:
    rows = [f"00{number % 7},{number}.50,{number % 3 + 1}" for number in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["code,weight,stars", *rows]) + "\n")
    assert run("corrupt", tmp_path / "t.csv", "--target", "stars", "--out", tmp_path / "OUT.CSV").code == 0
    found = (tmp_path / "OUT.CSV").read_text().splitlines()[1:]
    assert [line.rpartition(",")[0] for line in found] == [row.rpartition(",")[0] for row in rows]
