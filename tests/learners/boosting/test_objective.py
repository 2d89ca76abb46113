from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lightgbm import LGBMClassifier

from ordinoise.learners.boosting import (
    BoosterSettings,
    Ensemble,
    ForwardObjective,
    ForwardOrdered,
    ForwardSoftmax,
    Sample,
    train,
)
from strategies import Floats, noise_matrices

ASYMMETRIC = np.array([[0.7, 0.2, 0.1], [0.0, 0.9, 0.1], [0.3, 0.1, 0.6]])


def _softmax(scores: Floats, offsets: Floats) -> Floats:
    likelihood = np.exp(scores + offsets)
    return likelihood / likelihood.sum(axis=1, keepdims=True)


def _ordered(scores: Floats, offsets: Floats) -> Floats:
    above = 1 / (1 + np.exp(-(scores[:, :1] + offsets)))
    return -np.diff(np.hstack([np.ones((len(scores), 1)), above, np.zeros((len(scores), 1))]), axis=1)


def _case(
    kind: type[ForwardObjective], matrix: Floats, seed: int
) -> tuple[ForwardObjective, Floats, Floats, Any, Floats]:
    rng = np.random.default_rng(seed)
    objective = kind(matrix[None])
    scores = rng.normal(scale=2, size=(20, objective.n_scores))
    offsets = objective.first_offsets(rng.dirichlet(np.full(len(matrix), 3.0)))
    return objective, scores, offsets, rng.integers(0, len(matrix), 20), rng.uniform(0.1, 3, 20)


HEADS = [(ForwardSoftmax, _softmax), (ForwardOrdered, _ordered)]
heads = pytest.mark.parametrize(("kind", "probabilities"), HEADS, ids=["softmax", "ordered"])
kinds = pytest.mark.parametrize("kind", [ForwardSoftmax, ForwardOrdered])


@heads
@given(noise_matrices(), st.integers(0, 1000))
def test_losses_are_minus_the_logarithm_of_the_recorded_labels_probability(
    kind: Any, probabilities: Any, matrix: Floats, seed: int
) -> None:
    objective, scores, offsets, recorded, _ = _case(kind, matrix, seed)
    expected = -np.log((probabilities(scores, offsets) @ matrix)[np.arange(20), recorded])
    np.testing.assert_allclose(objective.losses(scores, offsets, recorded), expected, rtol=1e-9)
    np.testing.assert_allclose(
        np.exp(objective.log_probabilities(scores, offsets)), probabilities(scores, offsets), atol=1e-12
    )


@kinds
@given(noise_matrices(), st.integers(0, 1000))
def test_the_gradient_is_that_of_the_losses(kind: Any, matrix: Floats, seed: int) -> None:
    objective, scores, offsets, recorded, weights = _case(kind, matrix, seed)
    gradient, curvature, _ = objective.slopes(np.asfortranarray(scores), offsets, recorded, weights)
    step = 1e-5
    for k in range(objective.n_scores):
        shift = np.eye(objective.n_scores)[k] * step
        upper, lower = (objective.losses(scores + sign * shift, offsets, recorded) for sign in (1, -1))
        expected = weights * (upper - lower) / (2 * step)
        np.testing.assert_allclose(gradient.reshape(scores.shape)[:, k], expected, rtol=1e-4, atol=1e-6)
    assert (curvature > 0).all()


@given(noise_matrices(), st.integers(0, 1000))
def test_without_noise_the_curvature_of_the_ordered_head_is_exact(matrix: Floats, seed: int) -> None:
    objective, scores, offsets, recorded, weights = _case(ForwardOrdered, np.eye(len(matrix)), seed)
    step = 1e-3
    upper, middle, lower = (objective.losses(scores + shift, offsets, recorded) for shift in (step, 0, -step))
    _, curvature, _ = objective.slopes(scores, offsets, recorded, weights)
    np.testing.assert_allclose(curvature, weights * (upper - 2 * middle + lower) / step**2, rtol=1e-3, atol=1e-5)


@given(noise_matrices(), st.integers(0, 1000))
def test_thresholds_step_uphill_to_the_likeliest_and_never_cross(matrix: Floats, seed: int) -> None:
    objective, scores, thresholds, _, weights = _case(ForwardOrdered, matrix, seed)
    recorded = np.resize(np.arange(len(matrix)), 20)
    last = np.inf
    for _ in range(30):
        loss = np.average(objective.losses(scores, thresholds, recorded), weights=weights)
        assert loss <= last + 1e-9
        assert (np.diff(thresholds) < 0).all()
        last = loss
        _, _, thresholds = objective.slopes(scores, thresholds, recorded, weights)


@kinds
def test_two_raters_read_their_own_matrices(kind: Any) -> None:
    objective = kind(np.stack([np.eye(3), ASYMMETRIC]))
    rng = np.random.default_rng(0)
    scores, recorded, raters = rng.normal(size=(30, objective.n_scores)), rng.integers(0, 3, 30), rng.integers(0, 2, 30)
    offsets = objective.first_offsets(np.full(3, 1 / 3))
    losses = objective.losses(scores, offsets, objective.cells(recorded, raters))
    for rater, matrix in enumerate((np.eye(3), ASYMMETRIC)):
        own = raters == rater
        np.testing.assert_array_equal(losses[own], kind(matrix[None]).losses(scores[own], offsets, recorded[own]))


