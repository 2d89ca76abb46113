"""Sparse rows teach and are predicted as the same rows written out."""

import numpy as np
import pytest
from scipy import sparse

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
from ordinoise.learners.mlp.convex import STRENGTHS, _Objective

FEATURES, LABELS = samples(150, 37)
FEATURES[np.random.default_rng(1).random(FEATURES.shape) < 0.7] = 0
ROWS = sparse.csr_matrix(FEATURES)


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


@pytest.mark.parametrize("head", ["ordered", "softmax"])
def test_the_gradient_of_the_penalized_loss_is_that_of_its_differences(head: str) -> None:
    penalized = _Objective(start_of(head), records(slice(0, 110)))
    rng = np.random.default_rng(0)
    free = penalized.start + 0.2 * rng.normal(size=len(penalized.start))
    _, slopes = penalized(free, 0.1)
    for at in rng.choice(len(free), 12):
        step = np.eye(len(free))[at] * 1e-5
        difference = penalized(free + step, 0.1)[0] - penalized(free - step, 0.1)[0]
        assert slopes[at] == pytest.approx(difference / 2e-5, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("head", ["ordered", "softmax"])
def test_a_linear_fit_keeps_the_strength_of_least_held_out_loss(head: str) -> None:
    training, held_out = records(slice(0, 110)), records(slice(110, 150))
    fit = fit_linear(start_of(head), training, held_out)
    alone = fit_linear(start_of(head), training, held_out, [fit.strength])
    assert min(fit.curve) == pytest.approx(alone.curve[0], abs=2e-3)
    assert fit.strength == STRENGTHS[int(np.argmin(fit.curve))]
    assert len(fit.curve) < len(STRENGTHS)
