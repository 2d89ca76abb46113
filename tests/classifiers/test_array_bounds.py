"""Arrays in a model folder: only the types that saving writes, with texts no longer than those that are there."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinoise import OrdinalMLPClassifier, load_model
from ordinoise.classifiers.saving import SETTINGS, as_json, from_json


@pytest.mark.parametrize(
    "kind",
    ["S2000000000", "U300000000", "<U9999999999", "f8,(1000000,100)i8", "(100000,1000)f8", "V2000000000", "M8[s]", "c16", 7, None, ["f8"]],
    ids=str,
)  # fmt: skip
def test_an_array_of_another_type_takes_no_memory(kind: Any) -> None:
    stored = {"array": ["a", "bc", "d"], "shape": [3], "dtype": kind}
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"^array must have a type of numbers, text or objects, got"):
            from_json(stored)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_text_has_the_room_that_its_longest_item_needs() -> None:
    tracemalloc.start()
    try:
        found = from_json({"array": ["a", "bc", "d"], "shape": [3], "dtype": "<U300000000"})
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert (found.tolist(), found.dtype) == (["a", "bc", "d"], "<U2")
    assert from_json({"array": ["a", "bc"], "shape": [2], "dtype": "<U1"}).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "array",
    [
        np.array(["low", "higher"]), np.array(["", ""]), np.array([[1, 2], [3, 4]], dtype=np.int8), np.array([True, False]),
        np.array([0.5, 1.5], dtype=np.float32), np.array(["a", 1, None, 2.5], dtype=object), np.empty((0, 3)), np.empty(0, "<U1"),
        np.array([2**63], dtype=np.uint64),
    ],
    ids=repr,
)  # fmt: skip
def test_every_array_that_is_saved_comes_back(array: Any) -> None:
    found = from_json(json.loads(json.dumps(as_json("x", array))))
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert (found == array).all()


def test_a_model_with_such_a_parameter_is_refused(tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    OrdinalMLPClassifier(max_iter=1, random_state=0).fit(x, y).save(tmp_path / "model")
    path = tmp_path / "model" / SETTINGS
    plain = json.loads(path.read_text())
    plain["settings"]["parameters"]["noise"] = {"array": ["a"] * 6, "shape": [6], "dtype": "S2000000000"}
    path.write_text(json.dumps(plain))
    with pytest.raises(ValueError, match="must"):
        load_model(tmp_path / "model")
