"""Sparse rows teach and are predicted as the same rows written out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from learners.mlp.cases import N_CLASSES, NOISE, objective, samples
from ordinoise.learners.mlp import (
    Architecture,
    Network,
    Optimizer,
    Records,
    fit_linear,
    initial_network,
    linear_start,
    train,
)
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
    """The oracle: scipy's optimizer on weights of dense standardised columns, with gradients by differences."""
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
