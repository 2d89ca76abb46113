"""Groups of raters who agree among themselves more than with the others, and which of those groups copy.

Copies in the majority are the consensus, so that what a rater's errors have in common with it shows nothing. This
statistic is symmetric between two sides A and B, with C the correlations of the grades of pairs of raters:

    r* = mean C[A, B] / sqrt(mean C[A, A] * mean C[B, B])          correlation of *what the two sides measure*

It is 1 if all perceive one score, however good or bad each rater is. A tree of average linkage is split where r* is
clearly below 1.

Whose side is right no correlation can say, but equality says who copies: raters who perceive one score are equal as
often as their correlation implies, copiers more often. Unequal difficulty of the items raises this for everybody, so
that groups of one panel are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.raters.correlations import (
    FEWEST_KNOWN,
    correlations,
    grades_by_rater,
    known_mean,
    likeness,
    may_be_known,
    sums_by_block,
    within,
)
from ordinoise.estimation.raters.equality import equality
from ordinoise.estimation.raters.ratings import Ratings
from ordinoise.estimation.raters.votes import votes_at_most

ONE_SCORE, ERRORS = 0.9, 5.0
"""Two sides measure different things if r* is below the first and by so many standard errors below 1. The sides of a
tree are chosen to differ, hence five errors: with three, 7 of 240 panels of independent raters were split."""
LEAST_SHARED = 0.1
"""Raters whose grades correlate less than this guess: they measure nothing, and are no side. Chosen by no run."""
MORE_EQUAL, COPIED = 0.07, 0.97
"""A group copies if its raters are so much more often equal, beyond their correlation, than those of another group, or
if their grades are so correlated. Chosen on simulated copies, where the gap is wide (.00 against .20)."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """Groups of raters, by number, and which of them count as one rater.

    Attributes
    ----------
    n_raters : int
    groups : tuple of tuple of int
        All raters, in groups that measure different things; a single group if no split was found.
    is_copying : tuple of bool
        For each group, whether its raters copy one another or one source.
    likeness : float
        Largest r* of two groups; 1 if there is only one group.
    equal, expected : float
        How often the raters of the copying groups are equal, and how often their correlation implies.
    votes : float
        So many independent raters the panel is worth at most: what all of them get wrong is not seen.
    """

    n_raters: int
    groups: tuple[tuple[int, ...], ...]
    is_copying: tuple[bool, ...]
    likeness: float = 1.0
    equal: float = np.nan
    expected: float = np.nan
    votes: float = np.nan

    @property
    def collapsed_groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of which each counts as one rater: those that copy, or all if none or every one does."""
        if len(self.groups) == 1:
            return ()
        some = [group for group, copies in zip(self.groups, self.is_copying, strict=True) if copies]
        of_several = [group for group in self.groups if len(group) > 1]
        return tuple(some if 0 < len(some) < len(of_several) else of_several)

    @property
    def names_copiers(self) -> bool:
        """Whether some groups copy and others do not, so that equality shows which ones to count once."""
        return 0 < sum(self.is_copying) < len([group for group in self.groups if len(group) > 1])

    @property
    def voice_of(self) -> Ints:
        """Number of the voice of each rater: its own, or that of its collapsed group."""
        first = np.arange(self.n_raters)
        for group in self.collapsed_groups:
            first[list(group)] = min(group)
        return np.unique(first, return_inverse=True)[1].astype(np.int64)

    def collapsed(self, ratings: Ratings) -> Ratings:
        """The ratings with one rater in the place of each collapsed group: the lower median of its grades."""
        if not self.collapsed_groups:
            return ratings
        voice, (n_items, _, n_classes) = self.voice_of, ratings.shape
        raters = voice[ratings.raters]
        is_one = np.isin(voice, voice[[group[0] for group in self.collapsed_groups]])[ratings.raters]
        cell = np.where(is_one, raters * n_items + ratings.items, -1 - np.arange(len(raters)))
        order = np.lexsort((ratings.grades, cell))
        _, start, number = np.unique(cell[order], return_index=True, return_counts=True)
        kept = order[start + (number - 1) // 2]
        kept = kept[np.lexsort((ratings.grades[kept], raters[kept], ratings.items[kept]))]
        return Ratings(
            ratings.items[kept], raters[kept], ratings.grades[kept], (n_items, int(voice.max()) + 1, n_classes)
        )

    def sentence(self, names: NDArray[Any]) -> str:
        """What depends on what, with the names of the raters."""
        if self.names_copiers:
            members = [names[at] for group in self.collapsed_groups for at in group]
            n_voices = len(self.collapsed_groups)
            as_one = "one: they count as one" if n_voices == 1 else f"{n_voices}: they count as {n_voices}"
            return (
                f"{len(members)} of {self.n_raters} raters ({listed(members)}) grade as {as_one}, as they give equal "
                f"grades {self.equal:.2f} of the time, where {self.expected:.2f} is expected of people who agree so far"
            )
        several = [group for group in self.groups if len(group) > 1]
        sides = "; ".join(listed([names[at] for at in group]) for group in several)
        alone = f", besides {self.n_raters - sum(map(len, several))} others" if len(several) < len(self.groups) else ""
        counted = f"{len(several)} groups of raters measure" if len(several) > 1 else "a group of raters measures"
        return (
            f"{counted} different things (correlation {self.likeness:.2f}): {sides}{alone}; each counts as one, and "
            f"which is right only verified grades can show: {self.n_raters} raters are worth at most "
            f"{self.votes:.0f} votes, and what all of them get wrong is not seen"
        )


def listed(names: list[Any], most: int = 4) -> str:
    """A few names, and how many more."""
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def dependence(ratings: Ratings) -> Dependence:
    """Groups of raters who measure different things; a single group if too few pairs share items to tell."""
    n_raters = ratings.shape[1]
    whole = Dependence(n_raters, (tuple(range(n_raters)),), (False,))
    if n_raters < 4 or not may_be_known(ratings):
        return whole
    grades = grades_by_rater(ratings)
    parts = sums_by_block(grades)
    total = parts.sum(axis=0)
    found = correlations(total)
    off = ~np.eye(n_raters, dtype=bool)
    if np.isfinite(found[off]).mean() < FEWEST_KNOWN:
        return whole
    groups = groups_of(found, [correlations(total - part) for part in parts])
    if len(groups) == 1:
        return whole
    return _described(grades, ratings.shape[2], found, groups)


def groups_of(found: Floats, left_out: list[Floats]) -> list[list[int]]:
    """Leaves of the tree of raters, split where the two sides measure different things.

    Parameters
    ----------
    found : array of shape (n_raters, n_raters)
        Correlations of the grades of pairs, NaN if not known.
    left_out : list of arrays
        The correlations without each block of items.
    """
    from scipy.cluster.hierarchy import linkage, to_tree
    from scipy.spatial.distance import squareform

    known = np.where(np.isfinite(found), found, known_mean(found[~np.eye(len(found), dtype=bool)]))
    distance = np.maximum(1 - known, 0.0)
    np.fill_diagonal(distance, 0.0)
    tree = to_tree(linkage(squareform((distance + distance.T) / 2, checks=False), "average"))

    def is_side(node: Any) -> bool:
        return node.count > 1 and within(found, node.pre_order()) >= LEAST_SHARED

    def walk(node: Any) -> list[list[int]]:
        alone: list[list[int]] = []
        while not node.is_leaf() and not (is_side(node.left) and is_side(node.right)):
            lone, node = sorted((node.left, node.right), key=lambda side: (is_side(side), side.count))
            alone += [[rater] for rater in lone.pre_order()]  # a lone rater is no group
        if not node.is_leaf():
            one, other = node.left.pre_order(), node.right.pre_order()
            if _is_split(found, left_out, one, other):
                return [*walk(node.left), *walk(node.right), *alone]
        return [sorted(sum(alone, node.pre_order()))]

    return sorted(walk(tree))


def _is_split(found: Floats, left_out: list[Floats], one: list[int], other: list[int]) -> bool:
    value = likeness(found, one, other)
    each = np.array([likeness(without, one, other) for without in left_out])
    error = float(np.sqrt((len(each) - 1) * np.mean((each - each.mean()) ** 2)))  # jackknife
    return value < ONE_SCORE and value + ERRORS * error < 1


def _described(grades: Floats, n_classes: int, found: Floats, groups: list[list[int]]) -> Dependence:
    looks = [equality(grades, group, n_classes) if len(group) > 1 else (np.nan, np.nan) for group in groups]
    excess = np.array([equal - expected for equal, expected in looks])
    least = np.nanmin(excess, initial=np.inf)
    copying = [
        len(group) > 1 and bool(excess[at] - least > MORE_EQUAL or within(found, group) > COPIED)
        for at, group in enumerate(groups)
    ]
    named = [looks[at] for at, copies in enumerate(copying) if copies]
    equal, expected = np.mean(named, axis=0).tolist() if named else (np.nan, np.nan)
    pairs = [likeness(found, *two) for two in combinations([group for group in groups if len(group) > 1], 2)]
    return Dependence(
        len(found), tuple(map(tuple, groups)), tuple(copying), max(pairs, default=np.nan), equal, expected,
        votes_at_most(found, groups),
    )  # fmt: skip
