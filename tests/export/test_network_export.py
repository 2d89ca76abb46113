import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from export.runtime import answers, assert_same_answers, session
from ordinoise import OrdinalMLPClassifier
from ordinoise.decisions import decide
from ordinoise.export import Graph, average_probabilities, network_probabilities, write_classifier
from ordinoise.learners.mlp import Architecture, Network, initial_network
from ordinoise.levels import class_probabilities

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)) * [1, 5, 0.1] + [0, 100, -3]
Y = np.digitize(X[:, 0] + 0.2 * (X[:, 1] - 100) + RNG.normal(scale=0.3, size=400), [-1.2, 0, 1.2])
NEW = (X + RNG.normal(size=X.shape) * [1, 5, 0.1]).astype(np.float32)
COST = RNG.uniform(size=(4, 4))
FAST: dict[str, Any] = {"max_iter": 8, "learning_rate_init": 0.01, "random_state": 0}

SETTINGS: list[dict[str, Any]] = [
    {},
    {"decision": "mode", "thresholds": "free", "hidden_layer_sizes": (7, 5)},
    {"decision": "mean", "activation": "tanh"},
    {"decision": COST, "hidden_layer_sizes": ()},
    {"activation": "identity", "standardize": False},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: " ".join(settings) or "defaults")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_network_answers_as_its_file(settings: dict[str, Any], dtype: str, tmp_path: Path) -> None:
    model = OrdinalMLPClassifier(**(FAST | settings)).fit(X, Y)
    model.to_onnx(tmp_path / "model.onnx", dtype=dtype)
    assert_same_answers(model, tmp_path / "model.onnx", NEW.astype(dtype))


LABELS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "int64": (np.array([-5, 0, 2, 40])[Y], {}, "tensor(int64)"),
    "int32": (Y.astype(np.int32), {}, "tensor(int64)"),
    "float": (Y.astype(float), {}, "tensor(double)"),
    "bool": (Y > 1, {}, "tensor(bool)"),
    "text": (np.array(["z", "y", "x", "é"])[Y], {"classes": ["z", "y", "x", "é"]}, "tensor(string)"),
    "ordered categorical": (pd.Series(pd.Categorical.from_codes(Y, ["d", "c", "b", "a"], ordered=True)), {}, "tensor(string)"),
}  # fmt: skip


@pytest.mark.parametrize(("y", "settings", "kind"), LABELS.values(), ids=LABELS)
def test_labels_come_back_in_their_own_kind(y: Any, settings: dict[str, Any], kind: str, tmp_path: Path) -> None:
    model = OrdinalMLPClassifier(**FAST, **settings).fit(X, y)
    model.to_onnx(tmp_path / "model.onnx")
    assert_same_answers(model, tmp_path / "model.onnx", NEW)
    label, probabilities = session(tmp_path / "model.onnx").get_outputs()
    assert (label.name, label.type) == ("label", kind)
    assert (probabilities.name, probabilities.type, probabilities.shape[1]) == (
        "probabilities", "tensor(float)", len(model.classes_),
    )  # fmt: skip


def _unordered() -> Network:
    network = initial_network(Architecture(3, 5, (4,), head="free"), np.random.default_rng(1))
    network.arrays["offsets"][...] = [0.3, 1.0, -2.0, 0.3]
    return network


def _written(path: Path, decision: Any, *networks: Network) -> Path:
    graph = Graph((3,), "float64")
    parts = {network_probabilities(graph, network): 1 / len(networks) for network in networks}
    write_classifier(path, graph, average_probabilities(graph, parts), np.arange(5), decision)
    return path


def test_unordered_thresholds_are_taken_in_order(tmp_path: Path) -> None:
    features = np.random.default_rng(2).normal(size=(200, 3)) * 3
    probabilities = class_probabilities(_unordered().logits(features))
    found = answers(_written(tmp_path / "model.onnx", "median", _unordered()), features)[1]
    np.testing.assert_allclose(found, probabilities, rtol=0, atol=1e-6)
    assert found.min() >= 0
    assert (found[:, 2] == 0).all()  # between the two thresholds at 0.3


def test_far_scores_neither_overflow_nor_lose_their_sum(tmp_path: Path) -> None:
    features = np.array([[1e6, 0, 0], [-1e6, 1e6, 0], [0, 0, 1e6], [0, 0, -1e6]])
    found = answers(_written(tmp_path / "model.onnx", "median", _unordered()), features)[1]
    np.testing.assert_allclose(found, class_probabilities(_unordered().logits(features)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("decision", ["median", "mode", "mean", COST], ids=["median", "mode", "mean", "cost"])
def test_an_average_of_networks_decides_by_its_own_probabilities(decision: Any, tmp_path: Path) -> None:
    decision = np.pad(decision, (0, 1)) if isinstance(decision, np.ndarray) else decision
    features = np.random.default_rng(3).normal(size=(300, 3)) * 3
    networks = [initial_network(Architecture(3, 5), np.random.default_rng(seed)) for seed in (1, 2)] + [_unordered()]
    expected = np.mean([class_probabilities(network.logits(features)) for network in networks], axis=0)
    label, found = answers(_written(tmp_path / "model.onnx", decision, *networks), features)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(label, decide(expected, decision))


def test_the_file_names_classes_and_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["size", "weight", "age"])
    OrdinalMLPClassifier(**FAST).fit(frame, Y + 1).to_onnx(tmp_path / "model.onnx")
    meta = session(tmp_path / "model.onnx").get_modelmeta()
    notes = {name: json.loads(note) for name, note in meta.custom_metadata_map.items()}
    assert notes == {"classes": [1, 2, 3, 4], "feature_names": ["size", "weight", "age"]}
    assert meta.producer_name == "ordinoise"
    given = session(tmp_path / "model.onnx").get_inputs()
    assert [(one.name, one.type, one.shape) for one in given] == [("features", "tensor(float)", ["n_samples", 3])]


def test_a_file_is_replaced_whole_or_left_alone(tmp_path: Path) -> None:
    model, path = OrdinalMLPClassifier(**FAST).fit(X, Y), tmp_path / "model.onnx"
    path.write_text("an older file")
    with pytest.raises(ValueError, match=r"dtype must be one of \['float32', .*\], got 'float16'"):
        model.to_onnx(path, dtype="float16")
    assert path.read_text() == "an older file"
    model.to_onnx(path)
    assert_same_answers(model, path, NEW)
    with pytest.raises(ValueError, match="path must lie in a folder that exists"):
        model.to_onnx(tmp_path / "absent" / "model.onnx")
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_labels_that_are_neither_numbers_nor_text_are_refused(tmp_path: Path) -> None:
    graph = Graph((3,))
    name = network_probabilities(graph, initial_network(Architecture(3, 2), np.random.default_rng(0)))
    with pytest.raises(
        ValueError, match=r"classes must be numbers or text to be written as ONNX, got \[\(1,\), None\]"
    ):
        write_classifier(tmp_path / "model.onnx", graph, name, np.array([(1,), None], dtype=object), "median")


def test_without_onnx_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = OrdinalMLPClassifier(**FAST).fit(X, Y)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'^to_onnx needs onnx; pip install "ordinoise\[onnx\]"$'):
        model.to_onnx(tmp_path / "model.onnx")
