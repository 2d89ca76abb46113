"""LightGBM's trees as one ONNX node that compares in double precision: every sample reaches the same leaves.

The successor of `TreeEnsembleRegressor` also adds in double precision and supports sets, but onnxruntime before 1.23
evaluated it wrongly without an error. Sets of categories become columns of zeros and ones in front of the trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordinoise._validation import Floats, complain
from ordinoise.export.classifier import add_class_probabilities
from ordinoise.export.graph import Graph
from ordinoise.export.tables import Categories, category_values, is_among

LEAF, AT_MOST, ABOVE = "LEAF", "BRANCH_LEQ", "BRANCH_GT"
NO_TREE: dict[str, Any] = {"tree_structure": {"leaf_value": 0.0}}

Tree = Mapping[str, Any]


@dataclass(frozen=True)
class _Trees:
    """The columns of ONNX's table of nodes, including leaves; node numbers start at zero in every tree.

    `sets` holds the categorical column and the codes of each set that a node tests; the result of the test is an
    additional column after the `n_features` others.
    """

    n_features: int
    sets: list[tuple[int, list[int]]] = field(default_factory=list)
    trees: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    missing_goes_left: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)

    def add_tree(self, tree: Tree) -> None:
        """Append the nodes of a whole tree."""
        self._add(tree, self.trees[-1] + 1 if self.trees else 0, len(self.trees))

    def _add(self, tree: Tree, number: int, first: int) -> int:
        """Append the nodes of a subtree; returns the number of its root."""
        place = len(self.trees) - first
        self.trees.append(number)
        self.places.append(place)
        self.children.append([])
        mode, feature, split, missing_goes_left = self._question(tree)
        self.modes.append(mode)
        self.features.append(feature)
        self.splits.append(split)
        self.missing_goes_left.append(int(missing_goes_left))
        children = [] if mode == LEAF else [tree["left_child"], tree["right_child"]]
        self.children[first + place].extend([self._add(child, number, first) for child in children] or [0, 0])
        return place

    def _question(self, tree: Tree) -> tuple[str, int, float, bool]:
        """Mode, column, split and default direction of a node; the split of a leaf is its value."""
        if "split_feature" not in tree:
            return LEAF, 0, _leaf_value(tree), False
        if tree["decision_type"] == "==":
            self.sets.append((tree["split_feature"], [int(code) for code in tree["threshold"].split("||")]))
            return ABOVE, self.n_features + len(self.sets) - 1, 0.5, False
        return AT_MOST, tree["split_feature"], tree["threshold"], _missing_goes_left(tree)


def tree_probabilities(
    graph: Graph, dump: Mapping[str, Any], head: str, offsets: Floats, categories: Categories
) -> str:
    """Name of the class probabilities of boosted trees.

    Parameters
    ----------
    graph : Graph
    dump : mapping
        ``Booster.dump_model()``.
    head : {"ordered", "softmax"}
        One score for all classes, or one score per class.
    offsets : array of shape (n_classes - 1,) or (n_classes,)
        Added to the scores: thresholds, or initial logits of the softmax.
    categories : mapping of int to sequence
        By number of the categorical column: its categories in the order of their codes; see `category_values`.
    """
    n_scores = 1 if head == "ordered" else len(offsets)
    trees = _Trees(graph.shape[0])
    for tree in dump["tree_info"] or [NO_TREE]:
        trees.add_tree(tree["tree_structure"])
    features = _with_sets(graph, trees.sets, categories)
    sums = graph.add("TreeEnsembleRegressor", features, domain="ai.onnx.ml", **_attributes(graph, trees, n_scores))
    logits = graph.add("Add", graph.cast(sums, "float64"), graph.constant(offsets))
    if head == "ordered":
        return add_class_probabilities(graph, logits, len(offsets) + 1)
    return graph.add("Softmax", logits, axis=1)


def _with_sets(graph: Graph, sets: list[tuple[int, list[int]]], categories: Categories) -> str:
    """Name of the features with one column per set appended, 1 where the category is in the set."""
    values = category_values(graph, categories)
    parts = [graph.features()]
    for column, codes in sets:
        parts.append(is_among(graph, column, values[column][codes]))
    return graph.add("Concat", *parts, axis=1) if sets else parts[0]


def _attributes(graph: Graph, trees: _Trees, n_scores: int) -> dict[str, Any]:
    tensor = graph.onnx.numpy_helper.from_array
    leaves = [row for row, mode in enumerate(trees.modes) if mode == LEAF]
    return {
        "aggregate_function": "SUM",
        "n_targets": n_scores,
        "nodes_treeids": trees.trees,
        "nodes_nodeids": trees.places,
        "nodes_modes": trees.modes,
        "nodes_featureids": trees.features,
        "nodes_values_as_tensor": tensor(np.array(trees.splits)),
        "nodes_missing_value_tracks_true": trees.missing_goes_left,
        "nodes_truenodeids": [left for left, _ in trees.children],
        "nodes_falsenodeids": [right for _, right in trees.children],
        "target_treeids": [trees.trees[row] for row in leaves],
        "target_nodeids": [trees.places[row] for row in leaves],
        "target_ids": [trees.trees[row] % n_scores for row in leaves],
        "target_weights_as_tensor": tensor(np.array([trees.splits[row] for row in leaves])),
    }


def _leaf_value(leaf: Tree) -> float:
    if "leaf_coeff" in leaf:
        raise complain("trees", "have constant leaves to be written as ONNX", "linear trees")
    return float(leaf["leaf_value"])


def _missing_goes_left(node: Tree) -> bool:
    """Whether a missing number goes left; LightGBM treats it as zero unless the training data had missing numbers."""
    goes_left, zero_goes_left = bool(node["default_left"]), bool(node["threshold"] >= 0)
    if node["missing_type"] == "Zero" and goes_left != zero_goes_left:
        raise complain("zero_as_missing", "be False for trees to be written as ONNX", "True")
    return goes_left if node["missing_type"] == "NaN" else zero_goes_left
