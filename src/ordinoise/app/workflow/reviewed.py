"""What people settled in a review, used as trusted labels: of a fit, and of a new estimate from the page itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ordinoise._validation import complain
from ordinoise.app.record import AuditRecord, NoiseFindings, read_record
from ordinoise.app.review.decisions import DECISIONS, open_decisions
from ordinoise.app.review.refit import Refit, RefitOutcome
from ordinoise.app.tables import digest_of
from ordinoise.app.workflow.learning import Request, Trusted, learn
from ordinoise.app.workflow.record import noise_findings


def settled_labels(folder: Path, file: Path) -> Trusted:
    """Rows of a file that people settled in the review of its audit, and the grades they chose."""
    record = read_record(folder)
    _check_same(record, file)
    if not (folder / DECISIONS).exists():
        raise complain("decisions", "be a folder in which something was reviewed", repr(str(folder)))
    with open_decisions(folder, record) as store:
        rows, grades = store.trusted()
    return np.array(rows, dtype=np.int64), tuple(grades)


def request_of(record: AuditRecord) -> Request:
    """The request that an audit answered."""
    asked = {name: record.settings[name] for name in ("order", "learner", "noise", "decision", "seed")}
    return Request(Path(record.source), record.target, ignore=tuple(record.settings["ignore"]), **asked)


def refitting(folder: Path) -> Refit:
    """What the review page calls to estimate the noise again with the decisions as trusted labels."""
    record = read_record(folder)
    request = request_of(record)

    def refit(rows: Sequence[int], grades: Sequence[str]) -> RefitOutcome:
        _check_same(record, request.file)
        estimating = request if request.noise == "estimate" else replace(request, noise="estimate")
        after = noise_findings(learn(estimating, trusted=(np.array(rows, dtype=np.int64), tuple(grades))))
        before = record.noise
        return RefitOutcome(
            before.rate, _interval(before), after.rate, _interval(after), before.matrix, after.matrix, len(rows)
        )

    return refit


def _check_same(record: AuditRecord, file: Path) -> None:
    if digest_of(file) != record.digest:
        advice = "row numbers would not fit; audit the file again"
        raise complain("file", "be as it was when it was audited", f"{str(file)!r}, which has changed", advice)


def _interval(noise: NoiseFindings) -> tuple[float, float] | None:
    return None if noise.rate_low is None or noise.rate_high is None else (noise.rate_low, noise.rate_high)
