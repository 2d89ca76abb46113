"""Predictions of an ONNX file, and their comparison with those of the model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Both are in the development environment; without them there is nothing to compare with.
pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def session(path: Path) -> Any:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def answers(path: Path, features: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    label, probabilities = session(path).run(["label", "probabilities"], {"features": features})
    return label, probabilities


def assert_same_answers(model: Any, path: Path, features: Any, seen_by_model: Any = None) -> None:
    seen = features if seen_by_model is None else seen_by_model
    label, probabilities = answers(path, features)
    np.testing.assert_allclose(probabilities, model.predict_proba(seen), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(label, model.predict(seen))
    assert len(np.unique(label)) > 1
