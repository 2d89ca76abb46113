"""The learners of a blend, each fitted to some rows, stopped by others, under the same correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.special import softmax

from ordinoise._sparse import holding, slices
from ordinoise._validation import Floats, Ints
from ordinoise.classifiers._lightgbm import trained_by_lightgbm
from ordinoise.classifiers.blend.table import Coding, Table
from ordinoise.crossfit import automatic_batch_size, center_and_scale
from ordinoise.labels import VerifiedRanks
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
from ordinoise.levels import class_probabilities
from ordinoise.noise.deconvolution import deconvolved
from ordinoise.noise.record import implied_shares

# Candidates and their settings were compared on seeds 100 and above of the accuracy study's sets (decision 0011).
FEW_ROWS = 2000
SMALL_TABLE = 1000
"""Below this a linear network that stops early takes part too: on 105 rows of eight sets, seeds 100 to 105, it lowered
the mean error from .626 to .622. It was one of 29 variants tried there, several of them as good (decision 0016)."""
CLASS_SHARES = "class shares"
LARGE_TABLE = 8000
"""From this on networks take larger steps, trees have more leaves, and candidates are raced (decision 0024)."""
DECONVOLUTION_STEPS = 10
"""On eight tables of seeds 100 and 101 the blend with softmax trees deconvolved by 10 or 30 steps was as good as with
softmax trees grown under the correction, by 3 steps worse (decision 0024)."""
LARGER_TABLE = 32_000
"""Above this there are four folds, and "auto" has no large network and no softmax trees, which add little there
(decision 0024)."""
MANY_ROWS = 100_000
"""Above this trees have more leaves and fewer rounds, networks learn from this many rows, and there are three folds; a
round number, chosen by no run."""
MOST_ROWS = 800_000
"""Above this there are two folds (decision 0024)."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rows with recorded labels, their weights and their noise matrices.

    `index` is the number of each row's matrix in `matrices`; None if all rows share one. Rows with the same number in
    `groups` are held out together.
    """

    table: Table
    ranks: Ints
    weights: Floats
    matrices: Floats
    index: Ints | None = None
    groups: Ints | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.matrices.shape[1]

    def rows(self, rows: Ints) -> Recorded:
        """Some of the rows."""
        index, groups = (None if numbers is None else numbers[rows] for numbers in (self.index, self.groups))
        return Recorded(self.table.rows(rows), self.ranks[rows], self.weights[rows], self.matrices, index, groups)

    def with_trusted(self, trusted: VerifiedRanks) -> Recorded:
        """The same with verified labels: their record is what was recorded and verified together."""
        rows, ranks, verdict = trusted.rows, self.ranks.copy(), trusted.likelihood
        record = self.likelihood_of(rows)
        both = verdict * record
        # A record that allows one class only, as where labels are trusted, leaves nothing to weigh: the verdict stands
        # alone, as beside a record that the noise rules out, and where there is none.
        use_both = trusted.is_recorded & (both.max(axis=1) > 0) & ((record > 0).sum(axis=1) > 1)
        likelihood = np.where(use_both[:, None], both, verdict)
        likelihood = likelihood / likelihood.max(axis=1, keepdims=True)
        cells, at = np.unique(np.column_stack([trusted.ranks, likelihood]), axis=0, return_inverse=True)
        index = np.zeros(len(ranks), dtype=np.int64) if self.index is None else self.index.copy()
        ranks[rows], index[rows] = trusted.ranks, len(self.matrices) + at.ravel()
        more = record_matrices(cells[:, 1:], cells[:, 0].astype(np.int64))
        return replace(self, ranks=ranks, matrices=np.concatenate([self.matrices, more]), index=index)

    @property
    def is_corrected(self) -> bool:
        """Whether some matrix says that records may be wrong."""
        return bool((self.matrices != np.eye(self.n_classes)).any())

    @property
    def likelihood(self) -> Floats:
        """Probability of each row's record under every true class, shape (n_samples, n_classes)."""
        return self.likelihood_of(slice(None))

    def likelihood_of(self, rows: Any) -> Floats:
        """The same of some rows."""
        return np.asarray(self.matrices[0 if self.index is None else self.index[rows], :, self.ranks[rows]])


