"""The card of a model: facts of the fit, in words and JSON, the same after saving."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import ordinoise
from ordinoise import (
    NoiseAwareClassifier,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    OrdinalMLPClassifier,
    adjacent,
    corrupt,
    inverse_decay,
    load_model,
    noise_corrected,
)
from ordinoise.decisions import decide
from ordinoise.estimation import AnchorPoints

UP = adjacent(3, up=0.3, down=0.02)
GRADES = ["low", "mid", "top"]


def _data(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "size", "depth"])
    return X, np.digitize(X["age"] + 0.5 * X["size"] + rng.normal(scale=0.2, size=n), [-0.6, 0.6])


X, Y = _data(900)
NOISY = corrupt(Y, UP, 0)
NAMED = np.array(GRADES)[NOISY]
FRONT: dict[str, Any] = {"learner": "mlp", "n_folds": 3, "n_rounds": 1, "n_jobs": 1, "random_state": 0}
NETWORK: dict[str, Any] = {"max_iter": 5, "random_state": 0}


@cache
def _front() -> OrdinalClassifier:
    return OrdinalClassifier(noise=UP, classes=GRADES, **FRONT).fit(X, NAMED)


def test_the_card_tells_the_data_the_noise_and_the_settings() -> None:
    card = _front().describe()
    assert (card.kind, card.n_samples, card.n_features) == ("OrdinalClassifier", 900, 3)
    assert card.feature_names == ["age", "size", "depth"]
    assert dict(zip(card.classes, card.recorded_counts or [], strict=True)) == {
        grade: NAMED.tolist().count(grade) for grade in GRADES
    }
    np.testing.assert_array_equal(card.noise.matrix, UP)
    assert card.noise.rate == pytest.approx((Y != NOISY).mean(), abs=0.03)
    assert card.changed_settings == ["classes", "learner", "n_folds", "n_jobs", "n_rounds", "noise", "random_state"]
    assert card.n_calibration == 900
    assert card.versions["ordinoise"] == ordinoise.__version__
    assert sum(card.learners.values()) == pytest.approx(1)


def test_scores_out_of_fold_hold_what_clean_labels_show() -> None:
    new, labels = _data(4000, seed=1)
    predicted = np.searchsorted(GRADES, _front().predict(new))  # alphabetical is the order here
    clean = {"mean_absolute_error": np.abs(predicted - labels).mean(), "zero_one_loss": (predicted != labels).mean()}
    for metric, value in clean.items():
        score = _front().describe().scores[metric]
        assert score["low"] < value < score["high"] < score["observed"]


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_an_estimated_matrix_comes_with_doubts_and_wider_intervals() -> None:
    model = OrdinalClassifier(**FRONT, answer="corrected").fit(X, NOISY)
    card = model.describe()
    assert card.noise is model.noise_
    assert card.noise.rate is not None
    assert card.noise.rate_interval is not None
    low, high = card.noise.rate_interval
    assert low < card.noise.rate < high
    assert card.noise.doubt_text in str(card)
    assert "estimated by ScoreLikelihood" in str(card)
    score = card.scores["zero_one_loss"]
    exact = noise_corrected("zero_one_loss", NOISY, decide(model.out_of_fold_), model.noise_matrix_)  # type: ignore[arg-type]
    assert score["value"] == pytest.approx(exact.value)
    assert score["high"] - score["low"] > 1.2 * (exact.high - exact.low)


def _words(model: Any) -> str:
    return str(model.describe())


def test_the_words_say_what_the_numbers_say() -> None:
    text = _words(_front())
    for words in ("900 rows of 3 columns (age, size, depth)", f"mid ({np.count_nonzero(NOISY == 1)} times)", "Label noise: given",
                  "error rate: 0.", "calibrated on 900 recorded labels", "learner='mlp'", "Made of: "):  # fmt: skip
        assert words in text
    assert f"{UP[0, 1]:.3f}" in text


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_other_learners_tell_what_they_have() -> None:
    trusting = _words(OrdinalMLPClassifier(**NETWORK).fit(X, NOISY))
    assert "the labels are trusted" in trusting
    assert "Scores: none" in trusting
    assert "not calibrated" in trusting
    raters = np.arange(900) % 2
    assert "given, one matrix per rater (2)" in _words(
        OrdinalMLPClassifier(noise={0: UP, 1: np.eye(3)}, **NETWORK).fit(X, NOISY, raters=raters)
    )
    assert "by AnchorPoints" in _words(OrdinalMLPClassifier(noise=AnchorPoints(), **NETWORK).fit(X, NOISY))
    wrapped = NoiseAwareClassifier(LogisticRegression(), noise=UP, n_folds=2, n_jobs=1, random_state=0).fit(X, NOISY)
    assert "NoiseAwareClassifier" in _words(wrapped)


def test_long_lists_of_columns_and_long_settings_are_cut() -> None:
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 15)), columns=[f"c{j}" for j in range(15)])
    labels = np.digitize(wide["c0"], [-0.5, 0.0, 0.5, 1.0])
    text = _words(OrdinalMLPClassifier(noise=inverse_decay(5, 0.1), **NETWORK).fit(wide, labels))
    assert "c11 and 3 more)" in text
    assert "..." in text


def test_samples_learnt_in_parts_are_counted_together() -> None:
    model = OrdinalMLPClassifier(classes=[0, 1, 2], **NETWORK)
    for part in np.array_split(np.arange(900), 3):
        model.partial_fit(X.iloc[part], NOISY[part])
    assert model.describe().recorded_counts == np.bincount(NOISY).tolist()
    assert model.fit(X[:300], NOISY[:300]).describe().n_samples == 300


KINDS: dict[str, Any] = {
    "front": lambda: _front(),
    "network": lambda: OrdinalMLPClassifier(noise=inverse_decay(3, 0.1), decision=np.eye(3), **NETWORK).fit(X, NOISY),
    "trees": lambda: OrdinalBoostingClassifier(n_estimators=5, n_jobs=1, random_state=0).fit(X, NOISY),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_saved_model_keeps_its_card(kind: str, tmp_path: Path) -> None:
    model = KINDS[kind]()
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model").describe()
    assert str(back) == str(model.describe())
    assert json.loads(json.dumps(back.to_dict(), allow_nan=False)) == model.describe().to_dict()


def test_facts_that_are_no_facts_are_refused(tmp_path: Path) -> None:
    KINDS["network"]().save(tmp_path / "model")
    header = json.loads((tmp_path / "model" / "model.json").read_text())
    header["settings"]["facts"] = ["none"]
    (tmp_path / "model" / "model.json").write_text(json.dumps(header))
    with pytest.raises(ValueError, match="path must hold a whole model"):
        load_model(tmp_path / "model")
