"""Grades of an automatic judge, such as a language model, corrected by the few rows that people graded too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import t as student

from ordinoise._validation import Floats, as_count, as_generator, as_number
from ordinoise.estimate import Estimate
from ordinoise.noise.record import Doubt, Noise
from ordinoise.scoring.judges.advice import more_to_halve, next_rows
from ordinoise.scoring.judges.estimate import Counts, Means, estimated_means, intervals
from ordinoise.scoring.judges.grades import Grades, grade_names, mean_step, read_grades
from ordinoise.scoring.judges.matrix import by_system, judge_noise, not_random, probability_of_one_matrix, reverse_table
from ordinoise.scoring.judges.result import Difference, Judgment, SystemScore
from ordinoise.scoring.judges.ungraded import check_alike, first_rows, ungraded_doubts, ungraded_scores

__all__ = ["Judgment", "judge"]

FEW_HUMAN = 10
"""A system with fewer human grades is named in a doubt; a round number, chosen by no run."""


def judge(
    judge: Any,
    human: Any,
    systems: Any = None,
    *,
    items: Any = None,
    classes: Sequence[Any] | None = None,
    judge_classes: Sequence[Any] | None = None,
    confidence: float = 0.95,
    n_next: int = 20,
    random_state: Any = None,
) -> Judgment:
    """What people would have graded on average, from a judge's grades of all rows and human grades of some.

    Human grades are regressed on the judge's, with an intercept for each system, and predicted for every row. This is
    prediction-powered inference with a learned table in place of the judge's own numbers: a useless or unfair judge
    makes the intervals wider, not wrong, if people graded a random choice of rows, or chose by system and judge grade.

    Parameters
    ----------
    judge : array of shape (n_rows,)
        The judge's grades; rows without one are ignored. More than twelve different scores are read in ten groups.
    human : array of shape (n_rows,), or a list of them
        People's grades, missing (None or NaN) for most rows. With one column they are taken to be right; several
        people may err, and the true grade of each row is inferred by :class:`ordinoise.estimation.RepeatedLabels`.
    systems : array of shape (n_rows,), optional
        The system that made each row's output; all rows are one system by default. A system that nobody graded is
        scored by the judge's matrix in at least two others, if one matrix very probably serves those.
    items : array of shape (n_rows,), optional
        What each row's output answers, such as a prompt that went to all systems: rows of one item are alike, which
        differences between systems then allow for. Rows are taken to be independent by default.
    classes : sequence, optional
        Grades from lowest to highest; needed for text.
    judge_classes : sequence, optional
        Grades of the judge, if the scale is another one.
    confidence : float, default=0.95
        Level of the intervals.
    n_next : int, default=20
        How many rows to propose for grading.
    random_state : int, Generator or None
        Randomness of the replicates of the matrix and of the proposed rows.

    Examples
    --------
    >>> from ordinoise.scoring import judge
    >>> scores = [5, 4, 4, 5, 3, 4, 5, 3, 4, 5, 4, 3] * 10
    >>> people = [4, 4, 3, 5, 3, 3, 4, 2, 4, 4, 4, 3] + [None] * 108
    >>> print(judge(scores, people, random_state=0).systems[0].mean)
    3.58 (3.18 to 3.98)
    """
    level = as_number("confidence", confidence, 0.0, 0.9999, open_low=True)
    as_count("n_next", n_next, 0)
    rng = as_generator(random_state)
    whole = read_grades(judge, human, systems, items, classes, judge_classes, int(rng.integers(2**31)))
    grades = whole.of_graded_systems
    cell = grades.system * len(grades.judge_classes) + grades.judge
    judged = np.bincount(cell, minlength=len(grades.systems) * len(grades.judge_classes))
    of_items = None if grades.item is None else (cell, grades.item, grades.item[grades.graded])
    counts = Counts(judged.reshape(len(grades.systems), -1).astype(np.float64), cell[grades.graded], of_items)
    means, ends = _means(counts, grades, level)
    table = by_system(counts, grades.human)
    one = probability_of_one_matrix(table)
    check_alike(whole, grades, one)
    noise = judge_noise(table, counts, grades.systems, one, level, rng) if grades.one_scale else None
    scores = _scores(grades, counts, means, ends, level)
    others = ungraded_scores(whole, noise, level, rng)
    correlation = np.pad(means.correlation, (0, len(others)))
    first = first_rows(whole, FEW_HUMAN, n_next, rng)
    then = next_rows(counts, means, cell, grades.graded, n_next - len(first), rng)
    return Judgment(
        systems=tuple(sorted((*scores, *others), key=lambda one: one.system)),
        differences=_differences((*scores, *others), correlation),
        noise=noise,
        table=reverse_table(table, counts),
        one_matrix=one,
        next_rows=np.sort(np.concatenate([whole.rows[first], grades.rows[then]])),
        doubts=(*ungraded_doubts(others, one), *_doubts(counts, scores, noise)),
        classes=tuple(grade_names(grades.classes)),
        judge_classes=tuple(grade_names(grades.judge_classes)),
        n_people=grades.n_people,
        confidence=level,
        messages=grades.messages,
        is_paired=grades.item is not None,
    )


def _means(counts: Counts, grades: Grades, confidence: float) -> tuple[Means, Floats]:
    """Mean grade and shares at or above every grade but the lowest, and the ends of their intervals."""
    values, n_classes = grades.values, len(grades.classes)
    at_least = np.tril(np.ones((n_classes, n_classes)))[:, 1:]
    means = estimated_means(counts, grades.human @ np.column_stack([values, at_least]))
    low, high = (np.array([end, *[bound] * (n_classes - 1)]) for end, bound in ((values[0], 0.0), (values[-1], 1.0)))
    step = np.array([mean_step(values), *[1.0] * (n_classes - 1)])
    return means, intervals(means, counts.n_graded, low, high, step, confidence)


def _scores(grades: Grades, counts: Counts, means: Means, ends: Floats, confidence: float) -> tuple[SystemScore, ...]:
    values, names = grades.values, grade_names(grades.classes)
    # Shares fall from grade to grade: sorting them keeps the coverage of their intervals.
    shares = [-np.sort(-np.clip(one[:, 1:], 0, 1), axis=1) for one in (means.value, *ends)]
    of_mean = Estimate.each([np.clip(means.value[:, 0], values[0], values[-1]), *ends[:, :, 0]], confidence)
    judged = counts.shares @ values if grades.one_scale else None
    alone = grades.human @ values
    system = grades.system[grades.graded]
    return tuple(
        SystemScore(
            system=name,
            n_rows=int(counts.judged[at].sum()),
            n_human=int((system == at).sum()),
            mean=of_mean[at],
            at_least=dict(zip(names[1:], Estimate.each((one[at] for one in shares), confidence), strict=True)),
            judge_mean=None if judged is None else float(judged[at]),
            human_mean=_alone(alone[system == at], values, confidence),
            more_to_halve=more,
        )
        for (at, name), more in zip(enumerate(grades.systems), more_to_halve(means, counts), strict=True)
    )


def _alone(values: Floats, scale: Floats, confidence: float) -> Estimate:
    """Mean of human grades alone, with Student's interval."""
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return Estimate(mean, float(scale[0]), float(scale[-1]), confidence)
    half = float(student.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, max(mean - half, float(scale[0])), min(mean + half, float(scale[-1])), confidence)


