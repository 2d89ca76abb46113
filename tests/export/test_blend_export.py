from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from export.runtime import answers, assert_same_answers

pytest.importorskip("lightgbm")

from ordinoise.classifiers import OrdinalClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=150), [-0.7, 0.7])
GAPS = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
TOWNS = np.array(["north", "south", "west"])[np.digitize(X[:, 0] + RNG.normal(size=150), [-0.7, 0.7])]
FAST: dict[str, Any] = {"noise": None, "n_folds": 2, "n_rounds": 1, "n_jobs": 1, "random_state": 0}


@pytest.mark.parametrize("training", [X, GAPS], ids=["whole", "with gaps"])
def test_a_blend_answers_as_its_file(training: Any, tmp_path: Path) -> None:
    model = OrdinalClassifier(**FAST).fit(training, Y)
    model.to_onnx(tmp_path / "model.onnx")
    assert_same_answers(model, tmp_path / "model.onnx", GAPS.astype(np.float32))


def test_class_shares_answer_as_their_file(tmp_path: Path) -> None:
    model = OrdinalClassifier(**FAST).fit(X, np.random.default_rng(1).permutation(Y))
    assert model.learner_ == "class shares"
    model.to_onnx(tmp_path / "model.onnx")
    label, probabilities = answers(tmp_path / "model.onnx", X.astype(np.float32))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(label, model.predict(X))


def test_networks_and_trees_of_a_blend_read_the_same_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": GAPS[:, 0], "town": TOWNS, "b": X[:, 2]}).astype({"town": "category"})
    model = OrdinalClassifier(**FAST).fit(frame, Y)
    model.to_onnx(tmp_path / "model.onnx", dtype="float64")
    codes = frame.assign(town=frame["town"].cat.codes).to_numpy(dtype=np.float64)
    assert_same_answers(model, tmp_path / "model.onnx", codes, frame)
