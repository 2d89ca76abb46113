"""A Label Studio export as a table, suspects as tasks to import, and corrected exports."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.review.sample import sample_audit
from ordinoise import adjacent, corrupt
from ordinoise.app.records.audit import read_record
from ordinoise.app.review.events import RowState
from ordinoise.app.review.export import write_corrected
from ordinoise.app.tables import digest_of, read_table, suggested_tasks, tasks_with
from ordinoise.app.verbs.audit import _label_studio_tasks

GRADES = ("low", "fair", "good")


def _task(number: int, grade: str | int, kind: str = "choices") -> dict[str, Any]:
    value = [grade] if kind == "choices" else grade
    result = {"id": f"r{number}", "from_name": "quality", "to_name": "text", "type": kind, "value": {kind: value}}
    annotation = {"id": 1000 + number, "completed_by": 1, "was_cancelled": False, "result": [result], "lead_time": 2.5}
    skipped = {"id": 2000 + number, "completed_by": 2, "was_cancelled": True, "result": []}
    return {
        "id": 70 + number,
        "data": {"text": f"words {number}", "size": number / 2},
        "annotations": [annotation, skipped],
        "predictions": [],
    }


def _export(path: Path, tasks: list[dict[str, Any]] | None = None) -> Path:
    path.write_text(json.dumps([_task(at, GRADES[at % 3]) for at in range(6)] if tasks is None else tasks))
    return path


def test_an_export_is_a_table_of_data_and_grades(tmp_path: Path) -> None:
    table = read_table(_export(tmp_path / "export.json"))
    assert table.columns == ["text", "size", "quality"]
    assert table["size"].dtype == pl.Float64
    assert table["quality"].to_list() == [*GRADES, *GRADES]


def test_a_task_without_annotation_has_no_grade_and_a_clash_of_names_an_underscore(tmp_path: Path) -> None:
    tasks = [_task(0, 3, "rating"), _task(1, 4, "rating") | {"annotations": []}]
    for task in tasks:
        task["data"]["quality"] = "of the picture"
    table = read_table(_export(tmp_path / "export.json", tasks))
    assert table["quality_"].to_list() == [3, None]


def test_two_grades_for_a_task_are_for_raters(tmp_path: Path) -> None:
    task = _task(0, "low")
    task["annotations"].append(task["annotations"][0] | {"completed_by": 3})
    with pytest.raises(ValueError, match=r"^file must have one grade per task, got 2 in task 0; use ordinoise raters"):
        read_table(_export(tmp_path / "export.json", [task]))


@pytest.mark.parametrize(
    "content", ['[{"annotations": 1}]', '[{"annotations": []}]', '["annotations"', '[{"data": 1, "annotations": [{}]}]']
)
def test_other_json_is_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "export.json").write_text(content)
    with pytest.raises(ValueError, match=r"^file must be a table or a Label Studio export, got .*JSON"):
        read_table(tmp_path / "export.json")


def test_half_a_character_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(json.dumps([_task(0, "low\ud800")]))
    with pytest.raises(ValueError, match=r"^file must hold whole characters, got half of one"):
        read_table(tmp_path / "export.json")


def test_suspects_are_tasks_as_label_studio_imports_them(tmp_path: Path) -> None:
    path = _export(tmp_path / "export.json")
    first, second = suggested_tasks(path, "quality", [4, 0], ["good", "fair"], [0.9, 0.8], "ordinoise 1")
    assert [first["id"], second["id"]] == [74, 70]
    assert first["data"] == {"text": "words 4", "size": 2.0}
    (prediction,) = first["predictions"]
    assert set(prediction) == {"model_version", "score", "result"}
    assert prediction["score"] == 0.9
    (result,) = prediction["result"]
    assert {key: result[key] for key in ("from_name", "to_name", "type", "value")} == {
        "from_name": "quality", "to_name": "text", "type": "choices", "value": {"choices": ["good"]},
    }  # fmt: skip
    assert "annotations" not in first


def test_a_corrected_export_differs_in_its_grades_only(tmp_path: Path) -> None:
    path = _export(tmp_path / "export.json")
    was, now = json.loads(path.read_text()), json.loads(tasks_with(path, "quality", {1: "low"}))
    assert now[1]["annotations"][0]["result"][0]["value"] == {"choices": ["low"]}
    now[1]["annotations"][0]["result"][0]["value"] = was[1]["annotations"][0]["result"][0]["value"]
    assert now == was


def test_any_audit_becomes_tasks_with_the_suspicion_as_their_score(tmp_path: Path) -> None:
    record = sample_audit(tmp_path)
    tasks = _label_studio_tasks(record, None)
    first = record.suspects[0]
    assert len(tasks) == len(record.suspects)
    assert tasks[0]["data"]["item"] == str(first.row)
    assert record.target not in tasks[0]["data"]
    assert tasks[0]["predictions"][0]["score"] == pytest.approx(first.suspicion, abs=1e-6)
    assert tasks[0]["predictions"][0]["result"][0]["value"] == {"choices": [first.suggested]}


def test_an_audit_of_an_export_keeps_the_ids_of_its_tasks(tmp_path: Path) -> None:
    path = _export(tmp_path / "export.json")
    record = sample_audit(tmp_path)
    chosen = tuple(replace(one, row=at, suggested=record.classes[0]) for at, one in enumerate(record.suspects[:2]))
    record = replace(record, source=str(path), digest=digest_of(path), target="quality", suspects=chosen)
    assert [task["id"] for task in _label_studio_tasks(record, path)] == [70, 71]


@pytest.mark.slow
def test_the_loop_from_export_to_import_to_corrected_export(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=240)
    tasks = [_task(at, GRADES[grade]) for at, grade in enumerate(corrupt(truth, adjacent(3, up=0.2, down=0.1), rng))]
    for task, grade in zip(tasks, truth.tolist(), strict=True):
        task["data"]["size"] = grade + rng.normal(0, 0.1)
    path = _export(tmp_path / "export.json", tasks)
    result = run("audit", path, "--target", "quality", "--order", "low,fair,good", "--out", tmp_path / "audit")
    assert result.code == 0, result.err
    assert "label-studio.json" in result.out
    imported = json.loads((tmp_path / "audit" / "label-studio.json").read_text())
    wrong = {
        task["id"]
        for task, grade in zip(tasks, truth, strict=True)
        if task["annotations"][0]["result"][0]["value"]["choices"] != [GRADES[grade]]
    }
    assert np.mean([task["id"] in wrong for task in imported[:20]]) > 0.9
    record = read_record(tmp_path / "audit")
    first = record.suspects[0]
    written = write_corrected(record, [RowState(first.row, "settled", first.suggested)])
    assert written.path.name == "export.reviewed.json"
    assert read_table(written.path)["quality"][first.row] == first.suggested


def test_thousands_of_control_tags_are_refused(tmp_path: Path) -> None:
    task = _task(0, "low")
    (one,) = task["annotations"][0]["result"]
    task["annotations"][0]["result"] = [one | {"from_name": f"tag{number}"} for number in range(1001)]
    with pytest.raises(ValueError, match=r"^file must have at most 1000 control tags with grades, got 1001 in "):
        read_table(_export(tmp_path / "t.json", [task]))
