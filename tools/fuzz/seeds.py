"""Whole inputs that fuzzing starts from, made by the code itself, so that they fit its formats."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = ("1", "2", "3")
TABLE = "size,colour,stars\n" + "".join(f"{i / 7:.3f},{'red' if i % 3 else 'blue'},{i % 3 + 1}\n" for i in range(60))
MATRIX = "0.9,0.1,0\n0.2,0.7,0.1\n0,0.2,0.8\n"


def write_tables(folder: Path) -> None:
    """The table in every format, the noise matrix, and the archive's format of features."""
    import polars as pl

    from ordinoise.app.tables import write_table

    frame = pl.read_csv(TABLE.encode())
    (folder / "t.csv").write_text(TABLE)
    (folder / "t.tsv").write_text(TABLE.replace(",", "\t"))
    (folder / "t.csv.gz").write_bytes(gzip.compress(TABLE.encode(), mtime=0))
    frame.write_ndjson(folder / "t.jsonl")
    write_table(frame, folder / "t.xlsx")
    frame.write_parquet(folder / "t.parquet")
    frame.write_ipc(folder / "t.feather", compression="lz4")
    (folder / "matrix.csv").write_text(MATRIX)
    np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32))
    (folder / "t.json").write_text(json.dumps([_task(number) for number in range(30)]))
    (folder / "m.txt").write_text("2 qid:1 1:0.5 2:3\n0 qid:1 1:1 2:-3\n1 qid:2 1:0 2:1e-3\n")


def _task(number: int) -> dict[str, object]:
    """A task of Label Studio with the grades of one or two people and a prediction."""

    def given(grade: int) -> list[dict[str, object]]:
        value = {"choices": [str(grade)]}
        return [{"from_name": "stars", "to_name": "text", "type": "choices", "value": value}]

    people = [
        {"id": 10 * number + who, "completed_by": who, "result": given(number % 3 + 1)} for who in range(1 + number % 2)
    ]
    guess = [{"model_version": "m", "score": 0.5, "result": given(1)}]
    return {
        "id": number,
        "data": {"colour": "red" if number % 2 else "blue", "size": number % 7},
        "annotations": people,
        "predictions": guess,
    }


def write_audit(folder: Path) -> None:
    """An audit of the table by hand, with decisions, as ``folder/audit``, and results of trials."""
    from ordinoise.app.records.audit import AuditRecord, Suspect, write_record
    from ordinoise.app.review import open_decisions
    from ordinoise.app.tables import digest_of
    from ordinoise.app.verbs.request import Request
    from ordinoise.columns.findings import ColumnFindings
    from ordinoise.jobs import ResultStore
    from ordinoise.noise import Doubt, Noise

    matrix = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.2, 0.8]])
    noise = Noise(
        matrix, source="estimated", class_shares=np.array([0.2, 0.3, 0.5]), method="score",
        interval=np.array([matrix, matrix]), rate_interval=(0.1, 0.3), doubts=(Doubt("code", "a sentence"),),
    )  # fmt: skip
    columns = (
        ColumnFindings("size", "number", "feature", 0, 60),
        ColumnFindings("colour", "category", "feature", 0, 2),
        ColumnFindings("stars", "number", "target", 0, 3),
    )
    suspects = tuple(
        Suspect(row, rank, CLASSES[row % 3], CLASSES[(row + 1) % 3], ("0.5", "red", CLASSES[row % 3]), 0.9, (0.1, 0.8, 0.1))
        for rank, row in enumerate((4, 7, 30), 1)
    )  # fmt: skip
    table = folder / "t.csv"
    settings = Request(table, target="stars").settings()
    record = AuditRecord(
        source=str(table), digest=digest_of(table), target="stars", classes=CLASSES, columns=columns, n_rows=60,
        n_graded=60, noise=noise, wrong=2.0, wrong_low=1.0, wrong_high=3.0, confidence=0.95, learner="mlp",
        settings=settings, suspects=suspects, cautions=("a sentence on a column",), ordinoise="0.0.0",
    )  # fmt: skip
    (folder / "audit").mkdir()
    write_record(folder / "audit", record)
    with open_decisions(folder / "audit", record) as store:
        for row in (4, 7):
            store.decide("Ann", row, "2")
        store.write_note("Bob", 4, "see 7")
        store.undo("Ann")
    with ResultStore(folder / "results.sqlite") as results:
        results.add("0" * 16, {"dataset": "x"}, {"error": 0.5}, 1.0)


def write_rounds(folder: Path) -> None:
    """What a second round needs: all labels of the audit, a spot check, and the folder of three raters."""
    from ordinoise.app.records.labels import LABELS
    from ordinoise.app.rounds.next import plan_next
    from ordinoise.app.tables import write_table
    from ordinoise.app.verbs.labels import label_frame
    from ordinoise.app.verbs.raters import rate_file
    from ordinoise.app.verbs.request import RatingsRequest

    ranks = np.arange(60) % 3
    names, shares = np.array(CLASSES, dtype=object), np.tile((0.5, 0.3, 0.2), (60, 1))
    labels = label_frame(np.arange(60), names[ranks], names[(ranks + 1) % 3], np.full(60, 0.5), shares, CLASSES)
    write_table(labels, folder / "audit" / LABELS)
    plan_next(folder / "audit", budget=3, is_spot_check=True)
    lines = [f"{item},{who},{(item + item % (who + 2)) % 3 + 1}" for item in range(12) for who in range(3)]
    (folder / "ratings.csv").write_text("\n".join(["item,who,stars", *lines]) + "\n")
    rate_file(RatingsRequest(folder / "ratings.csv", item="item", rater="who", grade="stars"), folder / "rated")


def write_models(folder: Path) -> None:
    """Models of every kind, the one of a table with its task, and a checkpoint."""
    import torch

    from ordinoise import OrdinalBoostingClassifier, OrdinalMLPClassifier
    from ordinoise.app.verbs.model import fit_file
    from ordinoise.app.verbs.request import Request
    from ordinoise.classifiers import OrdinalClassifier
    from ordinoise.learners.torch.checkpoints import write_checkpoint

    x, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    kinds = {
        "mlp": OrdinalMLPClassifier(noise=[[0.9, 0.1, 0], [0, 1, 0], [0, 0, 1]], max_iter=1, random_state=0),
        "boosting": OrdinalBoostingClassifier(
            n_estimators=3, early_stopping=False, min_child_samples=5, n_jobs=1, random_state=0
        ),
        "blend": OrdinalClassifier("blend", noise=None, n_folds=2, n_rounds=1, n_jobs=1, random_state=0),
    }
    for name, model in kinds.items():
        model.fit(x, y).save(folder / name)
    request = Request(folder / "t.csv", target="stars", learner="mlp", noise="none", jobs=1)
    fit_file(request, folder / "model")
    state = {
        "identity": {"seed": 0},
        "model": {"w": torch.arange(6.0)},
        "progress": {"epoch": 1},
        "groups": [(1, None)],
    }
    write_checkpoint(folder / "checkpoint", state)


def write_seeds(folder: Path, *, models: bool = True) -> None:
    """Everything, or all but the models, whose fits take a while."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    write_tables(folder)
    write_audit(folder)
    write_rounds(folder)
    if models:
        write_models(folder)


def corpus(folder: Path) -> dict[str, list[bytes]]:
    """Inputs by the name of their reader that once broke it; kept as files ``<reader>/<what>``."""
    return {
        place.name: [path.read_bytes() for path in sorted(place.iterdir())]
        for place in sorted(folder.iterdir())
        if place.is_dir()
    }


def read_json(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
