import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.runtime import answers, assert_same_answers, session
from ordinoise._validation import Floats
from ordinoise.export import Graph, dense_features, network_probabilities, tree_probabilities, write_classifier
from ordinoise.learners.boosting import Ensemble, Trees
from ordinoise.learners.mlp import Architecture, initial_network
from ordinoise.levels import class_probabilities

lightgbm = pytest.importorskip("lightgbm")

from ordinoise.classifiers import OrdinalBoostingClassifier  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(800, 4)).round(1)
X[:, 1] = 10 * RNG.integers(0, 30, size=800)
Y = np.digitize(X[:, 0] + 2 * np.isin(X[:, 1], [0, 30, 40, 70, 110, 220]), [-0.5, 0.5, 1.5])
GAPS = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
FAST: dict[str, Any] = {"n_estimators": 15, "n_jobs": 1, "random_state": 0}


@pytest.mark.parametrize(("head", "dtype"), [("ordered", "float32"), ("softmax", "float32"), ("softmax", "float64")])
@pytest.mark.parametrize("training", [X, GAPS], ids=["whole", "with gaps"])
def test_trees_answer_as_their_file_on_either_side_of_every_split(
    training: Any, head: Any, dtype: str, tmp_path: Path
) -> None:
    model = OrdinalBoostingClassifier(head=head, **FAST).fit(training, Y)
    model.to_onnx(tmp_path / "model.onnx", dtype=dtype)
    splits = zip(model.ensemble_.trees.features, model.ensemble_.trees.thresholds, strict=True)
    features = np.tile(GAPS, (3, 1)).astype(dtype)
    for row, (column, split) in zip(features, splits, strict=False):
        if 1e-30 < abs(split) < 1e30:
            near = np.array(split, dtype=dtype)
            row[column] = RNG.choice([near, np.nextafter(near, near - 1), np.nextafter(near, near + 1)])
    assert_same_answers(model, tmp_path / "model.onnx", features)


def test_float32_keeps_to_the_side_where_a_rounded_threshold_would_not(tmp_path: Path) -> None:
    """The nearest float32 to 0.35... may lie above it: compared in float32, that number would go left."""
    column = np.linspace(0, 1, 400)[:, None]
    model = OrdinalBoostingClassifier(**FAST).fit(column, (column[:, 0] > 1 / 3).astype(int))
    split = model.ensemble_.trees.thresholds[0]
    model.to_onnx(tmp_path / "model.onnx")
    near = np.float32(split)
    around = np.array([[near], [np.nextafter(near, np.float32(0))], [np.nextafter(near, np.float32(1))]])
    assert_same_answers(model, tmp_path / "model.onnx", around)


def test_categories_that_are_numbers_are_passed_as_they_are(tmp_path: Path) -> None:
    model = OrdinalBoostingClassifier(categorical_features=[1], **FAST).fit(X, Y)
    trees = model.ensemble_.trees
    assert max(len(trees.categories(node)) for node in np.flatnonzero(trees.asks_category).tolist()) > 1
    model.to_onnx(tmp_path / "model.onnx")
    features = X.astype(np.float32)
    features[::5, 1], features[1::5, 1], features[2::5, 1] = np.nan, 5, -10  # missing and unknown ones
    assert_same_answers(model, tmp_path / "model.onnx", features)


def test_categories_that_are_text_are_passed_as_their_place_in_the_list(tmp_path: Path) -> None:
    names = np.array([f"town {code:02}" for code in range(30)])
    table = X.astype(object)
    table[:, 1] = names[(X[:, 1] / 10).astype(int)]
    model = OrdinalBoostingClassifier(categorical_features=[1], **FAST).fit(table, Y)
    model.to_onnx(tmp_path / "model.onnx")
    listed = json.loads(session(tmp_path / "model.onnx").get_modelmeta().custom_metadata_map["categories"])["1"]
    features = X.astype(np.float32)
    features[:, 1] = [listed.index(name) for name in table[:, 1]]
    assert_same_answers(model, tmp_path / "model.onnx", features, table)


def _only_leaves(leaves: Floats) -> Trees:
    none, numbers = np.zeros(0, dtype=np.int32), np.zeros(0)
    sets, roots = np.zeros(1, dtype=np.int32), ~np.arange(len(leaves), dtype=np.int32)
    return Trees(
        roots,
        none,
        numbers,
        none.reshape(0, 2),
        none.astype(np.uint8),
        leaves,
        sets,
        none.astype(np.uint32),
        np.ones(2),
    )


def test_trees_without_a_split_give_what_they_start_from(tmp_path: Path) -> None:
    for leaves, scores in [([], [0.0, 1.0, 2.0]), ([0.5, 0.0, 0.1, 0.5, 0.25, 0.0], [1.0, 1.25, 2.1])]:
        trees, graph = _only_leaves(np.array(leaves)), Graph((2,))
        name = tree_probabilities(graph, Ensemble("softmax", trees, np.array([0.0, 1.0, 2.0])), {})
        write_classifier(tmp_path / "model.onnx", graph, name, np.arange(3), "mode")
        probabilities = answers(tmp_path / "model.onnx", np.array([[1, np.nan]], dtype=np.float32))[1]
        np.testing.assert_allclose(probabilities[0], np.exp(scores) / np.exp(scores).sum(), atol=1e-6)


def test_what_onnx_cannot_hold_is_refused(tmp_path: Path) -> None:
    model = OrdinalBoostingClassifier(params={"zero_as_missing": True}, **FAST).fit(X, Y)
    sentence = "zero_as_missing must be False for trees to be written as ONNX, got True"
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        model.to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_network_reads_gaps_and_categories_as_filled_flagged_and_counted_out(tmp_path: Path) -> None:
    features = np.array([[0.5, 30, np.nan, 1], [np.nan, 10, 2, np.nan], [1, np.nan, 3, -1], [2, 20, 0, 0]])
    network = initial_network(Architecture(3 + 1 + 2, 3), np.random.default_rng(0))
    medians, known = np.array([0.7, 0, -0.2, 4]), {1: (10, 20, 30)}
    graph = Graph((4,), "float64")
    dense = dense_features(graph, medians, np.array([2]), {1: np.array([0, 2])}, known)
    write_classifier(
        tmp_path / "model.onnx", graph, network_probabilities(graph, network, dense), np.arange(3), "median"
    )
    filled = np.array([[0.5, -0.2, 1, 1, 0, 1], [0.7, 2, 4, 0, 1, 0], [1, 3, -1, 0, 0, 0], [2, 0, 0, 0, 0, 0]])
    expected = class_probabilities(network.logits(filled))
    np.testing.assert_allclose(answers(tmp_path / "model.onnx", features)[1], expected, atol=1e-6)
