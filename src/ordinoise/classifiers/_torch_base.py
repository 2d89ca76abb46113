"""Data and settings of `OrdinalTorchClassifier` for the PyTorch training loop; loads PyTorch on first use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from ordinoise._sparse import is_sparse
from ordinoise._validation import Floats, as_choice, as_count, as_number, complain
from ordinoise.classifiers._network_base import NetworkClassifierBase
from ordinoise.columns.refusals import one_sentence
from ordinoise.crossfit import split_rows
from ordinoise.estimation.resolution import needs_data, resolve_noise
from ordinoise.labels import as_groups, ordered_classes
from ordinoise.noise import Noise
from ordinoise.standardize import center_and_scale

if TYPE_CHECKING:
    from ordinoise.learners.torch.batches import Batches
    from ordinoise.learners.torch.heads import OrdinalModule
    from ordinoise.learners.torch.objective import Objective
    from ordinoise.learners.torch.settings import TrainingSettings
    from ordinoise.learners.torch.team import Team

HEAD_RATE = 0.03
"""Learning rate of the head on a module of the user's, with early stopping. The thresholds of a sharp head are 8 to 12
apart and start 2 apart; at the module's own rate they get there after it has begun to memorize labels. On digits (seeds
101 and 102, noise known) ten times the module's rate of .003 took the error from .169 to .093 with batch normalization
and from .198 to .178 without."""
STREAM_ROWS = 10**9  # stands for an unknown number of rows: the automatic batch is then the largest


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that a fit needs of the data.

    Attributes
    ----------
    classes, noise
        Labels in order, and their noise.
    training, validation : Batches
        Samples to train on, and samples to stop by.
    class_frequencies : array of shape (n_classes,) or None
        How often each label was recorded; None if unknown.
    center, scale : array or None
        Mean and standard deviation to standardize the features by.
    n_rows : int or None
        Samples to train on; None if unknown.
    """

    classes: NDArray[Any]
    noise: Noise
    training: Batches
    validation: Batches | None
    class_frequencies: Floats | None = None
    center: Floats | None = None
    scale: Floats | None = None
    n_rows: int | None = None

    @property
    def stops(self) -> bool:
        """Whether there are samples to stop by."""
        return self.validation is not None


