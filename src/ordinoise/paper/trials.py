"""One trial of the paper: split, corrupt, train, test."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.datasets.files import DataDir
from ordinoise.datasets.records import Features
from ordinoise.estimation import AnchorPoints, ScoreLikelihood
from ordinoise.learners.mlp import Architecture, Objective, Optimizer, Training, initial_network, train
from ordinoise.levels import corrected_levels, labels_from_logits, level_table
from ordinoise.noise import corrupt, safe_noise_matrix
from ordinoise.paper.protocol import SETS, TEST_SHARE, NetworkSettings, PaperTrial, noise_matrix
from ordinoise.paper.synthetic_mslr import synthetic_mslr
from ordinoise.scoring.metrics import mean_absolute_error, zero_one_loss
from ordinoise.standardize import center_and_scale


def run(trial: PaperTrial, data_dir: DataDir = None) -> Mapping[str, Any]:
    """Errors on clean test labels, number of updates that left the thresholds unordered, and the estimated matrix."""
    folder = None if data_dir is None else str(data_dir)
    data = load_set(trial.dataset, folder)
    training, test = split_rows(data, trial.split)
    labels = recorded_labels(data, training, trial.noise, trial.split)
    is_estimated = trial.variant == "estimated"
    if is_estimated:
        source = EstimateKey(
            trial.dataset, trial.noise, trial.split, trial.estimator, trial.settings.n_hidden, trial.settings.n_epochs
        )
        matrix, n_estimating = estimated_matrix(source, folder)
    else:
        matrix, n_estimating = noise_matrix(trial.noise, data.n_classes), 0
    objective, rng = _objective(trial, matrix, data.n_classes), generator(trial.dataset, trial.split, "training")
    outcome = train_network(data.features[training], labels, objective, trial.settings, rng)
    predicted = labels_from_logits(outcome.network.logits(data.features[test]))
    return {
        "mean_absolute_error": mean_absolute_error(data.labels[test], predicted),
        "zero_one_loss": zero_one_loss(data.labels[test], predicted),
        "unordered_updates": outcome.threshold_inversions,
        "n_updates": outcome.n_updates,
        "n_estimating_updates": n_estimating,
        "is_ordered": bool((np.diff(outcome.network.thresholds) <= 0).all()),
        "noise_matrix": matrix.tolist() if is_estimated else None,
    }


class EstimateKey(NamedTuple):
    """Everything that an estimated matrix depends on; the loss is not part of it, so both losses share one estimate."""

    dataset: str
    noise: str
    split: int
    estimator: str
    n_hidden: int
    n_epochs: int


@cache
def estimated_matrix(key: EstimateKey, data_dir: str | None) -> tuple[Floats, int]:
    """The noise matrix estimated from the training rows of a split, and the number of updates spent on it."""
    data = load_set(key.dataset, data_dir)
    rows, _ = split_rows(data, key.split)
    labels = recorded_labels(data, rows, key.noise, key.split)
    estimator, n_networks = _estimator(key, data.n_classes)
    estimator.set_params(random_state=generator(key.dataset, key.split, key.estimator))
    matrix = np.asarray(estimator.fit(data.features[rows], labels).noise_matrix_)
    batch_size = min(256, max(16, len(rows) // 1000))  # the estimators' own rule, for the count of updates
    return matrix, n_networks * estimator.max_iter * -(-len(rows) // batch_size)


@cache
def load_set(name: str, data_dir: str | None) -> OrdinalDataset:
    """A set of the paper, read once per process; the synthetic one is drawn from a fixed seed."""
    if name == "made":
        return synthetic_mslr(SETS[name].n_samples, SETS[name].n_features, SETS[name].n_classes)
    data = load(name, data_dir, random_state=0) if name == "synthetic" else load(name, data_dir)
    assert isinstance(data, OrdinalDataset)
    return data


def split_rows(data: OrdinalDataset, split: int) -> tuple[Ints, Ints]:
    """Training and test rows of a split; all rows of a group (a query) are on the same side."""
    rng = generator(data.name, split, "split")
    units = np.arange(data.n_samples) if data.groups is None else np.unique(data.groups)
    tested = rng.permutation(units)[: round(TEST_SHARE * len(units))]
    is_test = np.isin(np.arange(data.n_samples) if data.groups is None else data.groups, tested)
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def recorded_labels(data: OrdinalDataset, rows: Ints, noise: str, split: int) -> Ints:
    """Labels of these rows after the noise of this split."""
    rng = generator(data.name, split, f"noise {noise}")
    return corrupt(data.labels[rows], noise_matrix(noise, data.n_classes), rng)


def generator(dataset: str, split: int, purpose: str) -> np.random.Generator:
    """A random generator for each set, split and purpose, the same on every machine."""
    return np.random.default_rng([zlib.crc32(dataset.encode()), split, zlib.crc32(purpose.encode())])


def train_network(
    features: Features, labels: Ints, objective: Objective, settings: NetworkSettings, rng: np.random.Generator
) -> Training:
    """The paper's network, trained with these settings on standardized features."""
    n_classes = objective.table.shape[1]
    center, scale = center_and_scale(features, np.arange(len(labels)), np.ones(len(labels)))
    network = initial_network(
        Architecture(features.shape[1], n_classes, (settings.n_hidden,), settings.activation, settings.thresholds),
        rng, center=center, scale=scale, class_frequencies=np.bincount(labels, minlength=n_classes),
    )  # fmt: skip
    optimizer = Optimizer(
        learning_rate=settings.learning_rate, weight_decay=settings.weight_decay, batch_size=settings.batch_size,
        decay_thresholds=settings.thresholds == "free",
    )  # fmt: skip
    if not settings.restarts:
        return train(network, features, labels, objective, optimizer, max_epochs=settings.n_epochs, rng=rng)
    inversions = n_updates = 0
    for _ in range(settings.n_epochs):
        epoch = train(network, features, labels, objective, optimizer, max_epochs=1, rng=rng)
        network, inversions, n_updates = (
            epoch.network, inversions + epoch.threshold_inversions, n_updates + epoch.n_updates,
        )  # fmt: skip
    return replace(epoch, threshold_inversions=inversions, n_updates=n_updates, n_epochs=settings.n_epochs)


def _objective(trial: PaperTrial, matrix: Floats, n_classes: int) -> Objective:
    if trial.correction == "forward":
        return Objective("forward", matrix[None])
    levels = level_table(n_classes) if trial.correction == "none" else corrected_levels(safe_noise_matrix(matrix))
    return Objective(trial.loss, levels[None])


def _estimator(key: EstimateKey, n_classes: int) -> tuple[Any, int]:
    """The estimator, and how many trainings on all rows its work equals."""
    classes = np.arange(n_classes)
    if key.estimator == "anchor_points":
        estimator = AnchorPoints(
            hidden_layer_sizes=(key.n_hidden,), max_iter=key.n_epochs, n_bootstrap=0, classes=classes
        )
        return estimator, 1
    likelihood = ScoreLikelihood(max_iter=key.n_epochs, n_bootstrap=0, classes=classes, n_jobs=1)
    return likelihood, likelihood.n_folds - 1
