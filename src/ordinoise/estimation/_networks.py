"""The base models of the noise estimators: small networks that take the recorded labels at their word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_array

from ordinoise._validation import Floats, Ints, complain
from ordinoise.crossfit import center_and_scale, fitted_probabilities, out_of_fold
from ordinoise.learners.mlp import Architecture, Network, Objective, Optimiser, initial_network, train
from ordinoise.levels import class_probabilities, level_table


def trained_network(
    features: NDArray[np.floating],
    ranks: Ints,
    rows: Ints,
    n_classes: int,
    *,
    head: str,
    hidden_layer_sizes: tuple[int, ...],
    max_epochs: int,
    learning_rate: float,
    rng: np.random.Generator,
) -> Network:
    """A network fitted to the recorded labels of some rows: ordered thresholds, or softmax."""
    center, scale = center_and_scale(features, rows, np.ones(len(features)))
    network = initial_network(
        Architecture(features.shape[1], n_classes, tuple(hidden_layer_sizes), head=head),
        rng,
        center=center,
        scale=scale,
        class_frequencies=np.bincount(ranks[rows], minlength=n_classes),
    )
    table = np.eye(n_classes) if head == "softmax" else level_table(n_classes)
    objective = Objective("forward" if head == "softmax" else "cross_entropy", table[None])
    optimiser = Optimiser(learning_rate=learning_rate, batch_size=min(256, max(16, len(rows) // 1000)))
    return train(network, features, ranks, objective, optimiser, max_epochs=max_epochs, rng=rng, rows=rows).network


def softmax_probabilities(logits: Floats) -> Floats:
    """Class probabilities of a softmax head."""
    likelihood = np.exp(logits - logits.max(axis=1, keepdims=True))
    return likelihood / likelihood.sum(axis=1, keepdims=True)


def recorded_probabilities(
    X: Any,
    ranks: Ints,
    n_classes: int,
    base_estimator: Any,
    *,
    n_folds: int,
    n_rounds: int,
    settings: dict[str, Any],
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Floats:
    """Out-of-fold P(recorded label | features), averaged over rounds of fresh folds.

    `base_estimator` is any classifier with `predict_proba`; None is the ordinal network.
    """
    features = None if base_estimator is not None else check_array(X, dtype=[np.float64, np.float32])

    def by_network(training: Ints, test: Ints, seed: int) -> Floats:
        assert features is not None
        fresh = np.random.default_rng(seed)
        network = trained_network(features, ranks, training, n_classes, head="ordered", rng=fresh, **settings)
        return class_probabilities(network.logits(features[test]))

    def by_estimator(training: Ints, test: Ints, seed: int) -> Floats:
        return fitted_probabilities(_seeded(base_estimator, seed), X, ranks, n_classes, training, test)

    fit_predict = by_network if base_estimator is None else by_estimator
    rounds = [
        out_of_fold(fit_predict, ranks, n_classes, n_folds=n_folds, rng=rng, n_jobs=n_jobs) for _ in range(n_rounds)
    ]
    return np.mean(rounds, axis=0)


def _seeded(estimator: Any, seed: int) -> Any:
    fresh = clone(estimator)
    if not hasattr(fresh, "predict_proba"):
        raise complain("base_estimator", "have predict_proba", type(estimator).__name__)
    if fresh.get_params(deep=False).get("random_state", 0) is None:
        fresh.set_params(random_state=seed)
    return fresh
