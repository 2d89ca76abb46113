"""From what the user passed to what the PyTorch loop takes; PyTorch is loaded here, on first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from ordinoise._validation import Floats, as_choice, as_count, as_noise_matrix, as_number, complain
from ordinoise.crossfit import center_and_scale, split_rows
from ordinoise.estimation.resolution import (
    ResolvedNoise,
    corrections_for,
    levels_for,
    plain_levels,
    resolve_noise,
    warn_of_hard_noise,
)
from ordinoise.labels import ordered_classes

if TYPE_CHECKING:
    from ordinoise.classifiers.torch import OrdinalTorchClassifier
    from ordinoise.learners.torch.batches import Batches
    from ordinoise.learners.torch.heads import OrdinalModule
    from ordinoise.learners.torch.objective import Objective
    from ordinoise.learners.torch.settings import TrainingSettings
    from ordinoise.learners.torch.team import Team

STREAM_BATCH = 256


@dataclass(frozen=True, eq=False)
class Task:
    """Everything about the data that a fit needs.

    Attributes
    ----------
    classes, noise
        Labels in order, and the noise of their recording.
    training, validation : Batches
        What to learn from, and what to stop by.
    class_frequencies : array of shape (n_classes,) or None
        How often each label was recorded, where that is known.
    center, scale : array or None
        How to standardise the features.
    n_rows : int or None
        Samples to learn from, where that is known.
    """

    classes: NDArray[Any]
    noise: ResolvedNoise
    training: Batches
    validation: Batches | None
    class_frequencies: Floats | None = None
    center: Floats | None = None
    scale: Floats | None = None
    n_rows: int | None = None


def array_task(
    model: OrdinalTorchClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    raters: Any,
    validation: Any,
    rng: np.random.Generator,
    *,
    reset: bool = True,
    classes: Any = None,
) -> Task:
    """Samples in memory: an array, a frame or a tensor."""
    from ordinoise.learners.torch.samples import array_batches

    noise_seed, seed = rng.integers(2**31, size=2).tolist()
    features = checked_inputs(model, X, reset=reset)
    stated = model.classes if classes is None else classes
    ordered, ranks = model._checked_labels(_untensored(y), len(features), stated)
    column = np.empty((len(features), 1))
    weights = model._checked_weights(_untensored(sample_weight), _untensored(y), column, model.class_weight)
    noise = resolve_noise(
        model.noise, _estimated_from(model, features), ranks, len(ordered), _untensored(raters), noise_seed,
        base=_base(model),
    )  # fmt: skip
    fraction = validation_fraction(model) if validation is None else 0.0
    rows, stopping_rows = split_rows(ranks, weights, fraction, rng)
    weights = weights / weights[rows].mean()
    size = batch_size(model, len(rows))
    training = array_batches(features, ranks, weights, noise.raters, rows, size, model.shuffle, seed)
    stopping: Batches | None = None
    if stopping_rows is not None:
        stopping = array_batches(features, ranks, weights, noise.raters, stopping_rows, max(size, 1024), False, seed)
    elif validation is not None:
        stopping = _given_validation(model, validation, ordered, noise)
    center, scale = None, None
    if standardizes(model):
        if np.ndim(features) != 2:
            raise complain("standardize", "be False for inputs that are not rows of numbers", "True")
        center, scale = center_and_scale(np.asarray(_untensored(features)), rows, weights)
    frequencies = np.bincount(ranks[rows], weights=weights[rows], minlength=len(ordered))
    return Task(ordered, noise, training, stopping, frequencies.astype(np.float64), center, scale, len(rows))


def dataset_task(model: OrdinalTorchClassifier, X: Any, validation: Any, rng: np.random.Generator, team: Team) -> Task:
    """Samples from a dataset or a stream, which brings its own labels."""
    from ordinoise.learners.torch.parquet import ParquetStream, summary
    from ordinoise.learners.torch.samples import dataset_batches, n_samples, split_dataset

    classes = dataset_classes(model)
    noise = _known_noise(model.noise, len(classes))
    read = _reader(model, classes)
    _, seed = rng.integers(2**31, size=2).tolist()  # as for arrays, so that both start alike
    (source, rows), stopping = (X, None), None
    if model.early_stopping and validation is None:
        (source, rows), held_out = split_dataset(X, validation_fraction(model), seed)
        stopping = dataset_batches(held_out[0], read, 1024, False, seed, model.num_workers, held_out[1])
    elif validation is not None:
        stopping = _given_validation(model, validation, classes, noise)
    length = n_samples(source) if rows is None else len(rows)
    size = batch_size(model, length)
    training = dataset_batches(source, read, size, model.shuffle, seed, model.num_workers, rows)
    if isinstance(source, ParquetStream) and (standardizes(model) or model.thresholds == "ordered"):
        seen = summary(source, read, len(classes), team)
        center, scale = (seen.center, seen.scale) if standardizes(model) else (None, None)
        return Task(classes, noise, training, stopping, seen.class_counts, center, scale, length)
    return Task(classes, noise, training, stopping, n_rows=length)


def checked_inputs(model: OrdinalTorchClassifier, X: Any, *, reset: bool) -> Any:
    """Features as finite floats, of any number of dimensions where the user brings the module; tensors as they are."""
    from ordinoise.learners.torch.samples import is_tensor

    if is_tensor(X):
        if reset and X.ndim > 1:
            model.n_features_in_ = int(X.shape[1])
        return X
    if model.module is None or np.ndim(X) <= 2:
        return model._checked_features(X, reset=reset)
    return validate_data(model, X, reset=reset, dtype=[np.float64, np.float32], allow_nd=True)


def start(model: OrdinalTorchClassifier, task: Task) -> OrdinalModule:
    """The module with its head, before any training."""
    from ordinoise.learners.torch.modules import default_model, model_on

    sizes: Any = (model.hidden_layer_sizes,) if np.isscalar(model.hidden_layer_sizes) else model.hidden_layer_sizes
    scaling = None if task.center is None else (task.center, task.scale)
    head = (len(task.classes), model.thresholds, task.class_frequencies)
    if model.module is None:
        return default_model(task.training, sizes, model.activation, scaling, *head)
    return model_on(model.module, task.training, scaling, *head)


def check_settings(model: OrdinalTorchClassifier) -> None:
    """Complain of what cannot be, before anything is computed."""
    as_choice("correction", model.correction, ("forward", "unbiased"))
    as_choice("loss", model.loss, ("cross_entropy", "hinge"))
    as_choice("thresholds", model.thresholds, ("ordered", "free"))
    as_count("max_iter", model.max_iter, 1)
    as_count("num_workers", model.num_workers, 0)
    if isinstance(model.standardize, str):
        as_choice("standardize", model.standardize, ["auto"])
    if model.noise is not None and model.correction == "forward":
        if model.loss != "cross_entropy":
            advice = "correction='unbiased' takes any loss"
            raise complain("loss", "be 'cross_entropy' for the forward correction", repr(model.loss), advice)
        if model.nonnegative_risk:
            raise complain("nonnegative_risk", "be False for the forward correction", "True")
    if model.checkpoint_dir is not None and model.warm_start:
        raise complain("warm_start", "be False where there are checkpoints", "True")


def objective_for(model: OrdinalTorchClassifier, task: Task) -> Objective:
    """The tables that the loop is to read."""
    from ordinoise.learners.torch.objective import Objective

    n_classes, matrices = len(task.classes), task.noise.matrices
    if model.noise is None:
        return Objective.of(model.loss, plain_levels(n_classes))
    if model.correction == "forward":
        return Objective.of("forward", matrices)
    warn_of_hard_noise(matrices, np.iinfo(np.int64).max if task.n_rows is None else task.n_rows)
    if model.nonnegative_risk:
        plain = np.repeat(plain_levels(n_classes), len(matrices), axis=0)
        return Objective.of(model.loss, plain, corrections_for(matrices))
    return Objective.of(model.loss, levels_for(matrices))


def training_settings(
    model: OrdinalTorchClassifier, seed: int, max_epochs: int, checkpoint_dir: Any
) -> TrainingSettings:
    """How the loop is to train."""
    from ordinoise.learners.torch.settings import TrainingSettings

    return TrainingSettings(
        max_epochs=max_epochs,
        patience=as_count("n_iter_no_change", model.n_iter_no_change, 1),
        tolerance=as_number("tol", model.tol, 0.0, np.inf),
        clip_norm=model.max_grad_norm,
        precision=model.precision,
        schedule=model.scheduler_step,
        decay_thresholds=model.decay_thresholds,
        device=model.device,
        seed=seed,
        checkpoint=None if checkpoint_dir is None else Path(checkpoint_dir) / "checkpoint.safetensors",
        checkpoint_updates=model.checkpoint_updates,
    )


def make_optimizer(model: OrdinalTorchClassifier) -> Any:
    """A callable that makes the optimizer of its parameter groups."""
    from ordinoise.learners.torch.training import adamw

    rate = as_number("learning_rate_init", model.learning_rate_init, 0.0, np.inf, open_low=True)
    decay = as_number("weight_decay", model.weight_decay, 0.0, np.inf)
    chosen = adamw if model.optimizer is None else model.optimizer
    if not callable(chosen):
        raise complain("optimizer", "be a class of torch.optim or a callable of parameter groups", repr(chosen))
    if model.optimizer is None or isinstance(chosen, type):
        return lambda groups: chosen(groups, lr=rate, weight_decay=decay)
    return chosen


def batch_size(model: OrdinalTorchClassifier, n_rows: int | None) -> int:
    """Samples an update, over all processes."""
    if isinstance(model.batch_size, str):
        as_choice("batch_size", model.batch_size, ["auto"])
        return STREAM_BATCH if n_rows is None else min(256, max(16, n_rows // 1000))
    size = as_count("batch_size", model.batch_size, 1)
    return size if n_rows is None else min(size, max(n_rows, 1))


def validation_fraction(model: OrdinalTorchClassifier) -> float:
    """Share of the samples to stop by."""
    fraction = as_number("validation_fraction", model.validation_fraction, 0.0, 0.9, open_low=True)
    return fraction if model.early_stopping else 0.0


def standardizes(model: OrdinalTorchClassifier) -> bool:
    """Whether features are centred and scaled inside: for the network of our own, unless told otherwise."""
    return model.module is None if isinstance(model.standardize, str) else bool(model.standardize)


def dataset_classes(model: OrdinalTorchClassifier) -> NDArray[Any]:
    """The classes that a dataset's labels come from, which must be stated."""
    if model.classes is None:
        raise complain("classes", "name the labels from lowest to highest when X is a dataset", "None")
    return ordered_classes(np.asarray([]), model.classes)


