"""Gradient boosting as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ordinoise._frames import as_native
from ordinoise._validation import Floats, Ints, as_choice, as_count, as_generator, as_number, complain
from ordinoise.classifiers._lightgbm import trained_by_lightgbm
from ordinoise.classifiers._table_base import TableClassifierBase
from ordinoise.classifiers._trees import ensemble_from, ensemble_state
from ordinoise.classifiers.saving import Arrays, columns_from, columns_state
from ordinoise.columns.coding import Columns, is_frame
from ordinoise.crossfit import rows_of, split_rows
from ordinoise.decisions import as_decision
from ordinoise.estimation.resolution import needs_data, resolve_noise
from ordinoise.labels import as_column, as_groups
from ordinoise.learners.boosting import OBJECTIVES, BoosterSettings, Ensemble, ForwardObjective, Sample, Training, train
from ordinoise.noise import Noise
from ordinoise.noise.record import implied_shares

TREES = "trees."  # prefix of the saved arrays


@dataclass(eq=False, repr=False)
class OrdinalBoostingClassifier(TableClassifierBase):
    """Gradient-boosted trees that correct for wrong labels, under a noise matrix that is given or estimated.

    LightGBM grows the trees on the likelihood of the recorded labels. With ``noise=None`` that trusts the labels; with
    a noise matrix it learns what clean labels would have taught. Features may be missing, and may be categories.

    Parameters
    ----------
    noise : None, array, mapping, "estimate" or estimator, default=None
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        from the data, by boosters that did not see a sample; so does an estimator with ``fit(X, y)`` and
        ``noise_matrix_``. One matrix per rater, as a mapping or a stack, needs ``fit(..., raters=)``.
    head : {"ordered", "softmax"}, default="ordered"
        One score cut by thresholds, with one tree per round; or one score and one tree per class.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error, 0-1 error, squared error, or
        ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes, also under a correction: with wrong labels a weighted grade is then predicted
        too often. To weigh true grades, give `decision` a matrix of costs.
    n_estimators : int, default=3000
        Number of rounds; with early stopping, at most.
    learning_rate, num_leaves, min_child_samples, reg_lambda : default=0.1, 7, 40, 10.0
        LightGBM's own. Smaller trees than LightGBM's and more of them suit one score; more leaves suit more rows.
    subsample : float, default=0.6
        Share of the rows, drawn anew for every round.
    max_depth, min_child_weight, colsample_bytree, reg_alpha, max_bin
        LightGBM's own, with its defaults.
    monotone_constraints : sequence of int or mapping of name to int, optional
        1 for a feature that may only raise the class, -1 for one that may only lower it, 0 for the others. With the
        ordered head ``P(y > k)`` never decreases as a feature with a 1 increases, all others fixed. Separate scores
        per class cannot guarantee that, so the softmax head takes none.
    categorical_features : "auto", list of columns or None, default="auto"
        Columns of categories without an order, by name or number. ``"auto"`` takes the categorical and text columns of
        a frame. A category that `fit` did not see counts as a missing value.
    params : mapping, optional
        Other parameters of LightGBM, by its names.
    early_stopping : bool, default=True
        Choose the number of rounds by the likelihood of a validation part of the (noisy) training data.
    validation_fraction : float, default=0.125
        Share of the validation part.
    n_iter_no_change : int, default=50
        Rounds without a better likelihood after which training stops.
    refit : bool, default=True
        Whether to train the chosen number of rounds again on all rows.
    n_jobs : int, optional
        Number of threads; by default OpenMP's. A forked process trains with one. The model does not depend on it.
    random_state : int, Generator, RandomState or None
        Validation part, samples of rows and columns.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in order.
    noise_ : Noise
        The noise corrected for: matrices, how sure they are, where they come from, doubts. `noise_matrix_` is its
        matrix.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the total gain of the splits.
    n_iter_ : int
        Number of rounds.
    validation_curve_ : list of float
        Validation loss after each round, of the model that chose the number of rounds.
    thresholds_, cutpoints_ : arrays of shape (n_classes - 1,)
        Ordered head only: what is added to the score, descending; the same cuts on the score axis, ascending.
    ensemble_ : Ensemble
        The trees as arrays.

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

    ensemble_: Ensemble = field(init=False)
    columns_: Columns = field(init=False)
    validation_curve_: list[float] = field(init=False)
    n_iter_: int = field(init=False)

    _: KW_ONLY
    noise: Any = None
    head: Literal["ordered", "softmax"] = "ordered"
    decision: Any = "median"
    classes: Any = None
    class_weight: Any = None
    # Leaves, row sampling and ridge were chosen on some of the splits of docs/learners.md; the rest by no run.
    n_estimators: int = 3000
    learning_rate: float = 0.1
    num_leaves: int = 7
    max_depth: int = -1
    min_child_samples: int = 40
    min_child_weight: float = 1e-3
    subsample: float = 0.6
    colsample_bytree: float = 1.0
    reg_alpha: float = 0.0
    reg_lambda: float = 10.0
    max_bin: int = 255
    monotone_constraints: Any = None
    categorical_features: Any = "auto"
    params: Mapping[str, Any] | None = None
    early_stopping: bool = True
    validation_fraction: float = 0.125
    n_iter_no_change: int = 50
    refit: bool = True
    n_jobs: int | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None, groups: Any = None) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Numbers and, in a frame, categories; NaN where missing.
        y : column of shape (n_samples,)
            Labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples; rows with zero weight are ignored.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds one matrix per rater.
        groups : column of shape (n_samples,), optional
            Rows of one group (a patient, a query, an item with several labels) are held out together, wherever rows
            are held out.
        """
        X = as_native(X)
        features = self._checked_features(X, reset=True)
        classes, ranks = self._checked_labels(y, features.shape[0], self.classes)
        as_decision(self.decision, len(classes))
        settings = self._settings(features.shape[1])
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        weighted = np.flatnonzero(weights)
        together = as_groups(groups, features.shape[0])
        together = None if together is None else together[weighted]
        features, ranks, weights = features[weighted], ranks[weighted], weights[weighted]
        raters = None if raters is None else as_column("raters", raters)[weighted]
        rng = as_generator(self.random_state)
        self.classes_ = classes
        seed = int(rng.integers(2**31))
        self.noise_, index = self._resolved_noise(X, weighted, features, ranks, raters, together, seed)
        objective = OBJECTIVES[self.head](self.noise_.matrices)
        sample = Sample(features, objective.cells(ranks, index), weights)
        with trained_by_lightgbm(features):
            self._keep(self._train(sample, ranks, together, objective, settings, rng))
        self._keep_facts(np.bincount(ranks, minlength=len(classes)))
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each clean class, shape (n_samples, n_classes)."""
        probabilities = np.exp(self._log_probabilities(X))
        return probabilities / probabilities.sum(axis=1, keepdims=True)

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
        """Share of each feature in the total gain of the splits."""
        if not hasattr(self, "ensemble_"):
            raise AttributeError(f"{type(self).__name__} has no importances before it is fitted")
        found, kept = self.ensemble_.importances(), self.columns_.kept
        if kept is None:
            return found
        shares = np.zeros(self.n_features_in_)
        shares[list(kept)] = found
        return shares

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
        """-1, 0 or 1 for every column; empty without constraints."""
        given = self.monotone_constraints
        if given is None:
            return ()
        if self.head != "ordered":
            raise complain("monotone_constraints", "be None unless head='ordered'", f"head={self.head!r}")
        if isinstance(given, Mapping):
            names = self._feature_names or []
            unknown = next((name for name in given if name not in names), None)
            if unknown is not None:
                raise complain("monotone_constraints", "name columns of X", repr(unknown))
            given = [given.get(name, 0) for name in names]
        signs = np.asarray(given)
        if signs.shape == (self.n_features_in_,) and self.columns_.kept is not None:
            signs = signs[list(self.columns_.kept)]
        if signs.shape != (n_features,) or not np.isin(signs, (-1, 0, 1)).all():
            raise complain("monotone_constraints", f"hold one of -1, 0, 1 for each of {n_features} columns", given)
        wrong = next((column for column in self.columns_.categories if signs[column]), None)
        if wrong is not None:
            got = f"{signs[wrong]} for column {wrong}"
            raise complain("monotone_constraints", "be 0 for categorical columns", got)
        return tuple(signs.astype(int).tolist())

    def _resolved_noise(
        self,
        X: Any,
        rows: Ints,
        features: NDArray[np.floating],
        ranks: Ints,
        raters: Any,
        groups: Ints | None,
        seed: int,
    ) -> tuple[Noise, Ints | None]:
        """The noise to correct for; an estimator that was passed is fitted to the frame, ours to encoded features."""
        if needs_data(self.noise) and not isinstance(self.noise, str) and is_frame(X):
            features = rows_of(X, rows)
        base = {"base_estimator": self._base_estimator(), "n_folds": 5}
        n_classes = len(self.classes_)
        return resolve_noise(self.noise, features, ranks, n_classes, raters, seed, base=base, groups=groups)

    def _base_estimator(self) -> OrdinalBoostingClassifier:
        """The unfitted booster that predicts recorded labels for the noise estimate."""
        plain = clone(self).set_params(noise=None, head="ordered", classes=None, class_weight=None, decision="median")
        if isinstance(self.monotone_constraints, Mapping):
            plain.set_params(monotone_constraints=self._signs(self.n_features_in_))
        columns = list(self.columns_.categories) or None
        return plain.set_params(categorical_features=columns, refit=False, n_jobs=1, random_state=None)

    def _train(
        self,
        sample: Sample,
        ranks: Ints,
        groups: Ints | None,
        objective: ForwardObjective,
        settings: BoosterSettings,
        rng: np.random.Generator,
    ) -> Training:
        """Trees on all rows, their number chosen on a validation part."""
        fraction = as_number("validation_fraction", self.validation_fraction, 0.0, 0.9, open_low=True)
        rows, held_out = split_rows(ranks, sample.weights, fraction if self.early_stopping else 0.0, rng, groups)
        seed, recorded = int(rng.integers(2**31)), np.bincount(ranks, sample.weights, minlength=len(self.classes_))
        # A share of zero would leave its class without a gradient.
        frequencies = implied_shares(self.noise_.matrix, recorded, least=0.5 / len(ranks))
        part = sample if held_out is None else sample.rows(rows)
        training = train(
            part, objective, frequencies, settings, n_rounds=self.n_estimators, seed=seed,
            validation=None if held_out is None else sample.rows(held_out), patience=self.n_iter_no_change,
        )  # fmt: skip
        if held_out is None or not self.refit:
            return training
        again = train(sample, objective, frequencies, settings, n_rounds=training.n_rounds, seed=seed)
        return Training(again.ensemble, again.n_rounds, training.validation_curve)

    def _keep(self, training: Training) -> None:
        self.ensemble_ = training.ensemble
        self.n_iter_, self.validation_curve_ = training.n_rounds, training.validation_curve

    def _add_to_onnx(self, graph: Any) -> str:
        from ordinoise.export import tree_probabilities

        return tree_probabilities(graph, self.ensemble_, self.columns_.categories)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        described, arrays = ensemble_state(TREES, self.ensemble_)
        settings = {
            "columns": columns_state(self.columns_),
            "n_iter": self.n_iter_,
            "validation_curve": self.validation_curve_,
        }
        return settings | described, arrays

    def _restore(self, settings: dict[str, Any], arrays: Arrays) -> None:
        self.columns_ = columns_from(settings["columns"], self.n_features_in_)
        n_columns, n_classes = self.columns_.n_features(self.n_features_in_), len(self.classes_)
        self.ensemble_ = ensemble_from(TREES, settings, arrays, n_classes, n_columns, self.columns_.categories)
        if set(arrays) != set(ensemble_state(TREES, self.ensemble_)[1]):
            raise complain("arrays", "be those of the trees", sorted(arrays))
        self.n_iter_, self.validation_curve_ = settings["n_iter"], settings["validation_curve"]
