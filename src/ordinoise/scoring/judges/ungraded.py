"""Systems that nobody graded: their scores from the judge's matrix in the others, where one matrix serves all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ordinoise._text import percent
from ordinoise._validation import Floats, Ints, complain
from ordinoise.estimate import Estimate
from ordinoise.noise.record import Doubt, Noise
from ordinoise.scoring.judges.grades import Grades, grade_names
from ordinoise.scoring.judges.result import ALIKE, SystemScore

STEPS = 300
"""Steps of expectation and maximization; a round number: the mean moves by less than .001 of a grade after 200."""


def check_alike(grades: Grades, known: Grades, one_matrix: float) -> None:
    """Refuse systems without human grades unless the evidence says that the judge errs alike in all others."""
    without = [name for name in grades.systems if name not in known.systems]
    if not without or (len(known.systems) > 1 and grades.one_scale and one_matrix >= ALIKE):
        return
    got = f"none for {without[0]!r}" + (f" and {len(without) - 1} more" if len(without) > 1 else "")
    advice = "grade some of its rows, or drop it"
    if len(known.systems) > 1 and grades.one_scale:
        advice += f": that the judge errs alike in the others has a probability of {percent(one_matrix)} only"
    raise complain("human", "have a grade for some row of every system", got, advice)


def ungraded_scores(
    grades: Grades, noise: Noise | None, confidence: float, rng: np.random.Generator
) -> list[SystemScore]:
    """Scores of the systems without human grades: the shares whose judge grades, by the matrix, would be those seen.

    The interval is that of the replicates of the matrix, each with a new draw of the judge's grades.
    """
    if noise is None:
        return []
    found = []
    for number in np.setdiff1d(np.arange(len(grades.systems)), np.unique(grades.system[grades.graded])):
        judged = np.bincount(grades.judge[grades.system == number], minlength=len(grades.classes))
        shares = judged / judged.sum()
        draws = rng.multinomial(judged.sum(), shares, size=len(noise.replicates)) / judged.sum()
        drawn = human_shares(noise.replicates, draws)
        point = human_shares(noise.matrix[None], shares[None])[0]
        found.append(_score(grades, grades.systems[number], int(judged.sum()), point, drawn, shares, confidence))
    return found


def _score(
    grades: Grades, name: str, n_rows: int, point: Floats, drawn: Floats, judged: Floats, confidence: float
) -> SystemScore:
    def estimate(values: Floats) -> Estimate:
        value = float(point @ values)
        found = Estimate.from_draws(value, drawn @ values, confidence)
        return replace(found, low=min(found.low, value), high=max(found.high, value))

    ranks = np.arange(len(grades.classes))
    names = grade_names(grades.classes)
    at_least = {grade: estimate((ranks >= rank).astype(np.float64)) for rank, grade in enumerate(names) if rank}
    mean, own = estimate(grades.values), float(judged @ grades.values)
    return SystemScore(name, n_rows, 0, mean, at_least, own, human_mean=None, more_to_halve=None)


def human_shares(matrices: Floats, judged: Floats) -> Floats:
    """Shares of human grades, shape (n, n_classes), that make the judge's shares most likely, by ``[human, judge]``."""
    shares = np.full(judged.shape, 1 / judged.shape[1])
    for _ in range(STEPS):
        expected = np.maximum(np.einsum("nk,nkj->nj", shares, matrices), 1e-300)
        shares = shares * np.einsum("nkj,nj->nk", matrices, judged / expected)
        shares = shares / shares.sum(axis=1, keepdims=True)
    return shares


def ungraded_doubts(scores: Sequence[SystemScore], one_matrix: float) -> list[Doubt]:
    """A doubt that names the systems without human grades, and what is assumed of them."""
    without = [one.system for one in scores if one.n_human == 0]
    if not without:
        return []
    more = f" and of {len(without) - 1} more systems" if len(without) > 1 else ""
    sentence = (
        f"nobody graded a row of {without[0]!r}{more}: the scores assume that the judge errs there as in the others"
    )
    return [Doubt("no-human-grades", f"{sentence}, where one matrix has probability {percent(one_matrix)}")]


def first_rows(grades: Grades, n_each: int, most: int, rng: np.random.Generator) -> Ints:
    """Some random rows of every system that nobody graded, for people to grade first."""
    without = np.setdiff1d(np.arange(len(grades.systems)), np.unique(grades.system[grades.graded]))
    rows = [rng.permutation(np.flatnonzero(grades.system == number))[:n_each] for number in without]
    return np.sort(np.concatenate([*rows, np.empty(0, np.int64)])[:most]).astype(np.int64)
