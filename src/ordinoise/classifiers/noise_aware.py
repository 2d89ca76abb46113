"""Any classifier, told how wrong its labels are: expectation-maximisation around `fit` and `predict_proba`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Tags, _safe_indexing, get_tags, indexable
from sklearn.utils.validation import (
    _check_feature_names,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from ordinoise._validation import Floats, Ints, as_count, as_generator, as_number, complain
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.classifiers.blend.noise import noise_or_trust
from ordinoise.classifiers.saving import Arrays
from ordinoise.crossfit import out_of_fold
from ordinoise.estimation.resolution import ResolvedNoise, refuse_raters, resolve_noise
from ordinoise.labels import as_decision

SMALLEST_WEIGHT = 1e-3  # a guess less likely than this is not worth a row
UNMIXING_STEPS = 30
FLOOR = 1e-9  # a class that a classifier thought impossible may still be the true one


class NoiseAwareClassifier(OrdinalClassifierBase):
    """Your classifier, trained on what the labels probably should have been.

    Two steps take turns: the probability of every true label given the features and the recorded label, by Bayes'
    rule; and a fit in which each row stands once for every label that it may have, weighted by that probability. The
    features' part of the first step comes from models that did not see the row: a classifier that knows its rows by
    heart would confirm every label. The turns end when the likelihood of the recorded labels, out of fold, no longer
    grows.

    Parameters
    ----------
    estimator : classifier with `predict_proba` and weights
        Any scikit-learn classifier whose `fit` takes `sample_weight`. In a pipeline, wrap the last step.
    noise : None, array, mapping, "estimate" or estimator, default="estimate"
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        with `estimator` as the base model; another noise estimator can be passed. A matrix for each rater, as a
        mapping or a stack, goes with ``fit(..., raters=)``.
    max_iter : int, default=10
        Most turns.
    tol : float, default=1e-4
        Gain of the mean log-likelihood, out of fold, below which the turns end.
    n_folds : int, default=5
        Parts of the data, each judged by a model fitted to the others.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error, 0-1 error, squared error, or
        ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes.
    n_jobs : int, optional
        Folds at a time, in threads; all processors by default. The answer does not depend on it.
    random_state : int, Generator, RandomState or None
        Folds, and the estimator's own `random_state` where it is None.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows; its classes are ranks among `classes_`.
    classes_ : array of shape (n_classes,)
        Labels in order.
    noise_matrix_ : array of shape (n_classes, n_classes)
        The noise corrected for, ``[true, recorded]``; the identity for ``noise=None``, the average for raters.
    noise_matrices_ : array of shape (n_raters, n_classes, n_classes)
        One matrix a rater.
    noise_estimator_ : object or None
        The fitted estimator behind `noise_matrix_`.
    label_probabilities_ : array of shape (n_samples, n_classes)
        Probability of each true label of the training rows, given features and record.
    likelihood_curve_ : list of float
        Mean log-likelihood of the recorded labels after each turn, out of fold.
    n_iter_ : int
        Turns taken.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ordinoise import corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> from ordinoise.classifiers.noise_aware import NoiseAwareClassifier
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> model = NoiseAwareClassifier(DecisionTreeClassifier(min_samples_leaf=20), noise=noise, random_state=0)
    >>> model = model.fit(data.features, corrupt(data.labels, noise, random_state=0))
    >>> bool((model.predict(data.features) == data.labels).mean() > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        noise: Any = "estimate",
        max_iter: int = 10,
        tol: float = 1e-4,
        n_folds: int = 5,
        decision: Any = "median",
        classes: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.max_iter = max_iter
        self.tol = tol
        self.n_folds = n_folds
        self.decision = decision
        self.classes = classes
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            What the estimator can read.
        y : column of shape (n_samples,)
            Labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds a matrix for each rater.
        """
        self._check_estimator()
        validate_data(self, X, skip_check_array=True)
        (X,) = indexable(X)
        self.classes_, ranks = self._checked_labels(y, _num_samples(X), self.classes)
        as_decision(self.decision, len(self.classes_))
        weights = self._checked_weights(sample_weight, y, X, self.class_weight)
        rng = as_generator(self.random_state)
        fold_seed, noise_seed, seed = (int(number) for number in rng.integers(2**31, size=3))
        guess = np.eye(len(self.classes_))[ranks]
        self.likelihood_curve_: list[float] = []
        trusting = None if self.noise is None else self._out_of_fold(X, ranks, guess, weights, fold_seed)
        noise = self._resolved_noise(X, ranks, weights, raters, trusting, noise_seed)
        self.noise_matrix_, self.noise_matrices_, self.noise_estimator_ = noise.pooled, noise.matrices, noise.estimator
        if trusting is not None:
            likelihood = noise.matrices[0 if noise.raters is None else noise.raters, :, ranks]
            start = _without_noise(trusting, self.noise_matrix_)
            guess = self._expected(X, ranks, likelihood, weights, start, fold_seed)
        self.label_probabilities_, self.n_iter_ = guess, len(self.likelihood_curve_)
        self.estimator_ = self._fitted(X, np.arange(len(ranks)), ranks, guess, weights, seed)
        self._remember(np.bincount(ranks, minlength=len(self.classes_)))
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        _check_feature_names(self, X, reset=False)
        return _every_class(self.estimator_, X, len(self.classes_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _check_estimator(self) -> None:
        as_count("max_iter", self.max_iter, 1)
        as_number("tol", self.tol, 0.0, np.inf)
        name = type(self.estimator).__name__
        if not hasattr(self.estimator, "predict_proba"):
            raise complain("estimator", "have predict_proba", name)
        if not has_fit_parameter(self.estimator, "sample_weight"):
            advice = "in a pipeline, wrap the last step"
            raise complain("estimator", "take sample_weight in fit", name, advice)

    def _resolved_noise(
        self, X: Any, ranks: Ints, weights: Floats, raters: Any, trusting: Floats | None, seed: int
    ) -> ResolvedNoise:
        if trusting is None or not isinstance(self.noise, str) or self.noise != "estimate":
            return resolve_noise(self.noise, X, ranks, len(self.classes_), raters, seed)
        refuse_raters(raters)
        return noise_or_trust(trusting, ranks, weights, seed)

    def _expected(
        self, X: Any, ranks: Ints, likelihood: Floats, weights: Floats, features_say: Floats, seed: int
    ) -> Floats:
        """Probability of each row's true label, after turns as long as they help."""
        best, guess = -np.inf, features_say
        for turn in range(self.max_iter):
            if turn > 0:
                # The same folds and seeds in every turn: the likelihoods then differ by what the labels say alone.
                features_say = self._out_of_fold(X, ranks, guess, weights, seed)
            joint = (features_say + FLOOR) * likelihood
            evidence = joint.sum(axis=1, keepdims=True)
            self.likelihood_curve_.append(float(np.average(np.log(evidence[:, 0]), weights=weights)))
            if not self.likelihood_curve_[-1] > best + self.tol:
                break
            best, guess = self.likelihood_curve_[-1], joint / evidence
        return guess

    def _out_of_fold(self, X: Any, ranks: Ints, guess: Floats, weights: Floats, seed: int) -> Floats:
        def fit_predict(training: Ints, test: Ints, fold_seed: int) -> Floats:
            model = self._fitted(X, training, ranks, guess, weights, fold_seed)
            return _every_class(model, _safe_indexing(X, test), len(self.classes_))

        n_folds = min(self.n_folds, len(ranks))
        rng = np.random.default_rng(seed)
        return out_of_fold(fit_predict, ranks, len(self.classes_), n_folds=n_folds, rng=rng, n_jobs=self.n_jobs)

    def _fitted(self, X: Any, rows: Ints, ranks: Ints, guess: Floats, weights: Floats, seed: int) -> Any:
        """The estimator on these rows, each once for every label it may have."""
        model = clone(self.estimator)
        if model.get_params(deep=False).get("random_state", 0) is None:
            model.set_params(random_state=seed)
        chances = guess[rows] * weights[rows][:, None]
        # What was recorded stays among the guesses, so that no class is lost on the way.
        possible = (guess[rows] > SMALLEST_WEIGHT) | np.eye(guess.shape[1], dtype=bool)[ranks[rows]]
        row, label = np.nonzero(possible)
        return model.fit(_safe_indexing(X, rows[row]), label, sample_weight=chances[row, label])

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        advice = "save estimator_ by its own library's means"
        raise complain("model", "be one of ordinoise's own learners to be saved", type(self.estimator).__name__, advice)

    @classmethod
    def _from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:  # noqa: ARG003
        raise complain("path", "hold a model of ordinoise's own learners", cls.__name__)


def _without_noise(recorded: Floats, noise_matrix: Floats) -> Floats:
    """Probabilities of the true label from those of the recorded one: where the turns would slowly lead to."""
    true = recorded + FLOOR
    for _ in range(UNMIXING_STEPS):
        true = true * ((recorded / (true @ noise_matrix + FLOOR)) @ noise_matrix.T)
    return np.asarray(true / true.sum(axis=1, keepdims=True))


def _every_class(model: Any, X: Any, n_classes: int) -> Floats:
    """Class probabilities with a column for every class, also for those that the training rows lacked."""
    found: NDArray[np.floating] = model.predict_proba(X)
    probabilities = np.zeros((len(found), n_classes))
    probabilities[:, np.asarray(model.classes_, dtype=np.int64)] = found
    return probabilities
