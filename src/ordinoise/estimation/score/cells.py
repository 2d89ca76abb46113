"""Cells of the score: rows with about the same score and spread, whose label counts add up over parts of a table.

Tied rows share a cell, so the cells of a table do not depend on the order of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ordinoise._validation import Floats, Ints
from ordinoise.decisions import combined
from ordinoise.estimation.score.curve import N_GROUPS, BinnedScores

MOST_BINS, FEWEST_IN_A_BIN = 60, 8
"""Bins of the score, and samples per bin; after binning the cost does not depend on n. Chosen by no run."""


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Bins of the score, each cut into groups by the spread of the predicted label.

    The cuts are quantiles of a random sample of rows. Any row then falls into a cell by its own probabilities alone.

    Parameters
    ----------
    score_cuts : array of shape (n_bins - 1,)
        Scores that begin a bin. A score that fills several bins begins each of them, and lies in the last.
    spread_cuts : array of shape (n_bins, n_groups - 1)
        Spreads that begin a group.
    """

    score_cuts: Floats
    spread_cuts: Floats

    @classmethod
    def from_sample(cls, probabilities: Floats, n_bins: int | None = None, n_groups: int = N_GROUPS) -> ScoreCells:
        """Cells with equal numbers of these rows, as far as ties allow."""
        scores, spreads = _score_and_spread(probabilities)
        n_bins = n_bins or max(2, min(MOST_BINS, len(scores) // FEWEST_IN_A_BIN))
        cuts = np.sort(scores)[_first_of_parts(np.array([len(scores)]), n_bins)[0]]
        if cuts[-1] == scores.min():  # one score in nearly all rows
            cuts[-1] = scores[scores > cuts[-1]].min(initial=np.inf)
        bins = np.searchsorted(cuts, scores, side="right")
        sizes = np.bincount(bins, minlength=n_bins)
        first = _first_of_parts(sizes, n_groups)
        places = np.minimum((sizes.cumsum() - sizes)[:, None] + first, len(scores) - 1)
        inner = np.where(first < sizes[:, None], spreads[np.lexsort((spreads, bins))][places], np.inf)
        return cls(cuts, inner)

    def of(self, probabilities: Floats) -> Ints:
        """The cell of each row."""
        scores, spreads = _score_and_spread(probabilities)
        bins = np.searchsorted(self.score_cuts, scores, side="right")
        groups = (spreads[:, None] >= self.spread_cuts[bins]).sum(axis=1)
        return bins * self.n_groups + groups

    @property
    def n_groups(self) -> int:
        """Groups of each bin."""
        return self.spread_cuts.shape[1] + 1

    def counts(self, probabilities: Floats, ranks: Ints) -> Ints:
        """Number of rows with each recorded label in each cell, shape (n_cells, n_classes)."""
        n_classes, n_cells = probabilities.shape[1], len(self.spread_cuts) * self.n_groups
        flat = np.bincount(self.of(probabilities) * n_classes + ranks, minlength=n_cells * n_classes)
        return flat.reshape(n_cells, n_classes).astype(np.int64)

    def binned(self, counts: Ints) -> tuple[BinnedScores, Ints]:
        """The cells that hold rows, with the normal score of their bins; and the place of each cell among them."""
        is_held = counts.sum(axis=1).reshape(-1, self.n_groups) > 0
        n_bins = len(is_held)
        normal = ndtri((_middle_parts(is_held.any(axis=1)[None])[0] + 0.5) / n_bins)
        kept = np.flatnonzero(is_held)
        place = np.zeros(is_held.size, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        group = np.unique(np.floor(_middle_parts(is_held)).ravel()[kept], return_inverse=True)[1]
        return BinnedScores(normal[kept // self.n_groups], group, counts[kept].astype(np.float64)), place


def binned_scores(
    probabilities: Floats, labels: Ints, weights: Floats, n_bins: int, n_groups: int = N_GROUPS
) -> tuple[BinnedScores, Ints]:
    """Rows in `n_bins` bins of equal numbers by score, each split in equal groups by spread; and the cell of each row.

    Score and spread are the mean and the variance of the predicted label. Ties make some cells larger.
    """
    cells = ScoreCells.from_sample(probabilities, n_bins, n_groups)
    bins, place = cells.binned(cells.counts(probabilities, labels))
    cell_of = place[cells.of(probabilities)]
    counts = np.zeros_like(bins.counts)
    np.add.at(counts, (cell_of, labels), weights)
    return bins.with_counts(counts), cell_of


def _score_and_spread(probabilities: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the predicted label."""
    grades = np.arange(probabilities.shape[1], dtype=np.float64)
    moments = combined(probabilities, np.column_stack([grades, grades**2]))
    return moments[:, 0], moments[:, 1] - moments[:, 0] ** 2


def _first_of_parts(sizes: Ints, n_parts: int) -> Ints:
    """Places of the first of all parts but the first, when that many are cut into equal parts; a line per size."""
    return -(-np.arange(1, n_parts) * sizes[:, None] // n_parts)


def _middle_parts(is_held: NDArray[np.bool_]) -> Floats:
    """The middle of the parts that each part with rows stands for: its own and the empty ones before it.

    A part is empty where a tie begins before it and ends after it: its rows all lie in the last part that they fill.
    """
    numbers = np.arange(is_held.shape[1])
    last = np.maximum.accumulate(np.where(is_held, numbers, -1), axis=1)
    before = np.hstack([np.full((len(is_held), 1), -1), last[:, :-1]])
    return np.asarray((before + 1 + numbers) / 2)
