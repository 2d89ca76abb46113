"""The paper's network as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ordinoise._validation import Floats, Ints, as_choice, as_count, as_generator, as_number, complain
from ordinoise.classifiers import _mlp_state
from ordinoise.classifiers._progress import epoch_progress
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.classifiers.saving import Arrays
from ordinoise.crossfit import center_and_scale, split_rows
from ordinoise.estimation.resolution import (
    ResolvedNoise,
    corrections_for,
    levels_for,
    plain_levels,
    resolve_noise,
    warn_of_hard_noise,
)
from ordinoise.labels import as_decision
from ordinoise.learners.mlp import (
    Architecture,
    Network,
    Objective,
    Optimiser,
    OptimiserState,
    Training,
    initial_network,
    train,
)
from ordinoise.levels import class_probabilities, labels_from_logits, log_class_probabilities

CORRECTIONS = ("forward", "unbiased")
LOSSES = ("cross_entropy", "hinge")
THRESHOLDS = ("ordered", "free")


class OrdinalMLPClassifier(OrdinalClassifierBase):
    """An ordinal neural network that can be told, or can find out, how wrong its labels are.

    One score of the features, cut by thresholds into ordered classes. With ``noise=None`` it trusts the labels; with
    a noise matrix it learns what the clean labels would have taught. Training is compiled and needs no GPU.

    Parameters
    ----------
    noise : None, array, mapping, "estimate" or estimator, default=None
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        from the data, as does an estimator with ``fit(X, y)`` and ``noise_matrix_``. A matrix for each rater, as a
        mapping or a stack, goes with ``fit(..., raters=)``.
    correction : {"forward", "unbiased"}, default="forward"
        Forward maximises the likelihood of what was recorded. Unbiased is the paper's: a loss whose average over the
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
        Weights of the recorded classes.
    hidden_layer_sizes : tuple of int, default=(10,)
        Units of each hidden layer; ``()`` is a linear score.
    activation : {"relu", "tanh", "identity"}, default="relu"
        Of the hidden units.
    learning_rate_init : float, default=0.001
        Step of AdamW.
    batch_size : int or "auto", default="auto"
        Samples an update; "auto" is 16, growing to 256 with one for every 1000 samples.
    max_iter : int, default=200
        Epochs.
    weight_decay : float, default=0.01
        AdamW's decoupled decay of the weights.
    decay_thresholds : bool, default=False
        Whether it pulls at the thresholds too, as in the paper.
    beta_1, beta_2, epsilon : float
        AdamW's moments.
    nonnegative_risk : bool, default=False
        For the unbiased correction: keep each class's share of the risk from turning negative, as overfitting makes it.
    early_stopping : bool, default=False
        Stop on a validation part of the (noisy) training data by the corrected criterion, and keep the best epoch.
    validation_fraction : float, default=0.1
        Its share.
    n_iter_no_change : int, default=10
        Epochs without improvement by `tol` after which training stops.
    tol : float, default=1e-4
        What counts as an improvement.
    shuffle : bool, default=True
        Whether to visit the samples in a new order each epoch.
    standardize : bool, default=True
        Whether to centre and scale the features inside.
    random_state : int, Generator, RandomState or None
        Start, order of samples, validation part.
    warm_start : bool, default=False
        Whether `fit` goes on from the fitted network.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in order.
    noise_matrix_ : array of shape (n_classes, n_classes)
        The noise corrected for, ``[true, recorded]``; the identity for ``noise=None``, the average for raters.
    noise_matrices_ : array of shape (n_raters, n_classes, n_classes)
        One matrix a rater.
    noise_estimator_ : object or None
        The fitted estimator behind `noise_matrix_`.
    thresholds_ : array of shape (n_classes - 1,)
        Added to the score, descending (the paper's b).
    cutpoints_ : array of shape (n_classes - 1,)
        The same cuts on the score axis, ascending: what cumulative-link libraries subtract.
    threshold_inversions_ : int
        Updates after which the thresholds were out of order.
    n_updates_ : int
        Updates made.
    loss_curve_, validation_curve_ : list of float
        Training and validation loss of each epoch.
    n_iter_ : int
        Epochs run.
    network_ : Network
        The weights.

    Examples
    --------
    >>> from ordinoise import OrdinalMLPClassifier, corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> model = OrdinalMLPClassifier(noise=noise, learning_rate_init=0.01, max_iter=50, random_state=0)
    >>> model = model.fit(data.features, corrupt(data.labels, noise, random_state=0))
    >>> bool((model.predict(data.features) == data.labels).mean() > 0.9)
    True
    """

    network_: Network
    optimiser_state_: OptimiserState
    loss_curve_: list[float]
    validation_curve_: list[float]
    n_iter_: int
    n_updates_: int
    threshold_inversions_: int

    def __init__(
        self,
        *,
        noise: Any = None,
        correction: str = "forward",
        loss: str = "cross_entropy",
        thresholds: str = "ordered",
        decision: Any = "median",
        classes: Any = None,
        class_weight: Any = None,
        hidden_layer_sizes: Any = (10,),
        activation: str = "relu",
        learning_rate_init: float = 0.001,
        batch_size: int | str = "auto",
        max_iter: int = 200,
        weight_decay: float = 0.01,
        decay_thresholds: bool = False,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        nonnegative_risk: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        shuffle: bool = True,
        standardize: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.noise = noise
        self.correction = correction
        self.loss = loss
        self.thresholds = thresholds
        self.decision = decision
        self.classes = classes
        self.class_weight = class_weight
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.weight_decay = weight_decay
        self.decay_thresholds = decay_thresholds
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.nonnegative_risk = nonnegative_risk
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.shuffle = shuffle
        self.standardize = standardize
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.
        y : column of shape (n_samples,)
            Labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds a matrix for each rater.
        """
        goes_on = self.warm_start and hasattr(self, "network_")
        features = self._checked_features(X, reset=not goes_on)
        classes, ranks = self._checked_labels(y, len(features), self.classes)
        if goes_on and not np.array_equal(classes, self.classes_):
            raise complain("y", f"hold the classes of the earlier fit, {self.classes_.tolist()}", classes.tolist())
        self._check_settings(len(classes))
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        rng = as_generator(self.random_state)
        noise = resolve_noise(self.noise, features, ranks, len(classes), raters, int(rng.integers(2**31)))
        self._keep_noise(classes, noise)
        fraction = as_number("validation_fraction", self.validation_fraction, 0.0, 0.9, open_low=True)
        rows, validation_rows = split_rows(ranks, weights, fraction if self.early_stopping else 0.0, rng)
        network = self.network_ if goes_on else self._start(features, ranks, rows, weights, rng)
        state = self.optimiser_state_ if goes_on else None
        with epoch_progress(self.verbose, self.max_iter) as on_epoch:
            training = train(
                network, features, ranks, self._objective(noise, len(rows)), self._optimiser(len(rows)),
                max_epochs=self.max_iter, rng=rng, sample_weight=weights, raters=noise.raters, rows=rows,
                validation_rows=validation_rows, patience=self.n_iter_no_change, tolerance=self.tol,
                optimiser_state=state, on_epoch=on_epoch,
            )  # fmt: skip
        self._keep_training(training)
        self._remember(np.bincount(ranks, minlength=len(classes)))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, raters: Any = None) -> Self:
        """Go on learning with one epoch over these samples.

        The first call fixes the classes (`classes`, or those of `y`), the scale of the features and the noise, which
        cannot be estimated here.

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
        ordered, ranks = self._checked_labels(y, len(features), stated)
        self._check_settings(len(ordered))
        if isinstance(self.noise, str) or hasattr(self.noise, "fit"):
            advice = "fit once, then pass its noise_matrix_"
            raise complain("noise", "be None or known matrices in partial_fit", repr(self.noise), advice)
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        if first:
            self._generator = as_generator(self.random_state)
        noise = resolve_noise(self.noise, features, ranks, len(ordered), raters, 0)
        self._keep_noise(ordered, noise)
        rows = np.flatnonzero(weights)
        rng = getattr(self, "_generator", None) or as_generator(self.random_state)
        network = self._start(features, ranks, rows, weights, rng) if first else self.network_
        training = train(
            network, features, ranks, self._objective(noise, len(rows)), self._optimiser(len(rows)),
            max_epochs=1, rng=rng, sample_weight=weights, raters=noise.raters, rows=rows,
            optimiser_state=None if first else self.optimiser_state_,
        )  # fmt: skip
        self._keep_training(training, earlier=not first)
        self._remember(np.bincount(ranks, minlength=len(ordered)), adds=not first)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes); valid also for unordered thresholds."""
        return class_probabilities(self._logits(X))

    def predict_score(self, X: Any) -> Floats:
        """The score, shape (n_samples,): higher means a higher class. `cutpoints_` cut it into classes."""
        check_is_fitted(self, "network_")
        return self.network_.score(self._checked_features(X, reset=False))

    def decision_function(self, X: Any) -> Floats:
        """Log-probability of each class, or for two classes the one logit: the form that scikit-learn's tools expect.

        The score itself is `predict_score`.
        """
        logits = self._logits(X)
        if len(self.classes_) == 2:
            return logits[:, 0]
        return log_class_probabilities(logits)

    def _decided(self, X: Any, decision: Any) -> Ints:
        if isinstance(decision, str) and decision == "median":
            return labels_from_logits(self._logits(X))
        return super()._decided(X, decision)

    def _logits(self, X: Any) -> Floats:
        check_is_fitted(self, "network_")
        return self.network_.logits(self._checked_features(X, reset=False))

    @property
    def thresholds_(self) -> Floats:
        """Added to the score, descending (the paper's b)."""
        return self._fitted_network().thresholds

    @property
    def cutpoints_(self) -> Floats:
        """Cuts of the score axis, ascending: minus the thresholds."""
        return -self._fitted_network().thresholds

    def _fitted_network(self) -> Network:
        if not hasattr(self, "network_"):
            raise AttributeError(f"{type(self).__name__} has no thresholds before it is fitted")
        return self.network_

    def _check_settings(self, n_classes: int) -> None:
        as_choice("correction", self.correction, CORRECTIONS)
        as_choice("loss", self.loss, LOSSES)
        as_choice("thresholds", self.thresholds, THRESHOLDS)
        as_decision(self.decision, n_classes)
        as_count("max_iter", self.max_iter, 1)
        as_number("tol", self.tol, 0.0, np.inf)
        if self.noise is not None and self.correction == "forward":
            if self.loss != "cross_entropy":
                advice = "correction='unbiased' takes any loss"
                raise complain("loss", "be 'cross_entropy' for the forward correction", repr(self.loss), advice)
            if self.nonnegative_risk:
                raise complain("nonnegative_risk", "be False for the forward correction", "True")

    def _start(
        self, features: NDArray[np.floating], ranks: Ints, rows: Ints, weights: Floats, rng: np.random.Generator
    ) -> Network:
        n_classes = len(self.classes_)
        sizes: Any = (self.hidden_layer_sizes,) if np.isscalar(self.hidden_layer_sizes) else self.hidden_layer_sizes
        architecture = Architecture(
            n_features=features.shape[1],
            n_classes=n_classes,
            hidden_layer_sizes=tuple(as_count("hidden_layer_sizes", size, 1) for size in sizes),
            activation=self.activation,
            head=self.thresholds,
        )
        center, scale = center_and_scale(features, rows, weights) if self.standardize else (None, None)
        frequencies = np.bincount(ranks[rows], weights=weights[rows], minlength=n_classes)
        return initial_network(architecture, rng, center=center, scale=scale, class_frequencies=frequencies)

    def _objective(self, noise: ResolvedNoise, n_rows: int) -> Objective:
        """The tables that the network is to read."""
        n_classes = len(self.classes_)
        if self.noise is None:
            return Objective(self.loss, plain_levels(n_classes))
        if self.correction == "forward":
            return Objective("forward", noise.matrices)
        warn_of_hard_noise(noise.matrices, n_rows)
        if self.nonnegative_risk:
            plain = np.repeat(plain_levels(n_classes), len(noise.matrices), axis=0)
            return Objective(self.loss, plain, corrections_for(noise.matrices))
        return Objective(self.loss, levels_for(noise.matrices))

    def _optimiser(self, n_rows: int) -> Optimiser:
        auto = isinstance(self.batch_size, str) and as_choice("batch_size", self.batch_size, ["auto"]) == "auto"
        return Optimiser(
            learning_rate=as_number("learning_rate_init", self.learning_rate_init, 0.0, np.inf, open_low=True),
            beta_1=self.beta_1,
            beta_2=self.beta_2,
            epsilon=self.epsilon,
            weight_decay=self.weight_decay,
            decay_thresholds=self.decay_thresholds,
            batch_size=min(256, max(16, n_rows // 1000)) if auto else min(int(self.batch_size), max(n_rows, 1)),
            shuffle=self.shuffle,
        )

    def _keep_noise(self, classes: NDArray[Any], noise: ResolvedNoise) -> None:
        self.classes_ = classes
        self.noise_matrix_ = noise.pooled
        self.noise_matrices_ = noise.matrices
        self.noise_estimator_ = noise.estimator

    def _keep_training(self, training: Training, *, earlier: bool = False) -> None:
        self.network_ = training.network
        self.optimiser_state_ = training.optimiser_state
        self.loss_curve_ = [*(self.loss_curve_ if earlier else []), *training.loss_curve]
        self.validation_curve_ = training.validation_curve
        self.n_iter_ = (self.n_iter_ if earlier else 0) + training.n_epochs
        self.n_updates_ = (self.n_updates_ if earlier else 0) + training.n_updates
        self.threshold_inversions_ = (self.threshold_inversions_ if earlier else 0) + training.threshold_inversions

    def _add_to_onnx(self, graph: Any) -> str:
        from ordinoise.export import network_probabilities

        return network_probabilities(graph, self.network_)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return _mlp_state.state_of(self)

    @classmethod
    def _from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        model = cls(**_mlp_state.parameters_from(settings))
        _mlp_state.restore(model, settings, arrays)
        return model
