"""The base models of the noise estimators: small networks that trust the recorded labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from ordinoise._validation import Floats, Ints, complain
from ordinoise.crossfit import fitted_probabilities, out_of_fold, seeded_clone
from ordinoise.learners.mlp import Architecture, Network, Objective, Optimizer, initial_network, train
from ordinoise.levels import class_probabilities, level_table
from ordinoise.standardize import center_and_scale
from ordinoise.steps import automatic_batch_size


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
    center, scale = center_and_scale(features, rows, np.ones(features.shape[0]))
    network = initial_network(
        Architecture(features.shape[1], n_classes, tuple(hidden_layer_sizes), head=head),
        rng,
        center=center,
        scale=scale,
        class_frequencies=np.bincount(ranks[rows], minlength=n_classes),
    )
    table = np.eye(n_classes) if head == "softmax" else level_table(n_classes)
    objective = Objective("forward" if head == "softmax" else "cross_entropy", table[None])
    optimizer = Optimizer(learning_rate=learning_rate, batch_size=automatic_batch_size(len(rows)))
    return train(network, features, ranks, objective, optimizer, max_epochs=max_epochs, rng=rng, rows=rows).network


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
    groups: Ints | None = None,
) -> Floats:
    """Out-of-fold P(recorded label | features), averaged over rounds of fresh folds.

    `base_estimator` is any classifier with `predict_proba`; None is the ordinal network, trained with `settings`.
    """
    if base_estimator is not None and not hasattr(base_estimator, "predict_proba"):
        raise complain("base_estimator", "have predict_proba", type(base_estimator).__name__)
    features = (
        None if base_estimator is not None else check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    )

    def by_network(training: Ints, test: Ints, seed: int) -> Floats:
        assert features is not None
        fresh = np.random.default_rng(seed)
        network = trained_network(features, ranks, training, n_classes, head="ordered", rng=fresh, **settings)
        return class_probabilities(network.logits(features[test]))

    def by_estimator(training: Ints, test: Ints, seed: int) -> Floats:
        return fitted_probabilities(seeded_clone(base_estimator, seed), X, ranks, n_classes, training, test, groups)

    fit_predict = by_network if base_estimator is None else by_estimator
    rounds = [
        out_of_fold(fit_predict, ranks, n_classes, n_folds=n_folds, rng=rng, n_jobs=n_jobs, groups=groups)
        for _ in range(n_rounds)
    ]
    return np.mean(rounds, axis=0)
