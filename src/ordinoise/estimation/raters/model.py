"""Several raters, no clean label: expectation-maximization over true labels and one noise matrix per rater.

With posterior ``q[i, c]`` of item i, prior ``p[c]``, rater r's matrix ``M[r, c, l]`` and labels l:

    counts[r, c, l] = sum over ratings (i, r, l) of q[i, c]                                   expected labels
    M[r, c, l]      = (counts[r, c, l] + shrinkage * center[r, c, l]) / (row sum + shrinkage)    M step
    q[i, c]         ~ p[c] * product over ratings (i, r, l) of M[r, c, l]                        E step

The centers are the raters' *ordinal* matrices (:mod:`ordinoise.estimation.raters.ordinal`), which are re-estimated in
every M step; the M step is the mean of a Dirichlet posterior with `shrinkage` pseudo-counts per row. A `shrinkage` of 0
is the method of Dawid and Skene (1979).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.raters.ordinal import OrdinalRaters, effect_basis

TINY = 1e-9
"""Least pseudo-count of a row, so that a row without labels is not 0 / 0."""
NEAR = 0.01
"""Mean change of the posteriors below which steps are extrapolated. A round number, chosen by no run."""
LONGEST_EXTRAPOLATION = 16.0
"""Most plain steps that one extrapolation replaces. A round number, chosen by no run."""
HIDDEN_SHARE = 0.2
"""Share of the ratings to choose the shrinkage by: one in five, as in five folds. A convention."""
STRENGTHS = (np.inf, 1024.0, 256.0, 64.0, 16.0, 4.0, 1.0)
"""Strengths that are tried, from strong to weak: each fit starts from the result of the one before it."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """One entry per rating: item, rater and label as numbers from 0; `shape` is how many there are of each."""

    items: Ints
    raters: Ints
    labels: Ints
    shape: tuple[int, int, int]

    def where(self, chosen: NDArray[np.bool_]) -> Ratings:
        """Some of the ratings, of the same items and raters."""
        return Ratings(self.items[chosen], self.raters[chosen], self.labels[chosen], self.shape)


@dataclass(frozen=True, eq=False)
class Votes:
    """Ratings as sparse counts, (n_items, n_raters * n_classes), so that both EM steps are matrix products."""

    table: csr_array
    transposed: csr_array
    n_raters: int
    n_classes: int

    @classmethod
    def of(cls, ratings: Ratings) -> Self:
        """How often each rater gave each label to each item."""
        n_items, n_raters, n_classes = ratings.shape
        cells = (ratings.items, ratings.raters * n_classes + ratings.labels)
        table = csr_array((np.ones(len(ratings.items)), cells), shape=(n_items, n_raters * n_classes))
        return cls(table, csr_array(table.T), n_raters, n_classes)

    def expected_counts(self, posterior: Floats) -> Floats:
        """Expected number of labels per rater, true and recorded class, shape (n_raters, n_classes, n_classes)."""
        counts: Floats = self.transposed @ posterior
        return counts.reshape(self.n_raters, self.n_classes, self.n_classes).swapaxes(1, 2)

    def log_likelihood(self, matrices: Floats) -> Floats:
        """Log-probability of the labels of every item given each true class, shape (n_items, n_classes)."""
        logs = np.log(np.maximum(matrices, TINY**2)).swapaxes(1, 2).reshape(-1, self.n_classes)
        return self.table @ logs

    def shares(self) -> Floats:
        """Share of each label among those of an item, shape (n_items, n_classes)."""
        counts: Floats = self.table @ np.tile(np.eye(self.n_classes), (self.n_raters, 1))
        return counts / counts.sum(axis=1, keepdims=True)

    def medians(self) -> Floats:
        """One-hot median label of every item, or one half on each of two medians, shape (n_items, n_classes)."""
        below = self.shares().cumsum(axis=1)
        one_hot = np.eye(self.n_classes)
        lower, upper = (below < 0.5 - TINY).sum(axis=1), (below < 0.5 + TINY).sum(axis=1)
        return (one_hot[lower] + one_hot[upper]) / 2


def shrunk_matrices(counts: Floats, centers: Floats, shrinkage: float) -> Floats:
    """Matrix of each rater: normalized counts plus `shrinkage` pseudo-counts per row, spread like the center."""
    if np.isinf(shrinkage):
        return centers
    pull = max(shrinkage, TINY)
    return (counts + pull * centers) / (counts.sum(axis=2, keepdims=True) + pull)


@dataclass(frozen=True, eq=False)
class RaterFit:
    """Result of expectation-maximization; `counts` are the expected labels per rater, true and recorded class."""

    posterior: Floats
    counts: Floats
    matrices: Floats
    class_shares: Floats
    raters: OrdinalRaters
    log_likelihood: float
    n_iter: int = 1
    converged: bool = False

    @property
    def average_matrix(self) -> Floats:
        """Matrix of a label drawn from all labels: in each row raters are weighted by their expected labels there."""
        labels = self.counts.sum(axis=2)[:, :, None]
        pooled = np.exp(self.raters.log_pooled)
        return ((labels * self.matrices).sum(axis=0) + TINY * pooled) / (labels.sum(axis=0) + TINY)


@dataclass(frozen=True)
class Settings:
    """Shrinkage of the raters' matrices, and when to stop."""

    shrinkage: float
    max_iter: int
    tol: float


