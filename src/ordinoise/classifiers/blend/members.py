"""The learners that a blend is made of: each fitted to some rows, stopped by others, under the same correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.classifiers.blend.table import Table
from ordinoise.crossfit import center_and_scale
from ordinoise.estimation.base import implied_prior
from ordinoise.estimation.resolution import ResolvedNoise
from ordinoise.learners.boosting import OBJECTIVES, BoosterSettings, Ensemble, Sample
from ordinoise.learners.boosting import train as grow
from ordinoise.learners.mlp import Architecture, Network, Objective, Optimiser, initial_network, train
from ordinoise.levels import class_probabilities

FEW_ROWS = 2000
MANY_ROWS = 100_000
"""Above this one head of trees takes part, with more leaves and fewer rounds: what a second one adds is small there."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rows with recorded labels, their weights, and the noise that they were recorded under."""

    table: Table
    ranks: Ints
    weights: Floats
    noise: ResolvedNoise

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.noise.matrices.shape[1]

    def with_settled(self, settled: tuple[Ints, Ints]) -> Recorded:
        """The same with verified labels: as if somebody who never errs had recorded them."""
        rows, true = settled
        ranks, raters = self.ranks.copy(), np.zeros(len(self.ranks), dtype=np.int64)
        if self.noise.raters is not None:
            raters[:] = self.noise.raters
        ranks[rows], raters[rows] = true, len(self.noise.matrices)
        matrices = np.concatenate([self.noise.matrices, np.eye(self.n_classes)[None]])
        return replace(self, ranks=ranks, noise=ResolvedNoise(matrices, raters, self.noise.estimator))

    @property
    def likelihood(self) -> Floats:
        """Probability of each row's record under every true class, shape (n_samples, n_classes)."""
        raters = 0 if self.noise.raters is None else self.noise.raters
        return np.asarray(self.noise.matrices[raters, :, self.ranks])


class Model(Protocol):
    """A fitted learner."""

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""


class Fitted(NamedTuple):
    """A fitted learner, and the loss of the rows left out after each epoch or round if that stopped it."""

    model: Model
    curve: Sequence[float]


class Candidate(Protocol):
    """A learner with its settings."""

    def fitted(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Learn from some rows; others may say when to stop."""


@dataclass(frozen=True)
class NetworkModel:
    """A network that reads the dense table."""

    network: Network

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        return class_probabilities(self.network.logits(table.dense))


@dataclass(frozen=True)
class TreesModel:
    """Trees that read the table as it is."""

    ensemble: Ensemble

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        probabilities = np.exp(self.ensemble.log_probabilities(table.features))
        return probabilities / probabilities.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class NetworkCandidate:
    """The ordinal network, trained to the end or stopped by the rows held out."""

    hidden_layer_sizes: tuple[int, ...]
    learning_rate: float
    batch_size: int | None = None
    stops: bool = False
    patience: int = 15
    max_epochs: int = 200

    def fitted(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Minimise the forward loss."""
        rng, dense = np.random.default_rng(seed), data.table.dense
        center, scale = center_and_scale(dense, rows, data.weights)
        network = initial_network(
            Architecture(dense.shape[1], data.n_classes, self.hidden_layer_sizes),
            rng,
            center=center,
            scale=scale,
            class_frequencies=np.bincount(data.ranks[rows], data.weights[rows], minlength=data.n_classes),
        )
        batch_size = self.batch_size or min(256, max(16, len(rows) // 1000))
        training = train(
            network, dense, data.ranks, Objective("forward", data.noise.matrices),
            Optimiser(learning_rate=self.learning_rate, batch_size=min(batch_size, len(rows))),
            max_epochs=self.max_epochs, rng=rng, sample_weight=data.weights, raters=data.noise.raters, rows=rows,
            validation_rows=held_out if self.stops else None, patience=self.patience, tolerance=0.0,
        )  # fmt: skip
        return Fitted(NetworkModel(training.network), training.validation_curve)


@dataclass(frozen=True)
class TreesCandidate:
    """Gradient-boosted trees, in as many rounds as the rows held out call for."""

    head: str
    settings: BoosterSettings
    max_rounds: int = 1000
    patience: int = 30

    def fitted(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Minimise the forward loss."""
        objective = OBJECTIVES[self.head](data.noise.matrices)
        sample = Sample(data.table.features, objective.cells(data.ranks, data.noise.raters), data.weights)
        training = grow(
            sample.rows(rows), objective, _class_frequencies(data, rows), self.settings,
            n_rounds=self.max_rounds, seed=seed, validation=sample.rows(held_out), patience=self.patience,
        )  # fmt: skip
        return Fitted(TreesModel(training.ensemble), training.validation_curve)


def candidates(learner: str, n_samples: int, categorical: tuple[int, ...]) -> dict[str, Candidate]:
    """What takes part, by name."""
    found: dict[str, Candidate] = {}
    if learner != "boosting":
        # Few rows make few updates an epoch: larger steps, smaller batches, more patience.
        few = n_samples < FEW_ROWS
        rate, patience, epochs = (0.01, 30, 400) if few else (0.003, 15, 200)
        stopping: dict[str, Any] = {"stops": True, "patience": patience, "max_epochs": epochs}
        found["linear network"] = NetworkCandidate((), 0.003)
        found["small network"] = NetworkCandidate((32,), rate, **stopping)
        found["large network"] = NetworkCandidate((64, 64), rate, batch_size=32 if few else 64, **stopping)
    if learner != "mlp":
        many = n_samples > MANY_ROWS
        settings = BoosterSettings(
            learning_rate=0.1,
            num_leaves=63 if many else 15,
            min_child_samples=min(20, max(1, n_samples // 8)),
            subsample=0.8,
            colsample_bytree=0.8,
            reg_lambda=1.0,
            categorical=categorical,
            n_jobs=1,
        )
        if not many:
            found["softmax trees"] = TreesCandidate("softmax", settings)
        found["ordered trees"] = TreesCandidate("ordered", settings, max_rounds=300 if many else 1000)
    return found


def _class_frequencies(data: Recorded, rows: Ints) -> Floats:
    """Frequencies of the true classes behind those recorded; none is nothing, for want of a gradient."""
    frequencies = np.bincount(data.ranks[rows], data.weights[rows], minlength=data.n_classes)
    prior = np.maximum(implied_prior(data.noise.pooled, frequencies / frequencies.sum()), 0.5 / len(rows))
    return prior / prior.sum()
