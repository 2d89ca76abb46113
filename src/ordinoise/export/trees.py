"""Boosted trees as one ONNX node that compares in double precision: every sample reaches the same leaves.

The successor of `TreeEnsembleRegressor` also adds in double precision and supports sets, but onnxruntime before 1.23
evaluated it wrongly without an error. Sets of categories become columns of zeros and ones in front of the trees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ordinoise._validation import Ints, complain
from ordinoise.export.classifier import add_class_probabilities
from ordinoise.export.graph import Graph
from ordinoise.export.tables import Categories, category_values, is_among
from ordinoise.learners.boosting import Ensemble, Trees

LEAF, AT_MOST, ABOVE = "LEAF", "BRANCH_LEQ", "BRANCH_GT"


def tree_probabilities(graph: Graph, ensemble: Ensemble, categories: Categories) -> str:
    """Name of the class probabilities of boosted trees.

    Parameters
    ----------
    graph : Graph
    ensemble : Ensemble
        Trees that were grown on the graph's features.
    categories : mapping of int to sequence
        By number of the categorical column: its categories in the order of their codes; see `category_values`.
    """
    trees = ensemble.trees
    if trees.zero_is_missing:
        raise complain("zero_as_missing", "be False for trees to be written as ONNX", "True")
    if not trees.n_trees:  # ONNX has no ensemble without trees
        trees = replace(trees, roots=np.array([~0], dtype=np.int32), leaves=np.zeros(1))
    features = _with_sets(graph, trees, categories)
    attributes = _attributes(graph, trees, ensemble.n_scores)
    sums = graph.add("TreeEnsembleRegressor", features, domain="ai.onnx.ml", **attributes)
    logits = graph.add("Add", graph.cast(sums, "float64"), graph.constant(ensemble.offsets))
    if ensemble.head == "ordered":
        return add_class_probabilities(graph, logits, ensemble.n_classes)
    return graph.add("Softmax", logits, axis=1)


def _with_sets(graph: Graph, trees: Trees, categories: Categories) -> str:
    """Name of the features with one column per node that asks for categories, 1 where the category is in its set."""
    values = category_values(graph, categories)
    parts = [graph.features()]
    for node in np.flatnonzero(trees.asks_category).tolist():
        known = values[int(trees.features[node])]
        codes = [code for code in trees.categories(node) if code < len(known)]
        parts.append(is_among(graph, int(trees.features[node]), known[codes]))
    return graph.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]


def _attributes(graph: Graph, trees: Trees, n_scores: int) -> dict[str, Any]:
    """ONNX's table: one row per node, then one per leaf, sorted by tree; each tree counts its rows from its root."""
    n_nodes, n_leaves = len(trees.features), len(trees.leaves)
    owners = _owners(trees)
    order = np.argsort(owners, kind="stable")
    owners, is_leaf = owners[order], order >= n_nodes
    places = np.empty(n_nodes + n_leaves, dtype=np.int64)
    places[order] = np.arange(len(order)) - np.searchsorted(owners, owners)
    of_leaves, asks = np.zeros(n_leaves, dtype=np.int64), trees.asks_category
    columns = np.where(asks, graph.shape[0] + np.cumsum(asks) - 1, trees.features)
    splits = np.concatenate([np.where(asks, 0.5, trees.thresholds), trees.leaves])[order]
    modes = np.concatenate([np.where(asks, ABOVE, AT_MOST), np.full(n_leaves, LEAF)])[order]
    left, right = (
        np.concatenate([places[_rows(children, n_nodes)], of_leaves])[order] for children in trees.children.T
    )
    tensor = graph.onnx.numpy_helper.from_array
    return {
        "aggregate_function": "SUM",
        "n_targets": n_scores,
        "nodes_treeids": owners.tolist(),
        "nodes_nodeids": places[order].tolist(),
        "nodes_modes": modes.tolist(),
        "nodes_featureids": np.concatenate([columns, of_leaves])[order].tolist(),
        "nodes_values_as_tensor": tensor(splits),
        "nodes_missing_value_tracks_true": np.concatenate([trees.sends_missing_left, of_leaves])[order].tolist(),
        "nodes_truenodeids": left.tolist(),
        "nodes_falsenodeids": right.tolist(),
        "target_treeids": owners[is_leaf].tolist(),
        "target_nodeids": places[order][is_leaf].tolist(),
        "target_ids": (owners[is_leaf] % n_scores).tolist(),
        "target_weights_as_tensor": tensor(splits[is_leaf]),
    }


def _rows(references: Any, n_nodes: int) -> Ints:
    """Rows of references in a table of all nodes and then all leaves."""
    return np.where(references >= 0, references, n_nodes + ~references)


def _owners(trees: Trees) -> Ints:
    """Number of the tree of every node and then of every leaf."""
    n_nodes = len(trees.features)
    owners = np.empty(n_nodes + len(trees.leaves), dtype=np.int64)
    owners[_rows(trees.roots, n_nodes)] = np.arange(trees.n_trees)
    for node, children in enumerate(_rows(trees.children, n_nodes)):  # parents come before their children
        owners[children] = owners[node]
    return owners
