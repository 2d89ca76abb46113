"""The clean model on a score: how the true label depends on one number, smooth, increasing and ordered.

``P(true label >= j) = F(logit_j)`` with a link ``F`` and ``logit_j = (g(score) + thresholds_j) / scale[group]``: an
increasing piecewise-linear ``g``, descending thresholds, and a scale for each group of rows, as some rows may overlap
more than others at the same score. Parameters, in this order: logarithms of the rises of ``g`` between knots
(n_knots - 1), the first threshold (1), logarithms of the gaps between thresholds (K - 2), logarithms of the scales of
all groups but the first (n_groups - 1). Logarithms make every parameter vector valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score.families import Prior
from ordinoise.estimation.score.links import FARTHEST, LINKS, Link

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
LOG_GAP_RANGE = (-15.0, 5.0)  # keeps exp of a gap within double precision
N_GROUPS, LOG_SCALE_SD = 3, 0.7
"""Groups of rows by the spread of their predicted label, and the standard deviation of their log scales: a factor of
two is usual. Round numbers, chosen by no run."""


@dataclass(frozen=True, eq=False)
class BinnedScores:
    """Cells of rows with about the same score: normal score, group, and weighted label counts of each.

    The normal score of a cell is the normal quantile of its rank. It stretches the ends, where noise flattens the mean
    label although the true label still changes, and it does not depend on the units of the score. The groups split
    every bin of the score by how widely the predicted label spreads.
    """

    score: Floats
    group: Ints
    counts: Floats

    @cached_property
    def sizes(self) -> Floats:
        """Weight of each cell."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    def with_counts(self, counts: Floats) -> BinnedScores:
        """These cells with other label counts."""
        return BinnedScores(self.score, self.group, counts)


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """Shape of the clean model: its knots, the number of classes and of groups, and its link."""

    knots: Floats
    n_classes: int
    n_groups: int = 1
    link: Link = LINKS["logit"]

    @property
    def n_rises(self) -> int:
        """Number of pieces of ``g``."""
        return len(self.knots) - 1

    @property
    def n_parameters(self) -> int:
        """Number of rises, one threshold, gaps, and scales of all groups but one."""
        return self.n_rises + self.n_classes + self.n_groups - 2

    @cached_property
    def prior(self) -> Prior:
        """Neighboring slopes are alike, scales near one; the mean slope and the thresholds are nearly free."""
        # Rows: n_rises - 1 differences of neighboring log rises, the mean log rise, the threshold, log gaps, log
        # scales.
        rises = slice(self.n_rises)
        spreads = [1 / THRESHOLD_SD], np.full(self.n_classes - 2, 1 / LOG_GAP_SD)
        scales = np.full(self.n_groups - 1, 1 / LOG_SCALE_SD)
        rows = np.diag(np.concatenate([np.zeros(self.n_rises), *spreads, scales]))
        rows[: self.n_rises - 1, rises] = np.diff(np.eye(self.n_rises), axis=0) / SMOOTHNESS
        rows[self.n_rises - 1, rises] = 1 / self.n_rises / LOG_SLOPE_SD
        # The center is a straight g: log rise = log(knot spacing) + log slope. So it is slopes that are alike, and
        # not rises, whose knots are unevenly spaced.
        straight = np.zeros(self.n_parameters)
        straight[rises] = np.log(np.diff(self.knots)) + LOG_SLOPE
        return Prior(rows, rows @ straight)

    def design(self, bins: BinnedScores) -> Floats:
        """What each cell multiplies: shares of the pieces of ``g`` below its score, less one half, and its group.

        Shape (n_cells, n_rises + n_groups - 1), the last columns one for the cells of a group. The one half centers
        ``g``, so that changing a rise does not shift all logits and with them the thresholds.
        """
        pieces = np.clip((bins.score[:, None] - self.knots[:-1]) / np.diff(self.knots), 0, 1) - 0.5
        return np.hstack([pieces, bins.group[:, None] == np.arange(1, self.n_groups)])

    def start(self, bins: BinnedScores) -> Floats:
        """A straight ``g`` with thresholds that give the recorded class frequencies, and scales of one."""
        log_rises = np.log(np.diff(self.knots)) + LOG_SLOPE
        # Rounded sums exceed one by a little where the highest grades are absent.
        shares = np.minimum(bins.counts.sum(axis=0).cumsum()[:-1] / bins.counts.sum(), 1.0)
        cuts = np.quantile(self.design(bins)[:, : self.n_rises] @ np.exp(log_rises), shares)
        gaps = np.log(np.maximum(np.diff(cuts), 0.05))
        return np.concatenate([log_rises, -cuts[:1], gaps, np.zeros(self.n_groups - 1)])

    def log_probabilities(self, parameters: Floats, design: Floats) -> Floats:
        """Logarithm of P(true label | cell), (n_cells, K); exact in the tails."""
        return self._log_class_probabilities(self._logits(parameters, design)[0])

    def expansion(self, parameters: Floats, design: Floats) -> tuple[Floats, Floats]:
        """Log probabilities, and their derivatives (n_cells, K, n_parameters)."""
        logits, scales = self._logits(parameters, design)
        log_probabilities = self._log_class_probabilities(logits)
        slopes = self._logit_slopes(parameters, design, logits, scales)
        # P_k = F(f_k) - F(f_{k+1}) with logits f_1 > ... > f_{K-1}, so
        # d log P_k = (F'(f_k) df_k - F'(f_{k+1}) df_{k+1}) / P_k; the end classes have one term only.
        density = self.link.log_density(logits)
        derivative = np.zeros((*log_probabilities.shape, self.n_parameters))
        derivative[:, 1:] += np.exp(density - log_probabilities[:, 1:])[:, :, None] * slopes
        derivative[:, :-1] -= np.exp(density - log_probabilities[:, :-1])[:, :, None] * slopes
        return log_probabilities, derivative

    def _logits(self, parameters: Floats, design: Floats) -> tuple[Floats, Floats]:
        """Logits (n_cells, K - 1), descending along the row, and the scale (n_cells,)."""
        rises, gaps, scales = self._split(parameters)
        thresholds = parameters[self.n_rises] - np.concatenate([[0.0], gaps.cumsum()])
        scale = np.exp(design[:, self.n_rises :] @ scales)
        logits = ((design[:, : self.n_rises] @ rises)[:, None] + thresholds) / scale[:, None]
        return np.clip(logits, -FARTHEST, FARTHEST), scale

    def _logit_slopes(self, parameters: Floats, design: Floats, logits: Floats, scale: Floats) -> Floats:
        """Derivatives of the logits (n_cells, K - 1, n_parameters); logarithms give a factor exp(parameter)."""
        rises, gaps, _ = self._split(parameters)
        n_first = self.n_rises + self.n_classes - 1
        slopes = np.empty((len(design), self.n_classes - 1, self.n_parameters))
        slopes[:, :, : self.n_rises] = (design[:, : self.n_rises] * rises / scale[:, None])[:, None]
        slopes[:, :, self.n_rises] = 1 / scale[:, None]
        beyond = -np.tri(self.n_classes - 1, k=-1)[:, :-1] * gaps
        slopes[:, :, self.n_rises + 1 : n_first] = beyond / scale[:, None, None]
        slopes[:, :, n_first:] = -logits[:, :, None] * design[:, None, self.n_rises :]
        return slopes

    def _split(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """Rises, gaps between thresholds, log scales."""
        n_first = self.n_rises + self.n_classes - 1
        gaps = np.exp(np.clip(parameters[self.n_rises + 1 : n_first], *LOG_GAP_RANGE))
        return np.exp(parameters[: self.n_rises]), gaps, parameters[n_first:]

    def _log_class_probabilities(self, logits: Floats) -> Floats:
        """``log P_k`` of ``P_k = F(f_k) - F(f_{k+1})``, where the first has only a tail and the last only F."""
        link = self.link
        inner = link.log_between(logits[:, 1:], logits[:, :-1])
        return np.hstack([link.log_tail(logits[:, :1]), inner, link.log_cdf(logits[:, -1:])])


def score_curve(bins: BinnedScores, n_knots: int = N_KNOTS, link: str = "logit") -> ScoreCurve:
    """A curve with knots over the range of the bins, between quantiles and even spacing (`EVEN_SHARE`)."""
    at_quantiles = np.quantile(bins.score, np.linspace(0, 1, n_knots))
    evenly = np.linspace(bins.score[0], bins.score[-1], n_knots)
    knots = (1 - EVEN_SHARE) * at_quantiles + EVEN_SHARE * evenly
    return ScoreCurve(knots, bins.counts.shape[1], bins.n_groups, LINKS[link])
