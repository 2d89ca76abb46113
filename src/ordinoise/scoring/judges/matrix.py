"""The judge's noise matrix, and whether one is enough for all systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2

from ordinoise._validation import Floats
from ordinoise.noise.record import Doubt, Noise, estimated_noise
from ordinoise.scoring.judges.estimate import Counts

PRIOR_ROWS = 1.0
"""Rows of prior knowledge per judge grade, most of them near the diagonal; a convention, chosen by no run."""
CONCENTRATIONS = (3.0, 10.0, 30.0)
"""How closely the matrices of systems that are judged differently resemble their average, equally likely a priori."""
SHIFTS = (0.1, 0.3, 1.0)
"""Sizes of a shift of the judge's grades by system, in grades; all of these are round numbers, chosen by no run."""
N_REPLICATES = 500
FEW_OF_GRADE = 5
"""With fewer rows of a grade, its row of the matrix is mostly prior; a round number, chosen by no run."""
NOT_RANDOM = 0.01


def by_system(counts: Counts, human: Floats) -> Floats:
    """Weighted number of graded rows by system, human grade and judge grade; `human` has one row per graded row."""
    table = np.zeros((counts.judged.size, human.shape[1]))
    np.add.at(table, counts.cell, counts.weights.ravel()[counts.cell, None] * human)
    return np.asarray(table.reshape(*counts.judged.shape, -1).transpose(0, 2, 1))


def reverse_table(table: Floats, counts: Counts) -> Floats:
    """Distribution of the human grade for each grade of the judge, smoothed, all systems together."""
    pooled = _pooled(table, counts) + _prior(*table.shape[1:])
    return np.asarray((pooled / pooled.sum(axis=0)).T)


def _pooled(table: Floats, counts: Counts) -> Floats:
    """Graded rows of all systems; a system counts by its rows, however many of them people graded."""
    size = counts.judged.sum(axis=1) / counts.judged.sum()
    part = table.sum(axis=(1, 2)) / table.sum()
    return np.asarray((table * (size / np.maximum(part, 1e-12))[:, None, None]).sum(axis=0))


def judge_noise(
    table: Floats, counts: Counts, systems: Sequence[str], one: float, confidence: float, rng: np.random.Generator
) -> Noise:
    """``[human, judge]`` with replicates: one matrix for all rows, or one per system if that is more likely."""
    shares = counts.judged.sum(axis=0) / counts.judged.sum()
    pooled = _pooled(table, counts) + _prior(*table.shape[1:])
    matrix, grades = _forward(pooled, shares)
    draws, classes = _forward(rng.standard_gamma(pooled, (N_REPLICATES, *pooled.shape)), shares)
    rates = 1 - (classes * np.diagonal(draws, axis1=1, axis2=2)).sum(axis=1)
    doubts = _rare(table.sum(axis=(0, 2)))
    noise = estimated_noise(
        matrix, grades, replicates=draws, rates=rates, confidence=confidence, method="judge", doubts=doubts
    )
    if one >= 0.5:
        return noise
    each, own = _forward(table + len(matrix) * matrix * grades[:, None], counts.shares[:, None])
    return Noise.from_dict(
        noise.to_dict()
        | {"matrices": each, "per": "rater", "raters": list(systems), "counts": own * counts.judged.sum(1)[:, None]}
    )


def _prior(n_human: int, n_judge: int) -> Floats:
    distance = np.abs(np.linspace(0, n_human - 1, n_judge) - np.arange(n_human)[:, None])
    near = np.exp(-distance)
    return np.asarray(PRIOR_ROWS * near / near.sum(axis=0))


def _forward(table: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """P(judge | human) and the shares of the human grades, from counts [..., human, judge] and the judge's shares."""
    reverse = table / np.maximum(table.sum(axis=-2, keepdims=True), 1e-300)
    joint = reverse * shares
    grades = joint.sum(axis=-1)
    return joint / np.maximum(grades, 1e-300)[..., None], grades / grades.sum(axis=-1, keepdims=True)


def probability_of_one_matrix(table: Floats) -> float:
    """Posterior probability, from even odds, that the judge errs alike in all systems.

    Against it stand two ways of leaning, equally likely: grades of a system shifted up or down, and rows of the matrix
    that vary by system around the pooled ones (Dirichlet-multinomial).
    """
    if len(table) < 2:
        return 1.0
    pooled = table.sum(axis=0) + _prior(*table.shape[1:])
    center = np.broadcast_to(pooled / pooled.sum(axis=1, keepdims=True), table.shape)
    alike = float((table * np.log(center)).sum())
    apart = [_varying(table, center, concentration) - alike for concentration in CONCENTRATIONS]
    shifted = [_shifted(table, center, size) for size in SHIFTS]
    evidence = logsumexp(apart + shifted) - np.log(len(apart) + len(shifted))
    return float(1 / (1 + np.exp(min(evidence, 700.0))))


def _shifted(table: Floats, center: Floats, size: float) -> float:
    """Log likelihood ratio of normal shifts of this size, in grades, against none."""
    grades = np.arange(table.shape[2])
    mean = center @ grades
    rows = np.maximum(table.sum(axis=(1, 2)), 1e-12)
    shift = ((table @ grades) - table.sum(axis=2) * mean).sum(axis=1) / rows
    error = (table.sum(axis=0) * (grades - mean[0][:, None]) ** 2).sum() / rows.sum() / rows
    total = np.maximum(error, 1e-6) + size**2
    return float(0.5 * (np.log(1 - size**2 / total) + shift**2 * (1 / (total - size**2) - 1 / total)).sum())


def _varying(table: Floats, center: Floats, concentration: float) -> float:
    rows = gammaln(concentration) - gammaln(concentration + table.sum(axis=2))
    cells = gammaln(concentration * center + table) - gammaln(concentration * center)
    return float(rows.sum() + cells.sum())


def _rare(per_grade: Floats) -> tuple[Doubt, ...]:
    rare = [rank for rank, n in enumerate(per_grade.tolist()) if n < FEW_OF_GRADE]
    if not rare:
        return ()
    sentence = f"people gave {len(rare)} of {len(per_grade)} grades to fewer than {FEW_OF_GRADE} rows"
    return (Doubt("rare-grade", f"{sentence}, so these rows of the judge's matrix rest on assumptions"),)


def not_random(counts: Counts) -> Doubt | None:
    """A doubt if the rows that people graded have other judge grades than the rest of their systems."""
    statistic, freedom = counts.contrast
    chance = float(chi2.sf(statistic, freedom)) if freedom else 1.0
    if chance >= NOT_RANDOM:
        return None
    return Doubt(
        "not-random",
        "the judge's grades of the rows that people graded differ from those of the other rows (by chance with "
        f"probability {chance:.1g}): the estimates allow for a choice by system and judge grade, not by anything else",
    )