def record_matrices(likelihood: Floats, ranks: Ints) -> Floats:
    """Matrices whose columns `ranks` hold these likelihoods, one per row, of at most one; the next holds the rest."""
    n_records, n_classes = likelihood.shape
    matrices, record = np.zeros((n_records, n_classes, n_classes)), np.arange(n_records)
    matrices[record, :, ranks] = likelihood
    matrices[record, :, (ranks + 1) % n_classes] = 1 - likelihood  # other records than those seen
    return matrices


class Model(Protocol):
    """A fitted learner."""

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""


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
class NetworkModel:
    """A trained network; it reads the dense table."""

    network: Network

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        return np.concatenate([class_probabilities(self.network.logits(part)) for part in table.dense_parts()])


@dataclass(frozen=True, eq=False)
class SparseModel:
    """A linear network that reads all columns, the sparse ones weighted as in its training rows."""

    network: Network
    coding: Coding

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        logits = np.concatenate([self.network.logits(some.sparse(self.coding)) for some in table.blocks()])
        is_ordered = self.network.architecture.head == "ordered"
        return class_probabilities(logits) if is_ordered else np.asarray(softmax(logits, axis=1))


@dataclass(frozen=True, eq=False)
class TreesModel:
    """Trained trees; they read missing values and codes directly.

    Trees that predict the recorded label have `records`, of shape (n_classes + 1, n_classes): the shares of the true
    classes, then the noise matrix. They give the true label by `DECONVOLUTION_STEPS` of deconvolution.
    """

    ensemble: Ensemble
    records: Floats | None = None

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        return self.of_scores(self.ensemble.scores(table.features))

    def of_scores(self, scores: Floats) -> Floats:
        """The same from the sums of the trees."""
        found = np.exp(OBJECTIVES[self.ensemble.head].log_probabilities(scores, self.ensemble.offsets))
        found /= found.sum(axis=1, keepdims=True)
        if self.records is None:
            return found
        return deconvolved(found, self.records[1:], n_iter=DECONVOLUTION_STEPS, start=self.records[0])


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
        """The same learner from trained weights on, which are soon adapted; or itself, if it keeps no averages."""
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
        """The same learner, its search started at a fitted model."""
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


def usual_folds(n_samples: int) -> int:
    """Number of folds: a model that learns from many rows hardly misses those that are held out."""
    return 5 if n_samples <= LARGER_TABLE else 4 if n_samples <= MANY_ROWS else 3 if n_samples <= MOST_ROWS else 2


def dense_candidates(learner: str, n_samples: int, categorical: tuple[int, ...]) -> dict[str, Candidate]:
    """The learners of dense columns that take part, by name, with settings for this many samples."""
    networks = _few_networks(n_samples) if n_samples < FEW_ROWS else _many_networks(n_samples)
    trees = _trees(n_samples, categorical)
    if n_samples > (LARGER_TABLE if learner == "auto" else MANY_ROWS):
        del networks["large network"], trees["softmax trees"]
    elif n_samples >= LARGE_TABLE and learner == "auto":
        del networks["small network"]  # beside the large one it had no weight
    return {**({} if learner == "boosting" else networks), **({} if learner == "mlp" else trees)}


def _few_networks(n_samples: int) -> dict[str, Candidate]:
    # Few rows mean few updates per epoch: larger steps, smaller batches, more patience.
    stopping: dict[str, Any] = {"stops": True, "patience": 30, "max_epochs": 400}
    found: dict[str, Candidate] = {"linear network": NetworkCandidate((), 0.003)}
    if n_samples < SMALL_TABLE:
        found["stopped linear network"] = NetworkCandidate((), 0.01, **stopping)
    found["small network"] = NetworkCandidate((32,), 0.01, **stopping)
    found["large network"] = NetworkCandidate((64, 64), 0.01, batch_size=32, **stopping)
    return found