def _differences(scores: Sequence[SystemScore], correlation: Floats) -> tuple[Difference, ...]:
    """Every pair, with an interval from the intervals of both and the correlation of their errors (Zou's rule)."""
    ranked = sorted(range(len(scores)), key=lambda at: -scores[at].mean.value)
    found = []
    for first, second in combinations(ranked, 2):
        one, two = scores[first].mean, scores[second].mean
        value = one.value - two.value
        shared = float(correlation[first, second])
        low = value - _apart(one.value - one.low, two.high - two.value, shared)
        high = value + _apart(one.high - one.value, two.value - two.low, shared)
        found.append(
            Difference(scores[first].system, scores[second].system, Estimate(value, low, high, one.confidence))
        )
    return tuple(found)


def _apart(one: float, other: float, correlation: float) -> float:
    """Distance of an end of a difference: the root of the squares of both, less twice what they share."""
    return float(np.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0)))


def _doubts(counts: Counts, scores: Sequence[SystemScore], noise: Noise | None) -> tuple[Doubt, ...]:
    doubts = [] if noise is None else list(noise.doubts)
    few = [one for one in scores if one.n_human < FEW_HUMAN]
    if few:
        least = min(few, key=lambda one: one.n_human)
        sentence = f"{len(few)} of {len(scores)} systems have fewer than {FEW_HUMAN} human grades"
        doubts.append(Doubt("few-human-grades", f"{sentence}, such as {least.system!r} with {least.n_human}"))
    picked = not_random(counts)
    return tuple(doubts) if picked is None else (picked, *doubts)
