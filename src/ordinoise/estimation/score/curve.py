"""The clean model on a score: how the true label depends on one number, smooth, increasing and ordered.

``logit_j = g(score) + thresholds_j`` with an increasing piecewise-linear ``g`` and descending thresholds. Parameters:
logarithms of the rises of ``g`` between knots, the first threshold, logarithms of the gaps between thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit, ndtri

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score.families import Prior

N_KNOTS = 8
EVEN_SHARE = 0.3
SMOOTHNESS = 0.5
"""Standard deviation of the change of the log slope from one piece to the next."""
LOG_SLOPE, LOG_SLOPE_SD = 1.0, 3.0
THRESHOLD_SD, LOG_GAP_SD = 30.0, 3.0
"""Nearly flat; they only keep a class that never occurs from sending its threshold to infinity."""
LOG_GAP_RANGE = (-15.0, 5.0)


@dataclass(frozen=True, eq=False)
class BinnedScores:
    """Equal-count bins of a score: mean raw score, its normal score and weighted label counts of each.

    The normal score of a bin is the normal quantile of its rank. It stretches the ends, where noise lets the mean label
    saturate while the score still says more, and it does not depend on the units of the score.
    """

    raw: Floats
    score: Floats
    counts: Floats

    @cached_property
    def sizes(self) -> Floats:
        """Weight of each bin."""
        return np.asarray(self.counts.sum(axis=1))

    def standardised(self, raw: Floats) -> Floats:
        """Normal scores of raw ones, by interpolation between the bins; constant beyond the outer two."""
        return np.interp(raw, self.raw, self.score)

    def with_counts(self, counts: Floats) -> BinnedScores:
        """The same bins with other label counts."""
        return BinnedScores(self.raw, self.score, counts)


def binned_scores(scores: Floats, labels: Ints, weights: Floats, n_classes: int, n_bins: int) -> BinnedScores:
    """Scores sorted into `n_bins` bins that hold equally many samples."""
    bin_of = bins_of(scores, n_bins)
    counts = np.zeros((n_bins, n_classes))
    np.add.at(counts, (bin_of, labels), weights)
    raw = np.bincount(bin_of, scores) / np.bincount(bin_of)
    return BinnedScores(raw, ndtri((np.arange(n_bins) + 0.5) / n_bins), counts)


def bins_of(scores: Floats, n_bins: int) -> Ints:
    """Number of the bin of every score: equally many in each."""
    bin_of = np.empty(len(scores), dtype=np.int64)
    bin_of[np.argsort(scores, kind="stable")] = np.arange(len(scores)) * n_bins // len(scores)
    return bin_of


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """Shape of the clean model: where the knots are and how many classes there are."""

    knots: Floats
    n_classes: int

    @property
    def n_rises(self) -> int:
        """Pieces of ``g``."""
        return len(self.knots) - 1

    @property
    def n_parameters(self) -> int:
        """Rises, one threshold, the gaps."""
        return self.n_rises + self.n_classes - 1

    @cached_property
    def prior(self) -> Prior:
        """Neighbouring slopes are alike; the mean slope and the thresholds are nearly free."""
        rises = slice(self.n_rises)
        rows = np.diag(
            np.concatenate([np.zeros(self.n_rises), [1 / THRESHOLD_SD], np.full(self.n_classes - 2, 1 / LOG_GAP_SD)])
        )
        rows[: self.n_rises - 1, rises] = np.diff(np.eye(self.n_rises), axis=0) / SMOOTHNESS
        rows[self.n_rises - 1, rises] = 1 / self.n_rises / LOG_SLOPE_SD
        straight = np.zeros(self.n_parameters)
        straight[rises] = np.log(np.diff(self.knots)) + LOG_SLOPE
        return Prior(rows, rows @ straight)

    def basis(self, scores: Floats) -> Floats:
        """Share of each piece of ``g`` below each score less one half, so that neither end is special, (n, n_rises)."""
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
        derivative = np.zeros((len(basis), self.n_classes, self.n_parameters))
        derivative[:, 1:] += expit(-logits)[:, :, None] * slopes
        derivative[:, :-1] -= expit(logits)[:, :, None] * slopes
        inner = np.arange(1, self.n_classes - 1)
        derivative[:, inner, self.n_rises + inner] += gaps * np.exp(-gaps) / -np.expm1(-gaps)
        return _log_class_probabilities(logits, gaps), derivative

    def _logits(self, parameters: Floats, basis: Floats) -> tuple[Floats, Floats]:
        gaps = np.exp(np.clip(parameters[self.n_rises + 1 :], *LOG_GAP_RANGE))
        thresholds = parameters[self.n_rises] - np.concatenate([[0.0], gaps.cumsum()])
        return (basis @ np.exp(parameters[: self.n_rises]))[:, None] + thresholds, gaps

    def _logit_slopes(self, parameters: Floats, basis: Floats, gaps: Floats) -> Floats:
        slopes = np.empty((len(basis), self.n_classes - 1, self.n_parameters))
        slopes[:, :, : self.n_rises] = (basis * np.exp(parameters[: self.n_rises]))[:, None]
        slopes[:, :, self.n_rises] = 1
        slopes[:, :, self.n_rises + 1 :] = -np.tri(self.n_classes - 1, k=-1)[:, :-1] * gaps
        return slopes


def score_curve(bins: BinnedScores, n_knots: int = N_KNOTS) -> ScoreCurve:
    """A curve whose knots divide the range of the bins: partly evenly, partly into equal counts."""
    at_quantiles = np.quantile(bins.score, np.linspace(0, 1, n_knots))
    evenly = np.linspace(bins.score[0], bins.score[-1], n_knots)
    return ScoreCurve((1 - EVEN_SHARE) * at_quantiles + EVEN_SHARE * evenly, bins.counts.shape[1])


def _log_class_probabilities(logits: Floats, gaps: Floats) -> Floats:
    # A difference of sigmoids as a product: no cancellation where both are near 0 or 1.
    log_probabilities = np.zeros((len(logits), logits.shape[1] + 1))
    log_probabilities[:, 1:] += log_expit(logits)
    log_probabilities[:, :-1] += log_expit(-logits)
    log_probabilities[:, 1:-1] += np.log(-np.expm1(-gaps))
    return log_probabilities
