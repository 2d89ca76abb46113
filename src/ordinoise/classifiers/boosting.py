"""Gradient boosting as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ordinoise._validation import Floats, Ints, as_choice, as_count, as_generator, as_number, complain
from ordinoise.classifiers import _boosting_state
from ordinoise.classifiers._boosting_cluster import is_distributed, train_where_the_rows_are
from ordinoise.classifiers._columns import Columns, is_frame, rows_of
from ordinoise.classifiers._table_base import TableClassifierBase
from ordinoise.classifiers.saving import Arrays
from ordinoise.crossfit import split_rows
from ordinoise.estimation.base import implied_prior
from ordinoise.estimation.resolution import ResolvedNoise, resolve_noise
from ordinoise.labels import as_column, as_decision
from ordinoise.learners.boosting import OBJECTIVES, BoosterSettings, Ensemble, ForwardObjective, Sample, Training, train


class OrdinalBoostingClassifier(TableClassifierBase):
    """Gradient-boosted trees for ordered classes that can be told, or can find out, how wrong their labels are.

    LightGBM grows the trees on the likelihood of what was recorded. With ``noise=None`` that trusts the labels; with a
    noise matrix it learns what the clean labels would have taught. Features may be missing, and may be categories.

    Parameters
    ----------
    noise : None, array, mapping, "estimate" or estimator, default=None
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        from the data, by boosters that did not see a sample; so does an estimator with ``fit(X, y)`` and
        ``noise_matrix_``. A matrix for each rater, as a mapping or a stack, goes with ``fit(..., raters=)``.
    head : {"ordered", "softmax"}, default="ordered"
        One score for all classes, cut by thresholds, and one tree a round; or a score and a tree for every class.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error, 0-1 error, squared error, or
        ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes.
    n_estimators : int, default=3000
        Rounds; with early stopping, the most there may be.
    learning_rate, num_leaves, min_child_samples, reg_lambda : default=0.1, 7, 40, 10.0
        LightGBM's own. Smaller trees than LightGBM's and more of them suit one score; more leaves suit more rows.
    subsample : float, default=0.6
        Share of the rows drawn anew for every round.
    max_depth, min_child_weight, colsample_bytree, reg_alpha, max_bin
        LightGBM's own, with its defaults.
    monotone_constraints : sequence of int or mapping of name to int, optional
        1 for a feature that may only raise the class, -1 for one that may only lower it, 0 for the others. With the
        ordered head that is a promise about every probability: ``P(y > k)`` never falls as a feature of 1 grows, other
        things equal. Scores of separate classes cannot promise that, so the softmax head takes none.
    categorical_features : "auto", list of columns or None, default="auto"
        Columns of categories without an order, by name or number. ``"auto"`` takes the categorical and text columns of
        a frame. A category that `fit` did not see is a missing value.
    params : mapping, optional
        Anything else that LightGBM knows, under its name there.
    early_stopping : bool, default=True
        Choose the rounds on a part of the (noisy) training data by the likelihood of what was recorded.
    validation_fraction : float, default=0.125
        Its share.
    n_iter_no_change : int, default=50
        Rounds without a better likelihood after which growing stops.
    refit : bool, default=True
        Whether the chosen number of rounds is then grown on all rows.
    n_jobs : int, optional
        Threads; as many as OpenMP gives by default. The model does not depend on it.
    random_state : int, Generator, RandomState or None
        Validation part, draws of rows and columns.

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
    feature_importances_ : array of shape (n_features,)
        Share of each feature in what the splits gained.
    n_iter_ : int
        Rounds kept.
    validation_curve_ : list of float
        Validation loss after each round, of the model that chose them.
    thresholds_, cutpoints_ : arrays of shape (n_classes - 1,)
        Of the ordered head: what is added to the score, descending, and where that cuts the score, ascending.
    ensemble_ : Ensemble
        The trees; ``ensemble_.booster`` is LightGBM's own.

    Examples
    --------
    >>> from ordinoise import corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> from ordinoise.classifiers.boosting import OrdinalBoostingClassifier
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> model = OrdinalBoostingClassifier(noise=noise, n_jobs=1, random_state=0)
    >>> model = model.fit(data.features, corrupt(data.labels, noise, random_state=0))
    >>> bool((model.predict(data.features) == data.labels).mean() > 0.9)
    True
    """

    ensemble_: Ensemble
    columns_: Columns
    noise_matrix_: Floats
    noise_matrices_: Floats
    noise_estimator_: Any
    validation_curve_: list[float]
    n_iter_: int

    def __init__(
        self,
        *,
        noise: Any = None,
        head: str = "ordered",
        decision: Any = "median",
        classes: Any = None,
        class_weight: Any = None,
        n_estimators: int = 3000,
        learning_rate: float = 0.1,
        num_leaves: int = 7,
        max_depth: int = -1,
        min_child_samples: int = 40,
        min_child_weight: float = 1e-3,
        subsample: float = 0.6,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 10.0,
        max_bin: int = 255,
        monotone_constraints: Any = None,
        categorical_features: Any = "auto",
        params: Mapping[str, Any] | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.125,
        n_iter_no_change: int = 50,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.noise = noise
        self.head = head
        self.decision = decision
        self.classes = classes
        self.class_weight = class_weight
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.max_bin = max_bin
        self.monotone_constraints = monotone_constraints
        self.categorical_features = categorical_features
        self.params = params
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None) -> Self:
        """Learn from recorded labels.

        A Dask array or frame of numbers is learnt from where its rows are, by the workers of the active client. Then
        the noise must be None or known, all rounds are grown before the best are kept, and there is no refit.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Numbers and, in a frame, categories; NaN where missing.
        y : column of shape (n_samples,)
            Labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples; a sample of no weight is not there.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds a matrix for each rater.
        """
        if is_distributed(X):
            rng = as_generator(self.random_state)
            self._keep(*train_where_the_rows_are(self, X, y, sample_weight, raters, rng))
            self._remember(None)
            return self
        features = self._checked_features(X, reset=True)
        classes, ranks = self._checked_labels(y, len(features), self.classes)
        as_decision(self.decision, len(classes))
        settings = self._settings(features.shape[1])
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        there = np.flatnonzero(weights)
        features, ranks, weights = features[there], ranks[there], weights[there]
        raters = None if raters is None else as_column("raters", raters)[there]
        rng = as_generator(self.random_state)
        noise = self._resolved_noise(X, there, features, ranks, len(classes), raters, int(rng.integers(2**31)))
        objective = OBJECTIVES[self.head](noise.matrices)
        sample = Sample(features, objective.cells(ranks, noise.raters), weights)
        training = self._trained(sample, ranks, objective, noise, settings, rng)
        self._keep(classes, noise, training)
        self._remember(np.bincount(ranks, minlength=len(classes)))
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each clean class, shape (n_samples, n_classes)."""
        probabilities = np.exp(self._log_probabilities(X))
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def decision_function(self, X: Any) -> Floats:
        """Log-probability of each class, or for two classes the one logit, as scikit-learn's tools expect."""
        logarithms = self._log_probabilities(X)
        return logarithms[:, 1] - logarithms[:, 0] if len(self.classes_) == 2 else logarithms

    def predict_score(self, X: Any) -> Floats:
        """The ordered head's score, shape (n_samples,): higher means a higher class. `cutpoints_` cut it."""
        check_is_fitted(self, "ensemble_")
        self._fitted_thresholds()
        return self.ensemble_.scores(self._checked_features(X, reset=False))[:, 0]

    @property
    def thresholds_(self) -> Floats:
        """Added to the score, descending."""
        return self._fitted_thresholds()

    @property
    def cutpoints_(self) -> Floats:
        """Cuts of the score axis, ascending: minus the thresholds."""
        return -self._fitted_thresholds()

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in what the splits gained."""
        if not hasattr(self, "ensemble_"):
            raise AttributeError(f"{type(self).__name__} has no importances before it is fitted")
        return self.ensemble_.importances()

    def _fitted_thresholds(self) -> Floats:
        if not hasattr(self, "ensemble_") or self.ensemble_.head != "ordered":
            raise AttributeError(f"{type(self).__name__} has thresholds only when it is fitted with head='ordered'")
        return self.ensemble_.offsets

    def _log_probabilities(self, X: Any) -> Floats:
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.log_probabilities(self._checked_features(X, reset=False))

    def _settings(self, n_features: int) -> BoosterSettings:
        as_choice("head", self.head, OBJECTIVES)
        as_count("n_estimators", self.n_estimators, 1)
        as_count("n_iter_no_change", self.n_iter_no_change, 1)
        if self.params is not None and not isinstance(self.params, Mapping):
            raise complain("params", "be a mapping of LightGBM's names to values", type(self.params).__name__)
        return BoosterSettings(
            learning_rate=self.learning_rate,
            num_leaves=self.num_leaves,
            max_depth=self.max_depth,
            min_child_samples=self.min_child_samples,
            min_child_weight=self.min_child_weight,
            subsample=self.subsample,
            colsample_bytree=self.colsample_bytree,
            reg_alpha=self.reg_alpha,
            reg_lambda=self.reg_lambda,
            max_bin=self.max_bin,
            monotone_constraints=self._signs(n_features),
            categorical=tuple(self.columns_.categories),
            n_jobs=self.n_jobs,
            params=self.params or {},
        )

    def _signs(self, n_features: int) -> tuple[int, ...]:
        """-1, 0 or 1 for every column; nothing where nothing is constrained."""
        given = self.monotone_constraints
        if given is None:
            return ()
        if self.head != "ordered":
            raise complain("monotone_constraints", "be None unless head='ordered'", f"head={self.head!r}")
        if isinstance(given, Mapping):
            names = list(getattr(self, "feature_names_in_", []))
            unknown = next((name for name in given if name not in names), None)
            if unknown is not None:
                raise complain("monotone_constraints", "name columns of X", repr(unknown))
            given = [given.get(name, 0) for name in names]
        signs = np.asarray(given)
        if signs.shape != (n_features,) or not np.isin(signs, (-1, 0, 1)).all():
            raise complain("monotone_constraints", f"hold one of -1, 0, 1 for each of {n_features} columns", given)
        wrong = next((column for column in self.columns_.categories if signs[column]), None)
        if wrong is not None:
            got = f"{signs[wrong]} for column {wrong}"
            raise complain("monotone_constraints", "be 0 for categorical columns", got)
        return tuple(signs.astype(int).tolist())

    def _resolved_noise(
        self, X: Any, there: Ints, features: NDArray[np.floating], ranks: Ints, n_classes: int, raters: Any, seed: int
    ) -> ResolvedNoise:
        """What is corrected for; an estimator of the user's gets the frame, ours what the trees get."""
        if hasattr(self.noise, "fit") and is_frame(X):
            features = rows_of(X, there)
        base = {"base_estimator": self._out_of_fold(), "n_folds": 5}
        return resolve_noise(self.noise, features, ranks, n_classes, raters, seed, base=base)

    def _out_of_fold(self) -> OrdinalBoostingClassifier:
        """The booster that predicts recorded labels for the estimate of the noise."""
        plain = clone(self).set_params(noise=None, head="ordered", classes=None, class_weight=None, decision="median")
        if isinstance(self.monotone_constraints, Mapping):
            plain.set_params(monotone_constraints=self._signs(self.n_features_in_))
        columns = list(self.columns_.categories) or None
        return plain.set_params(categorical_features=columns, refit=False, n_jobs=1, random_state=None)

    def _trained(
        self,
        sample: Sample,
        ranks: Ints,
        objective: ForwardObjective,
        noise: ResolvedNoise,
        settings: BoosterSettings,
        rng: np.random.Generator,
    ) -> Training:
        """Trees on all rows, in as many rounds as a validation part called for."""
        fraction = as_number("validation_fraction", self.validation_fraction, 0.0, 0.9, open_low=True)
        rows, held_out = split_rows(ranks, sample.weights, fraction if self.early_stopping else 0.0, rng)
        seed, frequencies = int(rng.integers(2**31)), self._true_frequencies(ranks, sample.weights, noise.pooled)
        part = sample if held_out is None else sample.rows(rows)
        training = train(
            part, objective, frequencies, settings, n_rounds=self.n_estimators, seed=seed,
            validation=None if held_out is None else sample.rows(held_out), patience=self.n_iter_no_change,
        )  # fmt: skip
        if held_out is None or not self.refit:
            return training
        again = train(sample, objective, frequencies, settings, n_rounds=training.n_rounds, seed=seed)
        return Training(again.ensemble, again.n_rounds, training.validation_curve)

    @staticmethod
    def _true_frequencies(ranks: Ints, weights: Floats, noise_matrix: Floats) -> Floats:
        """Of the true classes behind those recorded; none is nothing, which would leave it without a slope."""
        recorded = np.bincount(ranks, weights=weights, minlength=len(noise_matrix)) / weights.sum()
        frequencies = np.maximum(implied_prior(noise_matrix, recorded), 0.5 / len(ranks))
        return frequencies / frequencies.sum()

    def _keep(self, classes: NDArray[Any], noise: ResolvedNoise, training: Training) -> None:
        self.classes_ = classes
        self.noise_matrix_, self.noise_matrices_ = noise.pooled, noise.matrices
        self.noise_estimator_ = noise.estimator
        self.ensemble_ = training.ensemble
        self.n_iter_, self.validation_curve_ = training.n_rounds, training.validation_curve

    def _add_to_onnx(self, graph: Any) -> str:
        from ordinoise.export import tree_probabilities

        trees = self.ensemble_
        dump = trees.booster.dump_model()
        return tree_probabilities(graph, dump, trees.head, trees.offsets, self.columns_.categories)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return _boosting_state.state_of(self)

    @classmethod
    def _from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        model = cls(**_boosting_state.parameters_from(settings))
        _boosting_state.restore(model, settings, arrays)
        return model
