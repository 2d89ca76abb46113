"""How often two raters are equal, and how often they would be if they perceived one score by themselves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from ordinoise._validation import Floats
from ordinoise.estimation.raters.correlations import FEWEST_COMMON

MOST_PAIRS = 60
"""Pairs of a group whose equality is looked at. Chosen by no run."""
CORRELATIONS = np.linspace(0.0, 0.99, 34)
POINTS = np.linspace(-4.0, 4.0, 81)


def equality(grades: Floats, group: list[int], n_classes: int) -> tuple[float, float]:
    """How often two raters of a group are equal, and how often their correlation implies, both averaged over pairs."""
    pairs = list(combinations(group, 2))
    chosen = [pairs[at] for at in np.linspace(0, len(pairs) - 1, min(len(pairs), MOST_PAIRS)).astype(int)]
    looks = [_of_pair(grades[one], grades[other], n_classes) for one, other in chosen]
    known = np.array([look for look in looks if look is not None])
    return (float(known[:, 0].mean()), float(known[:, 1].mean())) if len(known) else (np.nan, np.nan)


def _of_pair(one: Floats, other: Floats, n_classes: int) -> tuple[float, float] | None:
    common = np.isfinite(one) & np.isfinite(other)
    if common.sum() < FEWEST_COMMON:
        return None
    x, y = (np.round(each[common]).astype(np.int64) for each in (one, other))
    if x.min() == x.max() or y.min() == y.max():
        return None
    shares = [np.bincount(each, minlength=n_classes) / len(each) for each in (x, y)]
    correlations, equal = implied_equality(*shares)
    return float((x == y).mean()), float(np.interp(np.corrcoef(x, y)[0, 1], correlations, equal))


def implied_equality(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Correlation and share of equal grades of two normal perceptions of one score, by their use of the grades."""
    rho = CORRELATIONS[:, None, None]
    weights = np.exp(-(POINTS**2) / 2)
    weights = weights / weights.sum()
    seen = []
    for shares in (one, other):
        cuts = ndtri(np.clip(shares.cumsum()[:-1], 1e-9, 1 - 1e-9))
        below = ndtr((cuts - np.sqrt(rho) * POINTS[:, None]) / np.sqrt(1 - rho))
        seen.append(np.diff(np.pad(below, ((0, 0), (0, 0), (1, 1)), constant_values=((0, 0), (0, 0), (0, 1)))))
    joint = np.einsum("q,cqj,cqk->cjk", weights, *seen)
    ranks = np.arange(len(one))
    mean, square = (joint.sum(axis=2) @ ranks, joint.sum(axis=1) @ ranks), ranks**2
    scale = [joint.sum(axis=axis) @ square - each**2 for axis, each in zip((2, 1), mean, strict=True)]
    correlation = (np.einsum("cjk,j,k->c", joint, ranks, ranks) - mean[0] * mean[1]) / np.sqrt(scale[0] * scale[1])
    return correlation, np.einsum("cjj->c", joint)
