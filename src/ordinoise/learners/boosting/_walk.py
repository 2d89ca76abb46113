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
BLOCK_ROWS = 32  # rows that go down one tree before the next: 32 rows of 100 columns fit the nearest cache
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


@njit(**OPTIONS)
def _step_together(
    block: Floats,
    n: int,
    root: int,
    depth: int,
    features: NDArray[np.int32],
    thresholds: Floats,
    children: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    nodes: NDArray[np.int32],
) -> None:
    """Take n rows of a block from the root to their leaves; `children` is flat."""
    for _ in range(depth):
        for i in range(n):
            here = nodes[i]
            at = max(here, root)  # a row that has reached its leaf asks the root again, in vain
            x = block[i, features[at]]
            right = not ((x <= thresholds[at]) | ((x != x) & (kinds[at] == MISSING_LEFT)))
            child = children[2 * at + right]
            nodes[i] = child if here >= 0 else here


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

    The other arrays are those of `Trees`, which has checked them: nothing is checked here. Where a tree only compares
    numbers, all rows of a block take a step before any takes the next, as many steps as the tree is deep: no branch
    depends on the data, and the processor works on several rows at once. Other trees are walked row by row.
    """
    n_samples, n_scores = scores.shape
    # A node's number is below those of its children, so that one pass finds the depth of every tree.
    tree_of, level = np.empty(len(features), np.int32), np.zeros(len(features), np.int32)
    depths, compares_only = np.zeros(len(roots), np.int32), np.ones(len(roots), np.bool_)
    for t in range(len(roots)):
        if roots[t] >= 0:
            tree_of[roots[t]] = t
    for node in range(len(features)):
        t = tree_of[node]
        depths[t] = max(depths[t], level[node] + 1)
        compares_only[t] &= kinds[node] < ZERO_IS_MISSING
        for side in range(2):
            child = children[node, side]
            if child >= 0:
                tree_of[child], level[child] = t, level[node] + 1
    block, nodes, flat = np.empty((BLOCK_ROWS, rows.shape[1])), np.empty(BLOCK_ROWS, np.int32), children.reshape(-1)
    for low in range(0, n_samples, BLOCK_ROWS):
        n = min(BLOCK_ROWS, n_samples - low)
        for i in range(n):
            for j in range(rows.shape[1]):
                x = rows[low + i, j]
                block[i, j] = 0.0 if abs(x) <= ZERO else LARGEST if x > LARGEST else x
            for k in range(n_scores):
                scores[low + i, k] = 0.0
        for t in range(len(roots)):
            k, root = t % n_scores, roots[t]
            for i in range(n):
                nodes[i] = root
            if compares_only[t]:
                _step_together(block, n, root, depths[t], features, thresholds, flat, kinds, nodes)
            else:
                for i in range(n):
                    node = root
                    while node >= 0:
                        x, kind = block[i, features[node]], kinds[node]
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
                    nodes[i] = node
            for i in range(n):
                scores[low + i, k] += leaves[~nodes[i]]


add_trees = compiled_and_kept(_add_trees, **OPTIONS)
