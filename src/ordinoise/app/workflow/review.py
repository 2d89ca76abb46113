"""Reviewed grades as trusted labels: for a fit or an audit, and for a new estimate that the review page starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ordinoise._validation import complain
from ordinoise.app.ratings_record import RatersRecord, is_of_ratings, read_ratings_record
from ordinoise.app.record import AuditRecord, read_record
from ordinoise.app.review.decisions import DECISIONS, open_decisions
from ordinoise.app.review.refit import Refit, RefitOutcome
from ordinoise.app.tables import digest_of, read_table
from ordinoise.app.workflow.fit import Trusted, learn
from ordinoise.app.workflow.raters import find_consensus, read_ratings
from ordinoise.app.workflow.request import RatingsRequest, Request
from ordinoise.app.workflow.verified import settled_items, verified_grades
from ordinoise.columns.inference import as_text
from ordinoise.columns.names import as_column


def reviewed_labels(folder: Path, request: Request) -> Trusted:
    """Rows of a file that were settled in the review of its audit, or of the items that they are grades of."""
    if is_of_ratings(folder):
        return _rows_of_items(settled_items(folder), request)
    record = read_record(folder)
    _check_same(record, request.file)
    if not (folder / DECISIONS).exists():
        raise complain("reviewed", "be the folder of an audit with reviewed rows", repr(str(folder)))
    with open_decisions(folder, record) as store:
        rows, grades = store.trusted()
    return np.array(rows, dtype=np.int64), tuple(grades)


def _rows_of_items(settled: Mapping[str, str], request: Request) -> Trusted:
    if request.item is None:
        raise complain("reviewed", "come with --item if it is a folder of ordinoise raters", "no item")
    frame = read_table(request.file, keep_text=[request.item])
    names = as_text(frame.get_column(as_column("item", request.item, frame.columns))).str.strip_chars().to_list()
    rows = [row for row, name in enumerate(names) if name in settled]
    return np.array(rows, dtype=np.int64), tuple(settled[names[row]] for row in rows)


def refit_of(folder: Path) -> Refit:
    """The function that the review page calls to estimate the noise again, with the decisions as trusted labels."""
    if is_of_ratings(folder):
        return _ratings_refit(read_ratings_record(folder))
    record = read_record(folder)
    try:
        request = Request.from_settings(Path(record.source), record.target, dict(record.settings))
    except (KeyError, TypeError) as error:
        raise complain("folder", "hold the options of its audit", str(error), "audit.json is damaged") from None

    def refit(rows: Sequence[int], grades: Sequence[str]) -> RefitOutcome:
        _check_same(record, request.file)
        found = learn(replace(request, noise="estimate"), trusted=(np.array(rows, dtype=np.int64), tuple(grades)))
        return RefitOutcome(record.noise, found.model.noise_, len(rows))

    return refit


def _ratings_refit(record: RatersRecord) -> Refit:
    try:
        request = RatingsRequest.from_settings(Path(record.source), dict(record.settings))
    except (KeyError, TypeError) as error:
        raise complain("folder", "hold the options of its command", str(error), "raters.json is damaged") from None

    def refit(rows: Sequence[int], grades: Sequence[str]) -> RefitOutcome:
        _check_same(record, request.file)
        table = read_ratings(request)
        before = {} if request.trusted is None else dict(zip(*verified_grades(request.trusted, table), strict=True))
        classes = {str(grade): grade for grade in table.classes}
        known = before | {row: classes[grade] for row, grade in zip(rows, grades, strict=True)}
        trusted = np.array(list(known), dtype=np.int64), np.array(list(known.values()))
        return RefitOutcome(record.noise, find_consensus(request, trusted=trusted).model.noise_, len(rows))

    return refit


def _check_same(record: AuditRecord | RatersRecord, file: Path) -> None:
    if digest_of(file) != record.digest:
        advice = "row numbers may have shifted; audit the file again"
        raise complain("file", "be unchanged since its audit", f"{str(file)!r}, which has changed", advice)
