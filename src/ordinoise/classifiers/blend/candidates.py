"""The learners of a blend, each fitted to some rows, stopped by others, under the same correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from ordinoise._sparse import holding, slices
from ordinoise._validation import Floats, Ints
from ordinoise.classifiers._lightgbm import trained_by_lightgbm
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.models import Model, NetworkModel, SparseModel, TreesModel
from ordinoise.classifiers.blend.table import Coding, Table
from ordinoise.learners.boosting import OBJECTIVES, BoosterSettings, Ensemble, Sample
from ordinoise.learners.boosting import train as grow
from ordinoise.learners.mlp import (
    Architecture,
    Network,
    Objective,
    Optimizer,
    Records,
    fit_dense_linear,
    fit_least_squares,
    fit_linear,
    initial_network,
    linear_start,
    train,
)
from ordinoise.learners.mlp.convex import MANY_ROWS as MANY_TEXTS
from ordinoise.noise.record import implied_shares
from ordinoise.standardize import center_and_scale
from ordinoise.steps import automatic_batch_size

CLASS_SHARES = "class shares"
MANY_ROWS = 100_000
"""Above this trees have more leaves and fewer rounds, networks learn from this many rows, and there are three folds; a
round number, chosen by no run."""


class Fitted(NamedTuple):
    """A fitted learner, and the loss of the held-out rows after each epoch or round (empty if not stopped by it).

    `held_out` are the model's probabilities of the held-out rows, if they are known already.
    """

    model: Model
    curve: Sequence[float]
    held_out: Floats | None = None


class Candidate(Protocol):
    """A learner with its settings."""

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Train on `rows`; the learner may stop by the rows `held_out`."""