@dataclass(eq=False, repr=False, kw_only=True)
class TorchClassifierBase(NetworkClassifierBase):
    """The data and the settings of a fit in the form of the PyTorch training loop; a learner adds `fit`."""

    module_: OrdinalModule = field(init=False)

    module: Any = field(default=None, kw_only=False)
    estimate_with: str = "features"
    optimizer: Any = None
    scheduler: Any = None
    scheduler_step: str = "epoch"
    max_grad_norm: float | None = None
    standardize: bool | str = "auto"
    device: str = "auto"
    precision: str = "float32"
    num_workers: int = 0
    callbacks: Any = ()
    checkpoint_dir: Any = None
    checkpoint_updates: int | None = None

    def _array_task(
        self,
        X: Any,
        y: Any,
        columns: tuple[Any, Any, Any],
        validation: Any,
        rng: np.random.Generator,
        *,
        reset: bool = True,
        classes: Any = None,
        in_parts: bool = False,
    ) -> Task:
        """The task of samples in memory: an array, a frame or a tensor; `columns` are weights, raters and groups."""
        from ordinoise.learners.torch.samples import array_batches

        sample_weight, raters, together = (_as_numpy(each) for each in columns)

        noise_seed, seed = rng.integers(2**31, size=2).tolist()
        features = self._checked_inputs(X, reset=reset)
        stated = self.classes if classes is None else classes
        n_samples = features.shape[0]
        ordered, ranks = self._checked_labels(_as_numpy(y), n_samples, stated)
        column = np.empty((n_samples, 1))
        weights = self._checked_weights(sample_weight, _as_numpy(y), column, self.class_weight)
        groups = as_groups(together, n_samples)
        noise, index = resolve_noise(
            self.noise, self._estimation_inputs(features), ranks, len(ordered), raters, noise_seed,
            base=self._base_parameters(), groups=groups,
        )  # fmt: skip
        holds_out = validation is None and not in_parts
        fraction = self._stopping_share(int(np.count_nonzero(weights))) if holds_out else 0.0
        rows, stopping_rows = split_rows(ranks, weights, fraction, rng, groups)
        weights = weights / weights[rows].mean()
        size = self._batch_rows(len(rows))
        training = array_batches(features, ranks, weights, index, rows, size, self.shuffle, seed)
        stopping: Batches | None = None
        if stopping_rows is not None:
            stopping = array_batches(features, ranks, weights, index, stopping_rows, max(size, 1024), False, seed)
        elif validation is not None:
            stopping = self._validation_batches(validation, ordered, noise)
        center, scale = None, None
        if self._standardizes():
            if features.ndim != 2:
                raise complain("standardize", "be False for inputs that are not rows of numbers", "True")
            table = features if is_sparse(features) else np.asarray(_as_numpy(features))
            center, scale = center_and_scale(table, rows, weights)
        frequencies = np.bincount(ranks[rows], weights=weights[rows], minlength=len(ordered))
        return Task(ordered, noise, training, stopping, frequencies.astype(np.float64), center, scale, len(rows))

    def _dataset_task(self, X: Any, validation: Any, rng: np.random.Generator, team: Team) -> Task:
        """The task of a dataset or a stream, which yields its own labels."""
        from ordinoise.learners.torch.parquet import ParquetStream, summary
        from ordinoise.learners.torch.samples import can_split, dataset_batches, n_samples, split_dataset

        classes = self._dataset_classes()
        noise = _known_noise(self.noise, len(classes))
        read = self._reader(classes)
        # Two draws as for arrays, so that both get the same initial weights.
        _, seed = rng.integers(2**31, size=2).tolist()
        (source, rows), stopping = (X, None), None
        fraction = 0.0
        if validation is None and (can_split(X) or not isinstance(self.early_stopping, str)):
            fraction = self._stopping_share(n_samples(X) or 0)
        if fraction:
            (source, rows), held_out = split_dataset(X, fraction, seed)
            stopping = dataset_batches(held_out[0], read, 1024, False, seed, self.num_workers, held_out[1])
        elif validation is not None:
            stopping = self._validation_batches(validation, classes, noise)
        length = n_samples(source) if rows is None else len(rows)
        size = self._batch_rows(STREAM_ROWS if length is None else length)
        training = dataset_batches(source, read, size, self.shuffle, seed, self.num_workers, rows)
        if isinstance(source, ParquetStream) and (self._standardizes() or self.thresholds == "ordered"):
            seen = summary(source, read, len(classes), team)
            center, scale = (seen.center, seen.scale) if self._standardizes() else (None, None)
            return Task(classes, noise, training, stopping, seen.class_counts, center, scale, length)
        return Task(classes, noise, training, stopping, n_rows=length)

    def _checked_inputs(self, X: Any, *, reset: bool) -> Any:
        """Features as finite floats, of any number of dimensions with a module of the user's; tensors unchanged."""
        from ordinoise.learners.torch.samples import is_tensor

        if is_tensor(X):
            if reset and X.ndim > 1:
                self.n_features_in_ = int(X.shape[1])
            return X
        with one_sentence(X):
            if self.module is None or np.ndim(X) <= 2:
                return self._checked_features(X, reset=reset)
            return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], allow_nd=True)

    def _start(self, task: Task) -> OrdinalModule:
        """The untrained module with its head."""
        from ordinoise.learners.torch.modules import default_model, model_on

        scaling = None if task.center is None else (task.center, task.scale)
        head = (len(task.classes), self.thresholds, task.class_frequencies)
        if self.module is None:
            sizes = self._layer_sizes(stops=task.stops)
            return default_model(task.training, sizes, self.activation, scaling, *head)
        return model_on(self.module, task.training, scaling, *head)

    def _check_settings(self) -> None:
        """Refuse settings that cannot work, before anything is computed."""
        self._check_losses()
        as_count("num_workers", self.num_workers, 0)
        if isinstance(self.standardize, str):
            as_choice("standardize", self.standardize, ["auto"])
        if self.checkpoint_dir is not None and self.warm_start:
            raise complain("warm_start", "be False where there are checkpoints", "True")

    def _objective(self, task: Task) -> Objective:
        """The loss and its tables, as the loop reads them."""
        from ordinoise.learners.torch.objective import Objective

        n_rows = STREAM_ROWS if task.n_rows is None else task.n_rows
        return Objective.of(*self._loss_table(task.noise, n_rows))

    def _training_settings(self, task: Task, seed: int, max_epochs: int, checkpoint_dir: Any) -> TrainingSettings:
        """The settings of the training loop, checked."""
        from ordinoise.learners.torch.settings import TrainingSettings

        return TrainingSettings(
            max_epochs=max_epochs,
            patience=as_count("n_iter_no_change", self.n_iter_no_change, 1),
            tolerance=as_number("tol", self.tol, 0.0, np.inf),
            averages=True,
            clip_norm=self.max_grad_norm,
            precision=self.precision,
            schedule=self.scheduler_step,
            decay_thresholds=self.decay_thresholds,
            head_rate=self._head_rate(task),
            device=self.device,
            seed=seed,
            checkpoint=None if checkpoint_dir is None else Path(checkpoint_dir) / "checkpoint.safetensors",
            checkpoint_updates=self.checkpoint_updates,
        )

    def _head_rate(self, task: Task) -> float | None:
        """Learning rate of the head; None if it is the optimizer's.

        One update of n weights by 1 / n moves a score of n features, each of order one, by at most one.
        """
        is_automatic = self.optimizer is None and isinstance(self.learning_rate_init, str)
        if not (task.stops and is_automatic and self.module is not None):
            return None
        return max(min(HEAD_RATE, 1 / (self.module_.head.in_features or 1)), self._learning_rate(stops=True))

    def _make_optimizer(self, task: Task) -> Any:
        """A callable that takes parameter groups and returns the optimizer."""
        from ordinoise.learners.torch.training import adamw

        body: Any = self.module_.module
        n_columns = body.widths[0] if self.module is None else 1
        rate, decay = self._learning_rate(stops=task.stops), self._decay(stops=task.stops, n_columns=n_columns)
        chosen = adamw if self.optimizer is None else self.optimizer
        if not callable(chosen):
            raise complain("optimizer", "be a class of torch.optim or a callable of parameter groups", repr(chosen))
        if self.optimizer is None or isinstance(chosen, type):
            return lambda groups: chosen(groups, lr=rate, weight_decay=decay)
        return chosen

    def _standardizes(self) -> bool:
        """Whether features are centered and scaled inside; "auto" does so for the default module."""
        return self.module is None if isinstance(self.standardize, str) else bool(self.standardize)

    def _dataset_classes(self) -> NDArray[Any]:
        """The classes of a dataset's labels, which `classes` must name."""
        if self.classes is None:
            raise complain("classes", "name the labels from lowest to highest when X is a dataset", "None")
        return ordered_classes(np.asarray([]), self.classes)

    def _reader(self, classes: NDArray[Any]) -> Any:
        from ordinoise.learners.torch.samples import SampleReader

        if isinstance(self.class_weight, str):
            raise complain("class_weight", "be a mapping when X is a dataset", repr(self.class_weight))
        weights = None if self.class_weight is None else compute_sample_weight(self.class_weight, classes)
        noise = _known_noise(self.noise, len(classes))
        return SampleReader(classes, weights, np.asarray(noise.raters) if noise.per == "rater" else None)

    def _validation_batches(self, validation: Any, classes: NDArray[Any], noise: Noise) -> Batches:
        """Batches of the caller's validation data: a dataset, or a pair (X, y)."""
        from ordinoise.learners.torch.samples import array_batches, dataset_batches, is_dataset

        if is_dataset(validation):
            return dataset_batches(validation, self._reader(classes), 1024, False, 0, self.num_workers)
        if not isinstance(validation, tuple) or len(validation) != 2 or noise.per != "all":
            raise complain("validation", "be a dataset, or a pair (X, y) without raters", type(validation).__name__)
        features = self._checked_inputs(validation[0], reset=False)
        _, ranks = self._checked_labels(_as_numpy(validation[1]), features.shape[0], classes)
        return array_batches(features, ranks, np.ones(len(ranks)), None, np.arange(len(ranks)), 1024, False, 0)

    def _estimation_inputs(self, features: Any) -> Any:
        """What a noise estimator is fitted to: rows of numbers, or the inputs as they are if the module predicts."""
        if as_choice("estimate_with", self.estimate_with, ("features", "module")) == "module":
            return features
        if is_sparse(features) or getattr(self.noise, "base_estimator", None) is not None:
            return features
        return np.asarray(_as_numpy(features)).reshape(len(features), -1)

    def _base_parameters(self) -> dict[str, Any] | None:
        """For ``estimate_with="module"``: parameters of this classifier as it predicts recorded labels."""
        if self.estimate_with == "features":
            return None
        plain = clone(self).set_params(
            noise=None, classes=None, class_weight=None, checkpoint_dir=None, verbose=False, random_state=None
        )
        return {"base_estimator": plain, "n_jobs": 1}


def _known_noise(noise: Any, n_classes: int) -> Noise:
    """The record of noise that needs no estimate, one matrix for all or one per rater."""
    if needs_data(noise):
        advice = "estimate it on a sample that fits into memory, and pass its noise_"
        raise complain("noise", "be known when X is a dataset", repr(noise), advice)
    found = Noise.of(noise, n_classes)
    if found.per == "row":
        raise complain("noise", "hold one matrix for all or one per rater when X is a dataset", "one per row")
    return found


def _as_numpy(column: Any) -> Any:
    return column.cpu().numpy() if hasattr(column, "cpu") else column
