"""What deserves a look besides suspected labels: near-duplicates, rows unlike all others, noisy groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact, norm

from ordinoise._validation import Floats, Ints
from ordinoise.audit.prevalence.ceiling import upper_share
from ordinoise.estimate import Estimate

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
class Group:
    """A group of rows whose labels look clearly more suspicious than all others.

    Attributes
    ----------
    name : str
    n_rows : int
    share, elsewhere : float
        Mean suspicion in the group, and outside.
    z : float
        Their difference in standard errors.
    """

    name: str
    n_rows: int
    share: float
    elsewhere: float
    z: float


@dataclass(frozen=True)
class GroupRate:
    """How often labels of a group, and those of all other rows, are wrong, by rows that were verified at random.

    Attributes
    ----------
    name : str
    own, others : tuple of int
        Verified rows, and those found wrong, in the group and outside.
    share, elsewhere : Estimate
        Shares of wrong labels; their intervals hold for all groups that were looked at together.
    """

    name: str
    own: tuple[int, int]
    others: tuple[int, int]
    share: Estimate
    elsewhere: Estimate


def judged_groups(names: NDArray[np.object_]) -> list[str]:
    """Groups of a column that can be judged, and that others can be compared with."""
    groups, counts = np.unique(names.astype(str), return_counts=True)
    judged = groups[(counts >= FEWEST_IN_GROUP) & (counts <= len(names) - FEWEST_IN_GROUP)].tolist()
    return judged if len(judged) <= MOST_GROUPS else []


def suspicious_groups(suspicion: Floats, names: NDArray[np.object_], n_looks: int) -> list[Group]:
    """Groups whose labels look clearly more suspicious than all others, the clearest first.

    Parameters
    ----------
    suspicion : array of shape (n_samples,)
    names : array of shape (n_samples,)
        The group of each row.
    n_looks : int
        Groups that are looked at, those of other columns too.
    """
    least, texts = norm.isf(ERROR / (2 * max(n_looks, 1))), names.astype(str)
    found = []
    for group in judged_groups(names):
        own, others = suspicion[texts == group], suspicion[texts != group]
        spread = np.sqrt(own.var(ddof=1) / len(own) + others.var(ddof=1) / len(others))
        z = float((own.mean() - others.mean()) / max(spread, 1e-12))
        if z > least:
            found.append(Group(group, len(own), float(own.mean()), float(others.mean()), z))
    return sorted(found, key=lambda one: -one.z)


def wrong_rates(
    is_wrong: NDArray[np.bool_], names: NDArray[np.object_], groups: Sequence[str], n_looks: int, confidence: float
) -> list[GroupRate]:
    """Groups that are wrong clearly more often than all others, by rows drawn at random, the largest difference first.

    Parameters
    ----------
    is_wrong : bool array of shape (n_verified,)
        Whether each verified row was found wrong.
    names : array of shape (n_verified,)
        The group of each.
    groups : sequence of str
        Those that are looked at.
    n_looks : int
        Groups that are looked at, those of other columns too: test and intervals share the error among them.
    confidence : float
        That all intervals hold, and that no group is named by chance.
    """
    error, texts, found = (1 - confidence) / max(n_looks, 1), names.astype(str), []
    for group in groups:
        own, others = is_wrong[texts == group], is_wrong[texts != group]
        counts = [(len(rows), int(rows.sum())) for rows in (own, others)]
        table = np.array([[n_wrong, n_rows - n_wrong] for n_rows, n_wrong in counts])
        if len(own) and len(others) and fisher_exact(table, alternative="greater").pvalue <= error:
            shares = [_share(*one, error / 2, confidence) for one in counts]  # one interval in the group, one outside
            found.append(GroupRate(group, counts[0], counts[1], shares[0], shares[1]))
    return sorted(found, key=lambda one: one.elsewhere.value - one.share.value)


def _share(n_rows: int, n_wrong: int, error: float, confidence: float) -> Estimate:
    """Share of wrong labels with the interval of Clopper and Pearson."""
    low = 1 - upper_share(n_rows - n_wrong, n_rows, error / 2)
    return Estimate(n_wrong / n_rows, low, upper_share(n_wrong, n_rows, error / 2), confidence)
