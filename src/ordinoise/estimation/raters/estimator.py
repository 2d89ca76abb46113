"""Noise matrices of several raters from repeated labels of the same items, without a clean label among them."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
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
from ordinoise.estimation.base import IdentifiabilityWarning
from ordinoise.estimation.raters.features import default_classifier, prior_from_features
from ordinoise.estimation.raters.model import RaterFit, Ratings, Settings, Votes, likeliest_shrinkage, maximize
from ordinoise.estimation.raters.summary import bootstrap, chance_log_likelihood, doubts, pooled_share
from ordinoise.labels import as_column, decide, ordered_classes, ranks_of
from ordinoise.noise.record import estimated_noise

N_FOLDS = 5  # a convention, chosen by no run
FEATURE_ROUNDS = 5
"""Alternations of classifier and matrices; on the LIDC nodules the fifth moves an entry by .005, the first by .05."""
UNTRIED_SHRINKAGE = 64.0
"""Used if no rating can be hidden to choose it by; the middle of the strengths that are tried."""

__all__ = ["RepeatedLabels", "from_wide"]


@dataclass(eq=False, repr=False)
class RepeatedLabels(BaseEstimator):
    """Noise matrix of every rater, and the consensus grade of every item, from ratings alone.

    Expectation-maximization over the unknown true labels, with one matrix per rater. A rater with few labels stays near
    the pooled matrix of all raters; one with more departs from it first by biases and sensitivities on the
    thresholds, then entry by entry. Ratings may be missing, and features of the items may help.

    A rater must be the same person (or program) throughout. If a column is only "the first opinion", from changing
    people, set ``pooled=True``.

    Parameters
    ----------
    classes : sequence, optional
        The grades from lowest to highest, if the labels are text or lack some.
    shrinkage : "auto" or float, default="auto"
        Pseudo-counts per row of a rater's matrix that follow the rater's ordinal matrix, added to the rater's own
        counts. 0 uses the counts alone (Dawid and Skene, 1979), infinity the ordinal matrix alone. "auto" takes the
        strength under which a fifth of the ratings, hidden from the fit, is most probable.
    pooled : bool, default=False
        Whether all raters share one matrix; it is shrunk towards an ordinal matrix of threshold effects only.
    estimator : scikit-learn classifier, optional
        With `predict_proba`, and `sample_weight` in `fit`. Predicts the true class from features, out of fold.
        The default is logistic regression on standardized features.
    decision : {"median", "mode", "mean"} or cost matrix, default="median"
        How the consensus is chosen from the posterior.
    n_bootstrap : int, default=100
        Resamples of the items for the intervals; 0 for none. The predictions from features are not refitted.
    confidence : float, default=0.95
        Level of the intervals.
    max_iter : int, default=1000
        Most steps of expectation-maximization.
    tol : float, default=1e-5
        Stop when posteriors move by less, on average over the items.
    random_state : int, Generator, RandomState or None
        Randomness of hidden ratings, folds and resamples.

    Attributes
    ----------
    noise_ : Noise
        One matrix per rater, in the order of `raters_`; the average of all labels with its interval and replicates,
        the true-class shares, the noise rate, and doubts about whether the ratings suffice. `noise_matrix_` is the
        average: the matrix to use if every rating is a training row.
    posterior_ : array of shape (n_items, n_classes)
        Probability of each true class of each of `items_`.
    consensus_ : array of shape (n_items,)
        One of `classes_` for each item, and in `confidence_` its probability.
    shrinkage_ : float
        The shrinkage used.
    log_likelihood_ : float
        Log-likelihood of all ratings.
    likelihood_ratio_ : float
        Twice the gain in log-likelihood over chance agreement, where every rater draws labels from the rater's own
        frequencies for every item. (Against no noise it is infinite as soon as two raters differ.)
    classes_, raters_, items_ : arrays
        Grades in order; raters and items, sorted.
    n_iter_ : int
        Number of steps of the last expectation-maximization.

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

    _: KW_ONLY
    classes: Any = None
    shrinkage: str | float = "auto"
    pooled: bool = False
    estimator: Any = None
    decision: Any = "median"
    n_bootstrap: int = 100
    confidence: float = 0.95
    max_iter: int = 1000
    tol: float = 1e-5
    random_state: Any = None

    def fit(self, items: Any, raters: Any, labels: Any, X: ArrayLike | None = None) -> Self:
        """Estimate matrices and consensus from one entry per rating.

        Parameters
        ----------
        items, raters : columns of numbers or text
            In rating r, ``raters[r]`` gave ``items[r]`` the grade ``labels[r]``. Two grades of one rater for one item
            count as two ratings.
        labels : column of ordered grades
        X : array of shape (n_items, n_features), optional
            Features, one row per distinct item in sorted order.
        """
        ratings = self._as_ratings(items, raters, labels)
        features = self._checked_features(X, ratings.shape[0])
        n_bootstrap = as_count("n_bootstrap", self.n_bootstrap, 0)
        confidence = as_number("confidence", self.confidence, 0.0, 1.0, open_low=True)
        rng = as_generator(self.random_state)
        votes, settings = Votes.of(ratings), self._settings(ratings, rng)
        fits = [maximize(votes, settings, start) for start in (votes.shares(), votes.medians())]
        best, item_prior = max(fits, key=lambda fit: fit.log_likelihood), None
        if features is not None:
            best, item_prior = self._with_features(votes, settings, best, features, rng)
        self._keep(best, settings, ratings)
        gap = float(np.abs(fits[0].average_matrix - fits[1].average_matrix).max())
        replicates, rates = bootstrap(votes, settings, best, item_prior, n_bootstrap, rng)
        self.noise_ = estimated_noise(
            self._matrices_of(best), best.class_shares, replicates=replicates, rates=rates, confidence=confidence,
            method=type(self).__name__, doubts=doubts(best, ratings, gap, self.classes_), per="rater",
            raters=tuple(self.raters_.tolist()), counts=self._counts_of(best),
        )  # fmt: skip
        self._warn(best)
        return self

    @property
    def noise_matrix_(self) -> Floats:
        """``[true, recorded]`` of a label drawn from all labels: `noise_.matrix`."""
        return self.noise_.matrix

    def rater_table(self) -> dict[str, NDArray[Any]]:
        """One entry per rater in every column, ready for a data frame.

        Returns
        -------
        columns : dict
            `rater`; `n_labels`; `noise_rate`, the share of wrong labels if all items were rated; `too_high` and
            `too_low`, its two parts; `bias`, the mean signed error in grades; `pooled_share`, from 0 (the matrix
            is the rater's own) to 1 (the pooled one).
        """
        check_is_fitted(self)
        distance = np.arange(len(self.classes_)) - np.arange(len(self.classes_))[:, None]
        joint = np.asarray(self.noise_.class_shares)[:, None] * self.noise_.matrices
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

    def _as_ratings(self, items: Any, raters: Any, labels: Any) -> Ratings:
        """Ratings as numbers, sorted, so that the result does not depend on their order."""
        column = as_column("labels", labels)
        if len(column) == 0:
            raise complain("labels", "not be empty", "no rating")
        _check_present("labels", column)
        self.classes_ = ordered_classes(labels, self.classes)
        if len(self.classes_) < 2:
            raise complain("labels", "hold at least 2 classes", self.classes_.tolist())
        ranks = ranks_of("labels", labels, self.classes_)
        self.items_, item_numbers = _distinct("items", items, len(ranks))
        self.raters_, rater_numbers = _distinct("raters", raters, len(ranks))
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
        """Checked settings; chooses the shrinkage if it is "auto"."""
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
        """The fit whose item priors come from features, and those priors."""
        classifier = default_classifier() if self.estimator is None else self.estimator
        fold = rng.permutation(len(X)) % N_FOLDS
        for _ in range(FEATURE_ROUNDS):
            prior = prior_from_features(classifier, X, fit.posterior, fold)
            fit = maximize(votes, settings, fit.posterior, fit.raters, item_prior=prior)
        return fit, prior

    def _keep(self, fit: RaterFit, settings: Settings, ratings: Ratings) -> None:
        consensus = decide(fit.posterior, self.decision)
        self.posterior_ = fit.posterior
        self.consensus_ = self.classes_[consensus]
        self.confidence_ = fit.posterior[np.arange(len(consensus)), consensus]
        self.shrinkage_ = settings.shrinkage
        self.log_likelihood_ = fit.log_likelihood
        self.likelihood_ratio_ = 2 * (fit.log_likelihood - chance_log_likelihood(ratings))
        self.n_iter_ = fit.n_iter
        self._pooled_share = pooled_share(self._n_labels, len(self.classes_), fit, settings.shrinkage, self.pooled)

    def _matrices_of(self, fit: RaterFit) -> Floats:
        """One matrix per rater, also if all share one."""
        n_classes = len(self.classes_)
        return np.broadcast_to(fit.matrices, (len(self.raters_), n_classes, n_classes))

    def _counts_of(self, fit: RaterFit) -> Floats:
        """Expected number of labels per rater and true class."""
        if not self.pooled:
            return np.asarray(fit.counts.sum(axis=2))
        return np.outer(self._n_labels / self._n_labels.sum(), fit.counts[0].sum(axis=1))

    def _warn(self, fit: RaterFit) -> None:
        if self.noise_.is_in_doubt:
            warnings.warn(
                f"the noise is weakly identified: {self.noise_.doubt_text}", IdentifiabilityWarning, stacklevel=3
            )
        if not fit.converged:
            warnings.warn(
                f"the posteriors still moved by more than tol={self.tol:g} after {fit.n_iter} steps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )


def from_wide(ratings: Any, missing: Any = -1) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Items, raters and labels, one entry per rating, from a table with one row per item and one column per rater.

    Parameters
    ----------
    ratings : array or frame of shape (n_items, n_raters)
        None and NaN are missing ratings. The columns of a frame name the raters; items are numbered by row.
    missing : default=-1
        A value that also marks a missing rating; None if there is none.
    """
    table = np.asarray(ratings)
    if table.ndim != 2:
        raise complain("ratings", "have one row per item and one column per rater", f"shape {table.shape}")
    absent = np.array([_is_blank(value) or value == missing for value in table.flat], dtype=bool)
    items, columns = np.nonzero(~absent.reshape(table.shape))
    names = np.asarray(getattr(ratings, "columns", np.arange(table.shape[1])))
    labels = table[items, columns]
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    return items, names[columns], np.array(labels.tolist()) if labels.dtype.kind == "O" else labels


def _distinct(argument: str, values: Any, n_ratings: int) -> tuple[NDArray[Any], Ints]:
    """The distinct values, sorted, and the position of each entry among them."""
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
            advice = "drop the rating, or convert a table with blanks by from_wide"
            raise complain(argument, "have no missing value", f"{value} at {place}", advice)


def _is_blank(value: Any) -> bool:
    """Whether a value is None, NaN or the NA of pandas, whose comparisons have no truth value."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
