"""Cells of the score with fixed cuts: label counts in them add up over the parts of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ordinoise._validation import Floats, Ints
from ordinoise.decisions import combined
from ordinoise.estimation.score.curve import N_GROUPS, BinnedScores
from ordinoise.estimation.score.likelihood import FEWEST_IN_A_BIN, MOST_BINS


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Bins of the score, each cut into groups by the spread of the predicted label, as `binned_scores` makes them.

    The cuts are quantiles of a random sample of rows. Any row then falls into a cell by its own probabilities alone.

    Parameters
    ----------
    score_cuts : array of shape (n_bins - 1,)
        Scores that begin a bin.
    spread_cuts : array of shape (n_bins, n_groups - 1)
        Spreads that begin a group.
    """

    score_cuts: Floats
    spread_cuts: Floats

    @classmethod
    def from_sample(cls, probabilities: Floats) -> ScoreCells:
        """Cells with equal numbers of these rows, as far as equal scores allow."""
        scores, spreads = _score_and_spread(probabilities)
        n_bins = max(2, min(MOST_BINS, len(scores) // FEWEST_IN_A_BIN))
        cuts = np.unique(_quantiles(scores, n_bins))
        cuts = cuts[cuts > scores.min()]  # no bin is empty
        bins = np.searchsorted(cuts, scores, side="right")
        inner = [_quantiles(spreads[bins == at], N_GROUPS) for at in range(len(cuts) + 1)]
        return cls(cuts, np.stack(inner))

    def of(self, probabilities: Floats) -> Ints:
        """The cell of each row."""
        scores, spreads = _score_and_spread(probabilities)
        bins = np.searchsorted(self.score_cuts, scores, side="right")
        groups = (spreads[:, None] >= self.spread_cuts[bins]).sum(axis=1)
        return bins * N_GROUPS + groups

    def counts(self, probabilities: Floats, ranks: Ints) -> Ints:
        """Number of rows with each recorded label in each cell, shape (n_cells, n_classes)."""
        n_classes, n_cells = probabilities.shape[1], self.spread_cuts.shape[0] * N_GROUPS
        flat = np.bincount(self.of(probabilities) * n_classes + ranks, minlength=n_cells * n_classes)
        return flat.reshape(n_cells, n_classes).astype(np.int64)

    def binned(self, counts: Ints) -> tuple[BinnedScores, Ints]:
        """The cells that hold rows, with the normal score of their bins; and the place of each cell among them."""
        sizes = counts.sum(axis=1)
        mass = sizes.reshape(-1, N_GROUPS).sum(axis=1)
        normal = ndtri((mass.cumsum() - mass / 2) / mass.sum())
        kept = np.flatnonzero(sizes)
        place = np.zeros(len(sizes), dtype=np.int64)
        place[kept] = np.arange(len(kept))
        bins, groups = np.divmod(kept, N_GROUPS)
        return BinnedScores(normal[bins], groups, counts[kept].astype(np.float64)), place


def _score_and_spread(probabilities: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the predicted label."""
    grades = np.arange(probabilities.shape[1], dtype=np.float64)
    moments = combined(probabilities, np.column_stack([grades, grades**2]))
    return moments[:, 0], moments[:, 1] - moments[:, 0] ** 2


def _quantiles(values: Floats, n_parts: int) -> Floats:
    """The values that begin all parts but the first, when the sorted values are cut into equal parts."""
    places = np.arange(1, n_parts) * len(values) // n_parts
    return np.sort(values)[places]
