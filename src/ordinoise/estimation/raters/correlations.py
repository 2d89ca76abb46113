"""Correlations of the grades of pairs of raters on the items that both graded."""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats
from ordinoise.estimation.raters.ratings import LEAST, Ratings

FEWEST_COMMON, FEWEST_KNOWN = 20, 0.8
"""Common items below which the correlation of a pair counts as unknown, and share of the pairs that must be known.
Round numbers; with half of the pairs the 15 busiest workers of web search were split."""
N_BLOCKS, FEW_BLOCKS, MANY_RATERS = 40, 10, 200
"""Blocks of items that are left out in turn for standard errors; fewer of many raters, for memory."""
MOST_RATERS, MOST_ITEMS = 1000, 20_000
"""Of more raters no groups are sought, and of more items so many are looked at."""
LEAST_WITHIN = 0.02
"""Least correlation within a group, so that ratios exist."""


def may_be_known(ratings: Ratings) -> bool:
    """Whether items have enough ratings for most pairs to share enough of them, and raters are not too many."""
    n_items, n_raters, _ = ratings.shape
    each = np.bincount(ratings.items, minlength=n_items).astype(np.float64)
    needed = FEWEST_KNOWN * FEWEST_COMMON * n_raters * (n_raters - 1)
    return n_raters <= MOST_RATERS and bool((each * (each - 1)).sum() >= needed)


def grades_by_rater(ratings: Ratings) -> Floats:
    """Mean grade of each rater for each item, (n_raters, n_items), NaN where there is none; of many items a sample."""
    n_items, n_raters, _ = ratings.shape
    if n_items > MOST_ITEMS:
        number = np.full(n_items, -1)
        number[np.random.default_rng(0).choice(n_items, MOST_ITEMS, replace=False)] = np.arange(MOST_ITEMS)
        drawn = number[ratings.items] >= 0
        items = number[ratings.items[drawn]]
        shape = (MOST_ITEMS, n_raters, ratings.shape[2])
        return grades_by_rater(Ratings(items, ratings.raters[drawn], ratings.grades[drawn], shape))
    number, total = np.zeros((n_raters, n_items)), np.zeros((n_raters, n_items))
    np.add.at(number, (ratings.raters, ratings.items), 1)
    np.add.at(total, (ratings.raters, ratings.items), ratings.grades)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def sums_of_pairs(grades: Floats) -> Floats:
    """What correlations need of each pair of raters on their common items: number, sums, squares, products."""
    given = np.isfinite(grades).astype(np.float64)
    x = np.nan_to_num(grades, nan=0.0)
    return np.array([given @ given.T, x @ given.T, x**2 @ given.T, x @ x.T])


def sums_by_block(grades: Floats) -> Floats:
    """The sums of pairs in each of some blocks of items."""
    n_raters, n_items = grades.shape
    n_blocks = N_BLOCKS if n_raters <= MANY_RATERS else FEW_BLOCKS
    block = np.random.default_rng(0).permutation(n_items) % n_blocks
    centered = grades - np.nanmean(grades)
    return np.array([sums_of_pairs(centered[:, block == each]) for each in range(n_blocks)])


def correlations(sums: Floats) -> Floats:
    """Correlation of each pair of raters on their common items; NaN if these are too few."""
    number, total, squares, products = sums
    n = np.maximum(number, 1)
    mean = total / n
    variance = squares / n - mean**2
    scale = np.sqrt(np.maximum(variance * variance.T, 0.0))
    covariance = products / n - mean * mean.T
    known = (number >= FEWEST_COMMON) & (scale > LEAST)
    return np.where(known, covariance / np.where(known, scale, 1.0), np.nan)


def known_mean(values: Floats) -> float:
    """Mean of the values that are not NaN; NaN if all are."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def within(found: Floats, group: list[int]) -> float:
    """Mean correlation of two raters of a group."""
    inside = found[np.ix_(group, group)]
    return max(known_mean(inside[~np.eye(len(group), dtype=bool)]), LEAST_WITHIN)


def likeness(found: Floats, one: list[int], other: list[int]) -> float:
    """r* of two groups of raters."""
    return known_mean(found[np.ix_(one, other)].ravel()) / float(np.sqrt(within(found, one) * within(found, other)))