def _reader(model: OrdinalTorchClassifier, classes: NDArray[Any]) -> Any:
    from ordinoise.learners.torch.samples import SampleReader

    if isinstance(model.class_weight, str):
        raise complain("class_weight", "be a mapping when X is a dataset", repr(model.class_weight))
    weights = None if model.class_weight is None else compute_sample_weight(model.class_weight, classes)
    return SampleReader(classes, weights, _rater_names(model.noise))


def _rater_names(noise: Any) -> NDArray[Any] | None:
    if isinstance(noise, Mapping):
        return np.asarray(list(noise))
    return np.arange(len(noise)) if noise is not None and np.ndim(noise) == 3 else None


def _known_noise(noise: Any, n_classes: int) -> ResolvedNoise:
    """Matrices that need no look at the samples."""
    if isinstance(noise, str) or hasattr(noise, "fit"):
        advice = "estimate it on a sample that fits into memory, and pass the matrix"
        raise complain("noise", "be None or known matrices when X is a dataset", repr(noise), advice)
    if _rater_names(noise) is None:
        return resolve_noise(noise, None, np.empty(0, dtype=np.int64), n_classes, None, 0)
    matrices = noise.values() if isinstance(noise, Mapping) else noise
    return ResolvedNoise(np.stack([as_noise_matrix(matrix, n_classes) for matrix in matrices]), None)


