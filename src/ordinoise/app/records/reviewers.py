"""How often the reviewers of settled grades err, by the rows that were graded twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ordinoise._validation import Floats
from ordinoise.app.records.history import Repeat, Settled
from ordinoise.audit.reviewers import reviewers_from_repeats


def verifier_noise(settled: Sequence[Settled], repeats: Sequence[Repeat], classes: Mapping[str, int]) -> Floats | None:
    """One matrix for each settled row, by who graded it and whether twice; None if no row was graded twice.

    A grade that two looks agree on is wrong more rarely than one of a single look; one that was decided together after
    two looks differed is taken to be right.
    """
    twice = {one.row: one for one in repeats if {one.first, one.again} <= classes.keys()}
    if not twice:
        return None
    grades = {one.row: classes[one.grade] for one in settled}
    reviewers = reviewers_from_repeats(
        [(one.reviewer, one.again_by) for one in twice.values()],
        [(classes[one.first], classes[one.again]) for one in twice.values()],
        len(classes),
        decided=[grades.get(one.row, -1) if one.is_differing else -1 for one in twice.values()],
    )
    matrices = []
    for one in settled:
        repeat = twice.get(one.row)
        if repeat is None:
            matrices.append(reviewers.matrix(one.reviewer))
        else:
            agreed = reviewers.agreement(repeat.reviewer, repeat.again_by)
            matrices.append(np.eye(len(classes)) if repeat.is_differing else agreed)
    return np.stack(matrices)


def slip_rates(settled: Sequence[Settled], repeats: Sequence[Repeat], classes: Sequence[str]) -> dict[int, float]:
    """Chance that a settled grade is wrong itself, by row; empty if no row was graded twice."""
    ranks = {grade: rank for rank, grade in enumerate(classes)}
    noise = verifier_noise(settled, repeats, ranks)
    if noise is None:
        return {}
    return {
        one.row: float(1 - matrix[ranks[one.grade], ranks[one.grade]])
        for one, matrix in zip(settled, noise, strict=True)
    }
