"""Noise matrices of several raters from repeated labels of the same items, without a clean label among them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ordinoise._validation import (
    Floats,
    Ints,
    as_count,
    as_floats,
    as_generator,
    as_number,
    as_same_length,
    complain,
)
from ordinoise.estimation.raters.features import default_classifier, prior_from_features
from ordinoise.estimation.raters.model import RaterFit, Ratings, Settings, Votes, likeliest_shrinkage, maximise
from ordinoise.estimation.raters.summary import (
    chance_log_likelihood,
    doubts,
    interval,
    noise_rate,
    pooled_share,
    resampled,
)
from ordinoise.labels import as_column, decide, ordered_classes, ranks_of

N_FOLDS = 5
FEATURE_ROUNDS = 5
"""Classifier and matrices in turn; on the LIDC nodules the fifth moves an entry by .005, a tenth of the first."""
UNTRIED_SHRINKAGE = 64.0
"""Where nothing can be hidden to choose it by."""

__all__ = ["RepeatedLabels", "from_wide"]


class RepeatedLabels(BaseEstimator):
    """Noise matrix of every rater, and the consensus grade of every item, from ratings alone.

    Expectation-maximisation over the unknown true labels, with one matrix a rater. A rater with few labels stays near
    the pooled matrix of all raters; one with more departs from it first by biases and sensitivities on the
    thresholds, then entry by entry. Ratings may be missing, and features of the items may help.

    Raters must be the same person (or program) throughout. Where a column is only "the first opinion", whoever gave it,
    set ``pooled=True``.

    Parameters
    ----------
    classes : sequence, optional
        The grades from lowest to highest, where the labels are text or lack some.
    shrinkage : "auto" or float, default="auto"
        How many labels, in each row of a rater's matrix, the rater's ordinal matrix is worth beside the rater's own
        counts. 0 trusts the counts alone (Dawid and Skene, 1979); infinity the ordinal matrix alone. "auto" takes the
        strength under which a fifth of the ratings, hidden from the fit, is most probable.
    pooled : bool, default=False
        One matrix for all raters; the ordinal matrix towards which it is shrunk has effects on the thresholds only.
    estimator : scikit-learn classifier, optional
        With `predict_proba`, and `sample_weight` in `fit`. Predicts the true class from features, out of fold.
        The default is logistic regression on standardised features.
    decision : {"median", "mode", "mean"} or cost matrix, default="median"
        How the posterior becomes a consensus.
    n_bootstrap : int, default=100
        Resamples of the items for the intervals; 0 for none. The predictions from features stay as they are in them.
    confidence : float, default=0.95
        Level of the intervals.
    max_iter : int, default=1000
        Most steps of expectation-maximisation.
    tol : float, default=1e-5
        Stop when posteriors move by less, on average over the items.
    random_state : int, Generator, RandomState or None
        Hidden ratings, folds and resamples.

    Attributes
    ----------
    noise_matrices_ : array of shape (n_raters, n_classes, n_classes)
        ``[true, recorded]`` of each of `raters_`.
    noise_matrix_ : array of shape (n_classes, n_classes)
        Of a label drawn from all labels: what to correct with when every rating is a training row.
    noise_matrix_interval_ : array of shape (2, n_classes, n_classes)
        Lower and upper end for every entry.
    noise_rate_ : float
        Share of labels that are wrong; `noise_rate_interval_` has its two ends.
    class_prior_ : array of shape (n_classes,)
        Frequency of the true classes.
    posterior_ : array of shape (n_items, n_classes)
        Probability of each true class of each of `items_`.
    consensus_ : array of shape (n_items,)
        One of `classes_` for each item, and in `confidence_` its probability.
    shrinkage_ : float
        The strength used.
    log_likelihood_ : float
        Of all ratings.
    likelihood_ratio_ : float
        Twice the gain in log-likelihood over chance agreement, where every rater draws labels from the rater's own
        frequencies whatever the item. (Against no noise it is infinite as soon as two raters differ.)
    identifiability_ : str
        What the ratings can and cannot tell.
    classes_, raters_, items_ : arrays
        Grades in order; raters and items, sorted.
    n_iter_ : int
        Steps that the last expectation-maximisation took.

    Examples
    --------
    >>> from ordinoise.noise import corrupt, inverse_decay
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(3, size=300)
    >>> ratings = np.column_stack([corrupt(truth, inverse_decay(3, 0.1), rng) for _ in range(5)])
    >>> model = RepeatedLabels(n_bootstrap=0, random_state=0).fit(*from_wide(ratings))
    >>> bool((model.consensus_ == truth).mean() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        classes: Any = None,
        shrinkage: str | float = "auto",
        pooled: bool = False,
        estimator: Any = None,
        decision: Any = "median",
        n_bootstrap: int = 100,
        confidence: float = 0.95,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.classes = classes
        self.shrinkage = shrinkage
        self.pooled = pooled
        self.estimator = estimator
        self.decision = decision
        self.n_bootstrap = n_bootstrap
        self.confidence = confidence
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, items: Any, raters: Any, labels: Any, X: ArrayLike | None = None) -> Self:
        """Estimate matrices and consensus from one entry a rating.

        Parameters
        ----------
        items, raters : columns of numbers or text
            Rating r says that ``raters[r]`` gave ``items[r]`` the grade ``labels[r]``. A rater who gave an item two
            grades counts as having seen it twice.
        labels : column of ordered grades
        X : array of shape (n_items, n_features), optional
            Features, one row for each distinct item in sorted order.
        """
        ratings = self._encoded(items, raters, labels)
        features = self._checked_features(X, ratings.shape[0])
        n_bootstrap = as_count("n_bootstrap", self.n_bootstrap, 0)
        confidence = as_number("confidence", self.confidence, 0.0, 1.0, open_low=True)
        rng = as_generator(self.random_state)
        votes, settings = Votes.of(ratings), self._settings(ratings, rng)
        fits = [maximise(votes, settings, start) for start in (votes.shares(), votes.medians())]
        best, item_prior = max(fits, key=lambda fit: fit.log_likelihood), None
        if features is not None:
            best, item_prior = self._with_features(votes, settings, best, features, rng)
        self._keep(best, settings, ratings)
        self._warn(best, ratings, float(np.abs(fits[0].average_matrix - fits[1].average_matrix).max()))
        resamples = resampled(votes, settings, best, item_prior, n_bootstrap, rng)
        self.noise_matrix_interval_ = interval(resamples[0], confidence)
        self.noise_rate_interval_ = interval(resamples[1], confidence)
        return self

    def rater_table(self) -> dict[str, NDArray[Any]]:
        """One entry a rater in every column, ready for a data frame.

        Returns
        -------
        columns : dict
            `rater`; `n_labels`; `noise_rate`, the share of wrong labels if all items were rated; `too_high` and
            `too_low`, its two parts; `bias`, the mean signed error in grades; `pooled_share`, from 0 (the matrix
            is the rater's own) to 1 (the pooled one).
        """
        check_is_fitted(self)
        distance = np.arange(len(self.classes_)) - np.arange(len(self.classes_))[:, None]
        joint = self.class_prior_[:, None] * self.noise_matrices_
        too_high, too_low = ((joint * sign).sum(axis=(1, 2)) for sign in (distance > 0, distance < 0))
        return {
            "rater": self.raters_,
            "n_labels": self._n_labels,
            "noise_rate": too_high + too_low,
            "too_high": too_high,
            "too_low": too_low,
            "bias": (joint * distance).sum(axis=(1, 2)),
            "pooled_share": self._pooled_share,
        }

    def _encoded(self, items: Any, raters: Any, labels: Any) -> Ratings:
        """Ratings by number, in an order that does not depend on how they came."""
        column = as_column("labels", labels)
        if len(column) == 0:
            raise complain("labels", "not be empty", "no rating")
        _check_present("labels", column)
        self.classes_ = ordered_classes(labels, self.classes)
        if len(self.classes_) < 2:
            raise complain("labels", "hold at least 2 classes", self.classes_.tolist())
        ranks = ranks_of("labels", labels, self.classes_)
        self.items_, item_numbers = _numbered("items", items, len(ranks))
        self.raters_, rater_numbers = _numbered("raters", raters, len(ranks))
        self._n_labels = np.bincount(rater_numbers)
        if self.pooled:
            rater_numbers = np.zeros_like(rater_numbers)
        order = np.lexsort((ranks, rater_numbers, item_numbers))
        shape = (len(self.items_), int(rater_numbers.max()) + 1, len(self.classes_))
        return Ratings(item_numbers[order], rater_numbers[order], ranks[order], shape)

    def _checked_features(self, X: ArrayLike | None, n_items: int) -> Floats | None:
        if X is None:
            if self.estimator is not None:
                raise complain("X", "be given where estimator is", "None")
            return None
        features = as_floats("X", X, 2)
        as_same_length("X", len(features), "the distinct items", n_items)
        if n_items < N_FOLDS:
            raise complain("X", f"have at least {N_FOLDS} rows, to predict out of fold", n_items)
        return features

    def _settings(self, ratings: Ratings, rng: np.random.Generator) -> Settings:
        """Checked settings; the shrinkage chosen where it is not given."""
        max_iter = as_count("max_iter", self.max_iter, 1)
        tol = as_number("tol", self.tol, 0.0, np.inf)
        if isinstance(self.shrinkage, str) and self.shrinkage != "auto":
            raise complain("shrinkage", "be 'auto' or a number of at least 0", repr(self.shrinkage))
        if not isinstance(self.shrinkage, str):
            return Settings(as_number("shrinkage", self.shrinkage, 0.0, np.inf), max_iter, tol)
        settings = Settings(UNTRIED_SHRINKAGE, max_iter, tol)
        return replace(settings, shrinkage=likeliest_shrinkage(ratings, settings, rng))

    def _with_features(
        self, votes: Votes, settings: Settings, fit: RaterFit, X: Floats, rng: np.random.Generator
    ) -> tuple[RaterFit, Floats]:
        """The fit whose prior of each item comes from its features, and that prior."""
        classifier = default_classifier() if self.estimator is None else self.estimator
        fold = rng.permutation(len(X)) % N_FOLDS
        for _ in range(FEATURE_ROUNDS):
            prior = prior_from_features(classifier, X, fit.posterior, fold)
            fit = maximise(votes, settings, fit.posterior, fit.raters, item_prior=prior)
        return fit, prior

    def _keep(self, fit: RaterFit, settings: Settings, ratings: Ratings) -> None:
        consensus = decide(fit.posterior, self.decision)
        n_raters = len(self.raters_)
        n_classes = len(self.classes_)
        self.noise_matrices_ = np.broadcast_to(fit.matrices, (n_raters, n_classes, n_classes)).copy()
        self.noise_matrix_ = fit.average_matrix
        self.class_prior_ = fit.class_prior
        self.noise_rate_ = noise_rate(fit)
        self.posterior_ = fit.posterior
        self.consensus_ = self.classes_[consensus]
        self.confidence_ = fit.posterior[np.arange(len(consensus)), consensus]
        self.shrinkage_ = settings.shrinkage
        self.log_likelihood_ = fit.log_likelihood
        self.likelihood_ratio_ = 2 * (fit.log_likelihood - chance_log_likelihood(ratings))
        self.n_iter_ = fit.n_iter
        self._pooled_share = pooled_share(self._n_labels, n_classes, fit, settings.shrinkage, self.pooled)

    def _warn(self, fit: RaterFit, ratings: Ratings, start_gap: float) -> None:
        found = doubts(fit, ratings, start_gap, self.classes_)
        three = (np.bincount(ratings.items) >= 3).mean()
        self.identifiability_ = "; ".join(found) or f"identified: {three:.0%} of the items have three ratings or more"
        if found:
            warnings.warn(f"the noise is weakly identified: {self.identifiability_}", UserWarning, stacklevel=3)
        if not fit.converged:
            warnings.warn(
                f"the posteriors still moved by more than tol={self.tol:g} after {fit.n_iter} steps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )


def from_wide(ratings: Any, missing: Any = -1) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Items, raters and labels, one entry a rating, of a table with a row for each item and a column for each rater.

    Parameters
    ----------
    ratings : array or frame of shape (n_items, n_raters)
        A blank (None or NaN) is no rating. The columns of a frame name the raters; items are numbered by row.
    missing : default=-1
        A value that also stands for no rating; None where there is no such value.
    """
    table = np.asarray(ratings)
    if table.ndim != 2:
        raise complain("ratings", "have one row an item and one column a rater", f"shape {table.shape}")
    absent = np.array([_is_blank(value) or value == missing for value in table.flat], dtype=bool)
    items, columns = np.nonzero(~absent.reshape(table.shape))
    names = np.asarray(getattr(ratings, "columns", np.arange(table.shape[1])))
    labels = table[items, columns]
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    return items, names[columns], np.array(labels.tolist()) if labels.dtype.kind == "O" else labels


def _numbered(argument: str, values: Any, n_ratings: int) -> tuple[NDArray[Any], Ints]:
    """The distinct values, sorted, and the number of each entry among them."""
    column = as_column(argument, values)
    as_same_length(argument, len(column), "labels", n_ratings)
    _check_present(argument, column)
    try:
        distinct, numbers = np.unique(column, return_inverse=True)
    except TypeError:
        raise complain(argument, "be all numbers or all text", "a mixture") from None
    return distinct, numbers.astype(np.int64)


def _check_present(argument: str, column: NDArray[Any]) -> None:
    for place, value in enumerate(column.tolist() if column.dtype.kind in "fO" else ()):
        if _is_blank(value):
            advice = "leave the rating out, or bring a table with blanks into this form by from_wide"
            raise complain(argument, "have no missing value", f"{value} at {place}", advice)


def _is_blank(value: Any) -> bool:
    """Whether a value is None, NaN or the NA of pandas, which answers no comparison."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
