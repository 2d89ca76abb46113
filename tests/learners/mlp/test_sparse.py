"""Sparse rows teach and are predicted as the same rows written out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from learners.mlp.cases import N_CLASSES, NOISE, objective, samples
from ordinoise.learners.mlp import (
    Architecture,
    LinearFit,
    Network,
    Optimizer,
    Records,
    convex,
    fit_least_squares,
    fit_linear,
    initial_network,
    linear_start,
    train,
)
from ordinoise.learners.mlp._descent import Vector, descend
from ordinoise.learners.mlp.convex import RATIO, STRENGTHS, directions, forward_loss

FEATURES, LABELS = samples(150, 37)
FEATURES[np.random.default_rng(1).random(FEATURES.shape) < 0.7] = 0
ROWS = sparse.csr_matrix(FEATURES)
Floats = NDArray[np.float64]


@pytest.mark.parametrize("head", ["ordered", "softmax"])
@pytest.mark.parametrize("hidden", [(), (5,), (6, 4)])
def test_training_on_sparse_rows_is_training_on_dense_ones(hidden: tuple[int, ...], head: str) -> None:
    architecture = Architecture(37, N_CLASSES, hidden, head=head)
    start = initial_network(architecture, np.random.default_rng(0), scale=np.linspace(0.5, 2, 37))
    dense, sparse_ = (
        train(
            start, table, LABELS, objective("forward"), Optimizer(batch_size=30, learning_rate=0.01), max_epochs=3,
            rng=np.random.default_rng(0), rows=np.arange(110), validation_rows=np.arange(110, 150),
        )
        for table in (FEATURES, ROWS)
    )  # fmt: skip
    np.testing.assert_allclose(sparse_.validation_curve, dense.validation_curve, rtol=1e-5)
    np.testing.assert_allclose(sparse_.network.parameters, dense.network.parameters, atol=2e-4)
    np.testing.assert_allclose(dense.network.logits(ROWS), dense.network.logits(FEATURES), atol=1e-9)


def test_a_centered_network_reads_sparse_rows_but_does_not_learn_from_them() -> None:
    network = initial_network(Architecture(37, N_CLASSES), np.random.default_rng(0), center=np.ones(37))
    np.testing.assert_allclose(network.logits(ROWS), network.logits(FEATURES), atol=1e-9)
    with pytest.raises(ValueError, match="center must be zero for sparse"):
        train(network, ROWS, LABELS, objective("forward"), Optimizer(), max_epochs=1, rng=np.random.default_rng(0))


def records(rows: slice) -> Records:
    n_rows = len(LABELS[rows])
    return Records(ROWS[rows], NOISE[:, LABELS[rows]].T.copy(), np.full(n_rows, 1 / n_rows))


def start_of(head: str) -> Network:
    counts = np.bincount(LABELS, minlength=N_CLASSES).astype(float)
    center = np.where(np.arange(37) < 3, 0.3, 0.0)
    return linear_start(Architecture(37, N_CLASSES, (), head=head), counts, center=center, scale=np.linspace(1, 2, 37))


@pytest.mark.parametrize("head", ["ordered", pytest.param("softmax", marks=pytest.mark.slow)])
def test_a_descent_among_sums_of_rows_ends_at_the_minimum_over_all_weights(head: str) -> None:
    """The oracle: scipy's optimizer on weights of dense standardized columns, with gradients by differences."""
    start, training = start_of(head), records(slice(0, 110))
    strength = 0.03
    fitted = fit_linear(start, training, records(slice(110, 150)), [strength]).network
    rows = (FEATURES[:110] - start.center) / start.scale
    along = directions(head, N_CLASSES)
    mean_square = (rows**2).sum(axis=1).mean()

    def penalized(free: Floats) -> float:
        weights = free[: 37 * len(along)].reshape(len(along), 37)
        network = replace(start, parameters=np.concatenate([(along.T @ weights).ravel(), free[37 * len(along) :]]))
        return forward_loss(network, training) + strength * mean_square / 4 * (weights**2).sum()

    best = minimize(penalized, np.concatenate([np.zeros(37 * len(along)), start.arrays["offsets"]]), tol=1e-6).x
    weights = best[: 37 * len(along)].reshape(len(along), 37)
    np.testing.assert_allclose(fitted.weights[-1], along.T @ weights, atol=0.02)
    np.testing.assert_allclose(fitted.arrays["offsets"], best[37 * len(along) :], atol=0.02)


def test_degrees_of_the_softmax_head_are_orthogonal_and_shrink() -> None:
    along = directions("softmax", 5)
    np.testing.assert_allclose(along @ along.T / 5, np.diag(RATIO ** (2.0 * np.arange(4))), atol=1e-12)
    np.testing.assert_allclose(np.abs(along[0]), np.sqrt(0.5) * np.array([2, 1, 0, 1, 2]), atol=1e-12)
    assert directions("softmax", 2).shape == (1, 2)
    assert directions("softmax", 40).shape == (9, 40)


@pytest.mark.parametrize("head", ["ordered", "softmax"])
def test_a_linear_fit_keeps_the_strength_of_least_held_out_loss(head: str) -> None:
    training, held_out = records(slice(0, 110)), records(slice(110, 150))
    fit = fit_linear(start_of(head), training, held_out)
    alone = fit_linear(start_of(head), training, held_out, [fit.strength])
    assert min(fit.curve) == pytest.approx(alone.curve[0], abs=2e-3)
    assert fit.strength == STRENGTHS[int(np.argmin(fit.curve))]
    assert len(fit.curve) < len(STRENGTHS)


