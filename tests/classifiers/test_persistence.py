import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file

from ordinoise import OrdinalMLPClassifier, inverse_decay
from ordinoise.estimation import AnchorPoints

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(200, 3)), columns=["a", "b", "c"])
Y = np.digitize(X["a"], [-0.5, 0.5])
FAST: dict[str, Any] = {"max_iter": 5, "random_state": 0}

KINDS: list[tuple[dict[str, Any], Any]] = [
    ({}, Y),
    ({"noise": inverse_decay(3, 0.1), "decision": "mode"}, Y),
    ({"noise": AnchorPoints(quantile=0.9), "hidden_layer_sizes": (4, 3), "thresholds": "free"}, Y),
    ({"classes": ["low", "mid", "top"], "class_weight": {"low": 2.0, "mid": 1.0, "top": 1.0}}, np.array(["low", "mid", "top"])[Y]),
    ({"noise": "estimate", "random_state": np.random.default_rng(1)}, Y.astype(float)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize(("settings", "y"), KINDS, ids=[str(list(settings)) for settings, _ in KINDS])
def test_a_saved_model_comes_back_exactly(settings: dict[str, Any], y: Any, tmp_path: Path) -> None:
    model = OrdinalMLPClassifier(**(FAST | settings)).fit(X, y)
    model.save(tmp_path / "model")
    back = OrdinalMLPClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.classes_.dtype == model.classes_.dtype
    assert back.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(back.noise_matrix_, model.noise_matrix_)
    assert back.loss_curve_ == model.loss_curve_
    assert {name: str(value) for name, value in back.get_params().items() if name != "random_state"} == {
        name: str(value) for name, value in model.get_params().items() if name != "random_state"
    }


def test_a_loaded_model_learns_on_like_the_saved_one(tmp_path: Path) -> None:
    model = OrdinalMLPClassifier(warm_start=True, **FAST).fit(X, Y)
    model.save(tmp_path / "model")
    back = OrdinalMLPClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(back.fit(X, Y).network_.parameters, model.fit(X, Y).network_.parameters)


def test_nothing_is_overwritten_and_nothing_is_left_behind(tmp_path: Path) -> None:
    model = OrdinalMLPClassifier(**FAST).fit(X, Y)
    (tmp_path / "taken").mkdir()
    with pytest.raises(ValueError, match=r"path must not exist yet, got .*taken"):
        model.save(tmp_path / "taken")
    with pytest.raises(ValueError, match=r"path must lie in a folder that exists"):
        model.save(tmp_path / "absent" / "model")
    model.set_params(class_weight=object())
    with pytest.raises(ValueError, match=r"class_weight must be a value that can be saved as JSON, got object"):
        model.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def _edit_settings(folder: Path, **changes: Any) -> None:
    header = json.loads((folder / "model.json").read_text())
    header.update(changes)
    (folder / "model.json").write_text(json.dumps(header))


def _edit_arrays(folder: Path, **changes: Any) -> None:
    arrays = load_file(folder / "arrays.safetensors")
    arrays.update(changes)
    save_file({name: array for name, array in arrays.items() if array is not None}, folder / "arrays.safetensors")


DAMAGE: list[tuple[Any, str]] = [
    (lambda folder: shutil.rmtree(folder), "path must be a model folder"),
    (lambda folder: (folder / "model.json").unlink(), "path must hold a readable model.json"),
    (lambda folder: (folder / "model.json").write_text("{"), "path must hold a readable model.json"),
    (lambda folder: (folder / "model.json").write_text("[1]"), "path must be an ordinoise model folder"),
    (lambda folder: (folder / "model.json").write_bytes(b"\xff\xfe\x00"), "path must hold a readable model.json"),
    (lambda folder: (folder / "arrays.safetensors").unlink(), "path must hold arrays in arrays.safetensors"),
    (lambda folder: (folder / "arrays.safetensors").write_bytes(b"\0" * 100), "path must hold arrays in"),
    (lambda folder: _edit_settings(folder, format_version=99), "written by another version of ordinoise"),
    (lambda folder: _edit_settings(folder, format_version="1"), "format version 4, got 1"),
    (lambda folder: _edit_settings(folder, kind="OrdinalBoostingClassifier"), "path must hold a model of kind 'OrdinalMLPClassifier'"),
    (lambda folder: _edit_settings(folder, settings=None), "path must hold settings in model.json"),
    (lambda folder: _edit_settings(folder, settings={}), "path must hold a whole model"),
    (lambda folder: _edit_arrays(folder, center=None), "path must hold a whole model"),
    (lambda folder: _edit_arrays(folder, extra=np.ones(3)), "path must hold a whole model"),
    (lambda folder: _edit_arrays(folder, scale=np.ones(7)), "path must hold a whole model"),
    (lambda folder: _edit_arrays(folder, center=np.full(3, np.nan)), "path must hold a whole model"),
    (lambda folder: _edit_arrays(folder, parameters=np.ones(5, dtype=np.float32)), "path must hold a whole model"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "sentence"), DAMAGE, ids=[sentence for _, sentence in DAMAGE])
def test_a_damaged_folder_is_refused_with_a_sentence(damage: Any, sentence: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    OrdinalMLPClassifier(**FAST).fit(X, Y).save(folder)
    damage(folder)
    with pytest.raises(ValueError, match=sentence) as caught:
        OrdinalMLPClassifier.load(folder)
    assert "\n" not in str(caught.value)