def _given_validation(
    model: OrdinalTorchClassifier, validation: Any, classes: NDArray[Any], noise: ResolvedNoise
) -> Batches:
    """A source over validation data of the user's own: a dataset, or a pair (X, y)."""
    from ordinoise.learners.torch.samples import array_batches, dataset_batches, is_dataset

    if is_dataset(validation):
        return dataset_batches(validation, _reader(model, classes), 1024, False, 0, model.num_workers)
    if not isinstance(validation, tuple) or len(validation) != 2 or noise.raters is not None:
        raise complain("validation", "be a dataset, or a pair (X, y) without raters", type(validation).__name__)
    features = checked_inputs(model, validation[0], reset=False)
    _, ranks = model._checked_labels(_untensored(validation[1]), len(features), classes)
    return array_batches(features, ranks, np.ones(len(ranks)), None, np.arange(len(ranks)), 1024, False, 0)


def _estimated_from(model: OrdinalTorchClassifier, features: Any) -> Any:
    """What a noise estimator is shown: rows of numbers, or the inputs as they are where the module itself looks."""
    if as_choice("estimate_with", model.estimate_with, ("features", "module")) == "module":
        return features
    if getattr(model.noise, "base_estimator", None) is not None:
        return features
    return np.asarray(_untensored(features)).reshape(len(features), -1)


def _base(model: OrdinalTorchClassifier) -> dict[str, Any] | None:
    """For ``estimate_with="module"``: this classifier, trusting the labels, out of fold."""
    if model.estimate_with == "features":
        return None
    plain = clone(model).set_params(
        noise=None, classes=None, class_weight=None, checkpoint_dir=None, verbose=False, random_state=None
    )
    return {"base_estimator": plain, "n_jobs": 1}


def _untensored(column: Any) -> Any:
    return column.cpu().numpy() if hasattr(column, "cpu") else column
