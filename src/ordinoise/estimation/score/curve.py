"""The clean model on a score: how the true label depends on one number, smooth, increasing and ordered.

``logit_j = g(score) + thresholds_j`` with an increasing piecewise-linear ``g`` and descending thresholds. Parameters,
in this order: logarithms of the rises of ``g`` between knots (n_knots - 1), the first threshold (1), logarithms of the
gaps between thresholds (K - 2). Logarithms make every parameter vector valid: rises and gaps are always positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit, ndtri

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score.families import Prior

# Knots, shares and priors of the curve were chosen together, on development seeds of the sets in
# docs/knowing-the-noise.md; no run is kept that chose them one by one.
N_KNOTS = 8
EVEN_SHARE = 0.3
"""Knots lie at quantiles of the score, moved this far towards even spacing: the ends hold few rows but much shape."""
SMOOTHNESS = 0.5
"""Standard deviation of the change of the log slope from one piece to the next."""
LOG_SLOPE, LOG_SLOPE_SD = 1.0, 3.0
"""Mean and standard deviation of the log slope of ``g`` per unit of normal score: nearly free."""
THRESHOLD_SD, LOG_GAP_SD = 30.0, 3.0
"""Nearly flat: they only keep the threshold of a class that never occurs finite."""
LOG_GAP_RANGE = (-15.0, 5.0)  # keeps exp and expm1 of a gap within double precision


@dataclass(frozen=True, eq=False)
class BinnedScores:
    """Equal-count bins of a score: the normal score and the weighted label counts of each.

    The normal score of a bin is the normal quantile of its rank. It stretches the ends, where noise flattens the mean
    label although the true label still changes, and it does not depend on the units of the score.
    """

    score: Floats
    counts: Floats

    @cached_property
    def sizes(self) -> Floats:
        """Weight of each bin."""
        return np.asarray(self.counts.sum(axis=1))

    def with_counts(self, counts: Floats) -> BinnedScores:
        """The same bins with other label counts."""
        return BinnedScores(self.score, counts)


def binned_scores(scores: Floats, labels: Ints, weights: Floats, n_classes: int, n_bins: int) -> BinnedScores:
    """Scores in `n_bins` bins of equal numbers of samples."""
    bin_of = bins_of(scores, n_bins)
    counts = np.zeros((n_bins, n_classes))
    np.add.at(counts, (bin_of, labels), weights)
    return BinnedScores(ndtri((np.arange(n_bins) + 0.5) / n_bins), counts)


def bins_of(scores: Floats, n_bins: int) -> Ints:
    """Number of the bin of every score, with equal numbers of scores per bin."""
    bin_of = np.empty(len(scores), dtype=np.int64)
    bin_of[np.argsort(scores, kind="stable")] = np.arange(len(scores)) * n_bins // len(scores)
    return bin_of


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """Shape of the clean model: its knots and the number of classes."""

    knots: Floats
    n_classes: int

    @property
    def n_rises(self) -> int:
        """Number of pieces of ``g``."""
        return len(self.knots) - 1

    @property
    def n_parameters(self) -> int:
        """Number of rises, one threshold, and gaps."""
        return self.n_rises + self.n_classes - 1

    @cached_property
    def prior(self) -> Prior:
        """Neighbouring slopes are alike; the mean slope and the thresholds are nearly free."""
        # Rows: n_rises - 1 differences of neighbouring log rises, the mean log rise, the threshold, the log gaps.
        rises = slice(self.n_rises)
        rows = np.diag(
            np.concatenate([np.zeros(self.n_rises), [1 / THRESHOLD_SD], np.full(self.n_classes - 2, 1 / LOG_GAP_SD)])
        )
        rows[: self.n_rises - 1, rises] = np.diff(np.eye(self.n_rises), axis=0) / SMOOTHNESS
        rows[self.n_rises - 1, rises] = 1 / self.n_rises / LOG_SLOPE_SD
        # The center is a straight g: log rise = log(knot spacing) + log slope. So it is slopes that are alike, and
        # not rises, whose knots are unevenly spaced.
        straight = np.zeros(self.n_parameters)
        straight[rises] = np.log(np.diff(self.knots)) + LOG_SLOPE
        return Prior(rows, rows @ straight)

    def basis(self, scores: Floats) -> Floats:
        """Share of each piece of ``g`` below each score, less one half, (n_scores, n_rises): ``g = basis @ rises``.

        The one half centers ``g``, so that changing a rise does not shift all logits and with them the thresholds.
        """
        return np.clip((scores[:, None] - self.knots[:-1]) / np.diff(self.knots), 0, 1) - 0.5

    def start(self, bins: BinnedScores) -> Floats:
        """A straight ``g`` with thresholds that give the recorded class frequencies."""
        log_rises = np.log(np.diff(self.knots)) + LOG_SLOPE
        shares = bins.counts.sum(axis=0).cumsum()[:-1] / bins.counts.sum()
        cuts = np.quantile(self.basis(bins.score) @ np.exp(log_rises), shares)
        return np.concatenate([log_rises, -cuts[:1], np.log(np.maximum(np.diff(cuts), 0.05))])

    def log_probabilities(self, parameters: Floats, basis: Floats) -> Floats:
        """Logarithm of P(true label | score), (n_scores, K); exact in the tails."""
        logits, gaps = self._logits(parameters, basis)
        return _log_class_probabilities(logits, gaps)

    def expansion(self, parameters: Floats, basis: Floats) -> tuple[Floats, Floats]:
        """Log probabilities, and their derivatives (n_scores, K, n_parameters)."""
        logits, gaps = self._logits(parameters, basis)
        slopes = self._logit_slopes(parameters, basis, gaps)
        # By the product form of `_log_class_probabilities`, with f_j the logits:
        # d log sigmoid(f) = sigmoid(-f) df,  d log sigmoid(-f) = -sigmoid(f) df,  and for the gap of an inner class
        # d log(1 - exp(-gap)) / d log gap = gap exp(-gap) / (1 - exp(-gap)).
        derivative = np.zeros((len(basis), self.n_classes, self.n_parameters))
        derivative[:, 1:] += expit(-logits)[:, :, None] * slopes
        derivative[:, :-1] -= expit(logits)[:, :, None] * slopes
        inner = np.arange(1, self.n_classes - 1)
        derivative[:, inner, self.n_rises + inner] += gaps * np.exp(-gaps) / -np.expm1(-gaps)
        return _log_class_probabilities(logits, gaps), derivative

    def _logits(self, parameters: Floats, basis: Floats) -> tuple[Floats, Floats]:
        """Logits (n_scores, K - 1), descending along the row, and the gaps (K - 2,) between them."""
        gaps = np.exp(np.clip(parameters[self.n_rises + 1 :], *LOG_GAP_RANGE))
        thresholds = parameters[self.n_rises] - np.concatenate([[0.0], gaps.cumsum()])
        return (basis @ np.exp(parameters[: self.n_rises]))[:, None] + thresholds, gaps

    def _logit_slopes(self, parameters: Floats, basis: Floats, gaps: Floats) -> Floats:
        """Derivatives of the logits (n_scores, K - 1, n_parameters); logarithms give a factor exp(parameter)."""
        slopes = np.empty((len(basis), self.n_classes - 1, self.n_parameters))
        slopes[:, :, : self.n_rises] = (basis * np.exp(parameters[: self.n_rises]))[:, None]
        slopes[:, :, self.n_rises] = 1
        slopes[:, :, self.n_rises + 1 :] = -np.tri(self.n_classes - 1, k=-1)[:, :-1] * gaps
        return slopes


def score_curve(bins: BinnedScores, n_knots: int = N_KNOTS) -> ScoreCurve:
    """A curve with knots over the range of the bins, between quantiles and even spacing (`EVEN_SHARE`)."""
    at_quantiles = np.quantile(bins.score, np.linspace(0, 1, n_knots))
    evenly = np.linspace(bins.score[0], bins.score[-1], n_knots)
    return ScoreCurve((1 - EVEN_SHARE) * at_quantiles + EVEN_SHARE * evenly, bins.counts.shape[1])


def _log_class_probabilities(logits: Floats, gaps: Floats) -> Floats:
    """``log P_k`` of ``P_k = sigmoid(f_{k-1}) - sigmoid(f_k)``, where f_{k-1} - f_k is a gap.

    As the product ``sigmoid(f_{k-1}) sigmoid(-f_k) (1 - exp(-gap))``, whose logarithm is exact where both sigmoids are
    near 0 or near 1 and their difference would cancel. The end classes have one factor only.
    """
    log_probabilities = np.zeros((len(logits), logits.shape[1] + 1))
    log_probabilities[:, 1:] += log_expit(logits)
    log_probabilities[:, :-1] += log_expit(-logits)
    log_probabilities[:, 1:-1] += np.log(-np.expm1(-gaps))
    return log_probabilities