def test_least_squares_gives_the_direction_of_ridge_regression_with_cuts_that_fit_held_out_rows() -> None:
    """The oracle: scikit-learn's ridge regression of the same penalty, on standardized columns."""
    start, strength = start_of("ordered"), 0.1
    rows = (FEATURES - start.center) / start.scale
    score = rows @ np.random.default_rng(2).normal(size=37)
    ranks = np.digitize(score, np.quantile(score, [0.3, 0.5, 0.8]))
    grades = ranks.astype(float)
    training, held_out = (
        Records(ROWS[some], np.eye(N_CLASSES)[ranks[some]], np.full(len(ranks[some]), 1 / len(ranks[some])))
        for some in (slice(0, 110), slice(110, 150))
    )
    fitted = fit_least_squares(start, training, held_out, (grades[:110], grades[110:]), [strength])
    penalty = strength * (rows[:110] ** 2).sum(axis=1).mean() / 2
    ridge = Ridge(alpha=110 * penalty).fit(rows[:110], grades[:110])
    found = fitted.network.weights[-1][0]
    scale = found @ ridge.coef_ / (ridge.coef_ @ ridge.coef_)
    assert scale > 0
    np.testing.assert_allclose(found / scale, ridge.coef_, atol=0.01)
    assert fitted.curve == [pytest.approx(np.mean((ridge.predict(rows[110:]) - grades[110:]) ** 2), rel=0.01)]
    loss = forward_loss(fitted.network, held_out)
    assert loss < forward_loss(start, held_out) - 0.3
    for factor in (0.4, 2.5):  # neither a less nor a more confident network is better
        assert loss < forward_loss(replace(fitted.network, parameters=factor * fitted.network.parameters), held_out)


def test_least_squares_of_grades_that_no_column_explains_leave_the_class_shares() -> None:
    training, held_out = records(slice(0, 110)), records(slice(110, 150))
    grades = LABELS.astype(float)
    fitted = fit_least_squares(start_of("ordered"), training, held_out, (grades[:110], grades[110:]), [0.4])
    assert np.abs(fitted.network.weights[-1]).max() < 0.01


@pytest.mark.parametrize("seed", [9, 10, 15, 21, 22, 24])
def test_scores_that_tell_the_grades_apart_without_an_error_have_a_finite_scale(seed: int) -> None:
    """Steps towards the best scale, which is infinite, overflowed with these draws; warnings are errors here."""
    rng = np.random.default_rng(seed)
    ranks = np.arange(40) % N_CLASSES
    scores = 1e-4 * ranks + 1e-9 * rng.normal(size=40)
    sure = Records(ROWS[:40], np.eye(N_CLASSES)[ranks], np.full(40, 1 / 40))
    scale, offsets = convex._cuts(scores - scores.mean(), np.sort(rng.normal(size=N_CLASSES - 1))[::-1] * 3, sure)
    assert np.isfinite([scale, *offsets]).all()


@pytest.mark.parametrize("head", ["ordered", "softmax", "least squares"])
def test_strengths_tried_on_a_sample_first_end_where_those_of_all_rows_do(
    head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = FEATURES @ np.random.default_rng(2).normal(size=37)
    ranks = np.digitize(score, np.quantile(score, [0.3, 0.5, 0.8]))
    training, held_out = (
        Records(ROWS[some], np.eye(N_CLASSES)[ranks[some]], np.full(len(ranks[some]), 1 / len(ranks[some])))
        for some in (slice(0, 110), slice(110, 150))
    )

    def fitted() -> LinearFit:
        if head == "least squares":
            grades = ranks[:110].astype(float), ranks[110:].astype(float)
            return fit_least_squares(start_of("ordered"), training, held_out, grades)
        return fit_linear(start_of(head), training, held_out)

    whole = fitted()
    monkeypatch.setattr(convex, "MANY_ROWS", 100)
    monkeypatch.setattr(convex, "SAMPLE", 60)
    sampled = fitted()
    assert len(sampled.curve) < len(whole.curve)
    assert min(sampled.curve) < min(whole.curve) + 0.03
    assert forward_loss(sampled.network, held_out) < forward_loss(whole.network, held_out) + 0.03


def test_the_order_of_columns_and_columns_of_zeros_change_nothing() -> None:
    training, held_out = records(slice(0, 110)), records(slice(110, 150))
    order = np.concatenate([np.random.default_rng(3).permutation(37), [37]])

    def padded(some: Records) -> Records:
        rows = sparse.hstack([some.features, sparse.csr_matrix((some.features.shape[0], 1))], format="csr")
        return replace(some, features=rows[:, order])

    start = linear_start(Architecture(37, N_CLASSES, ()), np.ones(4), center=np.zeros(37), scale=np.ones(37))
    wider = linear_start(Architecture(38, N_CLASSES, ()), np.ones(4), center=np.zeros(38), scale=np.ones(38))
    plain = fit_linear(start, training, held_out, [0.03]).network.weights[-1][0]
    other = fit_linear(wider, padded(training), padded(held_out), [0.03]).network.weights[-1][0]
    np.testing.assert_allclose(other[:-1], plain[order[:-1]], atol=1e-6)
    assert other[-1] == 0


def test_a_first_step_that_gains_little_does_not_end_the_descent() -> None:
    """Down the gradient of a narrow valley there is hardly a gain; the next step knows the curvature."""
    steepness, wanted = np.array([2e5, 1.0]), np.array([1e-3, 1.0])

    def loss(image: Floats) -> tuple[float, Floats]:
        return float((image - wanted) @ (image - wanted)) / 2, image - wanted

    found = descend(loss, lambda own: steepness * own, Vector(np.zeros(2), np.zeros(2)), np.zeros(2))
    assert loss(found.image)[0] < 1e-3
