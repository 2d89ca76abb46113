"""Any PyTorch module as a scikit-learn classifier of ordered labels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordinoise._validation import Floats, as_generator, complain
from ordinoise.classifiers._network_base import CURVES
from ordinoise.classifiers._progress import epoch_progress
from ordinoise.classifiers._torch_base import Task, TorchClassifierBase
from ordinoise.classifiers.card import recorded_counts
from ordinoise.classifiers.saving import DAMAGE, Arrays, read_folder
from ordinoise.decisions import as_decision

if TYPE_CHECKING:
    from ordinoise.learners.torch.settings import Training, TrainingSettings

CODE = ("module", "optimizer", "scheduler", "callbacks")  # parameters that no file can hold
WEIGHT = "weight."


class OrdinalTorchClassifier(TorchClassifierBase):
    """Any PyTorch module with ordered labels that may be wrong, as a scikit-learn classifier.

    The module returns features or one score; a head cuts the score into ordered classes. The noise is given or
    estimated, as for `OrdinalMLPClassifier`. Started by ``torchrun``, the same `fit` trains in all processes together.

    Parameters
    ----------
    module : nn.Module or callable, optional
        Maps inputs to features (n_samples, n) or to a score (n_samples,). A module is copied, a callable is called.
        By default the paper's network of `hidden_layer_sizes` and `activation`.
    noise, correction, loss, thresholds, decision, classes, class_weight
        As in `OrdinalMLPClassifier`. `classes` must be given where `X` is a dataset.
    estimate_with : {"features", "module"}, default="features"
        The model that ``noise="estimate"`` predicts the recorded labels with: a small network on the flattened
        features, or this classifier itself, fitted once per fold (for images and text).
    hidden_layer_sizes, activation
        Of the default module.
    optimizer : class or callable, optional
        AdamW by default. A class of ``torch.optim`` is called with the parameter groups, `learning_rate_init` and
        `weight_decay`; any other callable with the parameter groups alone (the thresholds are the second).
    scheduler : callable, optional
        Called with the optimizer, returns a learning-rate scheduler.
    scheduler_step : {"epoch", "update"}, default="epoch"
        When the scheduler takes a step.
    learning_rate_init : float or "auto", default="auto"
        Learning rate of the optimizer. "auto" is that of `OrdinalMLPClassifier`; on a module of your own, AdamW with
        early stopping then trains the head at up to 0.03, so that it is sharp before the module memorizes labels.
    batch_size : int or "auto", default="auto"
        Samples per update, over all processes; "auto" is one per 1000 samples, at least 16 and at most 256.
    max_iter : int, default=200
        Number of epochs; with early stopping, at most.
    weight_decay : float or "auto", default="auto"
        Weight decay of the optimizer. "auto" is that of `OrdinalMLPClassifier`, and 0.01 on a module of your own.
    decay_thresholds : bool, default=False
        Whether weight decay applies to the thresholds too, as in the paper.
    max_grad_norm : float, optional
        Gradients with a larger norm are scaled down to it.
    early_stopping, validation_fraction, n_iter_no_change, tol, shuffle
        As in `OrdinalMLPClassifier`. "auto" runs all epochs on a dataset that cannot be split; pass `validation`.
    standardize : bool or "auto", default="auto"
        Whether to center and scale the features inside; "auto" does so for the default module.
    device : str, default="auto"
        Where to compute; "auto" is a GPU if there is one.
    precision : {"float32", "bfloat16", "float16"}, default="float32"
        Number type of the module's arithmetic in training; weights and losses stay in float32.
    num_workers : int, default=0
        Processes that load the samples of a map-style dataset.
    callbacks : sequence of callable, default=()
        Called after every epoch with an `ordinoise.learners.torch.Epoch`; training stops when one returns True.
    checkpoint_dir : path, optional
        Folder of a checkpoint, written after every epoch. `fit` continues from one that is already there; it must be
        of the same data and settings. All processes must see the folder.
    checkpoint_updates : int, optional
        Updates between checkpoints within an epoch; none by default.
    random_state : int, Generator, RandomState or None
        Initial weights, order of samples, validation part, dropout. Must be a seed if there are checkpoints.
    warm_start : bool, default=False
        Whether `fit` continues from the current weights.
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
        Epoch, counted from 1, that the weights come from.

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

    optimizer_state_: dict[str, Any] | None
    best_iter_: int

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        raters: Any = None,
        validation: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array, sparse matrix, frame, tensor or dataset
            Finite numbers of shape (n_samples, n_features), or of more dimensions where the module takes them; a
            tensor goes to the module unchanged. A map-style or iterable dataset, or a `ParquetStream`, yields
            ``(x, label[, weight[, rater]])``. The predicting methods take the same and ignore the labels.
        y : column of shape (n_samples,)
            Labels as recorded; None for a dataset.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds one matrix per rater.
        validation : dataset or pair (X, y), optional
            Samples to stop by, instead of a part of `X`.
        groups : column of shape (n_samples,), optional
            Rows of one group (a patient, a query, an item with several labels) are held out together, wherever rows
            are held out.
        """
        continues = self.warm_start and hasattr(self, "module_")
        columns = (sample_weight, raters, groups)
        return self._learn(X, y, columns, validation, continues=continues, max_epochs=self.max_iter)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, raters: Any = None) -> Self:
        """Train one more epoch, on these samples.

        The first call fixes the classes and the scaling of the features. The noise cannot be estimated here.

        Parameters
        ----------
        X, y, sample_weight, raters
            As in `fit`.
        classes : sequence, optional
            All classes from lowest to highest, in the first call.
        """
        self._check_known_noise()
        continues = hasattr(self, "module_")
        stated = self.classes_ if continues else classes
        columns = (sample_weight, raters, None)
        return self._learn(X, y, columns, None, continues=continues, max_epochs=1, classes=stated, in_parts=True)

    def _learn(
        self,
        X: Any,
        y: Any,
        columns: tuple[Any, Any, Any],
        validation: Any,
        *,
        continues: bool,
        max_epochs: int,
        classes: Any = None,
        in_parts: bool = False,
    ) -> Self:
        """Train on these samples; `columns` are weights, raters and groups."""
        from ordinoise.learners.torch.samples import is_dataset
        from ordinoise.learners.torch.team import joined, own_randomness

        self._check_settings()
        with joined(self.device) as team:
            rng = np.random.default_rng(team.agreed(self._seed(in_parts)))
            if is_dataset(X):
                if any(column is not None for column in (y, *columns)):
                    advice = "the dataset yields them with its samples; for groups pass validation="
                    raise complain(
                        "y, sample_weight, raters and groups", "be None when X is a dataset", "a column", advice
                    )
                task = self._dataset_task(X, validation, rng, team)
            else:
                task = self._array_task(
                    X, y, columns, validation, rng, reset=not continues, classes=classes, in_parts=in_parts
                )
            as_decision(self.decision, len(task.classes))
            if continues:
                self._check_same_classes(task.classes)
            seed = int(rng.integers(2**31))
            if not continues:
                with own_randomness(seed, team.device):
                    self.module_, self.optimizer_state_ = self._start(task), None
            self.classes_, self.noise_ = task.classes, task.noise
            settings = self._training_settings(task, seed, max_epochs, None if in_parts else self.checkpoint_dir)
            self._keep(self._train(task, settings, team.is_lead), adds=continues and in_parts)
        self._keep_facts(recorded_counts(y, self.classes_), adds=continues and in_parts)
        return self

    def _train(self, task: Task, settings: TrainingSettings, is_lead: bool) -> Training:
        from ordinoise.learners.torch.training import train

        with epoch_progress(self.verbose and is_lead, settings.max_epochs) as on_epoch:
            bar = [lambda epoch: on_epoch(epoch.number, epoch.loss, epoch.validation_loss)] if on_epoch else []
            return train(
                self.module_,
                task.training,
                self._objective(task),
                settings,
                validation=task.validation,
                optimizer=self._make_optimizer(task),
                scheduler=self.scheduler,
                callbacks=[*bar, *self.callbacks],
                optimizer_state=self.optimizer_state_,
            )

    def predict_score(self, X: Any) -> Floats:
        """The score, shape (n_samples,): higher means a higher class. `cutpoints_` cut it into classes."""
        return self._outputs(X, score=True)[:, 0]

    def _logits(self, X: Any) -> Floats:
        return self._outputs(X, score=False)

    def _outputs(self, X: Any, *, score: bool) -> Floats:
        check_is_fitted(self, "module_")
        from ordinoise.learners.torch.samples import is_dataset, logits_of

        inputs = X if is_dataset(X) else self._checked_inputs(X, reset=False)
        return logits_of(self.module_, inputs, score=score)

    def _thresholds(self) -> Floats | None:
        return np.asarray(self.module_.head.thresholds.tolist()) if hasattr(self, "module_") else None

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float32", example: Any = None) -> None:
        """Write the fitted model as an ONNX file, for programs without Python.

        The graph takes `features` and returns `label`, as `predict` does, and `probabilities`. The file appears whole
        or not at all; an existing one is replaced. Needs the extra ``onnx``.

        Parameters
        ----------
        path : path
            The file, usually ending in ``.onnx``.
        dtype : {"float32", "float64", "int64"}, default="float32"
            Type of the features that will be passed; int64 for a module that takes whole numbers.
        example : array or tensor, optional
            Some samples, if they are not plain rows of features.
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
            scheduler and callbacks are not saved either: set them by ``set_params`` to continue training.
        """
        settings, arrays = read_folder(path, cls.__name__)
        if settings.get("module") is not None and module is None:
            advice = f"call {cls.__name__}.load(path, module) with the module it was made with"
            raise complain("module", f"be given: the saved model has a {settings['module']}", "None", advice)
        try:
            return cls._from_saved(settings, arrays, module=module)
        except (*DAMAGE, RuntimeError) as error:
            words = str(error).splitlines()[0] if str(error) else ""
            advice = "the folder is damaged, or the module is not the one that was saved"
            raise complain("path", "hold a whole model", f"{type(error).__name__}: {words}", advice) from None

    def _saved_parameters(self) -> dict[str, Any]:
        parameters = self.get_params(deep=False)
        if hasattr(self.noise, "fit"):
            parameters["noise"] = self.noise_  # what the estimator found
        if parameters["checkpoint_dir"] is not None:
            parameters["checkpoint_dir"] = str(parameters["checkpoint_dir"])
        return {name: value for name, value in parameters.items() if name not in CODE}

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        from ordinoise.learners.torch.modules import described, weights_of

        settings = {
            "module": None if self.module is None else type(self.module_.module).__name__,
            "structure": described(self.module_),
            **{name: getattr(self, f"{name}_") for name in (*CURVES, "best_iter")},
        }
        return settings, {f"{WEIGHT}{name}": array for name, array in weights_of(self.module_).items()}

    def _restore(self, settings: dict[str, Any], arrays: Arrays) -> None:
        from ordinoise.learners.torch.modules import rebuilt

        weights = {name.removeprefix(WEIGHT): array for name, array in arrays.items() if name.startswith(WEIGHT)}
        self.module_ = rebuilt(self.module, settings["structure"], weights, self.device)
        if self.module_.head.num_classes != len(self.classes_):
            raise complain("classes", f"name {self.module_.head.num_classes} classes", len(self.classes_))
        self.optimizer_state_ = None
        for name in (*CURVES, "best_iter"):
            setattr(self, f"{name}_", settings[name])

    def _seed(self, in_parts: bool) -> int:
        if self.checkpoint_dir is not None and not isinstance(self.random_state, (int, np.integer)):
            raise complain("random_state", "be a seed where there are checkpoints", repr(self.random_state))
        if not in_parts or not hasattr(self, "_generator"):
            self._generator = as_generator(self.random_state)
        return int(self._generator.integers(2**31))

    def _keep(self, training: Training, *, adds: bool) -> None:
        self.module_, self.optimizer_state_ = training.model, training.optimizer_state
        self.best_iter_ = training.best_epoch
        self._keep_curves(training, adds=adds)
