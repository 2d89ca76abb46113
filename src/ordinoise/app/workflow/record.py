"""What was learned from a file as records: for JSON, for the report, for the review."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ordinoise
from ordinoise._validation import Floats, Ints
from ordinoise.app.record import AuditRecord, NoiseFindings, Suspect
from ordinoise.app.report.findings import Findings
from ordinoise.app.tables import digest_of
from ordinoise.app.workflow.learning import Learned

MOST_SUSPECTS, FEWEST_SUSPECTS = 1000, 20
LIKELY = 0.5
"""A label is kept for a person to look at if it is more likely wrong than right, or among the first few."""
TRUSTED = "the labels were trusted, as asked"
GIVEN = "the noise matrix was given, not estimated"
TOO_FEW = "the labels were trusted: fewer than 50 rows, or features that do not tell them apart"


def noise_findings(learned: Learned) -> NoiseFindings:
    """The noise, as plain numbers."""
    model = learned.model
    estimator, matrix = model.noise_estimator_, model.noise_matrix_
    if estimator is None:
        asked = {"none": TRUSTED, "estimate": TOO_FEW}.get(learned.request.noise, GIVEN)
        prior = learned.probabilities.mean(axis=0)
        rate = float(1 - prior @ matrix.diagonal())
        exact = learned.request.noise != "estimate"
        return NoiseFindings(_rows(matrix), None, None, rate, None, None, _plain(prior), False, exact, asked)
    low, high = estimator.noise_matrix_interval_
    rate_low, rate_high = estimator.noise_rate_interval_
    return NoiseFindings(
        matrix=_rows(matrix),
        low=_rows(low),
        high=_rows(high),
        rate=float(estimator.noise_rate_),
        rate_low=float(rate_low),
        rate_high=float(rate_high),
        class_prior=_plain(estimator.class_prior_),
        is_estimated=True,
        is_identifiable=bool(estimator.is_identifiable_),
        identifiability=estimator.identifiability_,
    )


def audit_record(learned: Learned, n_suspects: int = MOST_SUSPECTS) -> AuditRecord:
    """The record of an audit, with up to `n_suspects` of the labels that a person should look at."""
    table, count = learned.table, learned.issues.expected_wrong
    settings = learned.request.plain()
    if learned.trusted is not None:
        settings["n_settled"] = len(learned.trusted[0])
    return AuditRecord(
        source=str(table.path.resolve()),
        digest=digest_of(table.path),
        target=table.target,
        classes=tuple(str(grade) for grade in table.classes),
        columns=table.columns,
        n_rows=table.frame.height,
        n_graded=len(table.rows),
        noise=noise_findings(learned),
        wrong=count.value,
        wrong_low=count.low,
        wrong_high=count.high,
        confidence=count.confidence,
        learner=learned.model.learner_,
        settings=settings,
        suspects=_suspects(learned, n_suspects),
        ordinoise=ordinoise.__version__,
    )


def report_findings(heading: str, learned: Learned, record: AuditRecord) -> Findings:
    """What the report page is made from."""
    weights = {name: share for name, share in learned.model.weights_.items() if share > 0}
    curves = {name: learned.model.curves_[name][0] for name in weights if len(learned.model.curves_[name][0])}
    return Findings(heading, record, learned.probabilities, learned.recorded, learned.scores, weights, curves)


def suspicious(learned: Learned) -> Ints:
    """Positions among the graded rows, the most suspicious first, without what a person settled."""
    worst = learned.issues.worst
    if learned.trusted is None:
        return worst
    return worst[~np.isin(learned.table.rows[worst], learned.trusted[0])]


def _suspects(learned: Learned, n_suspects: int) -> tuple[Suspect, ...]:
    issues, chosen = learned.issues, suspicious(learned)[:n_suspects]
    chance = issues.probability_wrong[chosen]
    chosen = chosen[(chance >= LIKELY) | ((np.arange(len(chosen)) < FEWEST_SUSPECTS) & (chance > 0))]
    rows = learned.table.rows[chosen]
    cells = learned.table.text_cells(rows)
    return tuple(
        Suspect(
            row=int(row),
            rank=rank,
            recorded=str(issues.recorded[at]),
            suggested=str(issues.suggested[at]),
            probability_wrong=float(issues.probability_wrong[at]),
            expected_distance=float(issues.expected_distance[at]),
            posterior=_plain(issues.posterior[at]),
            cells=cells[rank - 1],
        )
        for rank, (row, at) in enumerate(zip(rows, chosen, strict=True), start=1)
    )


def without_suspects(record: AuditRecord) -> dict[str, Any]:
    """The record as plain values, short enough to print."""
    return replace(record, suspects=()).to_dict(suspects=False)


def _rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(_plain(row) for row in matrix)


def _plain(numbers: Floats) -> tuple[float, ...]:
    return tuple(float(number) for number in numbers)
