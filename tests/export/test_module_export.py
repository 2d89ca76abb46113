from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.runtime import answers, assert_same_answers

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from torch import nn  # noqa: E402

from ordinoise.classifiers import OrdinalTorchClassifier  # noqa: E402

torch.set_num_threads(1)
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(200, 3)).astype(np.float32)
Y = np.digitize(ROWS[:, 0], [-0.7, 0, 0.7])
IMAGES = ROWS[:, :1, None, None] + RNG.normal(scale=0.3, size=(200, 1, 8, 8)).astype(np.float32)
WORDS = RNG.integers(0, 9, size=(200, 5))
FAST: dict[str, Any] = {"max_iter": 3, "learning_rate_init": 0.01, "random_state": 0, "device": "cpu"}


def _cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Dropout(0.5)
    )


@pytest.mark.slow
def test_a_module_of_images_answers_as_its_file(tmp_path: Path) -> None:
    model = OrdinalTorchClassifier(_cnn, decision="mode", **FAST).fit(IMAGES, Y)
    with pytest.raises(ValueError, match=r"example must have the shape that the module accepts, got samples of \(1,\)"):
        model.to_onnx(tmp_path / "model.onnx")
    model.to_onnx(tmp_path / "model.onnx", example=IMAGES[:1])
    assert_same_answers(model, tmp_path / "model.onnx", IMAGES)
    np.testing.assert_allclose(
        answers(tmp_path / "model.onnx", IMAGES[:1])[1], model.predict_proba(IMAGES[:1]), atol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{}, {"thresholds": "free", "decision": "mean"}, {"hidden_layer_sizes": (), "classes": [0, 1, 2, 3, 4]}]
)
def test_the_default_module_answers_as_its_file(settings: dict[str, Any], tmp_path: Path) -> None:
    model = OrdinalTorchClassifier(**(FAST | settings)).fit(ROWS, Y)
    model.to_onnx(tmp_path / "model.onnx", dtype="float64")
    assert_same_answers(model, tmp_path / "model.onnx", ROWS.astype(np.float64))


@pytest.mark.slow
def test_a_module_of_whole_numbers_takes_whole_numbers(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(20, 3))
    labels = np.digitize(WORDS.mean(axis=1), [3, 4, 5])
    model = OrdinalTorchClassifier(module, **FAST).fit(torch.from_numpy(WORDS), labels)
    model.to_onnx(tmp_path / "model.onnx", dtype="int64")
    assert_same_answers(model, tmp_path / "model.onnx", WORDS, torch.from_numpy(WORDS))
