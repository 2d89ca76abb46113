"""How many independent raters a panel is worth."""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.estimate import Estimate
from ordinoise.estimation.raters.correlations import (
    FEWEST_KNOWN,
    correlations,
    known_mean,
    likeness,
    sums_of_pairs,
    within,
)
from ordinoise.estimation.raters.ratings import LEAST

N_DRAWS = 200
"""Resamples of the verified items for the interval. A round number."""


def effective_votes(n_raters: float, correlation: float) -> float:
    """So many raters with independent errors err together as these do: ``m / (1 + (m - 1) rho)``.

    Parameters
    ----------
    n_raters : float
        Number of raters m.
    correlation : float
        Mean correlation of the errors of two of them (rho).
    """
    return float(n_raters / (1 + max(n_raters - 1, 0) * np.clip(correlation, 0.0, 1.0)))


def votes_at_most(found: Floats, groups: list[list[int]]) -> float:
    """Effective votes of all groups, from the correlation that two raters of a group have beyond what all measure.

    What all groups measure takes ``l_g`` of the correlation ``C_g`` within group g: one factor of the correlations
    between groups or, of two groups, ``r* C_g``. Errors then correlate ``(C_g - l_g) / (1 - l_g)``.
    """
    inside = np.array([within(found, group) if len(group) > 1 else 1.0 for group in groups])
    between = np.array([[known_mean(found[np.ix_(one, other)].ravel()) for other in groups] for one in groups])
    if len(groups) == 2:
        common = inside * likeness(found, *groups)
    else:
        common = _one_factor(np.nan_to_num(between, nan=0.0)) ** 2
    common = np.clip(common, 0.0, np.minimum(inside, 0.99))
    rho = (inside - common) / (1 - common)
    return float(sum(effective_votes(len(group), each) for group, each in zip(groups, rho, strict=True)))


def _one_factor(between: Floats) -> Floats:
    """Loadings f under which ``f_g f_h`` is nearest to the correlations of different groups (least squares)."""
    loadings = np.full(len(between), 0.5)
    for _ in range(200):
        for at in range(len(between)):
            others = np.arange(len(between)) != at
            scale = max(float(loadings[others] @ loadings[others]), LEAST)
            loadings[at] = np.clip(between[at, others] @ loadings[others] / scale, 0.0, 1.0)
    return loadings


def verified_votes(grades: Floats, truth: Ints, confidence: float, rng: np.random.Generator) -> Estimate | None:
    """Effective votes of all raters against verified grades, errors that all share included; None if too few tell.

    Errors are taken less the rater's mean error at each true grade, so that a rater's own habits are no dependence.

    Parameters
    ----------
    grades : array of shape (n_raters, n_verified)
        NaN where a rater gave none.
    truth : int array of shape (n_verified,)
    """
    errors = grades - truth
    for grade in np.unique(truth):
        here = truth == grade
        number = np.isfinite(errors[:, here]).sum(axis=1, keepdims=True)
        errors[:, here] -= np.nansum(errors[:, here], axis=1, keepdims=True) / np.maximum(number, 1)
    value = _votes_of(errors)
    if np.isnan(value):
        return None
    draws = [_votes_of(errors[:, rng.integers(len(truth), size=len(truth))]) for _ in range(N_DRAWS)]
    return Estimate.from_draws(value, np.array(draws), confidence)


def _votes_of(errors: Floats) -> float:
    found = correlations(sums_of_pairs(errors))[~np.eye(len(errors), dtype=bool)]
    if not len(found) or np.isfinite(found).mean() < FEWEST_KNOWN:
        return np.nan
    return effective_votes(len(errors), known_mean(found))
