"""How raters differ: the pooled matrix, tilted by a few effects of each rater on the thresholds.

    log P(recorded k | true c) = pooled[c, k] + sum_j level_j(k) * (bias_j + sensitivity_j * sign_j(c)) + care * [k = c]

up to one constant per row, with level_j(k) = [k > j] and sign_j(c) = 1 if c > j else -1. bias_j moves labels across
threshold j for every true class, sensitivity_j moves them to the true side of it, care adds to the diagonal.

The effects of a rater have a normal prior whose covariance is estimated from all raters (empirical Bayes), so a rater
with few labels stays at the pooled matrix. The effects act on all rows, so that labels in one row inform the others:
a careless rater errs in every row. Rows shrunk one by one cannot use that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import log_softmax, softmax

from ordinoise._validation import Floats
from ordinoise.levels import level_table

SMOOTHING = 0.1
"""Pseudo-count per entry of the pooled matrix, so that the logarithm of an empty one is finite. Chosen by no run."""
LONGEST_STEP = 2.0
"""Longest Newton step of an effect, on the scale of logits: from afar a full step overshoots. Chosen by no run."""
LEAST_VARIANCE = 1e-4
"""Smallest prior variance of an effect: raters then count as equal, and a smaller one would only lose digits."""


def effect_basis(n_classes: int) -> Floats:
    """What one unit of each effect adds to the log-matrix, (2K - 1, K, K): biases, then sensitivities, then care."""
    levels = level_table(n_classes).T
    bias = np.broadcast_to(levels[:, None, :], (n_classes - 1, n_classes, n_classes))
    sensitivity = (2 * levels[:, :, None] - 1) * (levels[:, None, :] - 0.5)
    return np.concatenate([bias, sensitivity, np.eye(n_classes)[None]])


@dataclass(frozen=True, eq=False)
class OrdinalRaters:
    """The pooled matrix, every rater's effects, and the prior of the effects.

    Attributes
    ----------
    log_pooled : array of shape (n_classes, n_classes)
        Log-matrix of a rater without effects; rows are log-probabilities.
    effects : array of shape (n_raters, n_effects)
    covariance : array of shape (n_effects, n_effects)
        Prior covariance of the effects: how much raters differ.
    uncertainty : array of shape (n_raters,)
        Posterior variance of the effects as a share of their prior variance, averaged over the effects.
    """

    log_pooled: Floats
    effects: Floats
    covariance: Floats
    uncertainty: Floats

    @classmethod
    def equal(cls, counts: Floats) -> Self:
        """All raters without effects: at the pooled matrix, or a single rater at uniform rows.

        The pooled matrix of a single rater would be the rater's own counts, and leave the effects nothing to explain.
        """
        n_raters, n_classes, _ = counts.shape
        n_effects = 2 * n_classes - 1
        total = counts.sum(axis=0) if n_raters > 1 else np.zeros((n_classes, n_classes))
        log_pooled = log_softmax(np.log(total + SMOOTHING), axis=1)
        return cls(log_pooled, np.zeros((n_raters, n_effects)), np.eye(n_effects) / 2, np.ones(n_raters))

    def matrices(self, basis: Floats) -> Floats:
        """The ordinal matrix of every rater, (n_raters, K, K)."""
        tilt = (self.effects @ basis.reshape(len(basis), -1)).reshape(-1, *self.log_pooled.shape)
        return softmax(self.log_pooled + tilt, axis=2)

    def step(self, counts: Floats, basis: Floats) -> Self:
        """One step towards the expected counts (n_raters, K, K): pooled matrix, then effects, then their covariance.

        In this order effects describe what is left after the pooled matrix, and so stay centered near zero.
        """
        centered = self._with_pooled(counts, basis) if len(counts) > 1 else self
        return centered._with_effects(counts, basis)

    def _with_pooled(self, counts: Floats, basis: Floats) -> Self:
        """One step of proportional fitting: ``log_pooled += log(observed / expected)``, labels of all raters."""
        expected = (counts.sum(axis=2, keepdims=True) * self.matrices(basis)).sum(axis=0)
        ratio = np.log((counts.sum(axis=0) + SMOOTHING) / (expected + SMOOTHING))
        return replace(self, log_pooled=log_softmax(self.log_pooled + ratio, axis=1))

    def _with_effects(self, counts: Floats, basis: Floats) -> Self:
        """A Newton step for the effects of every rater, then the covariance.

        For effects e with prior covariance V the penalized log-likelihood ``l(e) - e V^-1 e / 2`` has gradient
        ``l' - V^-1 e`` and negative curvature ``-l'' + V^-1``, whose inverse is the posterior covariance (`spread`).
        """
        precision = np.linalg.inv(self.covariance)
        gradient, curvature = _slopes(counts, self.matrices(basis), basis)
        spread = np.linalg.inv(curvature + precision)
        step = (spread @ (gradient - self.effects @ precision)[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        effects = self.effects + step * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        uncertainty = (np.einsum("rpp->rp", spread) / np.diag(self.covariance)).mean(axis=1)
        return replace(self, effects=effects, covariance=_covariance(effects, spread), uncertainty=uncertainty)


def _slopes(counts: Floats, matrices: Floats, basis: Floats) -> tuple[Floats, Floats]:
    """Gradient (n_raters, p) and negative second derivative (n_raters, p, p) of every rater's log-likelihood.

    A multinomial logit per row c, with n_c labels and basis b: gradient ``sum_cl (counts - n_c M) b``, curvature
    ``sum_c n_c (E[b b^T] - E[b] E[b]^T)`` with expectations under row c of M.
    """
    n_effects, n_classes, _ = basis.shape
    flat = basis.reshape(n_effects, -1)
    labels = counts.sum(axis=2)
    expected = labels[:, :, None] * matrices
    gradient = (counts - expected).reshape(len(counts), -1) @ flat.T
    squares = (flat[:, None, :] * flat[None, :, :]).reshape(-1, n_classes**2)
    second = (expected.reshape(len(counts), -1) @ squares.T).reshape(-1, n_effects, n_effects)
    means = (matrices.swapaxes(0, 1) @ basis.transpose(1, 2, 0)).swapaxes(0, 1)
    return gradient, second - means.swapaxes(1, 2) @ (labels[:, :, None] * means)


def _covariance(effects: Floats, spread: Floats) -> Floats:
    """Prior covariance that the effects make likely: the mean over raters of ``e e^T`` plus posterior covariance.

    This is the M step of empirical Bayes. As many pseudo-raters as there are effects, with equal variances and no
    correlation, keep it regular if raters are few.
    """
    n_raters, n_effects = effects.shape
    total = effects.T @ effects + spread.sum(axis=0)
    equal = np.eye(n_effects) * np.trace(total) / (n_raters * n_effects)
    return (total + n_effects * equal) / (n_raters + n_effects) + LEAST_VARIANCE * np.eye(n_effects)
