"""How raters differ, in a few effects on the thresholds:

    log P(recorded k | true c) = log f[k] + sum_j level_j(k) * (bias_j + sensitivity_j * sign_j(c)) + care * [k = c]

up to one constant per row, with f the recorded shares, level_j(k) = [k > j] and sign_j(c) = 1 if c > j else -1. bias_j
moves grades across threshold j for every true class, sensitivity_j moves them to the true side of it, care adds to the
diagonal. A rater without effects ignores the item.

The effects of a rater have a normal prior around zero whose covariance is estimated from all raters (empirical Bayes).
The effects act on all rows, so that ratings in one row inform the others: a careless rater errs in every row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import softmax

from ordinoise._validation import Floats
from ordinoise.estimation.raters.ratings import Votes
from ordinoise.levels import level_table

LONGEST_STEP = 2.0
"""Longest Newton step of an effect, on the scale of logits: from afar a full step overshoots. Chosen by no run."""
LEAST_VARIANCE = 1e-4
"""Smallest prior variance of an effect: raters then count as equal, and a smaller one would only lose digits."""
LONE_VARIANCE = 4.0
"""Prior variance of the effects of a single rater, which no other rater tells. Wide: two logits. Chosen by no run."""


def effect_basis(n_classes: int) -> Floats:
    """What one unit of each effect adds to the log-matrix, (2K - 1, K, K): biases, then sensitivities, then care."""
    levels = level_table(n_classes).T
    bias = np.broadcast_to(levels[:, None, :], (n_classes - 1, n_classes, n_classes))
    sensitivity = (2 * levels[:, :, None] - 1) * (levels[:, None, :] - 0.5)
    return np.concatenate([bias, sensitivity, np.eye(n_classes)[None]])


@dataclass(frozen=True, eq=False)
class Effects:
    """Every rater's effects, and their prior.

    Attributes
    ----------
    basis : array of shape (n_effects, n_classes, n_classes)
    base : array of shape (n_classes,)
        Log-shares of the grades of a rater without effects.
    effects : array of shape (n_raters, n_effects)
    covariance : array of shape (n_effects, n_effects)
        Prior covariance of the effects: how much raters differ.
    """

    basis: Floats
    base: Floats
    effects: Floats
    covariance: Floats

    @classmethod
    def of(cls, votes: Votes) -> Self:
        """All raters without effects."""
        _, n_raters, n_classes = votes.shape
        n_effects = 2 * n_classes - 1
        variance = 0.5 if n_raters > 1 else LONE_VARIANCE
        base = np.log(votes.recorded_shares())
        return cls(effect_basis(n_classes), base, np.zeros((n_raters, n_effects)), variance * np.eye(n_effects))

    @cached_property
    def matrices(self) -> Floats:
        """``[rater, true, recorded]``."""
        n_effects, n_classes, _ = self.basis.shape
        tilt = (self.effects @ self.basis.reshape(n_effects, -1)).reshape(-1, n_classes, n_classes)
        return np.asarray(softmax(self.base + tilt, axis=2))

    @property
    def table(self) -> Floats:
        """``[rater, recorded, true]``."""
        return self.matrices.swapaxes(1, 2)

    def step(self, counts: Floats) -> Self:
        """One Newton step for the effects of every rater, from ``counts[rater, recorded, true]``, then the covariance.

        For effects e with prior covariance V the penalized log-likelihood ``l(e) - e V^-1 e / 2`` has gradient
        ``l' - V^-1 e`` and negative curvature ``-l'' + V^-1``, whose inverse is the posterior covariance (`spread`).
        """
        precision = np.linalg.inv(self.covariance)
        gradient, curvature = slopes(counts.swapaxes(1, 2), self.matrices, self.basis)
        spread = np.linalg.inv(curvature + precision)
        step = (spread @ (gradient - self.effects @ precision)[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        effects = self.effects + step * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        covariance = prior_covariance(effects, spread) if len(effects) > 1 else self.covariance
        return replace(self, effects=effects, covariance=covariance)


def slopes(counts: Floats, matrices: Floats, basis: Floats) -> tuple[Floats, Floats]:
    """Gradient (n_raters, p) and negative second derivative (n_raters, p, p) of every rater's log-likelihood.

    A multinomial logit per row c, with n_c ratings and basis b: gradient ``sum_cl (counts - n_c M) b``, curvature
    ``sum_c n_c (E[b b^T] - E[b] E[b]^T)`` with expectations under row c of M.
    """
    n_effects, n_classes, _ = basis.shape
    flat = basis.reshape(n_effects, -1)
    in_row = counts.sum(axis=2)
    expected = in_row[:, :, None] * matrices
    gradient = (counts - expected).reshape(len(counts), -1) @ flat.T
    squares = (flat[:, None, :] * flat[None, :, :]).reshape(-1, n_classes**2)
    second = (expected.reshape(len(counts), -1) @ squares.T).reshape(-1, n_effects, n_effects)
    means = (matrices.swapaxes(0, 1) @ basis.transpose(1, 2, 0)).swapaxes(0, 1)
    return gradient, second - means.swapaxes(1, 2) @ (in_row[:, :, None] * means)


def prior_covariance(effects: Floats, spread: Floats) -> Floats:
    """Prior covariance that the effects make likely: the mean over raters of ``e e^T`` plus posterior covariance.

    This is the M step of empirical Bayes. As many pseudo-raters as there are effects, with equal variances and no
    correlation, keep it regular if raters are few.
    """
    n_raters, n_effects = effects.shape
    total = effects.T @ effects + spread.sum(axis=0)
    equal = np.eye(n_effects) * np.trace(total) / (n_raters * n_effects)
    return np.asarray((total + n_effects * equal) / (n_raters + n_effects) + LEAST_VARIANCE * np.eye(n_effects))
