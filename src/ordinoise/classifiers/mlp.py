"""The paper's network as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordinoise._validation import Floats, Ints, as_generator, complain
from ordinoise.classifiers._network_base import CURVES, NetworkClassifierBase
from ordinoise.classifiers._progress import epoch_progress
from ordinoise.classifiers.saving import Arrays, check_arrays
from ordinoise.crossfit import split_rows
from ordinoise.decisions import as_decision
from ordinoise.estimation.resolution import resolve_noise
from ordinoise.labels import as_groups
from ordinoise.learners.mlp import (
    Architecture,
    Network,
    Objective,
    Optimizer,
    OptimizerState,
    Training,
    initial_network,
    train,
)
from ordinoise.standardize import center_and_scale

ARRAYS = {"center": "f8", "scale": "f8", "parameters": "f4", "first_moment": "f4", "second_moment": "f4"}


@dataclass(eq=False, repr=False, kw_only=True)
class OrdinalMLPClassifier(NetworkClassifierBase):
    """An ordinal neural network that corrects for wrong labels, under a noise matrix that is given or estimated.

    One score of the features, cut by thresholds into ordered classes. With ``noise=None`` it trusts the labels; with
    a noise matrix it learns what clean labels would have taught. Training is compiled and needs no GPU.

    Parameters
    ----------
    noise : None, array, mapping, "estimate" or estimator, default=None
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        from the data, as does an estimator with ``fit(X, y)`` and ``noise_matrix_``. One matrix per rater, as a
        mapping or a stack, needs ``fit(..., raters=)``.
    correction : {"forward", "unbiased"}, default="forward"
        Forward maximizes the likelihood of the recorded labels. Unbiased is the paper's: a loss whose average over the
        noise is the clean loss.
    loss : {"cross_entropy", "hinge"}, default="cross_entropy"
        The paper's two losses, without noise and for the unbiased correction. The forward correction is a likelihood
        and has no other.
    thresholds : {"ordered", "free"}, default="ordered"
        Ordered by construction, or free as in the paper.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error (the number of positive logits), 0-1 error, squared
        error, or ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes, also under a correction: with wrong labels a weighted grade is then predicted
        too often. To weigh true grades, give `decision` a matrix of costs.
    hidden_layer_sizes : tuple of int or "auto", default="auto"
        Units of each hidden layer; ``()`` is a linear score. "auto" is one layer of 50 with early stopping, of 10
        without, as in the paper.
    activation : {"relu", "tanh", "identity"}, default="relu"
        Activation of the hidden units.
    learning_rate_init : float or "auto", default="auto"
        Learning rate of AdamW; "auto" is 0.002 with early stopping, 0.001 without, as in the paper.
    batch_size : int or "auto", default="auto"
        Samples per update; "auto" is one per 1000 samples, at least 16 and at most 256.
    max_iter : int, default=200
        Number of epochs; with early stopping, at most.
    weight_decay : float or "auto", default="auto"
        AdamW's decoupled weight decay; "auto" is 0.01 per feature and at most 1 with early stopping, 0.01 without, as
        in the paper.
    decay_thresholds : bool, default=False
        Whether weight decay applies to the thresholds too, as in the paper.
    beta_1, beta_2, epsilon : float
        Decay of AdamW's two moments, and the constant in its denominator.
    early_stopping : bool or "auto", default="auto"
        Stop by the corrected loss of a validation part of the (noisy) training data, drawn from the seed and
        stratified. The part judges weights that are averaged over the epochs, and the best average is kept. "auto"
        does so from 200 samples on. False runs all epochs and keeps the last weights, as in the paper.
    validation_fraction : float, default=0.1
        Share of the validation part.
    n_iter_no_change : int, default=10
        Epochs without improvement by `tol` after which training stops.
    tol : float, default=1e-4
        Smallest decrease of the validation loss that counts as an improvement.
    shuffle : bool, default=True
        Whether to visit the samples in a new order each epoch.
    standardize : bool, default=True
        Whether to center and scale the features inside; a sparse matrix is scaled as a whole and not centered.
    random_state : int, Generator, RandomState or None
        Initial weights, order of samples, validation part.
    warm_start : bool, default=False
        Whether `fit` continues from the current weights.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in order.
    noise_ : Noise
        The noise corrected for: matrices, how sure they are, where they come from, doubts. `noise_matrix_` is its
        matrix.
    thresholds_ : array of shape (n_classes - 1,)
        Added to the score, descending (the paper's b).
    cutpoints_ : array of shape (n_classes - 1,)
        The same cuts on the score axis, ascending: what cumulative-link libraries subtract.
    threshold_inversions_ : int
        Updates after which the thresholds were out of order.
    n_updates_ : int
        Number of updates.
    loss_curve_, validation_curve_ : list of float
        Training and validation loss of each epoch.
    n_iter_ : int
        Epochs run.
    network_ : Network
        The trained network.

    Examples
    --------
    >>> from ordinoise import OrdinalMLPClassifier, corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> model = OrdinalMLPClassifier(noise=noise, learning_rate_init=0.01, max_iter=50, random_state=0)
    >>> model = model.fit(data.features, corrupt(data.labels, noise, random_state=0))
    >>> bool((model.predict(data.features) == data.labels).mean() > 0.8)
    True
    """

    network_: Network = field(init=False)
    optimizer_state_: OptimizerState = field(init=False)

    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    standardize: bool = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None, groups: Any = None) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Finite numbers.
        y : column of shape (n_samples,)
            Labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds one matrix per rater.
        groups : column of shape (n_samples,), optional
            Rows of one group (a patient, a query, an item with several labels) are held out together, wherever rows
            are held out.
        """
        continues = self.warm_start and hasattr(self, "network_")
        features = self._checked_features(X, reset=not continues)
        classes, ranks = self._checked_labels(y, features.shape[0], self.classes)
        if continues:
            self._check_same_classes(classes)
        self._check_settings(len(classes))
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        rng = as_generator(self.random_state)
        self.classes_, seed = classes, int(rng.integers(2**31))
        together = as_groups(groups, features.shape[0])
        self.noise_, index = resolve_noise(self.noise, features, ranks, len(classes), raters, seed, groups=together)
        fraction = self._stopping_share(int(np.count_nonzero(weights)))
        rows, validation_rows = split_rows(ranks, weights, fraction, rng, together)
        objective = Objective(*self._loss_table(self.noise_, len(rows)))
        with epoch_progress(self.verbose, self.max_iter) as on_epoch:
            training = self._train(
                features, ranks, weights, index, rows, objective, rng, continues=continues, max_epochs=self.max_iter,
                validation_rows=validation_rows, patience=self.n_iter_no_change, tolerance=self.tol, averages=True,
                on_epoch=on_epoch,
            )  # fmt: skip
        self._keep(training)
        self._keep_facts(np.bincount(ranks, minlength=len(classes)))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, raters: Any = None) -> Self:
        """Train one more epoch, on these samples.

        The first call fixes the classes (`classes`, or those of `y`) and the scaling of the features. The noise cannot
        be estimated here.

        Parameters
        ----------
        X, y, sample_weight, raters
            As in `fit`.
        classes : sequence, optional
            All classes from lowest to highest, in the first call.
        """
        first = not hasattr(self, "network_")
        features = self._checked_features(X, reset=first)
        stated = (self.classes if classes is None else classes) if first else self.classes_
        ordered, ranks = self._checked_labels(y, features.shape[0], stated)
        self._check_settings(len(ordered))
        self._check_known_noise()
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        if first:
            self._generator = as_generator(self.random_state)
        self.classes_ = ordered
        self.noise_, index = resolve_noise(self.noise, features, ranks, len(ordered), raters)
        rows = np.flatnonzero(weights)
        rng = getattr(self, "_generator", None) or as_generator(self.random_state)
        objective = Objective(*self._loss_table(self.noise_, len(rows)))
        training = self._train(features, ranks, weights, index, rows, objective, rng, continues=not first, max_epochs=1)
        self._keep(training, adds=not first)
        self._keep_facts(np.bincount(ranks, minlength=len(ordered)), adds=not first)
        return self

    def predict_score(self, X: Any) -> Floats:
        """The score, shape (n_samples,): higher means a higher class. `cutpoints_` cut it into classes."""
        check_is_fitted(self, "network_")
        return self.network_.score(self._checked_features(X, reset=False))

    def _logits(self, X: Any) -> Floats:
        check_is_fitted(self, "network_")
        return self.network_.logits(self._checked_features(X, reset=False))

    def _thresholds(self) -> Floats | None:
        return self.network_.thresholds if hasattr(self, "network_") else None

    def _check_settings(self, n_classes: int) -> None:
        self._check_losses()
        as_decision(self.decision, n_classes)

    def _train(
        self,
        features: Any,
        ranks: Ints,
        weights: Floats,
        index: Ints | None,
        rows: Ints,
        objective: Objective,
        rng: np.random.Generator,
        *,
        continues: bool,
        **options: Any,
    ) -> Training:
        """The network after training, from the current weights if `continues`, else from random ones."""
        stops = options.get("validation_rows") is not None
        sizes = self._layer_sizes(stops=stops)
        network = self.network_ if continues else self._start(features, ranks, rows, weights, sizes, rng)
        return train(
            network, features, ranks, objective, self._optimizer(len(rows), stops=stops), rng=rng,
            sample_weight=weights, raters=index, rows=rows,
            optimizer_state=self.optimizer_state_ if continues else None, **options,
        )  # fmt: skip

    def _start(
        self,
        features: Any,
        ranks: Ints,
        rows: Ints,
        weights: Floats,
        sizes: tuple[int, ...],
        rng: np.random.Generator,
    ) -> Network:
        n_classes = len(self.classes_)
        architecture = Architecture(
            n_features=features.shape[1],
            n_classes=n_classes,
            hidden_layer_sizes=sizes,
            activation=self.activation,
            head=self.thresholds,
        )
        center, scale = center_and_scale(features, rows, weights) if self.standardize else (None, None)
        frequencies = np.bincount(ranks[rows], weights=weights[rows], minlength=n_classes)
        return initial_network(architecture, rng, center=center, scale=scale, class_frequencies=frequencies)

    def _optimizer(self, n_rows: int, *, stops: bool) -> Optimizer:
        return Optimizer(
            learning_rate=self._learning_rate(stops=stops),
            beta_1=self.beta_1,
            beta_2=self.beta_2,
            epsilon=self.epsilon,
            weight_decay=self._decay(stops=stops, n_columns=self.n_features_in_),
            decay_thresholds=self.decay_thresholds,
            batch_size=self._batch_rows(n_rows),
            shuffle=self.shuffle,
        )

    def _keep(self, training: Training, *, adds: bool = False) -> None:
        self.network_, self.optimizer_state_ = training.network, training.optimizer_state
        self._keep_curves(training, adds=adds)

    def _add_to_onnx(self, graph: Any) -> str:
        from ordinoise.export import network_probabilities

        return network_probabilities(graph, self.network_)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        network, optimizer = self.network_, self.optimizer_state_
        sizes = list(network.architecture.hidden_layer_sizes)
        settings = {
            "architecture": {**asdict(network.architecture), "hidden_layer_sizes": sizes},
            "n_optimizer_updates": optimizer.n_updates,
            **{name: getattr(self, f"{name}_") for name in CURVES},
        }
        arrays: Arrays = {"parameters": network.parameters, "center": network.center, "scale": network.scale}
        return settings, arrays | {"first_moment": optimizer.first_moment, "second_moment": optimizer.second_moment}

    def _restore(self, settings: dict[str, Any], arrays: Arrays) -> None:
        check_arrays(arrays, ARRAYS)
        described = settings["architecture"]
        architecture = Architecture(**{**described, "hidden_layer_sizes": tuple(described["hidden_layer_sizes"])})
        if len(self.classes_) != architecture.n_classes:
            raise complain("classes", f"name {architecture.n_classes} classes", len(self.classes_))
        n_features = getattr(self, "n_features_in_", None)
        if n_features != architecture.n_features:
            raise complain("n_features", f"be {architecture.n_features}, as the network has", n_features)
        self.network_ = Network(architecture, arrays["parameters"], arrays["center"], arrays["scale"])
        moments = arrays["first_moment"], arrays["second_moment"]
        self.optimizer_state_ = OptimizerState(*moments, settings["n_optimizer_updates"])
        for name in CURVES:
            setattr(self, f"{name}_", settings[name])
