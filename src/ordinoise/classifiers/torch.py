"""Any PyTorch module as a scikit-learn classifier of ordered labels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordinoise._validation import Floats, Ints, as_generator, complain
from ordinoise.classifiers import _torch_state
from ordinoise.classifiers._facts import recorded_counts
from ordinoise.classifiers._progress import epoch_progress
from ordinoise.classifiers._torch_fit import (
    Task,
    array_task,
    check_settings,
    checked_inputs,
    dataset_task,
    make_optimizer,
    objective_for,
    start,
    training_settings,
)
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.classifiers.saving import Arrays, read_folder
from ordinoise.labels import as_decision
from ordinoise.levels import class_probabilities, labels_from_logits, log_class_probabilities

if TYPE_CHECKING:
    from ordinoise.learners.torch.heads import OrdinalModule
    from ordinoise.learners.torch.settings import Training, TrainingSettings


class OrdinalTorchClassifier(OrdinalClassifierBase):
    """Any PyTorch module with ordered labels that may be wrong, as a scikit-learn classifier.

    The module gives features or one score; a head cuts the score into ordered classes. Noise is told, or found out,
    as for `OrdinalMLPClassifier`. Started by ``torchrun``, the same `fit` trains in all processes together.

    Parameters
    ----------
    module : nn.Module or callable, optional
        Maps inputs to features (n_samples, n) or to a score (n_samples,). A module is copied, a callable is called.
        By default the paper's network of `hidden_layer_sizes` and `activation`.
    noise, correction, loss, thresholds, decision, classes, class_weight
        As in `OrdinalMLPClassifier`. `classes` must be given where `X` is a dataset.
    estimate_with : {"features", "module"}, default="features"
        What ``noise="estimate"`` looks through: a small network on the flattened features, or this very classifier,
        fitted once a fold (for images and text).
    hidden_layer_sizes, activation
        Of the default module.
    optimizer : class or callable, optional
        AdamW by default. A class of ``torch.optim`` gets parameters, `learning_rate_init` and `weight_decay`; any
        other callable gets the parameter groups alone (the thresholds are the second).
    scheduler : callable, optional
        Makes a learning-rate scheduler of the optimizer.
    scheduler_step : {"epoch", "update"}, default="epoch"
        When it takes a step.
    learning_rate_init : float, default=0.001
        Step of the optimizer.
    batch_size : int or "auto", default="auto"
        Samples an update, over all processes; "auto" is 16, growing to 256 with one for every 1000 samples.
    max_iter : int, default=200
        Epochs.
    weight_decay : float, default=0.01
        Decay of the weights.
    decay_thresholds : bool, default=False
        Whether it pulls at the thresholds too, as in the paper.
    max_grad_norm : float, optional
        Longest gradient; longer ones are scaled down.
    nonnegative_risk, early_stopping, validation_fraction, n_iter_no_change, tol, shuffle
        As in `OrdinalMLPClassifier`.
    standardize : bool or "auto", default="auto"
        Whether to centre and scale the features inside; "auto" does so for the default module.
    device : str, default="auto"
        Where to compute; "auto" takes a GPU where there is one.
    precision : {"float32", "bfloat16", "float16"}, default="float32"
        Of the module's arithmetic in training; weights and losses stay in float32.
    num_workers : int, default=0
        Processes that load the samples of a map-style dataset.
    callbacks : sequence of callable, default=()
        Called after every epoch with an `ordinoise.learners.torch.Epoch`; training ends when one gives back True.
    checkpoint_dir : path, optional
        Where to keep a checkpoint, written after every epoch. `fit` goes on from one that is there; it must be of the
        same data and settings. All processes must see the folder.
    checkpoint_updates : int, optional
        Write it also every so many updates.
    random_state : int, Generator, RandomState or None
        Start, order of samples, validation part, dropout. A seed where there are checkpoints.
    warm_start : bool, default=False
        Whether `fit` goes on from the fitted module.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    module_ : OrdinalModule
        The trained module with its head: inputs in, K-1 logits out.
    classes_, noise_matrix_, noise_matrices_, noise_estimator_
        As in `OrdinalMLPClassifier`.
    thresholds_, cutpoints_, threshold_inversions_, n_updates_, n_iter_, loss_curve_, validation_curve_
        As in `OrdinalMLPClassifier`.
    best_iter_ : int
        Epoch, counted from one, that the weights come from.

    Examples
    --------
    >>> from ordinoise import OrdinalTorchClassifier, corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> model = OrdinalTorchClassifier(noise=noise, batch_size=64, learning_rate_init=0.03, max_iter=20, random_state=0)
    >>> model = model.fit(data.features, corrupt(data.labels, noise, random_state=0))
    >>> bool((model.predict(data.features) == data.labels).mean() > 0.8)
    True
    """

    module_: OrdinalModule
    optimizer_state_: dict[str, Any] | None
    loss_curve_: list[float]
    validation_curve_: list[float]
    n_iter_: int
    n_updates_: int
    threshold_inversions_: int
    best_iter_: int

    def __init__(
        self,
        module: Any = None,
        *,
        noise: Any = None,
        correction: str = "forward",
        loss: str = "cross_entropy",
        thresholds: str = "ordered",
        decision: Any = "median",
        classes: Any = None,
        class_weight: Any = None,
        estimate_with: str = "features",
        hidden_layer_sizes: Any = (10,),
        activation: str = "relu",
        optimizer: Any = None,
        scheduler: Any = None,
        scheduler_step: str = "epoch",
        learning_rate_init: float = 0.001,
        batch_size: int | str = "auto",
        max_iter: int = 200,
        weight_decay: float = 0.01,
        decay_thresholds: bool = False,
        max_grad_norm: float | None = None,
        nonnegative_risk: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        shuffle: bool = True,
        standardize: bool | str = "auto",
        device: str = "auto",
        precision: str = "float32",
        num_workers: int = 0,
        callbacks: Any = (),
        checkpoint_dir: Any = None,
        checkpoint_updates: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.module = module
        self.noise = noise
        self.correction = correction
        self.loss = loss
        self.thresholds = thresholds
        self.decision = decision
        self.classes = classes
        self.class_weight = class_weight
        self.estimate_with = estimate_with
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.scheduler_step = scheduler_step
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.weight_decay = weight_decay
        self.decay_thresholds = decay_thresholds
        self.max_grad_norm = max_grad_norm
        self.nonnegative_risk = nonnegative_risk
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.shuffle = shuffle
        self.standardize = standardize
        self.device = device
        self.precision = precision
        self.num_workers = num_workers
        self.callbacks = callbacks
        self.checkpoint_dir = checkpoint_dir
        self.checkpoint_updates = checkpoint_updates
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, raters: Any = None, validation: Any = None) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array, frame, tensor or dataset
            Finite numbers of shape (n_samples, n_features), or of more dimensions where the module takes them; a
            tensor goes to the module as it is. A map-style or iterable dataset, or a `ParquetStream`, yields
            ``(x, label[, weight[, rater]])``.
        y : column of shape (n_samples,)
            Labels as recorded; None for a dataset.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds a matrix for each rater.
        validation : dataset or pair (X, y), optional
            What to stop by, in place of a part of `X`.
        """
        goes_on = self.warm_start and hasattr(self, "module_")
        return self._learn(X, y, sample_weight, raters, validation, goes_on=goes_on, max_epochs=self.max_iter)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, raters: Any = None) -> Self:
        """Go on learning with one epoch over these samples.

        The first call fixes classes and the scale of the features. The noise cannot be estimated here.

        Parameters
        ----------
        X, y, sample_weight, raters
            As in `fit`.
        classes : sequence, optional
            All classes from lowest to highest, in the first call.
        """
        if isinstance(self.noise, str) or hasattr(self.noise, "fit"):
            advice = "fit once, then pass its noise_matrix_"
            raise complain("noise", "be None or known matrices in partial_fit", repr(self.noise), advice)
        goes_on = hasattr(self, "module_")
        stated = self.classes_ if goes_on else classes
        return self._learn(
            X, y, sample_weight, raters, None, goes_on=goes_on, max_epochs=1, classes=stated, in_parts=True
        )

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        raters: Any,
        validation: Any,
        *,
        goes_on: bool,
        max_epochs: int,
        classes: Any = None,
        in_parts: bool = False,
    ) -> Self:
        from ordinoise.learners.torch.samples import is_dataset
        from ordinoise.learners.torch.team import joined, own_randomness

        check_settings(self)
        with joined(self.device) as team:
            rng = np.random.default_rng(team.agreed(self._seed(in_parts)))
            if is_dataset(X):
                if y is not None or sample_weight is not None or raters is not None:
                    advice = "the dataset yields them with its samples"
                    raise complain("y, sample_weight and raters", "be None when X is a dataset", "a column", advice)
                task = dataset_task(self, X, validation, rng, team)
            else:
                task = array_task(
                    self, X, y, sample_weight, raters, validation, rng, reset=not goes_on, classes=classes
                )
            self._check_for(task, goes_on)
            seed = int(rng.integers(2**31))
            if not goes_on:
                with own_randomness(seed, team.device):
                    self.module_, self.optimizer_state_ = start(self, task), None
            self._keep_noise(task)
            settings = training_settings(self, seed, max_epochs, None if in_parts else self.checkpoint_dir)
            self._keep_training(self._trained(task, settings, team.is_lead), earlier=goes_on and in_parts)
        self._remember(recorded_counts(y, self.classes_), adds=goes_on and in_parts)
        return self

    def _trained(self, task: Task, settings: TrainingSettings, is_lead: bool) -> Training:
        from ordinoise.learners.torch.training import train

        with epoch_progress(self.verbose and is_lead, settings.max_epochs) as on_epoch:
            bar = [lambda epoch: on_epoch(epoch.number, epoch.loss, epoch.validation_loss)] if on_epoch else []
            return train(
                self.module_,
                task.training,
                objective_for(self, task),
                settings,
                validation=task.validation,
                optimizer=make_optimizer(self),
                scheduler=self.scheduler,
                callbacks=[*bar, *self.callbacks],
                optimizer_state=self.optimizer_state_,
            )

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes); valid also for unordered thresholds.

        `X` is as in `fit`; the labels that a dataset yields with its samples are not looked at.
        """
        return class_probabilities(self._logits(X))

    def predict_score(self, X: Any) -> Floats:
        """The score, shape (n_samples,): higher means a higher class. `cutpoints_` cut it into classes."""
        return self._outputs(X, score=True)[:, 0]

    def decision_function(self, X: Any) -> Floats:
        """Log-probability of each class, or for two classes the one logit, as scikit-learn's tools expect."""
        logits = self._logits(X)
        if len(self.classes_) == 2:
            return logits[:, 0]
        return log_class_probabilities(logits)

    def _decided(self, X: Any, decision: Any) -> Ints:
        if isinstance(decision, str) and decision == "median":
            return labels_from_logits(self._logits(X))
        return super()._decided(X, decision)

    def _logits(self, X: Any) -> Floats:
        return self._outputs(X, score=False)

    def _outputs(self, X: Any, *, score: bool) -> Floats:
        check_is_fitted(self, "module_")
        from ordinoise.learners.torch.samples import is_dataset, logits_of

        inputs = X if is_dataset(X) else checked_inputs(self, X, reset=False)
        return logits_of(self.module_, inputs, score=score)

    @property
    def thresholds_(self) -> Floats:
        """Added to the score, descending (the paper's b)."""
        if not hasattr(self, "module_"):
            raise AttributeError(f"{type(self).__name__} has no thresholds before it is fitted")
        return np.asarray(self.module_.head.thresholds.tolist())

    @property
    def cutpoints_(self) -> Floats:
        """Cuts of the score axis, ascending: minus the thresholds."""
        return -self.thresholds_

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float32", example: Any = None) -> None:
        """Write the fitted model as an ONNX file, for programs without Python.

        The graph takes `features` and gives `label`, as `predict` does, and `probabilities`. The file appears whole
        or not at all; an existing one is replaced. Needs the extra ``onnx``.

        Parameters
        ----------
        path : path
            The file, by custom ending in ``.onnx``.
        dtype : {"float32", "float64", "int64"}, default="float32"
            Type of the features that will be passed; int64 for a module that takes whole numbers.
        example : array or tensor, optional
            Some samples, where they are not plain rows of features.
        """
        check_is_fitted(self, "module_")
        shape = (self.n_features_in_,) if example is None else tuple(example.shape[1:])
        self._write_onnx(path, shape, dtype)

    def _add_to_onnx(self, graph: Any) -> str:
        from ordinoise.export import module_probabilities

        return module_probabilities(graph, self.module_, len(self.classes_))

    @classmethod
    def load(cls, path: str | os.PathLike[str], module: Any = None) -> Self:
        """A model that `save` wrote; it predicts exactly as the saved one did.

        Parameters
        ----------
        path : path
            The folder.
        module : nn.Module or callable, optional
            The module that the model was made with, since code is not saved; its weights are replaced. Optimizer,
            scheduler and callbacks are not saved either: give them by ``set_params`` to go on learning.
        """
        settings, arrays = read_folder(path, cls.__name__)
        if settings.get("module") is not None and module is None:
            raise complain("module", f"be given: the saved model has a {settings['module']}", "None")
        settings["given_module"] = module
        return _torch_state.whole(lambda: cls._whole(settings, arrays))

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return _torch_state.state_of(self)

    @classmethod
    def _from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        model = cls(settings["given_module"], **_torch_state.parameters_from(settings))
        _torch_state.restore(model, settings, arrays)
        return model

    def _check_for(self, task: Task, goes_on: bool) -> None:
        as_decision(self.decision, len(task.classes))
        if goes_on and not np.array_equal(task.classes, self.classes_):
            raise complain("y", f"hold the classes of the earlier fit, {self.classes_.tolist()}", task.classes.tolist())

    def _seed(self, in_parts: bool) -> int:
        if self.checkpoint_dir is not None and not isinstance(self.random_state, (int, np.integer)):
            raise complain("random_state", "be a seed where there are checkpoints", repr(self.random_state))
        if not in_parts or not hasattr(self, "_generator"):
            self._generator = as_generator(self.random_state)
        return int(self._generator.integers(2**31))

    def _keep_noise(self, task: Task) -> None:
        self.classes_ = task.classes
        self.noise_matrix_ = task.noise.pooled
        self.noise_matrices_ = task.noise.matrices
        self.noise_estimator_ = task.noise.estimator

    def _keep_training(self, training: Training, *, earlier: bool) -> None:
        self.module_ = training.model
        self.optimizer_state_ = training.optimizer_state
        self.loss_curve_ = [*(self.loss_curve_ if earlier else []), *training.loss_curve]
        self.validation_curve_ = training.validation_curve
        self.n_iter_ = (self.n_iter_ if earlier else 0) + training.n_epochs
        self.n_updates_ = (self.n_updates_ if earlier else 0) + training.n_updates
        self.threshold_inversions_ = (self.threshold_inversions_ if earlier else 0) + training.threshold_inversions
        self.best_iter_ = training.best_epoch
