"""What every noise estimator promises, on one synthetic sample with asymmetric noise."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

from ordinoise import OrdinalMLPClassifier, corrupt
from ordinoise.datasets import synthetic
from ordinoise.estimation import AnchorPoints, ConfidentJoint, IdentifiabilityWarning, ScoreLikelihood
from ordinoise.estimation._likelihood_ratio import likelihood_ratio
from ordinoise.estimation.anchor_points import anchored_matrix
from ordinoise.estimation.confident_joint import confident_matrix
from ordinoise.noise.record import implied_shares

NOISE = np.array(
    [[0.80, 0.15, 0.05, 0.0], [0.02, 0.70, 0.20, 0.08], [0.10, 0.05, 0.80, 0.05], [0.02, 0.03, 0.25, 0.70]]
)
DATA = synthetic(300, random_state=0)
RECORDED = corrupt(DATA.labels, NOISE, random_state=1)
ESTIMATORS: list[Any] = [
    AnchorPoints(n_bootstrap=20, random_state=0),
    ConfidentJoint(n_bootstrap=20, random_state=0),
    ScoreLikelihood(n_bootstrap=20, max_iter=50, random_state=0),
]
by_name = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)


def _fitted(estimator: Any, y: Any = RECORDED, **changes: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        return clone(estimator).set_params(**changes).fit(DATA.features, y)


@cache
def _usual(estimator: Any) -> Any:
    """An estimator fitted as it is, once for all tests that only look."""
    return _fitted(estimator)


@by_name
def test_the_estimate_is_near_the_truth_and_nearer_than_its_transpose(estimator: Any) -> None:
    matrix = _usual(estimator).noise_matrix_
    error, transposed = np.abs(matrix - NOISE).mean(), np.abs(matrix.T - NOISE).mean()
    assert error < 0.08
    assert error < transposed


@by_name
def test_every_estimator_gives_intervals_a_rate_and_a_word(estimator: Any) -> None:
    fitted = _usual(estimator)
    np.testing.assert_allclose(fitted.noise_matrix_.sum(axis=1), 1)
    np.testing.assert_allclose(fitted.noise_.class_shares.sum(), 1)
    low, high = fitted.noise_.interval
    assert (low <= high).all()
    assert ((low - 0.05 <= fitted.noise_matrix_) & (fitted.noise_matrix_ <= high + 0.05)).all()
    assert fitted.noise_.rate_interval[0] <= fitted.noise_.rate + 0.02
    assert fitted.noise_.rate_interval[1] >= fitted.noise_.rate - 0.02
    assert fitted.noise_.replicates.shape == (20, 4, 4)
    assert fitted.likelihood_ratio_ > 20
    assert isinstance(fitted.noise_.doubt_text, str)


@by_name
def test_the_same_seed_gives_the_same_estimate(estimator: Any) -> None:
    # On the oldest dependencies the last digits differ from call to call.
    again = _fitted(estimator).noise_.replicates
    np.testing.assert_allclose(_usual(estimator).noise_.replicates, again, rtol=1e-12, atol=1e-14)


@by_name
def test_named_grades_give_the_estimate_of_their_ranks(estimator: Any) -> None:
    order = ["poor", "fair", "good", "best"]
    named = _fitted(estimator, np.array(order)[RECORDED], classes=order, n_bootstrap=0)
    np.testing.assert_array_equal(named.noise_matrix_, _usual(estimator).noise_matrix_)
    assert named.noise_.rate_interval is None


@by_name
def test_a_class_that_never_occurs_is_kept(estimator: Any) -> None:
    # The average of families goes through this in test_likelihood.
    one_family = {"family": "power_decay"} if isinstance(estimator, ScoreLikelihood) else {}
    fitted = _fitted(estimator, classes=[0, 1, 2, 3, 4], n_bootstrap=0, **one_family)
    assert fitted.noise_matrix_.shape == (5, 5)
    np.testing.assert_allclose(fitted.noise_matrix_.sum(axis=1), 1)
    assert np.isfinite(fitted.noise_matrix_).all()


@by_name
@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (DATA.features, np.zeros(1200, dtype=int), "y must hold at least 2 classes"),
        (DATA.features, RECORDED[:-1], r"y must be as long as X \(1200\), got 1199"),
        (np.full((1200, 2), np.nan), RECORDED, "NaN"),
    ],
)
def test_bad_input_gets_one_sentence(estimator: Any, X: Any, y: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        clone(estimator).fit(X, y)


def test_anchors_are_read_at_the_quantile() -> None:
    chance = np.linspace(0.0, 1.0, 101)
    probabilities = np.column_stack([1 - chance, chance])
    np.testing.assert_allclose(anchored_matrix(probabilities, 1.0), np.eye(2))
    np.testing.assert_allclose(anchored_matrix(probabilities, 0.9), [[0.9, 0.1], [0.1, 0.9]])


def test_anchor_points_say_when_no_sample_is_sure() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(IdentifiabilityWarning, match="no sample surely belongs to class"):
        AnchorPoints(max_iter=5, n_bootstrap=0, random_state=0).fit(rng.normal(size=(300, 2)), rng.integers(0, 4, 300))


def test_confident_counts_equal_a_literal_count() -> None:
    rng = np.random.default_rng(0)
    probabilities, ranks = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    thresholds = [np.mean([p[k] for p, r in zip(probabilities, ranks, strict=True) if r == k]) for k in range(3)]
    joint = np.zeros((3, 3))
    for p, recorded in zip(probabilities, ranks, strict=True):
        reached = [k for k in range(3) if p[k] >= thresholds[k]]
        if reached:
            likeliest = int(np.argmax(np.where(np.isin(np.arange(3), reached), p, -1)))
            joint[likeliest, recorded] += 1
    joint = joint / joint.sum(axis=0) * np.bincount(ranks)
    np.testing.assert_allclose(confident_matrix(probabilities, ranks), joint / joint.sum(axis=1, keepdims=True))


def test_implied_shares_invert_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = np.array([0.1, 0.4, 0.3, 0.2])
    np.testing.assert_allclose(implied_shares(NOISE, 700 * shares @ NOISE), shares, atol=0.01)
    monkeypatch.setattr("ordinoise.noise.record.SHARES_STEPS", 20_000)
    np.testing.assert_allclose(implied_shares(NOISE, shares @ NOISE), shares, atol=1e-6)
    assert implied_shares(np.eye(4), [5, 0, 0, 5], least=0.01).min() > 0.009


def test_the_likelihood_ratio_prefers_the_true_matrix() -> None:
    probabilities = _usual(ESTIMATORS[2]).probabilities_
    right, transposed = (likelihood_ratio(probabilities, RECORDED, matrix) for matrix in (NOISE, NOISE[::-1, ::-1]))
    assert right > max(transposed, 0) + 10
    assert likelihood_ratio(probabilities, RECORDED, np.eye(4)) == pytest.approx(0)


def test_clean_labels_get_little_noise() -> None:
    fitted = _fitted(ESTIMATORS[2], DATA.labels, n_bootstrap=0)
    assert fitted.noise_.rate < 0.02
    assert np.abs(fitted.noise_matrix_ - np.eye(4)).mean() < 0.01


@pytest.mark.slow
def test_trusted_labels_pull_the_estimate() -> None:
    rows = np.arange(0, 1200, 2)
    base = ESTIMATORS[2]
    trusting = _fitted(base, trusted=(rows, DATA.labels[rows]))
    assert np.abs(trusting.noise_matrix_ - NOISE).mean() < np.abs(_fitted(base).noise_matrix_ - NOISE).mean() + 0.005
    lying = _fitted(base, trusted=(rows, RECORDED[rows]))
    assert lying.noise_.rate < trusting.noise_.rate / 2


def test_a_prior_rate_pulls_the_rate() -> None:
    low, high = (
        _fitted(ESTIMATORS[2], prior_rate=rate, family="power_decay", n_bootstrap=0).noise_.rate for rate in (0.05, 0.5)
    )
    assert low < high


@pytest.mark.slow
def test_any_classifier_can_be_the_base() -> None:
    forest = RandomForestClassifier(40, min_samples_leaf=10, random_state=0)
    fitted = _fitted(ESTIMATORS[2], base_estimator=forest, n_bootstrap=0)
    assert np.abs(fitted.noise_matrix_ - NOISE).mean() < 0.08
    with pytest.raises(ValueError, match="base_estimator must have predict_proba, got LinearRegression"):
        _fitted(ESTIMATORS[2], base_estimator=LinearRegression())


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_number_of_workers() -> None:
    one, two = (_fitted(ESTIMATORS[2], n_jobs=n_jobs, n_bootstrap=0).noise_matrix_ for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_estimate_in_the_classifier_is_the_score_likelihood() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model = OrdinalMLPClassifier(noise="estimate", max_iter=5, random_state=0).fit(DATA.features, RECORDED)
    assert model.noise_.method == "ScoreLikelihood"
    np.testing.assert_array_equal(model.noise_matrix_, model.noise_.matrix)


@pytest.mark.parametrize(
    ("trusted", "sentence"),
    [
        (3, "trusted must be a pair of row numbers and true labels, or Verified, got 3"),
        (([0, 1], [1]), r"trusted labels must be as long as their row numbers \(2\), got 1"),
        (([0, 5000], [1, 1]), "trusted rows must be row numbers from 0 to 1199"),
        (([0], [9]), r"trusted labels must hold only the labels \[0, 1, 2, 3\], got 9"),
    ],
)
def test_bad_trusted_labels_get_one_sentence(trusted: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        _fitted(ESTIMATORS[2], trusted=trusted)


def test_a_learner_that_says_the_same_of_every_row_leaves_the_noise_unknown() -> None:
    rng = np.random.default_rng(0)
    found = ScoreLikelihood(base_estimator=DummyClassifier(strategy="uniform"), n_jobs=1, random_state=0)
    with pytest.warns(IdentifiabilityWarning, match="too few rows"):
        found.fit(rng.normal(size=(105, 2)), np.arange(105) % 3)
    assert found.noise_.source == "too few rows"
    assert found.noise_.rate is None
