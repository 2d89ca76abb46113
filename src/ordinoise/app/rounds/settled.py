"""Reviewed grades as the models take them: by the noise of their reviewers, and for rows without a grade too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from ordinoise._validation import Floats, Ints, complain
from ordinoise.app.records.history import Repeat
from ordinoise.app.rounds.reviewed import Trusted
from ordinoise.app.tables import GradedTable
from ordinoise.app.tables.graded import names_in
from ordinoise.app.verbs.request import Request
from ordinoise.audit.reviewers import Reviewers, reviewers_from_repeats
from ordinoise.labels import Verified


def training_rows(request: Request, table: GradedTable, trusted: Trusted | None) -> dict[str, Any]:
    """What `OrdinalClassifier.fit` takes: the graded rows of a file, and after them those that a review graded.

    With several grades per item a grade of the review would count as one more rating, so such rows are left out.
    """
    raters = None if table.items is None else table.raters  # raters are estimated only from several grades of an item
    rows: dict[str, Any] = {"X": table.features, "y": table.labels, "groups": table.groups, "items": table.items}
    rows |= {"raters": raters, "trusted": None}
    if trusted is None:
        return rows
    added = np.empty(0, dtype=np.int64) if table.items is not None else np.setdiff1d(trusted.rows, table.rows)
    verified = _verified(table, trusted, np.concatenate([table.rows, added]))
    rows["trusted"] = verified
    if verified is None or not len(added):
        return rows
    ungraded = np.setdiff1d(np.arange(table.frame.height), table.rows)
    rows["X"] = pl.concat([table.features, table.ungraded[np.searchsorted(ungraded, added)]])
    of_added = np.flatnonzero(~verified.is_recorded)
    rows["y"] = np.concatenate([table.labels, np.array([verified.labels[at] for at in of_added])])
    if table.groups is not None and request.group is not None:
        rows["groups"] = np.concatenate([table.groups, names_in(table.frame, "group", request.group, added)])
    return rows


def verified_in(training: Mapping[str, Any]) -> Verified | None:
    """The reviewed grades of the graded rows among `training_rows`."""
    both: Verified | None = training["trusted"]
    if both is None or both.is_recorded.all():
        return both
    if not both.is_recorded.any():
        return None
    at = np.flatnonzero(both.is_recorded)
    noise = None if both.noise is None else both.noise[at]
    return Verified(both.rows[at], [both.labels[one] for one in at], noise, both.is_recorded[at])


def _verified(table: GradedTable, trusted: Trusted, rows: Ints) -> Verified | None:
    """The reviewed grades of some rows, the graded ones first, with the type of the table and the reviewers' noise."""
    classes = {str(grade): rank for rank, grade in enumerate(table.classes)}
    unknown = next((grade for grade in trusted.grades if grade not in classes), None)
    if unknown is not None:
        raise complain("reviewed", f"hold grades among {list(classes)}", repr(unknown))
    place = {row: at for at, row in enumerate(rows.tolist())}
    chosen = [at for at, row in enumerate(trusted.rows.tolist()) if row in place]
    if not chosen:
        return None
    at = np.array([place[int(trusted.rows[one])] for one in chosen], dtype=np.int64)
    labels = [table.classes[classes[trusted.grades[one]]] for one in chosen]
    return Verified(at, labels, _noise(trusted, chosen, classes), at < len(table.rows))


def _noise(trusted: Trusted, chosen: list[int], classes: dict[str, int]) -> Floats | None:
    """One matrix for each reviewed row, by who graded it and whether twice; None if no row was graded twice.

    A grade that two looks agree on is wrong more rarely than one of a single look; one that was decided together after
    two looks differed is taken to be right.
    """
    twice = {one.row: one for one in trusted.repeats if {one.first, one.again} <= classes.keys()}
    if not twice:
        return None
    settled = dict(zip(trusted.rows.tolist(), trusted.grades, strict=True))
    reviewers = _reviewers(list(twice.values()), settled, classes)
    matrices = []
    for at in chosen:
        repeat = twice.get(int(trusted.rows[at]))
        if repeat is None:
            matrices.append(reviewers.matrix(trusted.reviewers[at]))
        else:
            agreed = reviewers.agreement(repeat.reviewer, repeat.again_by)
            matrices.append(np.eye(len(classes)) if repeat.is_differing else agreed)
    return np.stack(matrices)


def _reviewers(repeats: list[Repeat], settled: dict[int, str], classes: dict[str, int]) -> Reviewers:
    grades = [(classes[one.first], classes[one.again]) for one in repeats]
    decided = [classes[settled[one.row]] if one.is_differing and one.row in settled else -1 for one in repeats]
    return reviewers_from_repeats(
        [(one.reviewer, one.again_by) for one in repeats], grades, len(classes), decided=decided
    )