@kinds
@pytest.mark.parametrize("matrix", [np.eye(3), ASYMMETRIC, np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]])])
def test_scores_beyond_all_bounds_leave_everything_finite(kind: Any, matrix: Floats) -> None:
    """Also for a record that the matrix holds impossible."""
    objective = kind(matrix[None])
    offsets = objective.first_offsets(np.full(3, 1 / 3))
    for scores in np.array([[[0.0, 2000.0, -2000.0]] * 3, [[-700.0, 0, 0]] * 3, [[2000.0, 0, 0]] * 3]):
        chosen = scores[:, : objective.n_scores]
        gradient, curvature, after = objective.slopes(chosen, offsets, np.arange(3), np.ones(3))
        for numbers in (gradient, curvature, after, objective.losses(chosen, offsets, np.arange(3))):
            assert np.isfinite(numbers).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_without_noise_the_softmax_trees_are_those_of_lightgbm(weighted: bool, subsample: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = np.digitize(X.sum(axis=1) + rng.normal(size=500), [-1, 1])
    X[rng.random(X.shape) < 0.1 * (not weighted)] = np.nan
    weights = rng.uniform(0.5, 2, 500) if weighted else np.ones(500)
    theirs = LGBMClassifier(
        n_estimators=20, n_jobs=1, random_state=7, subsample=subsample, subsample_freq=int(subsample < 1), verbosity=-1,
        deterministic=True, force_row_wise=True,
    ).fit(X, y, sample_weight=weights)  # fmt: skip
    objective = ForwardSoftmax(np.eye(3)[None])
    frequencies = np.bincount(y, weights=weights) / weights.sum()
    settings = BoosterSettings(n_jobs=1, subsample=subsample)
    ours = train(Sample(X, y, weights), objective, frequencies, settings, n_rounds=20, seed=7).ensemble
    np.testing.assert_allclose(np.exp(ours.log_probabilities(X)), np.asarray(theirs.booster_.predict(X)), rtol=1e-6)


@kinds
def test_a_seed_gives_the_same_trees_and_another_seed_others(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    sample, settings = Sample(X, y, np.ones(200)), BoosterSettings(n_jobs=1, subsample=0.5)
    one, two, other = (
        train(sample, kind(ASYMMETRIC[None]), np.full(3, 1 / 3), settings, n_rounds=5, seed=seed).ensemble.trees
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one.leaves, two.leaves)
    assert not np.array_equal(one.leaves, other.leaves)


@kinds
def test_training_stops_at_the_least_validation_loss(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + 2 * rng.normal(size=400), [-1, 1])
    sample, objective = Sample(X, y, rng.uniform(0, 1, 400)), kind(ASYMMETRIC[None])
    held_out = sample.rows(np.arange(300, 400))
    found = train(
        sample.rows(np.arange(300)), objective, np.array([0.2, 0.3, 0.5]), BoosterSettings(n_jobs=1), n_rounds=200,
        seed=0, validation=held_out, patience=4,
    )  # fmt: skip
    assert found.n_rounds == np.argmin(found.validation_curve) + 1 == len(found.validation_curve) - 4
    losses = objective.losses(found.ensemble.scores(held_out.features), found.ensemble.offsets, held_out.cells)
    assert np.average(losses, weights=held_out.weights) == pytest.approx(min(found.validation_curve), rel=1e-9)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"params": {"objective": "binary"}}, r"params must leave out what training sets itself, got 'objective'"),
    ({"params": {"nthread": 3}}, r"params must leave out what training sets itself, got 'nthread'"),
    ({"params": {"linear_tree": True}}, r"params must leave out what training sets itself, got 'linear_tree'"),
    ({"params": {"min_data": 3}}, r"got 'min_data'; set min_child_samples="),
    ({"params": {"cat_smoth": 3}}, r"name in params must be one of .*; did you mean 'cat_smooth'\?"),
    ({"num_leaves": 1}, r"num_leaves must be a whole number of at least 2, got 1"),
    ({"subsample": 0}, r"subsample must be above 0 and at most 1, got 0"),
    ({"reg_lambda": -1}, r"reg_lambda must be at least 0, got -1"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_settings_that_cannot_be_are_refused_with_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        BoosterSettings(**settings)


def test_trees_for_other_classes_are_refused_with_a_sentence() -> None:
    sample = Sample(np.arange(100.0)[:, None], np.arange(100) % 3, np.ones(100))
    found = train(
        sample, ForwardSoftmax(np.eye(3)[None]), np.full(3, 1 / 3), BoosterSettings(n_jobs=1), n_rounds=2, seed=0
    )
    with pytest.raises(ValueError, match=r"trees must be 4 per round, got 6"):
        Ensemble("softmax", found.ensemble.trees, np.zeros(4))
