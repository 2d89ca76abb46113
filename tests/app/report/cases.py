"""Findings of every shape, made without fitting anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.app.records.audit import AuditRecord, Contribution, Similar, Suspect, WordContribution
from ordinoise.app.report.contents import Findings
from ordinoise.audit import issues_from_probabilities
from ordinoise.columns.findings import ColumnFindings
from ordinoise.noise import Doubt, Noise, corrupt
from ordinoise.scoring.evaluation import Evaluation, evaluate

CURVES: Mapping[str, Sequence[float]] = {"trees": [1.0, 0.7, 0.6, 0.62], "network": [1.2, 0.9, 0.8]}
DOUBTS = (
    Doubt("few-samples", "only 300 samples: below 500 the estimate leans on its priors"),
    Doubt("of-tomorrow", "something nobody has a phrase for"),
)


def slipping(n_classes: int, down: float = 0.15, up: float = 0.05) -> Floats:
    """An asymmetric noise matrix: more labels one grade too low than too high."""
    matrix = np.diag(np.full(n_classes - 1, down), -1) + np.diag(np.full(n_classes - 1, up), 1)
    return np.asarray(matrix + np.diag(1 - matrix.sum(axis=1)))


def findings(
    n_classes: int = 5,
    n_rows: int = 300,
    *,
    classes: Sequence[str] | None = None,
    matrix: Floats | None = None,
    columns: Sequence[ColumnFindings] = (),
    cells: Sequence[str | None] | None = None,
    n_suspects: int = 120,
    curves: Mapping[str, Sequence[float]] = CURVES,
    **of_record: Any,
) -> Findings:
    """Findings about rows whose true grades are drawn from known probabilities and then corrupted.

    `cells` are those of every suspect; keywords beyond the named ones replace fields of the record.
    """
    noise_matrix = slipping(n_classes) if matrix is None else matrix
    probabilities, recorded = _drawn(n_classes, n_rows, noise_matrix)
    names = tuple(classes or [str(grade + 1) for grade in range(n_classes)])
    columns = columns or (
        ColumnFindings("weight", "number", "feature", 1, 200),
        ColumnFindings("color", "category", "feature", 0, 3, "three categories"),
        ColumnFindings("stars", "number", "target", 0, n_classes),
        ColumnFindings("id", "text", "ignored", 0, n_rows, "every value is different"),
    )
    issues = issues_from_probabilities(probabilities, recorded, noise_matrix, calibrate=False, classes=range(n_classes))
    assert issues.expected_wrong is not None
    suspects = tuple(
        Suspect(
            row=int(row),
            rank=place + 1,
            recorded=names[recorded[row]],
            suggested=names[int(issues.suggested[row])],
            suspicion=float(issues.suspicion[row]),
            graded=tuple((probabilities @ noise_matrix)[row].tolist()),
            cells=tuple(cells or _cells(columns, int(row))),
            **_why(columns, tuple(cells or _cells(columns, int(row))), names[0]),
        )
        for place, row in enumerate(issues.worst[:n_suspects])
    )
    record = AuditRecord(
        source="/data/ratings.csv",
        digest="0" * 64,
        target=next((column.name for column in columns if column.role == "target"), columns[0].name),
        classes=names,
        columns=tuple(columns),
        n_rows=n_rows + 3,
        n_graded=n_rows,
        noise=estimated_noise(noise_matrix, probabilities.mean(axis=0)),
        wrong=issues.expected_wrong.value,
        wrong_low=issues.expected_wrong.low,
        wrong_high=issues.expected_wrong.high,
        confidence=0.95,
        learner="blend",
        settings={"learner": "auto", "seed": 7, "order": list(names)[:3]},
        suspects=suspects,
        cautions=(),
        ordinoise="0.0.1",
    )
    return Findings(
        heading="Audit of ratings.csv",
        record=replace(record, **of_record),
        probabilities=probabilities,
        recorded=recorded,
        scores=_scores(probabilities, recorded, noise_matrix),
        weights={"trees": 0.75, "network": 0.25, "line": 0.0},
        curves=curves,
    )


def estimated_noise(matrix: Floats, shares: Floats) -> Noise:
    """An estimated matrix with intervals of 0.9 to 1.1 times each entry."""
    rate = float(1 - shares @ matrix.diagonal())
    return Noise(
        matrix,
        source="estimated",
        class_shares=shares,
        interval=np.stack([0.9 * matrix, np.minimum(1.1 * matrix, 1)]),
        rate_interval=(0.9 * rate, 1.1 * rate),
        method="ScoreLikelihood",
    )


def too_few_rows(n_rows: int) -> Findings:
    """What an audit finds where the rows cannot tell."""
    found = findings(n_rows=n_rows, matrix=np.eye(5), suspects=(), wrong=None, wrong_low=None, wrong_high=None)
    doubts = (Doubt("too-few-rows", "too few rows to tell"),)
    return with_noise(found, source="too few rows", interval=None, rate_interval=None, method="", doubts=doubts)


def with_noise(found: Findings, **fields: Any) -> Findings:
    """The same findings with fields of the noise replaced."""
    return replace(found, record=replace(found.record, noise=replace(found.record.noise, **fields)))


def _drawn(n_classes: int, n_rows: int, matrix: Floats) -> tuple[Floats, Ints]:
    rng = np.random.default_rng(3)
    place = rng.uniform(-0.5, n_classes - 0.5, n_rows)
    distance = np.abs(np.arange(n_classes) - place[:, None])
    probabilities = np.exp(-2.5 * distance**2)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    true = (probabilities.cumsum(axis=1) < rng.uniform(size=(n_rows, 1))).sum(axis=1).clip(0, n_classes - 1)
    return probabilities, corrupt(true, matrix, random_state=4)


def _why(columns: Sequence[ColumnFindings], cells: tuple[str | None, ...], grade: str) -> dict[str, Any]:
    """Reasons that name every column, and every second word of the last."""
    values = [0.5 if at % 2 else -1.5 for at in range(len(columns))]
    text, words, at = cells[-1] or "", [], 0
    for number, word in enumerate(text.split()[:12]):
        at = text.index(word, at)
        if number % 2 == 0:
            words.append(WordContribution(columns[-1].name, 0.3 if number % 4 else -0.3, at, at + len(word)))
        at += len(word)
    return {
        "contributions": tuple(Contribution(one.name, value) for one, value in zip(columns, values, strict=True))[:5],
        "words": tuple(words),
        "similar": (Similar(3, grade, cells), Similar(7, grade, cells)),
    }


def _cells(columns: Sequence[ColumnFindings], row: int) -> list[str | None]:
    made: dict[str, str | None] = {
        "number": None if row % 17 == 0 else f"{(row * 37) % 101 / 10 - 3:g}",
        "category": ("red", "green", "Blue")[row % 3],
        "text": f"item {row}",
    }
    return [made[column.kind] for column in columns]


class _Known:
    """A model whose probabilities are there already."""

    def __init__(self, probabilities: Floats) -> None:
        self._probabilities, self.classes_ = probabilities, np.arange(probabilities.shape[1])

    def predict_proba(self, _: Any) -> Floats:
        return self._probabilities

    def predict(self, _: Any) -> Ints:
        return np.asarray((self._probabilities.cumsum(axis=1) < 0.5).sum(axis=1))


def _scores(probabilities: Floats, recorded: Ints, matrix: Floats) -> Evaluation:
    if np.linalg.cond(matrix) > 1e9:
        return Evaluation({}, len(recorded), 0.95, 0)
    return evaluate(_Known(probabilities), None, recorded, matrix)
