"""Three answers: what is made of an estimated noise, and that everything after follows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ordinoise import Noise, OrdinalClassifier, adjacent, corrupt, evaluate, inverse_decay
from ordinoise.audit import issues_from_probabilities
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import (
    Evidence,
    chosen_answer,
    gains_over_shares,
    may_correct,
    with_first_answer,
)
from ordinoise.classifiers.blend.mixture import average
from ordinoise.classifiers.blend.table import Filling, Table
from ordinoise.labels import Verified, trusted_ranks
from ordinoise.noise import Doubt
from ordinoise.scoring.evaluation import evaluate_probabilities
from ordinoise.scoring.sets import calibrate_sets

ASYMMETRIC = adjacent(4, up=0.3, down=0.1)
FLAT = Doubt("flat-likelihood", "the likelihood is flat")
FEW = Doubt("few-samples", "only 200 samples")
NEIGHBORS = Doubt("only-neighbors", "nearly all noise is between neighbors")
DISAGREE = Doubt("verified-disagree", "verified labels are right")
MOVED = Doubt("moved-grade", "a grade is recorded as another")
pytestmark = pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")


def estimated(*doubts: Doubt, answer: str = "", matrix: Any = ASYMMETRIC) -> Noise:
    shares = np.array([0.1, 0.4, 0.3, 0.2])
    return Noise(matrix, source="estimated", class_shares=shares, doubts=doubts, answer=answer, rate_range=(0.02, 0.4))


@pytest.mark.parametrize(
    ("noise", "gain", "answer"),
    [
        (estimated(), 3.0, "corrected"),
        (estimated(), 1.9, "trusting"),
        (estimated(), -4.0, "trusting"),
        (estimated(FLAT), 3.0, "cautious"),
        (estimated(FLAT), 1.9, "trusting"),
        (estimated(FEW), 0.1, "corrected"),
        (estimated(FEW, FLAT), 0.1, "corrected"),
        (estimated(FEW), -0.1, "trusting"),
        (estimated(FEW, NEIGHBORS), 1.9, "trusting"),
        (estimated(FEW, NEIGHBORS), 2.1, "cautious"),
        (estimated(MOVED), 9.0, "trusting"),
        (estimated(DISAGREE), 9.0, "trusting"),
        (estimated(matrix=np.eye(4)), None, "trusting"),
    ],
)
def test_evidence_and_doubt_choose_the_answer(noise: Noise, gain: float | None, answer: str) -> None:
    found, reason = chosen_answer("auto", noise, gain)
    assert found == answer
    assert reason
    assert chosen_answer("cautious", noise, gain) == ("cautious", "asked for")


def test_a_second_pass_needs_noise_that_a_grader_can_make() -> None:
    assert may_correct(estimated(FLAT))
    assert not may_correct(estimated(MOVED))
    assert not may_correct(estimated(matrix=np.eye(4)))
    answers = [with_first_answer(estimated(*doubts)).answer for doubts in ((), (FLAT,), (MOVED,))]
    assert answers == ["corrected", "cautious", "trusting"]


@pytest.mark.slow
def test_a_few_verified_labels_are_known_but_do_not_settle_a_doubt() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    labels = np.digitize(X[:, 0] + rng.logistic(scale=0.4, size=200), [-1, 0, 1])  # clean, overlapping
    rows = np.argsort(X[:, 0])[:60]
    true = np.full(60, 3)  # the lowest rows are verified as of the highest grade, to see that they count
    few = OrdinalClassifier(**FAST).fit(X, labels, trusted=(rows[:19], true[:19]))
    assert few.noise_.answer == "trusting"
    assert few.predict(X[rows[:5]]).mean() > OrdinalClassifier(**FAST).fit(X, labels).predict(X[rows[:5]]).mean() + 1


def _data(n: int = 500) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    true = np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.1, size=n), [-1, 0, 1])
    return X, true, corrupt(true, inverse_decay(4, 0.15), 1)


X, TRUE, RECORDED = _data()
FAST: dict[str, Any] = {"learner": "mlp", "n_folds": 2, "n_rounds": 1, "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def models() -> dict[str, OrdinalClassifier]:
    return {
        answer: OrdinalClassifier(answer=answer, **FAST).fit(X, RECORDED)
        for answer in ("auto", "corrected", "cautious", "trusting")
    }


@pytest.mark.slow
def test_strong_noise_of_its_own_kind_is_corrected(models: dict[str, OrdinalClassifier]) -> None:
    noise = models["auto"].noise_
    assert noise.answer == "corrected", noise.reason
    assert "better explained" in noise.reason
    assert_array_equal(models["auto"].predict_proba(X), models["corrected"].predict_proba(X))


def test_the_trusting_answer_is_the_model_that_never_estimated(models: dict[str, OrdinalClassifier]) -> None:
    plain = OrdinalClassifier(noise=None, **FAST).fit(X, RECORDED)
    assert_array_equal(models["trusting"].predict_proba(X), plain.predict_proba(X))
    assert models["trusting"].noise_.rate is not None


def test_the_cautious_answer_is_of_the_recorded_label(models: dict[str, OrdinalClassifier], tmp_path: Path) -> None:
    cautious, corrected = models["cautious"], models["corrected"]
    expected = corrected.predict_proba(X) @ corrected.noise_.matrix
    assert_allclose(cautious.predict_proba(X), expected)
    assert cautious.out_of_fold_ is not None
    assert corrected.out_of_fold_ is not None
    assert_allclose(cautious.out_of_fold_, corrected.out_of_fold_ @ corrected.noise_.matrix)
    cautious.save(tmp_path / "model")
    loaded = OrdinalClassifier.load(tmp_path / "model")
    assert_array_equal(loaded.predict_proba(X), cautious.predict_proba(X))
    assert (loaded.noise_.answer, loaded.noise_.reason) == ("cautious", "asked for")
    assert "cautious" in str(cautious.describe())
    inner = average(cautious.models_, cautious.weights_, Table(X, cautious.blend_.coding.filling))
    assert_allclose(inner, corrected.predict_proba(X))


def test_a_cautious_model_is_the_same_in_onnx(models: dict[str, OrdinalClassifier], tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    models["cautious"].to_onnx(tmp_path / "model.onnx", dtype="float64")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    probabilities = session.run(["probabilities"], {"features": X})[0]
    assert_allclose(probabilities, models["cautious"].predict_proba(X), atol=1e-6)


def test_sets_in_doubt_are_those_of_the_records(models: dict[str, OrdinalClassifier]) -> None:
    cautious = models["cautious"]
    assert cautious.out_of_fold_ is not None
    assert cautious.set_calibration_ is not None
    plain = calibrate_sets(cautious.out_of_fold_, RECORDED, None)
    assert_array_equal(cautious.set_calibration_.thresholds, plain.thresholds)
    inside = cautious.predict_set(X, confidence=0.9).mask[np.arange(len(X)), RECORDED].mean()
    assert inside > 0.88


def test_an_evaluation_in_doubt_holds_both_readings(models: dict[str, OrdinalClassifier]) -> None:
    chances, noise = models["corrected"].out_of_fold_, models["corrected"].noise_
    assert chances is not None
    believed = evaluate_probabilities(chances, RECORDED, noise)
    trusting = evaluate_probabilities(chances, RECORDED, None)
    doubted = evaluate_probabilities(chances, RECORDED, replace(noise, answer="cautious"))
    assert doubted.in_doubt
    assert not believed.in_doubt
    for name in ("mean_absolute_error", "quadratic_weighted_kappa", "ranked_probability_score"):
        one, other, both = believed[name], trusting[name], doubted[name]
        assert both.value == other.value == both.observed
        assert (both.low, both.high) == (min(one.low, other.low), max(one.high, other.high))
    assert "not believed (cautious)" in str(doubted)
    moved = replace(noise, answer="trusting", doubts=(MOVED,))
    assert evaluate_probabilities(chances, RECORDED, moved)["zero_one_loss"].low == trusting["zero_one_loss"].low


def test_scores_stay_within_what_is_possible() -> None:
    """A matrix far noisier than the labels corrects beyond perfection."""
    X, true, _ = _data(60)
    model = OrdinalClassifier(noise=None, **FAST).fit(X, true)
    report = evaluate(model, X, true, inverse_decay(4, 0.2))
    for name, (low, high) in {
        "mean_absolute_error": (0, 3),
        "zero_one_loss": (0, 1),
        "accuracy_off1_score": (0, 1),
        "quadratic_weighted_kappa": (-1, 1),
    }.items():
        score = report[name]
        assert low <= score.low <= score.value <= score.high <= high, name


def test_an_audit_in_doubt_ranks_but_does_not_count(models: dict[str, OrdinalClassifier]) -> None:
    chances = models["trusting"].out_of_fold_
    assert chances is not None
    noise = estimated(FLAT, answer="trusting")
    issues = issues_from_probabilities(chances, RECORDED, noise, classes=range(4))
    assert issues.expected_wrong is not None
    assert issues.expected_wrong.value is None
    assert 0 <= issues.expected_wrong.low < issues.expected_wrong.high < len(X)
    assert str(issues.expected_wrong).startswith("between ")
    rows, grades = np.arange(len(X)), np.arange(4)
    distance = np.abs(grades - RECORDED[:, None])
    odds = (np.where(distance > 0, chances / np.sqrt(np.maximum(distance, 1)), 0)).sum(axis=1) / chances[rows, RECORDED]
    assert_array_equal(issues.worst[:50], np.argsort(-odds, kind="stable")[:50])
    assert (RECORDED != TRUE)[issues.worst[:100]].mean() > 0.8


def _evidence(probabilities: Any, ranks: Any, decision: str, weights: Any = None, groups: Any = None) -> Evidence:
    shares = np.bincount(ranks, weights) / (len(ranks) if weights is None else weights.sum())
    gains = gains_over_shares(np.asarray(probabilities, dtype=float), ranks, shares, decision)
    return Evidence.of(*gains, weights=weights, groups=groups)


def test_a_model_has_learned_if_it_decides_more_cheaply_or_makes_the_records_likelier() -> None:
    ranks = np.repeat([0, 1, 2], 40)
    right = 0.1 + 0.7 * np.eye(3)[ranks]
    assert _evidence(right, ranks, "median").has_learned
    assert not _evidence(np.full((120, 3), 1 / 3), ranks, "median").has_learned
    assert not _evidence(right[::-1], ranks, "median").has_learned
    # Always the middle grade, but likelier where it is right: the chances still rank the rows.
    unsure = np.where(ranks[:, None] == 1, [0.2, 0.6, 0.2], [0.3, 0.4, 0.3])
    unsure[ranks == 0, 0] += 0.1
    unsure[ranks == 0, 2] -= 0.1
    assert _evidence(unsure, ranks, "median").has_learned
    assert not _evidence(unsure, ranks, "mode", np.where(ranks == 1, 0.0, 1.0)).has_learned


def test_evidence_of_parts_adds_up_to_that_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    gains, weights, groups = rng.normal(0.1, 1, (2, 300)), rng.random(300), rng.integers(7, size=300)

    def of(some: Any) -> Evidence:
        return Evidence.of(*gains[:, some], weights=weights[some], groups=groups[some], n_groups=7)

    whole, added = of(slice(None)), of(slice(100)) + of(slice(100, 300))
    assert added.gain == pytest.approx(whole.gain)
    mean = np.average(gains[0], weights=weights)
    error = np.sqrt((np.bincount(groups, weights * (gains[0] - mean)) ** 2).sum()) / weights.sum()
    assert whole.gain == pytest.approx(mean / error)
    alone = Evidence.of(gains[0])
    assert alone.gain == pytest.approx(gains[0].mean() / (gains[0].std() / np.sqrt(300)))


@pytest.mark.parametrize("noise", ["estimate", None])
def test_columns_that_say_nothing_leave_the_class_shares(noise: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(105, 3)), rng.permutation(np.repeat([0, 1, 2], [21, 42, 42]))
    model = OrdinalClassifier(noise=noise, **FAST).fit(features, labels)
    assert model.learner_ == "class shares"
    assert model.weights_ == {"class shares": 1.0}
    assert_allclose(model.predict_proba(features[:3]), np.tile([0.2, 0.4, 0.4], (3, 1)), atol=0.01)
    assert set(model.predict(features)) == {1}
    assert noise is None or (model.noise_.answer, "class shares" in model.noise_.reason) == ("trusting", True)
    model.save(tmp_path / "model")
    assert_array_equal(
        OrdinalClassifier.load(tmp_path / "model").predict_proba(features), model.predict_proba(features)
    )
    evaluate(model, features, labels)
    model.predict_set(features)


def test_a_verdict_stands_alone_beside_a_trusted_record_and_is_weighed_beside_a_noisy_one() -> None:
    verifier = adjacent(4, up=0.1, down=0.05)
    verified = trusted_ranks(Verified([0, 1], [2, 1], verifier), np.arange(4), 3)
    ranks = np.array([1, 1, 3])
    table = Table(np.zeros((3, 1)), Filling.of(np.zeros((3, 1)), {}))
    for matrix, expected in (
        (np.eye(4), [verifier[:, 2], verifier[:, 1]]),
        (ASYMMETRIC, [verifier[:, 2] * ASYMMETRIC[:, 1], verifier[:, 1] * ASYMMETRIC[:, 1]]),
    ):
        found = Recorded(table, ranks, np.ones(3), matrix[None]).with_trusted(verified).likelihood
        assert_allclose(found[:2], [line / line.max() for line in expected])
        assert_allclose(found[2], matrix[:, 3])
