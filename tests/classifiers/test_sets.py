"""Prediction sets and decisions of the classifiers: calibrated by themselves or on rows kept aside, saved, forgotten."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.linear_model import LogisticRegression

from ordinoise import (
    NoiseAwareClassifier,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    OrdinalMLPClassifier,
    adjacent,
    corrupt,
    load_model,
)
from ordinoise.decisions import decide
from ordinoise.scoring.sets import calibrate_sets, prediction_sets

UP = adjacent(4, up=0.35, down=0.02)


def _data(n: int, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.6, size=n), [-1, 0, 1])


X, Y = _data(1200)
NOISY = corrupt(Y, UP, 0)
FIT, HELD = slice(0, 600), slice(600, 1200)
NETWORK: dict[str, Any] = {"max_iter": 20, "learning_rate_init": 0.01, "random_state": 0}
FRONT: dict[str, Any] = {"learner": "mlp", "n_folds": 2, "n_rounds": 1, "n_jobs": 1, "random_state": 0}
SINGLE: dict[str, Any] = {
    "network": OrdinalMLPClassifier(noise=UP, **NETWORK),
    "trees": OrdinalBoostingClassifier(noise=UP, n_estimators=20, n_jobs=1, random_state=0),
    "any": NoiseAwareClassifier(LogisticRegression(), noise=UP, n_folds=2, n_jobs=1, random_state=0),
}


@cache
def _front() -> OrdinalClassifier:
    return OrdinalClassifier(noise=UP, **FRONT).fit(X, NOISY)


@cache
def _network() -> OrdinalMLPClassifier:
    return OrdinalMLPClassifier(noise=UP, **NETWORK).fit(X[FIT], NOISY[FIT]).calibrate_sets(X[HELD], NOISY[HELD])


def test_the_front_door_calibrates_itself_by_what_it_said_out_of_fold() -> None:
    model = _front()
    assert model.out_of_fold_ is not None
    expected = prediction_sets(model.predict_proba(X), calibrate_sets(model.out_of_fold_, NOISY, UP), 0.8)
    found = model.predict_set(X, 0.8)
    np.testing.assert_array_equal(found.mask, expected.mask)
    assert found.confidence == 0.8


def test_sets_of_noisy_labels_cover_new_clean_ones() -> None:
    """About .015 is the standard error of the calibration on 1200 rows."""
    new, labels = _data(4000, seed=1)
    sets = _front().predict_set(new, 0.85)
    covered = sets.mask[np.arange(4000), labels].mean()
    assert abs(covered - 0.85) < 0.05
    trusting = calibrate_sets(_front().out_of_fold_, NOISY, np.eye(4))  # type: ignore[arg-type]
    assert (
        prediction_sets(_front().predict_proba(new), trusting, 0.85).mask[np.arange(4000), labels].mean()
        > covered + 0.05
    )


@pytest.mark.parametrize("name", list(SINGLE))
def test_rows_kept_aside_calibrate_a_single_learner(name: str) -> None:
    model = SINGLE[name].fit(X[FIT], NOISY[FIT])
    with pytest.raises(ValueError, match=r"model must be calibrated to predict sets, got none; call calibrate_sets"):
        model.predict_set(X)
    sets = model.calibrate_sets(X[HELD], NOISY[HELD]).predict_set(X)
    expected = calibrate_sets(model.predict_proba(X[HELD]), NOISY[HELD], UP)
    np.testing.assert_array_equal(sets.mask, prediction_sets(model.predict_proba(X), expected).mask)
    assert (sets.mask[np.arange(len(X)), model.predict(X)]).all()
    assert (sets.mask <= model.predict_set(X, 0.97).mask).all()


def test_sets_speak_in_the_users_grades() -> None:
    names = np.array(["low", "mid", "high", "top"])
    model = OrdinalMLPClassifier(noise=UP, classes=names.tolist(), **NETWORK).fit(X[FIT], names[NOISY[FIT]])
    sets = model.calibrate_sets(X[HELD], names[NOISY[HELD]]).predict_set(X)
    expected = _network().predict_set(X)
    assert sets.low.tolist() == names[expected.low].tolist()
    assert sets.high.tolist() == names[expected.high].tolist()


def test_every_rater_is_corrected_by_his_own_matrix() -> None:
    raters = np.where(np.arange(len(X)) % 3 == 0, "careful", "careless")
    noise = {"careless": UP, "careful": np.eye(4)}
    recorded = np.where(raters == "careful", Y, NOISY)
    stack, who = np.stack([UP, np.eye(4)]), (raters == "careful").astype(int)
    front = OrdinalClassifier(noise=noise, **FRONT).fit(X, recorded, raters=raters)
    expected = calibrate_sets(front.out_of_fold_, recorded, stack, raters=who)  # type: ignore[arg-type]
    assert front.set_calibration_ is not None
    np.testing.assert_array_equal(front.set_calibration_.thresholds, expected.thresholds)
    model = OrdinalMLPClassifier(noise=noise, **NETWORK).fit(X[FIT], recorded[FIT], raters=raters[FIT])
    model.calibrate_sets(X[HELD], recorded[HELD], raters=raters[HELD])
    expected = calibrate_sets(model.predict_proba(X[HELD]), recorded[HELD], stack, raters=who[HELD])
    assert model.set_calibration_ is not None
    np.testing.assert_array_equal(model.set_calibration_.thresholds, expected.thresholds)


def test_class_weights_do_not_change_whom_the_sets_are_for() -> None:
    weighted = OrdinalClassifier(noise=UP, class_weight={0: 1, 1: 1, 2: 1, 3: 4}, **FRONT).fit(X, NOISY)
    expected = calibrate_sets(weighted.out_of_fold_, NOISY, UP)  # type: ignore[arg-type]
    assert weighted.set_calibration_ is not None
    np.testing.assert_array_equal(weighted.set_calibration_.thresholds, expected.thresholds)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_doubt_about_the_estimated_matrix_makes_sets_no_smaller() -> None:
    model = OrdinalClassifier(**FRONT).fit(X, NOISY)
    certain = calibrate_sets(model.out_of_fold_, NOISY, model.noise_matrix_)  # type: ignore[arg-type]
    assert model.set_calibration_ is not None
    assert model.set_calibration_.threshold(0.9) > certain.threshold(0.9)


def test_noise_without_an_inverse_leaves_the_front_door_without_sets() -> None:
    mean_of_neighbors = np.array([[0.7, 0.3, 0, 0], [0.35, 0.4, 0.25, 0], [0, 0.5, 0.5, 0], [0, 0, 0.2, 0.8]])
    model = OrdinalClassifier(noise=mean_of_neighbors, **FRONT).fit(X[:200], NOISY[:200])
    assert model.set_calibration_ is None
    assert model.describe().scores == {}


def test_a_new_fit_forgets_the_sets_of_the_old_one() -> None:
    model = OrdinalMLPClassifier(noise=UP, **NETWORK).fit(X[FIT], NOISY[FIT]).calibrate_sets(X[HELD], NOISY[HELD])
    assert model.fit(X[FIT], NOISY[FIT]).set_calibration_ is None
    model.calibrate_sets(X[HELD], NOISY[HELD])
    assert model.partial_fit(X[FIT], NOISY[FIT]).set_calibration_ is None


# Saving -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [_front, _network], ids=["front", "network"])
def test_a_saved_model_keeps_its_sets(make: Any, tmp_path: Path) -> None:
    make().save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_set(X).mask, make().predict_set(X).mask)
    assert back.set_calibration_ is not None
    assert back.set_calibration_.n_samples == make().set_calibration_.n_samples


def test_a_saved_model_keeps_its_sets_by_grade(tmp_path: Path) -> None:
    model = OrdinalMLPClassifier(noise=UP, **NETWORK).fit(X[FIT], NOISY[FIT])
    model.calibrate_sets(X[HELD], NOISY[HELD], by_grade=True, assurance=0.9)
    assert model.set_calibration_ is not None
    assert model.set_calibration_.thresholds.shape == (4, 1000)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_set(X).mask, model.predict_set(X).mask)


def test_a_saved_torch_model_keeps_its_sets(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ordinoise import OrdinalTorchClassifier

    model = OrdinalTorchClassifier(noise=UP, max_iter=3, random_state=0).fit(X[FIT], NOISY[FIT])
    model.calibrate_sets(X[HELD], NOISY[HELD]).save(tmp_path / "model")
    back = OrdinalTorchClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_set(X).mask, model.predict_set(X).mask)
    assert str(back.describe()) == str(model.describe())
    assert model.describe().recorded_counts == np.bincount(NOISY[FIT]).tolist()


def _edited(folder: Path, thresholds: Any, **changes: Any) -> None:
    header = json.loads((folder / "model.json").read_text())
    for name, value in changes.items():
        header["settings"].pop(name)
        if value is not None:
            header["settings"][name] = value
    (folder / "model.json").write_text(json.dumps(header))
    arrays = load_file(folder / "arrays.safetensors") | {"set_thresholds": thresholds}
    save_file({name: array for name, array in arrays.items() if array is not None}, folder / "arrays.safetensors")


@pytest.mark.parametrize(
    "thresholds",
    [np.linspace(0, 1, 7), np.linspace(1, 0, 1000), np.linspace(0, 2, 1000), np.full(1000, np.nan)],
    ids=["too few", "falling", "above one", "no numbers"],
)
def test_damaged_thresholds_are_refused(thresholds: Any, tmp_path: Path) -> None:
    _network().save(tmp_path / "model")
    _edited(tmp_path / "model", thresholds)
    with pytest.raises(ValueError, match="path must hold a whole model"):
        OrdinalMLPClassifier.load(tmp_path / "model")


# Decisions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [_front, _network], ids=["front", "network"])
def test_a_cost_matrix_may_come_with_the_question(make: Any) -> None:
    distance = np.subtract.outer(np.arange(4), np.arange(4)).astype(float)
    cost = np.where(distance > 0, 5 * distance, -distance)  # a grade too low costs five times as much
    model = make()
    probabilities = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X, decision=cost), decide(probabilities, cost))
    np.testing.assert_array_equal(model.predict(X, decision="mode"), decide(probabilities, "mode"))
    np.testing.assert_array_equal(model.predict(X, decision=None), model.predict(X))
    assert (model.predict(X, decision=cost) >= model.predict(X)).all()
    assert (model.predict(X, decision=cost) > model.predict(X, decision=cost.T)).any()
    with pytest.raises(ValueError, match=r"decision must be one of \['median', 'mode', 'mean'\] or a 4 x 4"):
        model.predict(X, decision=np.eye(3))