def maximize(
    votes: Votes,
    settings: Settings,
    start: Floats,
    raters: OrdinalRaters | None = None,
    item_prior: Floats | None = None,
    item_weight: Floats | None = None,
) -> RaterFit:
    """Alternate between matrices and posteriors until the posteriors change by less than `tol` on average.

    Parameters
    ----------
    votes : Votes
    settings : Settings
    start : array of shape (n_items, n_classes)
        First posterior of the true labels.
    raters : OrdinalRaters, optional
        Start of the ordinal matrices; by default all raters are equal.
    item_prior : array of shape (n_items, n_classes), optional
        Prior of each item's true class, from features; by default one prior for all items is estimated.
    item_weight : array of shape (n_items,), optional
        Weight of each item; 1 by default.
    """
    weight = np.ones(len(start)) if item_weight is None else item_weight
    state = OrdinalRaters.equal(votes.expected_counts(weight[:, None] * start)) if raters is None else raters
    # `trail` holds the posteriors since the last extrapolation. Three in a row give the next one, but only near the
    # end: from afar it could jump to another solution. Convergence is judged, and the result taken, after a plain step.
    trail, n_iter, change = [start], 0, np.inf
    while n_iter < settings.max_iter and not change < settings.tol:
        fit = _em_step(votes, settings.shrinkage, trail[-1], state, item_prior, weight)
        state, n_iter = fit.raters, n_iter + 1
        change = float(weight @ np.abs(fit.posterior - trail[-1]).sum(axis=1) / weight.sum())
        trail = [*trail, fit.posterior] if change < NEAR else [fit.posterior]
        trail = [_extrapolation(*trail)] if len(trail) == 3 else trail
    return replace(fit, n_iter=n_iter, converged=change < settings.tol)


def _em_step(
    votes: Votes, shrinkage: float, posterior: Floats, raters: OrdinalRaters, item_prior: Floats | None, weight: Floats
) -> RaterFit:
    """One plain step: M step from the posterior, then E step.

    The ordinal matrices make one Newton step per M step; iterating them to the end would not change the fixed points.
    """
    basis = effect_basis(votes.n_classes)
    counts = votes.expected_counts(weight[:, None] * posterior)
    raters = raters.step(counts, basis) if shrinkage > 0 else OrdinalRaters.equal(counts)
    matrices = shrunk_matrices(counts, raters.matrices(basis), shrinkage)
    class_shares = weight @ posterior / weight.sum()
    prior = class_shares if item_prior is None else item_prior
    evidence, posterior = _log_sums_and_shares(votes.log_likelihood(matrices) + np.log(np.maximum(prior, TINY)))
    return RaterFit(posterior, counts, matrices, class_shares, raters, float(weight @ evidence))


def _log_sums_and_shares(log_joint: Floats) -> tuple[Floats, Floats]:
    """Log of the sum of exponentials of each row, and the row as probabilities."""
    largest = log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint - largest)
    total = joint @ np.ones((joint.shape[1], 1))
    return (np.log(total) + largest)[:, 0], joint / total


def _extrapolation(first: Floats, second: Floats, third: Floats) -> Floats:
    """Extrapolation of three successive posteriors (SQUAREM, Varadhan and Roland, 2008), as plain steps end slowly.

    ``first + 2 a step + a^2 bend`` with ``a = |step| / |bend|``; a = 1 is `third`. Clipped at 0 and normalized.
    """
    step, bend = second - first, third - 2 * second + first
    length = np.clip(np.linalg.norm(step) / max(float(np.linalg.norm(bend)), TINY), 1.0, LONGEST_EXTRAPOLATION)
    moved = np.maximum(first + 2 * length * step + length**2 * bend, 0.0)
    return moved / moved.sum(axis=1, keepdims=True)


def likeliest_shrinkage(ratings: Ratings, settings: Settings, rng: np.random.Generator) -> float:
    """The strength under which a hidden share of the ratings is most probable given the others.

    If every item has one rating, none can be hidden, and the strength in `settings` is returned.
    """
    hidden = hidden_ratings(ratings.items, HIDDEN_SHARE, rng)
    if not hidden.any():
        return settings.shrinkage
    votes, unseen = Votes.of(ratings.where(~hidden)), ratings.where(hidden)
    posterior, raters, scores = votes.shares(), None, []
    for strength in STRENGTHS:
        fit = maximize(votes, replace(settings, shrinkage=strength, tol=100 * settings.tol), posterior, raters)
        posterior, raters = fit.posterior, fit.raters
        scores.append(mean_log_probability(fit, unseen))
    return STRENGTHS[int(np.argmax(scores))]


def hidden_ratings(items: Ints, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mask of a random `share` of the ratings to hide; every item keeps at least one."""
    draw = rng.random(len(items))
    largest = np.zeros(items.max() + 1)
    np.maximum.at(largest, items, draw)
    return (draw < share) & (draw < largest[items])


def mean_log_probability(fit: RaterFit, unseen: Ratings) -> float:
    """Mean log-probability of ratings that the fit has not seen, by raters and of items that it has seen."""
    probabilities = (fit.posterior[unseen.items] * fit.matrices[unseen.raters, :, unseen.labels]).sum(axis=1)
    return float(np.log(np.maximum(probabilities, TINY)).mean())
