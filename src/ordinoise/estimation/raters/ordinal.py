"""How raters differ: the pooled matrix, tilted by a few effects of each rater on the thresholds.

    log P(recorded k | true c) = pooled[c, k] + sum_j level_j(k) * (bias_j + sensitivity_j * sign_j(c)) + care * [k = c]

up to a constant a row. The effects of a rater have a normal prior whose covariance is estimated from all raters
(empirical Bayes), so a rater with few labels stays at the pooled matrix. A careless rater errs in every row alike;
the effects let one row speak for another, which rows shrunk one by one cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import log_softmax, softmax

from ordinoise._validation import Floats
from ordinoise.levels import level_table

SMOOTHING = 0.1
"""Labels' worth of no change in every entry of the pooled matrix, so that an empty one stays finite."""
LONGEST_STEP = 2.0
"""Longest Newton step of an effect, on the scale of logits: from afar a full step overshoots."""
LEAST_VARIANCE = 1e-4
"""Of an effect among raters: below it raters are alike, and a smaller one would only lose digits."""


def effect_basis(n_classes: int) -> Floats:
    """What one unit of each effect adds to the log-matrix: biases, then sensitivities, then care."""
    levels = level_table(n_classes).T
    bias = np.broadcast_to(levels[:, None, :], (n_classes - 1, n_classes, n_classes))
    sensitivity = (2 * levels[:, :, None] - 1) * (levels[:, None, :] - 0.5)
    return np.concatenate([bias, sensitivity, np.eye(n_classes)[None]])


@dataclass(frozen=True, eq=False)
class OrdinalRaters:
    """The pooled matrix, how every rater departs from it, and how much raters do so at all.

    Attributes
    ----------
    log_pooled : array of shape (n_classes, n_classes)
        Log-matrix of a rater without effects.
    effects : array of shape (n_raters, n_effects)
    covariance : array of shape (n_effects, n_effects)
        Of the effects among raters: their prior.
    uncertainty : array of shape (n_raters,)
        Variance of the effects given the rater's labels, as a share of the variance before them.
    """

    log_pooled: Floats
    effects: Floats
    covariance: Floats
    uncertainty: Floats

    @classmethod
    def alike(cls, counts: Floats) -> Self:
        """All raters at the pooled matrix, or a single one at equal chances, which the effects then shape alone."""
        n_raters, n_classes, _ = counts.shape
        n_effects = 2 * n_classes - 1
        total = counts.sum(axis=0) if n_raters > 1 else np.zeros((n_classes, n_classes))
        log_pooled = log_softmax(np.log(total + SMOOTHING), axis=1)
        return cls(log_pooled, np.zeros((n_raters, n_effects)), np.eye(n_effects) / 2, np.ones(n_raters))

    def matrices(self, basis: Floats) -> Floats:
        """The ordinal matrix of every rater."""
        tilt = (self.effects @ basis.reshape(len(basis), -1)).reshape(-1, *self.log_pooled.shape)
        return softmax(self.log_pooled + tilt, axis=2)

    def fitted(self, counts: Floats, basis: Floats) -> Self:
        """One step towards the counts: pooled matrix, then effects, then their covariance."""
        centred = self._with_pooled(counts, basis) if len(counts) > 1 else self
        return centred._with_effects(counts, basis)

    def _with_pooled(self, counts: Floats, basis: Floats) -> Self:
        """Proportional fitting: the matrices then expect the labels that all raters together gave."""
        expected = (counts.sum(axis=2, keepdims=True) * self.matrices(basis)).sum(axis=0)
        ratio = np.log((counts.sum(axis=0) + SMOOTHING) / (expected + SMOOTHING))
        return replace(self, log_pooled=log_softmax(self.log_pooled + ratio, axis=1))

    def _with_effects(self, counts: Floats, basis: Floats) -> Self:
        """A Newton step for the effects of every rater, and the covariance that these make likely."""
        precision = np.linalg.inv(self.covariance)
        gradient, curvature = _slopes(counts, self.matrices(basis), basis)
        spread = np.linalg.inv(curvature + precision)
        step = (spread @ (gradient - self.effects @ precision)[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        effects = self.effects + step * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        uncertainty = (np.einsum("rpp->rp", spread) / np.diag(self.covariance)).mean(axis=1)
        return replace(self, effects=effects, covariance=_covariance(effects, spread), uncertainty=uncertainty)


def _slopes(counts: Floats, matrices: Floats, basis: Floats) -> tuple[Floats, Floats]:
    """Gradient and negative second derivative of every rater's log-likelihood in the effects."""
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
    """Covariance of the effects among raters, with as many raters of equal variances added as there are effects.

    The added ones keep it regular where raters are few.
    """
    n_raters, n_effects = effects.shape
    total = effects.T @ effects + spread.sum(axis=0)
    equal = np.eye(n_effects) * np.trace(total) / (n_raters * n_effects)
    return (total + n_effects * equal) / (n_raters + n_effects) + LEAST_VARIANCE * np.eye(n_effects)
