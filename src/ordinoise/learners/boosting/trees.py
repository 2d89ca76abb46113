"""Grown trees as flat arrays: checked when they are made, so that no array can lead a walk astray."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._compiling import read_only
from ordinoise._validation import Floats, Ints, complain

from ._walk import CATEGORY, LARGEST, MISSING_LEFT, ZERO_IS_MISSING, add_trees

DTYPES = {
    "roots": np.int32,
    "features": np.int32,
    "thresholds": np.float64,
    "children": np.int32,
    "kinds": np.uint8,
    "leaves": np.float64,
    "set_starts": np.int32,
    "set_words": np.uint32,
    "gains": np.float64,
}
"""Number type of each array of `Trees`."""
MOST = 1e100  # a round number beyond any score or gain, whose sums stay finite
# Bits of LightGBM's decision_type: category, missing goes left, then two for what counts as missing.
THEIR_CATEGORY, THEIR_LEFT, THEIR_MISSING, THEIR_NOTHING, THEIR_ZERO = 1, 2, 12, 0, 4


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary trees over numbers and codes of categories; constant in their leaves.

    A reference is the number of a node, or ``~number`` of a leaf. Every node and every leaf is referred to once, by a
    root or by a node with a lower number: so a row passes each node at most once. All arrays are read-only.

    Parameters
    ----------
    roots : int32 array of shape (n_trees,)
        References to the roots.
    features : int32 array of shape (n_nodes,)
        Column that a node asks about.
    thresholds : float64 array of shape (n_nodes,)
        Numbers up to it go left. For a category it is the number of a set; categories in the set go left.
    children : int32 array of shape (n_nodes, 2)
        References to the left and the right child.
    kinds : uint8 array of shape (n_nodes,)
        1 if missing numbers go left, plus 2 if zero counts as missing; 4 for a set of categories.
    leaves : float64 array of shape (n_leaves,)
        What a tree adds to the score.
    set_starts : int32 array of shape (n_sets + 1,)
        First word of every set, and the number of words.
    set_words : uint32 array
        The sets, one bit per category.
    gains : float64 array of shape (n_features,)
        Gain of the splits by each column.
    """

    roots: NDArray[np.int32]
    features: NDArray[np.int32]
    thresholds: Floats
    children: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    leaves: Floats
    set_starts: NDArray[np.int32]
    set_words: NDArray[np.uint32]
    gains: Floats

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            values = np.asarray(getattr(self, name))
            if values.dtype != dtype:
                raise complain(name, f"be {np.dtype(dtype)} numbers", values.dtype)
            own = np.array(values, order="C")
            own.flags.writeable = False
            object.__setattr__(self, name, own)
        self._check_shapes()
        self._check_nodes()
        self._check_references()

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def n_features(self) -> int:
        """Number of columns that the trees were grown on."""
        return len(self.gains)

    @property
    def asks_category(self) -> NDArray[np.bool_]:
        """Whether a node asks for a set of categories, shape (n_nodes,)."""
        return self.kinds == CATEGORY

    @property
    def sends_missing_left(self) -> NDArray[np.bool_]:
        """Whether missing numbers go left, shape (n_nodes,)."""
        return self.kinds & MISSING_LEFT > 0

    @property
    def zero_is_missing(self) -> bool:
        """Whether some node sends zero where missing numbers go."""
        return bool(np.any(self.kinds & ZERO_IS_MISSING))

    def categories(self, node: int) -> list[int]:
        """Codes of the categories that go left at a node."""
        number = int(self.thresholds[node])
        words = self.set_words[self.set_starts[number] : self.set_starts[number + 1]]
        return [
            int(code) for code in np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))
        ]

    def add(self, rows: Floats, scores: Floats) -> None:
        """Fill `scores`, shape (n_samples, n_scores): tree t adds to score ``t % n_scores``."""
        read: list[NDArray[Any]] = [
            rows, self.roots, self.features, self.thresholds, self.children, self.kinds, self.leaves, self.set_starts,
            self.set_words,
        ]  # fmt: skip
        add_trees(*map(read_only, read), scores)

    def _check_shapes(self) -> None:
        n_nodes = len(self.features) if self.features.ndim else 0
        shapes = {"features": (n_nodes,), "thresholds": (n_nodes,), "kinds": (n_nodes,), "children": (n_nodes, 2)}
        for name, values in self.arrays.items():
            wanted = shapes.get(name)
            if values.ndim != 1 if wanted is None else values.shape != wanted:
                raise complain(name, f"have {'one dimension' if wanted is None else f'shape {wanted}'}", values.shape)

    def _check_nodes(self) -> None:
        for name, least, most in (("thresholds", -LARGEST, LARGEST), ("leaves", -MOST, MOST), ("gains", 0.0, MOST)):
            values = getattr(self, name)
            if not ((values >= least) & (values <= most)).all():
                raise complain(name, f"be finite, at least {least:g} and at most {most:g}", "others")
        if np.any((self.features < 0) | (self.features >= self.n_features)):
            raise complain("features", f"be columns below {self.n_features}", "others")
        if np.any(self.kinds > CATEGORY):
            raise complain("kinds", f"be at most {CATEGORY}", self.kinds.max())
        starts = self.set_starts
        if not len(starts) or starts[0] != 0 or np.any(starts[1:] < starts[:-1]) or starts[-1] != len(self.set_words):
            raise complain("set_starts", f"ascend from 0 to {len(self.set_words)}", starts)
        numbers = self.thresholds[self.asks_category]
        if np.any((numbers < 0) | (numbers >= len(starts) - 1) | (numbers != np.floor(numbers))):
            raise complain("thresholds of categories", f"be numbers of {len(starts) - 1} sets", "others")

    def _check_references(self) -> None:
        parents = np.arange(len(self.features))[:, None]
        if np.any((self.children >= 0) & (self.children <= parents)):
            raise complain("children", "have higher numbers than their parents", "a lower one")
        found = np.sort(np.concatenate([self.roots, self.children.ravel()]))
        if not np.array_equal(found, np.arange(-len(self.leaves), len(self.features))):
            raise complain("roots and children", "refer to every node and every leaf once", "other references")


