"""Noise matrices of several raters, and the consensus of their grades, from repeated labels of the same items."""

from __future__ import annotations

from collections.abc import Callable
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
    as_choice,
    as_count,
    as_floats,
    as_generator,
    as_number,
    as_same_length,
    complain,
)
from ordinoise._warning import warn_caller
from ordinoise.crossfit import stratified_folds
from ordinoise.decisions import decide
from ordinoise.estimate import Estimate
from ordinoise.estimation.base import IdentifiabilityWarning
from ordinoise.estimation.raters.average import FAMILIES, Average, believed_prior, fit_average, refit
from ordinoise.estimation.raters.consensus import CONFIRMED, consensus_without_names, nearer_than_vote, within
from ordinoise.estimation.raters.correlations import grades_by_rater
from ordinoise.estimation.raters.dependence import dependence
from ordinoise.estimation.raters.difficulty import with_difficult_items
from ordinoise.estimation.raters.features import default_learners, prior_from_features
from ordinoise.estimation.raters.matrices import Stop
from ordinoise.estimation.raters.members import with_members
from ordinoise.estimation.raters.ratings import Known, Ratings, Votes, split_items
from ordinoise.estimation.raters.summary import (
    SHARED_BIAS,
    bootstrap,
    chance_log_likelihood,
    doubts,
    rater_summaries,
)
from ordinoise.estimation.raters.votes import verified_votes
from ordinoise.estimation.raters.wide import check_present, from_wide
from ordinoise.labels import as_column, as_groups, distinct, ordered_classes, ranks_of
from ordinoise.noise.record import Doubt, Noise, estimated_noise

N_FOLDS = 5  # a convention, chosen by no run
FEATURE_ROUNDS = 3
"""Alternations of classifier and raters. Chosen by no run."""

__all__ = ["RepeatedLabels", "from_wide"]


