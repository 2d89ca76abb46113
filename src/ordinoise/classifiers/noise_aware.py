"""Any classifier with a noise matrix: expectation-maximization around its `fit` and `predict_proba`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, _safe_indexing, get_tags, indexable
from sklearn.utils.validation import (
    _check_feature_names,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from ordinoise._frames import as_native
from ordinoise._validation import Floats, Ints, as_count, as_generator, as_number, complain
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.classifiers.saving import Arrays
from ordinoise.columns.refusals import FAILURES, is_sentence, one_sentence
from ordinoise.crossfit import out_of_fold, seeded_clone, with_every_class
from ordinoise.decisions import as_decision
from ordinoise.estimation.base import warn_of_doubts
from ordinoise.estimation.resolution import resolve_noise
from ordinoise.estimation.score.estimator import noise_from_probabilities
from ordinoise.labels import as_groups
from ordinoise.noise import Noise

SMALLEST_WEIGHT = 1e-3  # less probable labels get no row; a round number, chosen by no run
DECONVOLUTION_STEPS = 30  # as many as `audit.posterior.STEPS_ALONE`
FLOOR = 1e-9  # a class of predicted probability 0 may still be the true one


@dataclass(eq=False, repr=False)
class NoiseAwareClassifier(OrdinalClassifierBase):
    """Your classifier, trained on what the labels probably should have been.

    Two steps alternate: the probability of every true label given the features and the recorded label, by Bayes'
    rule; and a fit in which each row occurs once per possible label, weighted by that probability. The class
    probabilities of the first step come from models that did not see the row: a classifier that memorizes its rows
    would confirm every label. The iterations stop when the out-of-fold likelihood of the recorded labels no longer
    increases.

    Parameters
    ----------
    estimator : classifier with `predict_proba` and weights
        Any scikit-learn classifier whose `fit` takes `sample_weight`, or a pipeline that ends in one.
    noise : None, array, mapping, "estimate" or estimator, default="estimate"
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        with `estimator` as the base model; another noise estimator can be passed. One matrix per rater, as a
        mapping or a stack, needs ``fit(..., raters=)``.
    max_iter : int, default=10
        Most iterations.
    tol : float, default=1e-4
        Gain of the mean out-of-fold log-likelihood below which the iterations stop.
    n_folds : int, default=5
        Parts of the data, each predicted by a model fitted to the others.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error, 0-1 error, squared error, or
        ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes, also under a correction: with wrong labels a weighted grade is then predicted
        too often. To weigh true grades, give `decision` a matrix of costs.
    n_jobs : int, optional
        Number of folds at a time, in threads; one per processor by default. The result does not depend on it.
    random_state : int, Generator, RandomState or None
        Folds, and the estimator's own `random_state` where it is None.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows; its classes are ranks in `classes_`.
    classes_ : array of shape (n_classes,)
        Labels in order.
    noise_ : Noise
        The noise corrected for: matrices, how sure they are, where they come from, doubts. `noise_matrix_` is its
        matrix.
    label_probabilities_ : array of shape (n_samples, n_classes)
        Probability of each true label of the training rows, given features and record.
    likelihood_curve_ : list of float
        Mean out-of-fold log-likelihood of the recorded labels after each iteration.
    n_iter_ : int
        Number of iterations.

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

    estimator: Any
    _: KW_ONLY
    noise: Any = "estimate"
    max_iter: int = 10
    tol: float = 1e-4
    n_folds: int = 5
    decision: Any = "median"
    classes: Any = None
    class_weight: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None, groups: Any = None) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features in a form that the estimator takes.
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
        self._check_estimator()
        X = as_native(X)
        with one_sentence(X):
            validate_data(self, X, skip_check_array=True)
            (X,) = indexable(X)
            n_samples = _num_samples(X)
        self.classes_, ranks = self._checked_labels(y, n_samples, self.classes)
        as_decision(self.decision, len(self.classes_))
        weights = self._checked_weights(sample_weight, y, X, self.class_weight)
        rng = as_generator(self.random_state)
        fold_seed, noise_seed, seed = (int(number) for number in rng.integers(2**31, size=3))
        guess, together = np.eye(len(self.classes_))[ranks], as_groups(groups, n_samples)
        self.likelihood_curve_: list[float] = []
        trusting = None if self.noise is None else self._out_of_fold(X, ranks, guess, weights, fold_seed, together)
        self.noise_, index = self._resolved_noise(X, ranks, weights, raters, together, trusting, noise_seed)
        if trusting is not None:
            likelihood = self.noise_.matrices[0 if index is None else index, :, ranks]
            start = _deconvolved(trusting, self.noise_matrix_)
            guess = self._label_posterior(X, ranks, likelihood, weights, start, fold_seed, together)
        self.label_probabilities_, self.n_iter_ = guess, len(self.likelihood_curve_)
        self.estimator_ = self._fit_weighted(X, np.arange(len(ranks)), ranks, guess, weights, seed)
        self._keep_facts(np.bincount(ranks, minlength=len(self.classes_)))
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        X = as_native(X)
        _check_feature_names(self, X, reset=False)
        return with_every_class(self.estimator_.predict_proba(X), self.estimator_.classes_, len(self.classes_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit") and not isinstance(self.estimator, type):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _check_estimator(self) -> None:
        as_count("max_iter", self.max_iter, 1)
        as_number("tol", self.tol, 0.0, np.inf)
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise complain("estimator", "be a classifier", f"the class {name}", f"pass an instance, {name}()")
        name = type(self.estimator).__name__
        if not hasattr(self.estimator, "predict_proba"):
            raise complain("estimator", "have predict_proba", name)
        if not has_fit_parameter(self._last_step, "sample_weight"):
            raise complain("estimator", "take sample_weight in fit", type(self._last_step).__name__)

    @property
    def _last_step(self) -> Any:
        return self.estimator.steps[-1][1] if isinstance(self.estimator, Pipeline) else self.estimator

    def _resolved_noise(
        self,
        X: Any,
        ranks: Ints,
        weights: Floats,
        raters: Any,
        groups: Ints | None,
        trusting: Floats | None,
        seed: int,
    ) -> tuple[Noise, Ints | None]:
        if trusting is None or not isinstance(self.noise, str) or self.noise != "estimate":
            return resolve_noise(self.noise, X, ranks, len(self.classes_), raters, seed, groups=groups)
        Noise.of(None, len(self.classes_)).index_of(
            raters, len(ranks)
        )  # refuses raters: an estimate is one matrix for all
        found = noise_from_probabilities(trusting, ranks, weights, random_state=seed, groups=groups)
        warn_of_doubts(found)
        return found, None

    def _label_posterior(
        self,
        X: Any,
        ranks: Ints,
        likelihood: Floats,
        weights: Floats,
        features_say: Floats,
        seed: int,
        groups: Ints | None,
    ) -> Floats:
        """Probability of each row's true label, after as many iterations as raise the likelihood."""
        best, guess = -np.inf, features_say
        for iteration in range(self.max_iter):
            if iteration > 0:
                # The same folds and seeds in every iteration: likelihoods then differ by the label weights alone.
                features_say = self._out_of_fold(X, ranks, guess, weights, seed, groups)
            joint = (features_say + FLOOR) * likelihood
            evidence = joint.sum(axis=1, keepdims=True)
            self.likelihood_curve_.append(float(np.average(np.log(evidence[:, 0]), weights=weights)))
            if not self.likelihood_curve_[-1] > best + self.tol:
                break
            best, guess = self.likelihood_curve_[-1], joint / evidence
        return guess

    def _out_of_fold(
        self, X: Any, ranks: Ints, guess: Floats, weights: Floats, seed: int, groups: Ints | None
    ) -> Floats:
        def fit_predict(training: Ints, test: Ints, fold_seed: int) -> Floats:
            model = self._fit_weighted(X, training, ranks, guess, weights, fold_seed)
            with self._one_sentence():
                found = model.predict_proba(_safe_indexing(X, test))
            return with_every_class(found, model.classes_, len(self.classes_))

        n_folds = min(self.n_folds, len(ranks))
        rng = np.random.default_rng(seed)
        return out_of_fold(
            fit_predict, ranks, len(self.classes_), n_folds=n_folds, rng=rng, n_jobs=self.n_jobs, groups=groups
        )

    def _fit_weighted(self, X: Any, rows: Ints, ranks: Ints, guess: Floats, weights: Floats, seed: int) -> Any:
        """The estimator fitted to these rows, each once per possible label, weighted by its probability."""
        model = seeded_clone(self.estimator, seed)
        label_weights = guess[rows] * weights[rows][:, None]
        # The recorded label always gets a row, so that no class disappears between iterations.
        possible = (guess[rows] > SMALLEST_WEIGHT) | np.eye(guess.shape[1], dtype=bool)[ranks[rows]]
        row, label = np.nonzero(possible)
        with self._one_sentence():
            return model.fit(_safe_indexing(X, rows[row]), label, **{self._weight: label_weights[row, label]})

    @property
    def _weight(self) -> str:
        """What the estimator calls the weights: in a pipeline those of its last step."""
        is_pipeline = isinstance(self.estimator, Pipeline)
        return f"{self.estimator.steps[-1][0]}__sample_weight" if is_pipeline else "sample_weight"

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        """Turn an error of the estimator into one sentence; the error itself stays its cause."""
        try:
            yield
        except FAILURES as error:
            if is_sentence(error):
                raise
            name, got = type(self.estimator).__name__, f"{type(error).__name__}: {error}"
            sentence = complain("X", f"be features that {name} takes", got)
            raise (TypeError(str(sentence)) if isinstance(error, TypeError) else sentence) from error

    def _saved_parameters(self) -> dict[str, Any]:
        advice = "save estimator_ with its own library"
        raise complain("model", "be one of ordinoise's own learners to be saved", type(self.estimator).__name__, advice)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return {}, {}

    def _restore(self, settings: dict[str, Any], arrays: Arrays) -> None:  # noqa: ARG002
        raise complain("path", "hold a model of ordinoise's own learners", type(self).__name__)


def _deconvolved(recorded: Floats, noise_matrix: Floats) -> Floats:
    """Probabilities of the true label from those of the recorded one, as a start near where the iterations converge.

    Solves ``recorded = true @ N`` for each row by ``true_k <- true_k sum_r N[k, r] recorded_r / (true @ N)_r``.
    """
    true = recorded + FLOOR
    for _ in range(DECONVOLUTION_STEPS):
        true = true * ((recorded / (true @ noise_matrix + FLOOR)) @ noise_matrix.T)
    return np.asarray(true / true.sum(axis=1, keepdims=True))