def grown_trees(booster: Any, n_rounds: int) -> Trees:
    """The first rounds of a LightGBM booster, from its text form, which holds every digit."""
    lines = _lines_by_name(booster.model_to_string(num_iteration=n_rounds))
    n_leaves, n_sets = _whole(lines["num_leaves"]), _whole(lines["num_cat"])
    n_nodes = n_leaves - 1
    # Each tree counts its nodes, leaves and sets from zero.
    first_node, first_leaf, first_set = (counts.cumsum() - counts for counts in (n_nodes, n_leaves, n_sets))
    thresholds = np.minimum(_numbers(lines["threshold"]), LARGEST)  # infinity where only missing numbers go right
    kinds = _kinds(_whole(lines["decision_type"]), thresholds)
    children = np.stack([_whole(lines["left_child"]), _whole(lines["right_child"])], axis=1)
    shifts = np.where(children >= 0, np.repeat(first_node, n_nodes)[:, None], -np.repeat(first_leaf, n_nodes)[:, None])
    set_sizes = [np.diff(_whole([line])) for line in lines["cat_boundaries"]]
    parts = {
        "roots": np.where(n_nodes > 0, first_node, ~first_leaf),
        "features": _whole(lines["split_feature"]),
        "thresholds": thresholds + np.where(kinds == CATEGORY, np.repeat(first_set, n_nodes), 0),
        "children": children + shifts,
        "kinds": kinds,
        "leaves": _numbers(lines["leaf_value"]),
        "set_starts": np.concatenate([[0], *set_sizes]).cumsum(),
        "set_words": _whole(lines["cat_threshold"]),
        "gains": booster.feature_importance("gain", iteration=n_rounds),
    }
    return Trees(**{name: values.astype(DTYPES[name]) for name, values in parts.items()})


def _kinds(decisions: Ints, thresholds: Floats) -> Ints:
    """What each node asks, from LightGBM's decision types.

    Unless the training rows had missing numbers, LightGBM reads them as zero.
    """
    missing, zero_left = decisions & THEIR_MISSING, thresholds >= 0
    left = np.where(missing == THEIR_NOTHING, zero_left, (decisions & THEIR_LEFT) > 0)
    numeric = MISSING_LEFT * left + ZERO_IS_MISSING * ((missing == THEIR_ZERO) & (left != zero_left))
    return np.where(decisions & THEIR_CATEGORY, CATEGORY, numeric)


def _lines_by_name(text: str) -> defaultdict[str, list[str]]:
    """What follows ``name=`` in each tree that has such a line."""
    found = defaultdict(list)
    for line in text.partition("\nend of trees")[0].splitlines():
        name, _, numbers = line.partition("=")
        found[name].append(numbers)
    return found


def _numbers(lines: list[str]) -> Floats:
    return np.fromstring(" ".join(filter(None, lines)), sep=" ")


def _whole(lines: list[str]) -> Ints:
    return np.fromstring(" ".join(filter(None, lines)), dtype=np.int64, sep=" ")
