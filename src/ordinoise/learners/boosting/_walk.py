"""The sums of trees over rows of numbers, in one compiled pass; the same numbers as LightGBM's, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ordinoise._compiling import compiled_and_kept
from ordinoise._validation import Floats

# What a node asks; the first two may be combined.
MISSING_LEFT, ZERO_IS_MISSING, CATEGORY = 1, 2, 4
ZERO = float(np.float32(1e-35))  # LightGBM's kZeroThreshold: it reads numbers up to this as zero
LARGEST = float(np.finfo(np.float64).max)  # stands for infinity, so that all thresholds are finite
MOST_CODES = 2.0**31  # codes of categories are 32-bit numbers there
BLOCK_ROWS = 64  # rows that pass one tree before the next: 64 rows of 60 columns fit the nearest cache
MOST_LEAVES = 64  # of a tree whose leaves are the bits of one number
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
UInt64s = NDArray[np.uint64]


@njit(**OPTIONS)
def _fill_masks(
    roots: NDArray[np.int32],
    children: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    masks: UInt64s,
    nodes: NDArray[np.int32],
    starts: NDArray[np.int32],
    leaf_at: NDArray[np.int32],
) -> None:
    """Fill what `_reach_leaves` reads of every tree t that only compares numbers and has at most 64 leaves.

    Its leaves are numbered from left to right. ``masks[node]`` has a zero for each leaf below the left child,
    ``nodes[starts[t] : starts[t + 1]]`` are its nodes (none of other trees), and ``leaf_at[t, number]`` are its leaves.
    """
    n_nodes, n_trees = len(kinds), len(roots)
    tree_of, n_below, first = np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32)
    fits = np.ones(n_trees, np.bool_)
    for t in range(n_trees):
        if roots[t] >= 0:
            tree_of[roots[t]] = t
    # A node's number is below those of its children, so that one pass each way is enough.
    for node in range(n_nodes):
        for side in range(2):
            if children[node, side] >= 0:
                tree_of[children[node, side]] = tree_of[node]
        fits[tree_of[node]] &= kinds[node] < ZERO_IS_MISSING
    for node in range(n_nodes - 1, -1, -1):
        for side in range(2):
            n_below[node] += n_below[children[node, side]] if children[node, side] >= 0 else 1
    for t in range(n_trees):
        if roots[t] >= 0:
            fits[t] &= n_below[roots[t]] <= MOST_LEAVES
        else:
            fits[t] = False
    starts[:] = 0
    for node in range(n_nodes):
        starts[tree_of[node] + 1] += fits[tree_of[node]]
    for t in range(n_trees):
        starts[t + 1] += starts[t]
    ends = starts[:-1].copy()
    for node in range(n_nodes):
        t = tree_of[node]
        if not fits[t]:
            continue
        nodes[ends[t]] = node
        ends[t] += 1
        left, right = children[node, 0], children[node, 1]
        n_left = n_below[left] if left >= 0 else 1
        masks[node] = ~(((np.uint64(1) << np.uint64(n_left)) - np.uint64(1)) << np.uint64(first[node]))
        if left >= 0:
            first[left] = first[node]
        else:
            leaf_at[t, first[node]] = ~left
        if right >= 0:
            first[right] = first[node] + n_left
        else:
            leaf_at[t, first[node] + n_left] = ~right


@njit(**OPTIONS)
def _reach_leaves(
    columns: Floats,
    nodes: NDArray[np.int32],
    features: NDArray[np.int32],
    thresholds: Floats,
    kinds: NDArray[np.uint8],
    masks: UInt64s,
    reach: UInt64s,
) -> None:
    """Fill the leaves that each row of a block can still reach, as bits: the lowest is where it ends.

    A row that goes right at a node loses the leaves to the left of it. All nodes of the tree are asked, in any order:
    that is more questions than on one path, but no row waits for an answer, and the loops become vector instructions.
    """
    all_leaves = ~np.uint64(0)
    reach[:] = all_leaves
    for at in range(len(nodes)):
        node = nodes[at]
        column, threshold, mask = columns[features[node]], thresholds[node], masks[node]
        if kinds[node] == MISSING_LEFT:
            for i in range(BLOCK_ROWS):
                reach[i] &= mask if column[i] > threshold else all_leaves
        else:
            for i in range(BLOCK_ROWS):
                reach[i] &= all_leaves if column[i] <= threshold else mask


@njit(**OPTIONS)
def _leaf_of(
    columns: Floats,
    i: int,
    root: int,
    features: NDArray[np.int32],
    thresholds: Floats,
    children: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    set_starts: NDArray[np.int32],
    set_words: NDArray[np.uint32],
) -> int:
    """The leaf where row i of a block ends, node by node."""
    node = root
    while node >= 0:
        x, kind = columns[features[node], i], kinds[node]
        if kind < ZERO_IS_MISSING:
            left = (x <= thresholds[node]) | ((x != x) & (kind == MISSING_LEFT))
        elif kind < CATEGORY:
            is_missing = (x != x) | (x == 0.0)
            left = kind == ZERO_IS_MISSING | MISSING_LEFT if is_missing else x <= thresholds[node]
        else:  # whether the bit of the category, cut to a whole number, is in the set
            left, number = False, int(thresholds[node])
            if x > -1.0 and x < MOST_CODES:
                code = int(x)
                word = set_starts[number] + (code >> 5)
                if word < set_starts[number + 1]:
                    left = (set_words[word] >> np.uint32(code & 31)) & np.uint32(1) != 0
        node = children[node, 0 if left else 1]
    return ~node


def _add_trees(
    rows: Floats,
    roots: NDArray[np.int32],
    features: NDArray[np.int32],
    thresholds: Floats,
    children: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    leaves: Floats,
    set_starts: NDArray[np.int32],
    set_words: NDArray[np.uint32],
    scores: Floats,
) -> None:
    """Fill `scores` (n_samples, n_scores): tree t adds to score ``t % n_scores``, in the order of the trees.

    The other arrays are those of `Trees`, which has checked them: nothing is checked here. Trees that only compare
    numbers and have at most 64 leaves are passed by `_reach_leaves`, others node by node.
    """
    n_samples, n_scores = scores.shape
    masks, nodes = np.empty(len(features), np.uint64), np.empty(len(features), np.int32)
    starts, leaf_at = np.empty(len(roots) + 1, np.int32), np.empty((len(roots), MOST_LEAVES), np.int32)
    _fill_masks(roots, children, kinds, masks, nodes, starts, leaf_at)
    columns, reach = np.zeros((rows.shape[1], BLOCK_ROWS)), np.empty(BLOCK_ROWS, np.uint64)
    sums = np.empty((n_scores, BLOCK_ROWS))
    for low in range(0, n_samples, BLOCK_ROWS):
        n = min(BLOCK_ROWS, n_samples - low)
        for i in range(n):
            for j in range(rows.shape[1]):
                x = rows[low + i, j]
                columns[j, i] = 0.0 if abs(x) <= ZERO else LARGEST if x > LARGEST else x
        sums[:] = 0.0
        for t in range(len(roots)):
            own = sums[t % n_scores]
            if starts[t] < starts[t + 1]:
                _reach_leaves(columns, nodes[starts[t] : starts[t + 1]], features, thresholds, kinds, masks, reach)
                for i in range(n):
                    # The number of the lowest bit, from the exponent of that power of two.
                    lowest = np.float64(reach[i] & (~reach[i] + np.uint64(1)))
                    number = (lowest.view(np.int64) >> np.int64(52)) - np.int64(1023)
                    own[i] += leaves[leaf_at[t, number]]
            else:
                for i in range(n):
                    own[i] += leaves[
                        _leaf_of(columns, i, roots[t], features, thresholds, children, kinds, set_starts, set_words)
                    ]
        for i in range(n):
            for k in range(n_scores):
                scores[low + i, k] = sums[k, i]


add_trees = compiled_and_kept(_add_trees, **OPTIONS)
