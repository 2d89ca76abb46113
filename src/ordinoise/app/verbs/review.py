"""A new estimate of the noise that the review page starts, with the settled grades as verified labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ordinoise._validation import complain
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.history import Settled
from ordinoise.app.records.ratings import RatersRecord, is_of_ratings, read_ratings_record
from ordinoise.app.review.refit import Refit, RefitOutcome
from ordinoise.app.rounds.history import History, check_same, history_in
from ordinoise.app.rounds.items import verified_grades
from ordinoise.app.verbs.fit import learn
from ordinoise.app.verbs.raters import find_consensus, read_ratings
from ordinoise.app.verbs.request import RatingsRequest, Request


def refit_of(folder: Path) -> Refit:
    """The function that the review page calls to estimate the noise again, with what is settled as verified labels."""
    if is_of_ratings(folder):
        return _ratings_refit(read_ratings_record(folder))
    record = read_record(folder)
    try:
        request = Request.of_settings(record.settings, file=record.source, target=record.target)
    except (KeyError, ValueError) as error:
        raise complain("folder", "hold the options of its audit", str(error), "audit.json is damaged") from None

    def refit(settled: Sequence[Settled]) -> RefitOutcome:
        check_same(record, request.file)
        every = {one.row: one for one in (*record.settled, *settled)}
        history = History(tuple(every[row] for row in sorted(every)), repeats=history_in(folder, record).repeats)
        found = learn(replace(request, noise="estimate"), history=history)
        return RefitOutcome(record.noise, found.model.noise_, len(every))

    return refit


def _ratings_refit(record: RatersRecord) -> Refit:
    try:
        request = RatingsRequest.of_settings(record.settings, file=record.source)
    except (KeyError, ValueError) as error:
        raise complain("folder", "hold the options of its command", str(error), "raters.json is damaged") from None

    def refit(settled: Sequence[Settled]) -> RefitOutcome:
        check_same(record, request.file)
        table = read_ratings(request)
        before = {} if request.trusted is None else dict(zip(*verified_grades(request.trusted, table), strict=True))
        classes = {str(grade): grade for grade in table.classes}
        # By name, as folders of earlier versions number the items otherwise.
        names, number = (
            {one.row: one.item for one in record.suspects},
            {name: at for at, name in enumerate(table.items)},
        )
        known = before | {number[names[one.row]]: classes[one.grade] for one in settled}
        trusted = np.array(list(known), dtype=np.int64), np.array(list(known.values()))
        return RefitOutcome(record.noise, find_consensus(request, trusted=trusted).model.noise_, len(settled))

    return refit