def _many_networks(n_samples: int) -> dict[str, Candidate]:
    """Larger batches and fewer epochs for more rows; averages over epochs, which stop earlier at a lower loss."""
    large, batch = n_samples >= LARGE_TABLE, min(256, n_samples // 125)
    rate, patience, epochs = (0.006, 8, 60) if large else (0.003, 15, 200)
    common: dict[str, Any] = {"stops": True, "patience": patience, "averages": True, "max_epochs": epochs}
    found: dict[str, Candidate] = {
        "linear network": LinearCandidate(),
        "small network": NetworkCandidate((32,), rate, batch_size=max(16, batch), **common),
    }
    if large:
        rate, batch, common["patience"] = 0.01, 256, 6
    found["large network"] = NetworkCandidate((64, 64), rate, batch_size=max(64, batch), **common)
    return found


def _trees(n_samples: int, categorical: tuple[int, ...]) -> dict[str, Candidate]:
    few, many = n_samples < FEW_ROWS, n_samples > MANY_ROWS
    settings = BoosterSettings(
        learning_rate=0.1,
        num_leaves=63 if many else 31 if n_samples >= LARGE_TABLE else 15,
        min_child_samples=min(20, max(1, n_samples // 8)),
        subsample=0.8,
        colsample_bytree=0.8,
        reg_lambda=1.0,
        categorical=categorical,
        n_jobs=1,
    )
    # A noisy record tells less than a true one, so that the correction needs more rounds of the same step.
    patience = 30 if few else 20
    common: dict[str, Any] = {"patience": patience, "corrected_patience": patience}
    common["corrected_rate"] = 0.1 if few else 0.2
    softmax, ordered = (TreesCandidate(head, settings, **common) for head in ("softmax", "ordered"))
    if n_samples >= LARGE_TABLE:
        # With many rows held out these end where they would with more patience, and a round of softmax grows K trees.
        softmax = replace(softmax, patience=10, corrected_patience=10)
        ordered = replace(ordered, settings=replace(settings, learning_rate=0.15))
    if LARGE_TABLE <= n_samples <= LARGER_TABLE:  # where several learners make up for each other's haste
        softmax, ordered = replace(softmax, patience=6), replace(ordered, patience=10, corrected_rate=0.25)
    return {"softmax trees": softmax, "ordered trees": replace(ordered, max_rounds=300 if many else 1000)}


def _at_most_many(data: Recorded, rows: Ints, held_out: Ints, seed: int) -> tuple[Recorded, Ints, Ints]:
    """The same; of more rows `MANY_ROWS` drawn at random and a quarter as many held out, with their new numbers."""
    if len(data.ranks) <= MANY_ROWS:
        return data, rows, held_out
    rng = np.random.default_rng((seed, MANY_ROWS))  # another than the learner's own
    few, others = (rng.permutation(rows)[:MANY_ROWS], rng.permutation(held_out)[: MANY_ROWS // 4])
    numbers = np.arange(len(few) + len(others))
    return data.rows(np.concatenate([few, others])), numbers[: len(few)], numbers[len(few) :]


def _random_network(sizes: tuple[int, ...], data: Recorded, rows: Ints, rng: np.random.Generator) -> Network:
    """An untrained network that standardises its columns by the training rows."""
    dense = data.table.dense
    center, scale = center_and_scale(dense, rows, data.weights)
    counts = np.bincount(data.ranks[rows], data.weights[rows], minlength=data.n_classes)
    architecture = Architecture(dense.shape[1], data.n_classes, sizes)
    return initial_network(architecture, rng, center=center, scale=scale, class_frequencies=counts)


def _sparse_start(data: Recorded, rows: Ints, head: str, columns: Ints | slice = slice(None)) -> Network:
    """The linear network of some columns that predicts the class shares; dense columns are standardised."""
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
