"""What deserves a look besides suspected labels: near-duplicates, rows unlike all others, noisy groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ordinoise._validation import Floats, Ints

NEAR = 0.01
"""Two rows are near-duplicates if their distance is below this part of the usual distance to the nearest row."""
FENCE = 3.0
"""A row is unlike all others if the logarithm of its distance to the nearest one is so many interquartile ranges above
the third quartile. Tukey's rule for far outliers; with `NEAR` chosen by no run."""
FEWEST_IN_GROUP, MOST_GROUPS = 20, 200  # rows of a group that is judged, groups of a column; by no run
ERROR = 0.001  # probability that a group is named by chance, over all groups that are judged; by no run


def conflicting_pairs(nearest: Ints, distances: Floats, recorded: Ints) -> list[tuple[int, int]]:
    """Pairs of rows that are nearly the same but have different labels, the nearest first.

    Parameters
    ----------
    nearest, distances : arrays of shape (n_samples,)
        The most similar row of each row, and its distance; as `nearest_rows` has them.
    recorded : int array of shape (n_samples,)
        Recorded labels.
    """
    usual = float(np.median(distances))
    is_near = (nearest >= 0) & (distances <= NEAR * usual) & (recorded != recorded[np.maximum(nearest, 0)])
    rows = np.flatnonzero(is_near)
    rows = rows[np.argsort(distances[rows], kind="stable")]
    pairs = np.sort(np.column_stack([rows, nearest[rows]]), axis=1).tolist()
    return list(dict.fromkeys((first, second) for first, second in pairs))


def unlike_all_others(distances: Floats) -> Ints:
    """Rows whose most similar row is far away, the farthest first."""
    logs = np.log(np.maximum(distances, 1e-9))
    low, high = np.quantile(logs, [0.25, 0.75])
    rows = np.flatnonzero(logs > high + FENCE * max(high - low, 0.05))
    return rows[np.argsort(-distances[rows], kind="stable")]


@dataclass(frozen=True)
class GroupNoise:
    """How often labels of a group are wrong, and how often those of all other rows.

    Attributes
    ----------
    name : str
    n_rows : int
    share, elsewhere : float
        Mean probability of a wrong label in the group, and outside.
    """

    name: str
    n_rows: int
    share: float
    elsewhere: float


def noisy_groups(probability_wrong: Floats, names: NDArray[np.object_]) -> list[GroupNoise]:
    """Groups whose labels are wrong clearly more or less often than all others, the largest difference first.

    Parameters
    ----------
    probability_wrong : array of shape (n_samples,)
    names : array of shape (n_samples,)
        The group of each row.
    """
    groups, index, counts = np.unique(names.astype(str), return_inverse=True, return_counts=True)
    judged = np.flatnonzero((counts >= FEWEST_IN_GROUP) & (counts <= len(names) - FEWEST_IN_GROUP))
    if not 0 < len(judged) <= MOST_GROUPS:
        return []
    least = norm.isf(ERROR / (2 * len(judged)))
    found = []
    for group in judged:
        own, others = probability_wrong[index == group], probability_wrong[index != group]
        spread = np.sqrt(own.var(ddof=1) / len(own) + others.var(ddof=1) / len(others))
        if abs(own.mean() - others.mean()) > least * max(spread, 1e-12):
            found.append(GroupNoise(str(groups[group]), len(own), float(own.mean()), float(others.mean())))
    return sorted(found, key=lambda one: -abs(one.share - one.elsewhere))