@dataclass(eq=False, repr=False)
class RepeatedLabels(BaseEstimator):
    """Consensus grade of every item, and the noise matrix of every rater, from ratings alone.

    Three families of raters are fitted by expectation-maximization and averaged by the likelihood of hidden ratings:
    one noise matrix per rater; raters who perceive a latent score of the item and cut it into grades, or guess; and
    raters each of whom is one of some types, for those with few grades. In the first two a rater of whom little is
    known counts as one who ignores the items. Ratings may be missing; features of the items and
    verified grades help.

    The scale is what the typical rater means by it, a convention that only verified grades can replace. So without
    them the consensus lies in the range of the grades given to an item.

    A rater must be the same person (or program) throughout. If names are unknown, or a column is only "the first
    opinion", from changing people, pass ``raters=None`` or set ``pooled=True``.

    Parameters
    ----------
    classes : sequence, optional
        The grades from lowest to highest, if the labels are text or lack some.
    family : {"auto", "matrices", "perception", "types"}, default="auto"
        "auto" averages all if raters have names. Without names it is perception: one matrix for all does not say what
        its classes mean.
    shrinkage : "auto" or float, default="auto"
        Pseudo-counts per row of a rater's matrix, spread like the rater's own use of the grades. "auto" takes the
        strength under which hidden ratings are most probable.
    pooled : bool, default=False
        Whether all ratings come from one exchangeable rater.
    estimator : scikit-learn classifier or regressor, optional
        Learns from features, out of fold: a classifier, with `predict_proba` and with `sample_weight` in `fit`, the
        true class; a regressor the latent score that raters perceive. By default logistic regression and ridge
        regression are tried, and hidden ratings choose.
    decision : {"median", "mode", "mean"} or cost matrix, default="median"
        How the consensus is chosen from the posterior.
    n_bootstrap : int, default=100
        Resamples of the items for the intervals of the average matrix; 0 for none.
    confidence : float, default=0.95
        Level of the intervals.
    max_iter : int, default=200
        Most steps of expectation-maximization.
    tol : float, default=1e-3
        Stop when the posterior of an item moves by less on average (sum over the grades).
    random_state : int, Generator, RandomState or None
        Randomness of hidden ratings, folds and resamples.
    callback : callable, optional
        Called without arguments after every step of the fits, for a display of progress.

    Attributes
    ----------
    consensus_ : array of shape (n_items,)
        One of `classes_` for each item, and in `confidence_` its probability.
    by_guessers_ : bool array of shape (n_items,)
        Items graded only by raters who demonstrably guess: other ratings predict their grades of other items no better
        than their own habits do. The consensus of such an item may lie outside the range of the grades given.
    posterior_ : array of shape (n_items, n_classes)
        Probability of each true class of each of `items_`.
    noise_ : Noise
        One matrix per rater, in the order of `raters_`; the average of all labels with its interval and replicates,
        the true-class shares, the noise rate, and doubts. `noise_matrix_` is the average: the matrix to use if every
        rating is a training row.
    rater_summaries_ : tuple of RaterSummary
        Severity, centrality, consistency and chance of guessing of each rater, with intervals and a sentence; a single
        one if the ratings are pooled.
    family_weights_ : dict
        Weight of each family in the average.
    shrinkage_ : float
        The shrinkage used.
    log_likelihood_ : float
        Log-likelihood of all ratings under the likelier family.
    split_ : bool array of shape (n_items,)
        Items on which the only two raters (or groups that count as one) differ. Nobody is there to say who is right, so
        the confidence of such an item rests on the model alone.
    rater_groups_ : tuple of arrays
        Names of the raters of each group that counts as one, because its raters copy or because groups of raters
        measure different things; empty if all count alone.
    effective_votes_ : Estimate
        So many independent raters all of them are worth. Without verified grades only the upper end is known, as what
        all get wrong is not seen.
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
    family: str = "auto"
    shrinkage: str | float = "auto"
    pooled: bool = False
    estimator: Any = None
    decision: Any = "median"
    n_bootstrap: int = 100
    confidence: float = 0.95
    max_iter: int = 200
    tol: float = 1e-3
    random_state: Any = None
    callback: Callable[[], None] | None = None

    def fit(
        self,
        items: Any,
        raters: Any = None,
        labels: Any = None,
        X: ArrayLike | None = None,
        trusted: Any = None,
        groups: Any = None,
    ) -> Self:
        """Estimate consensus and matrices from one entry per rating.

        Parameters
        ----------
        items, raters : columns of numbers or text
            In rating r, ``raters[r]`` gave ``items[r]`` the grade ``labels[r]``. Two grades of one rater for one item
            count as two ratings. ``raters=None`` if it is not known who gave them.
        labels : column of ordered grades
        X : array of shape (n_items, n_features), optional
            Features, one row per distinct item in sorted order.
        trusted : pair of columns, optional
            Items and their verified grades. They settle these items, and repair matrices, scale and confidence of the
            others.
        groups : column of shape (n_items,), optional
            One entry per distinct item in sorted order, like `X`: no item's grade is predicted from features by a
            classifier that saw another item of its group.
        """
        ratings = self._as_ratings(items, raters, labels)
        features = self._checked_features(X, ratings.shape[0])
        n_bootstrap = as_count("n_bootstrap", self.n_bootstrap, 0)
        confidence = as_number("confidence", self.confidence, 0.0, 1.0, open_low=True)
        stop = Stop(as_count("max_iter", self.max_iter, 1), as_number("tol", self.tol, 0.0, np.inf))
        shrinkage, families = self._checked_shrinkage(), self._checked_families(ratings.shape[1])
        known, rng = self._checked_trusted(trusted, ratings.shape[0]), as_generator(self.random_state)
        self._dependence = dependence(ratings)
        voices = self._dependence.collapsed(ratings)
        average = fit_average(voices, known, families, shrinkage, stop, rng, self.callback or (lambda: None))
        votes = Votes.of(voices)
        if features is not None:
            fold = stratified_folds(average.posterior.argmax(axis=1), N_FOLDS, rng, as_groups(groups, len(features)))
            average, known = self._with_features(average, votes, known, families, stop, features, fold)
        average = with_difficult_items(average, votes, known, families, stop)
        every = Votes.of(ratings)
        of_all = with_members(average, every, self._dependence.voice_of)
        self._keep(of_all, ratings, every, known, confidence)
        self.split_ = split_items(voices) & ~known.is_trusted
        replicates, rates = bootstrap(votes, known, average, n_bootstrap, rng, every)
        self.effective_votes_ = self._votes(ratings, known, confidence, rng)
        self.noise_ = self._noise_of(of_all, ratings, every, known, replicates, rates, confidence)
        self._warn(average)
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
            `too_low`, its two parts; `bias`, the mean signed error in grades; `is_careless`; `severity`, `centrality`,
            `consistency` and `guessing` as in `rater_summaries_`, each with its ends in `..._low` and `..._high`.
        """
        check_is_fitted(self)
        distance = np.arange(len(self.classes_)) - np.arange(len(self.classes_))[:, None]
        joint = np.asarray(self.noise_.class_shares)[:, None] * self.noise_.matrices
        too_high, too_low = ((joint * sign).sum(axis=(1, 2)) for sign in (distance > 0, distance < 0))
        summaries = self.rater_summaries_ * (len(joint) // len(self.rater_summaries_))
        habits = {
            name + end: np.array([getattr(getattr(each, name), part) for each in summaries])
            for name in ("severity", "centrality", "consistency", "guessing")
            for end, part in (("", "value"), ("_low", "low"), ("_high", "high"))
        }
        return {
            "rater": self.raters_,
            "n_labels": self._n_labels,
            "noise_rate": too_high + too_low,
            "too_high": too_high,
            "too_low": too_low,
            "bias": (joint * distance).sum(axis=(1, 2)),
            "is_careless": np.array([each.is_careless for each in summaries]),
            **habits,
        }

    def _as_ratings(self, items: Any, raters: Any, labels: Any) -> Ratings:
        """Ratings as numbers, sorted, so that the result does not depend on their order."""
        if labels is None:
            advice = "of a table with one column per rater: fit(*from_wide(table))"
            raise complain("labels", "have one entry per rating", "None", advice)
        column = as_column("labels", labels)
        if len(column) == 0:
            raise complain("labels", "not be empty", "no rating")
        check_present("labels", column)
        self.classes_ = ordered_classes(labels, self.classes)
        if len(self.classes_) < 2:
            raise complain("labels", "hold at least 2 classes", self.classes_.tolist())
        ranks = ranks_of("labels", labels, self.classes_)
        self.items_, item_numbers = distinct("items", items, len(ranks), "labels")
        named = np.zeros(len(ranks), dtype=np.int64) if raters is None else raters
        self.raters_, rater_numbers = distinct("raters", named, len(ranks), "labels")
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

    def _checked_shrinkage(self) -> float | None:
        """The strength, or None if it is to be chosen."""
        if isinstance(self.shrinkage, str):
            if self.shrinkage != "auto":
                raise complain("shrinkage", "be 'auto' or a number of at least 0", repr(self.shrinkage))
            return None
        return as_number("shrinkage", self.shrinkage, 0.0, 1e9)

    def _checked_families(self, n_raters: int) -> tuple[str, ...]:
        family = as_choice("family", self.family, ("auto", *FAMILIES))
        if family != "auto":
            return (family,)
        return FAMILIES if n_raters > 1 else ("perception",)

    def _checked_trusted(self, trusted: Any, n_items: int) -> Known:
        known = Known.nothing(n_items)
        if trusted is None:
            return known
        if not isinstance(trusted, (tuple, list)) or len(trusted) != 2:
            raise complain("trusted", "be a pair of items and verified grades", repr(trusted)[:60])
        names, grades = as_column("trusted items", trusted[0]), ranks_of("trusted grades", trusted[1], self.classes_)
        as_same_length("trusted grades", len(grades), "the trusted items", len(names))
        absent = ~np.isin(names, self.items_)
        if absent.any():
            raise complain("trusted items", "be among the items", names[absent][0])
        places = np.searchsorted(self.items_, names)
        if len(np.unique(places)) < len(places):
            raise complain("trusted items", "name every item once", "some twice")
        verified = known.trusted.copy()
        verified[places] = grades
        return replace(known, trusted=verified)

    def _with_features(
        self, average: Average, votes: Votes, known: Known, families: tuple[str, ...], stop: Stop, X: Floats,
        fold: Ints,
    ) -> tuple[Average, Known]:  # fmt: skip
        """The average whose item priors come from features, and what is known with those priors."""
        learners, before = default_learners() if self.estimator is None else (self.estimator,), (average, known)
        for _ in range(FEATURE_ROUNDS):
            priors = [prior_from_features(each, X, average.posterior, average.perception, fold) for each in learners]
            prior = believed_prior(average, priors)
            if prior is None:
                break
            known = replace(known, prior=prior)
            average = refit(average, votes, known, families, stop)
        if votes.shape[1] == 1 and nearer_than_vote(average.trials, known.prior) < CONFIRMED:
            return before
        return average, known

    def _keep(self, average: Average, ratings: Ratings, votes: Votes, known: Known, confidence: float) -> None:
        names = self.raters_ if ratings.shape[1] == len(self.raters_) > 1 else None
        self.rater_summaries_ = rater_summaries(average.perception, ratings, names, confidence, average.guessers)
        sound: Ints = np.bincount(ratings.items, ~average.guessers[ratings.raters], minlength=ratings.shape[0])
        self.by_guessers_ = (sound == 0) & ~known.is_trusted
        is_free = self.by_guessers_ | known.is_trusted.any()
        inside = within(average.posterior, votes.given, is_free)
        consensus = decide(inside, self.decision)
        if ratings.shape[1] == 1 and not is_free.any() and isinstance(self.decision, str) and self.decision == "median":
            consensus = consensus_without_names(inside, votes.given, average.trials, known.prior)
        self.posterior_ = average.posterior
        self.consensus_ = self.classes_[consensus]
        self.confidence_ = average.posterior[np.arange(len(consensus)), consensus]
        self.rater_groups_ = tuple(self.raters_[list(group)] for group in self._dependence.collapsed_groups)
        self.shrinkage_, self.family_weights_ = average.shrinkage, average.weights
        self.log_likelihood_, self.n_iter_ = average.lead.log_likelihood, average.lead.n_iter
        self.likelihood_ratio_ = 2 * (self.log_likelihood_ - chance_log_likelihood(ratings))

    def _votes(self, ratings: Ratings, known: Known, confidence: float, rng: np.random.Generator) -> Estimate:
        at_most = self._dependence.votes if self.rater_groups_ else float(ratings.shape[1])
        unknown, verified = Estimate(np.nan, 1.0, at_most, confidence), known.is_trusted[ratings.items]
        if not verified.any() or ratings.shape[1] == 1:
            return unknown
        rows, items = np.unique(ratings.items[verified], return_inverse=True)
        some = Ratings(items, ratings.raters[verified], ratings.grades[verified], (len(rows), *ratings.shape[1:]))
        return verified_votes(grades_by_rater(some), known.trusted[rows], confidence, rng) or unknown

    def _noise_of(
        self, average: Average, ratings: Ratings, votes: Votes, known: Known, replicates: Floats, rates: Floats,
        confidence: float,
    ) -> Noise:  # fmt: skip
        """The record, with one matrix per rater also if all share one."""
        n_raters, n_classes = len(self.raters_), len(self.classes_)
        counts = votes.counts(average.posterior).sum(axis=1)
        if ratings.shape[1] < n_raters:
            counts = np.outer(self._n_labels / self._n_labels.sum(), counts[0])
        reasons = doubts(
            average, self._dependence.collapsed(ratings), ratings, self.classes_, int(known.is_trusted.sum())
        )
        if self._dependence.collapsed_groups:
            found = self._dependence.sentence(self.raters_)
            if not self.effective_votes_.is_range:
                n_verified = int(known.is_trusted.sum())
                found += f"; against {n_verified} verified grades all are worth {self.effective_votes_:.1f} votes"
            reasons = [Doubt("dependent-raters", found), *reasons]
        return estimated_noise(
            np.broadcast_to(average.matrices, (n_raters, n_classes, n_classes)), average.posterior.mean(axis=0),
            replicates=replicates, rates=rates, confidence=confidence, method=type(self).__name__, per="rater",
            doubts=reasons,
            raters=tuple(self.raters_.tolist()), counts=counts,
        )  # fmt: skip

    def _warn(self, average: Average) -> None:
        serious = [doubt.sentence for doubt in self.noise_.doubts if doubt != SHARED_BIAS]
        if serious:
            warn_caller(f"the noise is weakly identified: {'; '.join(serious)}", IdentifiabilityWarning)
        if not average.lead.converged:
            warn_caller(
                f"the posteriors still moved by more than tol={self.tol:g} after {self.n_iter_} steps; raise max_iter",
                ConvergenceWarning,
            )