@dataclass(frozen=True)
class NetworkCandidate:
    """The ordinal network, trained for all epochs or stopped by the held-out rows.

    With `averages` the result is an average over epochs, and training may begin at the network `start`.
    """

    hidden_layer_sizes: tuple[int, ...]
    learning_rate: float
    batch_size: int | None = None
    stops: bool = False
    patience: int = 15
    max_epochs: int = 200
    averages: bool = False
    start: Network | None = None

    def continued(self, model: Model) -> NetworkCandidate:
        """A learner that starts at trained weights, with half the patience; itself, if it keeps no averages."""
        if not self.averages or not isinstance(model, NetworkModel):
            return self
        return replace(self, start=model.network, patience=self.patience // 2)

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Minimize the forward loss."""
        data, rows, held_out = _at_most_many(data, rows, held_out, seed)
        rng, dense = np.random.default_rng(seed), data.table.dense
        network = self.start or _random_network(self.hidden_layer_sizes, data, rows, rng)
        batch_size = self.batch_size or automatic_batch_size(len(rows))
        training = train(
            network, dense, data.ranks, Objective("forward", data.matrices),
            Optimizer(learning_rate=self.learning_rate, batch_size=min(batch_size, len(rows))),
            max_epochs=self.max_epochs, rng=rng, sample_weight=data.weights, raters=data.index, rows=rows,
            validation_rows=held_out if self.stops else None, patience=self.patience, tolerance=0.0,
            averages=self.averages,
        )  # fmt: skip
        return Fitted(NetworkModel(training.network), training.validation_curve)


@dataclass(frozen=True)
class LinearCandidate:
    """The ordinal network without hidden layer, at the least loss of at most `most_rows` random rows."""

    most_rows: int = 20_000
    start: Network | None = None

    def continued(self, model: Model) -> LinearCandidate:
        """A learner of this kind whose search starts at a fitted model."""
        return replace(self, start=model.network) if isinstance(model, NetworkModel) else self

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Minimize the forward loss."""
        data, rows, _ = _at_most_many(data, rows, held_out, seed)
        rng = np.random.default_rng(seed)
        network = self.start or _random_network((), data, rows, rng)
        some = rows if len(rows) <= self.most_rows else np.sort(rng.choice(rows, self.most_rows, replace=False))
        weights = data.weights[some] / data.weights[some].sum()
        records = Records(data.table.dense[some], data.likelihood_of(some), weights)
        return Fitted(NetworkModel(fit_dense_linear(network, records)), ())


@dataclass(frozen=True)
class SharesCandidate:
    """The shares of the classes, whatever the row: a linear network whose score is zero."""

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:  # noqa: ARG002
        """Count."""
        if data.table.counts:
            coding = data.table.coding(rows)
            return Fitted(SparseModel(_sparse_start(data, rows, "ordered"), coding), ())
        network = initial_network(
            Architecture(data.table.n_columns, data.n_classes, ()),
            np.random.default_rng(seed),
            class_frequencies=np.bincount(data.ranks[rows], data.weights[rows], minlength=data.n_classes),
        )
        network.arrays["output_weights"][...] = 0
        return Fitted(NetworkModel(network), ())


@dataclass(frozen=True)
class SparseCandidate:
    """A penalized linear model of all columns, its penalty chosen by the held-out rows.

    The ordered one is a ridge regression of the grade, scaled and cut by the forward loss; the softmax one minimizes
    the forward loss plus the penalty.
    """

    head: str

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:  # noqa: ARG002
        """Weigh the n-grams by the grades of the training rows, then fit the model of its head."""
        grades = _expected_grades(data, rows)
        coding = data.table.telling(rows, grades[rows], data.weights[rows])
        columns = _by_frequency(data.table, rows)
        start = _sparse_start(data, rows, self.head, columns)

        def records(some: Ints) -> Records:
            weights = data.weights[some] / data.weights[some].sum()
            return Records(_coded(data.table, some, coding, columns), data.likelihood_of(some), weights)

        both = records(rows), records(held_out)
        is_ordered = self.head == "ordered"
        fit = (
            fit_least_squares(start, *both, (grades[rows], grades[held_out]))
            if is_ordered
            else fit_linear(start, *both)
        )
        network = _sparse_start(data, rows, self.head)
        network.arrays["output_weights"][:, columns] = fit.network.arrays["output_weights"]
        network.arrays["offsets"][...] = fit.network.arrays["offsets"]
        return Fitted(SparseModel(network, coding), fit.curve)


@dataclass(frozen=True)
class TreesCandidate:
    """Gradient-boosted trees, stopped by the held-out rows; under a correction with other steps and patience."""

    head: str
    settings: BoosterSettings
    max_rounds: int = 1000
    patience: int = 30
    corrected_rate: float = 0.1
    corrected_patience: int = 30

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Minimize the forward loss."""
        settings, patience = self.settings, self.patience
        if data.is_corrected:
            settings, patience = replace(settings, learning_rate=self.corrected_rate), self.corrected_patience
        objective = OBJECTIVES[self.head](data.matrices)
        sample = Sample(data.table.features, objective.cells(data.ranks, data.index), data.weights)
        with trained_by_lightgbm(sample.features):
            training = grow(
                sample.rows(rows), objective, _class_frequencies(data, rows), settings,
                n_rounds=self.max_rounds, seed=seed, validation=sample.rows(held_out), patience=patience,
            )  # fmt: skip
        model = TreesModel(training.ensemble)
        assert training.validation_scores is not None
        return Fitted(model, training.validation_curve, model.of_scores(training.validation_scores))


@dataclass(frozen=True)
class GrownCandidate:
    """Trees that were grown to predict the records: under the correction they are deconvolved instead of grown anew."""

    ensemble: Ensemble

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:  # noqa: ARG002
        """Add the noise."""
        return Fitted(TreesModel(self.ensemble, np.vstack([_class_frequencies(data, rows), data.matrices[0]])), ())


def continued(candidate: Candidate, model: Model, data: Recorded) -> Candidate:
    """The candidate as it learns from a fitted model on; itself, if it always starts anew."""
    if isinstance(candidate, NetworkCandidate | LinearCandidate):
        return candidate.continued(model)
    # Without raters and verified rows, of which those trees know nothing.
    is_softmax = isinstance(candidate, TreesCandidate) and candidate.head == "softmax"
    if is_softmax and isinstance(model, TreesModel) and data.index is None:
        return GrownCandidate(model.ensemble)
    return candidate


def _at_most_many(data: Recorded, rows: Ints, held_out: Ints, seed: int) -> tuple[Recorded, Ints, Ints]:
    """Data and rows as given; of more than `MANY_ROWS` a random sample, and the numbers of its rows.

    The sample has `MANY_ROWS` rows to learn from and a quarter as many held out.
    """
    if len(data.ranks) <= MANY_ROWS:
        return data, rows, held_out
    rng = np.random.default_rng((seed, MANY_ROWS))  # another than the learner's own
    few, others = (rng.permutation(rows)[:MANY_ROWS], rng.permutation(held_out)[: MANY_ROWS // 4])
    numbers = np.arange(len(few) + len(others))
    return data.rows(np.concatenate([few, others])), numbers[: len(few)], numbers[len(few) :]


def _random_network(sizes: tuple[int, ...], data: Recorded, rows: Ints, rng: np.random.Generator) -> Network:
    """An untrained network that standardizes its columns by the training rows."""
    dense = data.table.dense
    center, scale = center_and_scale(dense, rows, data.weights)
    counts = np.bincount(data.ranks[rows], data.weights[rows], minlength=data.n_classes)
    architecture = Architecture(dense.shape[1], data.n_classes, sizes)
    return initial_network(architecture, rng, center=center, scale=scale, class_frequencies=counts)


def _sparse_start(data: Recorded, rows: Ints, head: str, columns: Ints | slice = slice(None)) -> Network:
    """The linear network of some columns that predicts the class shares; dense columns are standardized."""
    n_columns = data.table.n_columns
    center, scale = np.zeros(n_columns), np.ones(n_columns)
    if data.table.features.shape[1]:
        dense = data.table.dense
        center[: dense.shape[1]], scale[: dense.shape[1]] = center_and_scale(dense, rows, data.weights)
    architecture = Architecture(len(center[columns]), data.n_classes, (), head=head)
    frequencies = _class_frequencies(data, rows)
    return linear_start(architecture, frequencies, center=center[columns], scale=scale[columns])


def _by_frequency(table: Table, rows: Ints) -> Ints:
    """The columns that some row has, by how many have them: what is read most often then lies together in memory."""
    dense = [np.count_nonzero(table.dense[rows], axis=0)] if table.features.shape[1] else []
    n_holding = np.concatenate([*dense, *(holding(some.matrix[rows]) for some in table.counts)])
    return np.argsort(-n_holding, kind="stable")[: max(1, np.count_nonzero(n_holding))]


def _coded(table: Table, rows: Ints, coding: Coding, columns: Ints) -> Any:
    """Some columns of `sparse` of some rows.

    Put together from blocks, as intermediate results take several times the memory.
    """
    dtype = np.float32 if len(rows) > MANY_TEXTS else np.float64

    def block(some: slice) -> Any:
        found = table.rows(rows[some]).sparse(coding)[:, columns].astype(dtype)
        found.sort_indices()
        return found

    parts = slices(len(rows), sum(some.matrix.nnz for some in table.counts))
    return sparse.vstack([block(some) for some in parts], format="csr")


def _expected_grades(data: Recorded, rows: Ints) -> Floats:
    """The mean true rank given each record, by the class shares of some rows; the recorded rank without noise."""
    joint = data.likelihood * _class_frequencies(data, rows)
    return np.asarray(joint @ np.arange(data.n_classes) / np.maximum(joint.sum(axis=1), 1e-300))


def _class_frequencies(data: Recorded, rows: Ints) -> Floats:
    """Shares of the true classes implied by the records; never zero, which would leave a class no gradient."""
    cells = data.ranks[rows] if data.index is None else data.index[rows] * data.n_classes + data.ranks[rows]
    found, at = np.unique(cells, return_inverse=True)
    counts = np.bincount(at, data.weights[rows])
    table = data.matrices.transpose(0, 2, 1).reshape(-1, data.n_classes)[found]
    return implied_shares(table.T, counts, least=0.5 / len(rows))
