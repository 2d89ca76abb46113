"""Several raters, no clean label: expectation-maximisation over true labels and one noise matrix a rater.

The matrix of a rater comes from the rater's own counts, beside which the rater's *ordinal* matrix
(:mod:`ordinoise.estimation.raters.ordinal`) weighs as much as `shrinkage` labels in each row. A `shrinkage` of 0 is the
method of Dawid and Skene (1979).
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
"""Labels' worth of the ordinal matrix in a row that has none: keeps 0/0 and log 0 away."""
NEAR = 0.01
"""Mean move of the posteriors below which the end is near enough to leap towards it."""
LONGEST_LEAP = 16.0
"""In plain steps."""
HIDDEN_SHARE = 0.2
"""Of the ratings, to choose the shrinkage by."""
STRENGTHS = (np.inf, 1024.0, 256.0, 64.0, 16.0, 4.0, 1.0)
"""From strong to weak: each fit starts where the one before it ended."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """One entry a rating: item, rater and label as numbers from 0, and how many there are of each."""

    items: Ints
    raters: Ints
    labels: Ints
    shape: tuple[int, int, int]

    def where(self, chosen: NDArray[np.bool_]) -> Ratings:
        """Some of the ratings, of the same items and raters."""
        return Ratings(self.items[chosen], self.raters[chosen], self.labels[chosen], self.shape)


@dataclass(frozen=True, eq=False)
class Votes:
    """Ratings as one sparse count of shape (n_items, n_raters * n_classes), so that sums are matrix products."""

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
        """Labels of each rater by true and recorded class, shape (n_raters, n_classes, n_classes)."""
        counts: Floats = self.transposed @ posterior
        return counts.reshape(self.n_raters, self.n_classes, self.n_classes).swapaxes(1, 2)

    def log_likelihood(self, matrices: Floats) -> Floats:
        """Log-probability of the labels of every item under each true class, shape (n_items, n_classes)."""
        logs = np.log(np.maximum(matrices, TINY**2)).swapaxes(1, 2).reshape(-1, self.n_classes)
        return self.table @ logs

    def shares(self) -> Floats:
        """Share of each label among those of an item, shape (n_items, n_classes)."""
        counts: Floats = self.table @ np.tile(np.eye(self.n_classes), (self.n_raters, 1))
        return counts / counts.sum(axis=1, keepdims=True)

    def medians(self) -> Floats:
        """All weight on the median label of an item, or half on each of two."""
        below = self.shares().cumsum(axis=1)
        one_hot = np.eye(self.n_classes)
        lower, upper = (below < 0.5 - TINY).sum(axis=1), (below < 0.5 + TINY).sum(axis=1)
        return (one_hot[lower] + one_hot[upper]) / 2


def shrunk_matrices(counts: Floats, centres: Floats, shrinkage: float) -> Floats:
    """Matrix of each rater from the counts and `shrinkage` labels in each row that follow the rater's centre."""
    if np.isinf(shrinkage):
        return centres
    pull = max(shrinkage, TINY)
    return (counts + pull * centres) / (counts.sum(axis=2, keepdims=True) + pull)


@dataclass(frozen=True, eq=False)
class RaterFit:
    """What expectation-maximisation arrived at; `counts` are the expected labels by rater, true and recorded class."""

    posterior: Floats
    counts: Floats
    matrices: Floats
    class_prior: Floats
    raters: OrdinalRaters
    log_likelihood: float
    n_iter: int = 1
    converged: bool = False

    @property
    def average_matrix(self) -> Floats:
        """Matrix of a label drawn from all labels: a rater weighs as much as labels of theirs fall in a row."""
        labels = self.counts.sum(axis=2)[:, :, None]
        pooled = np.exp(self.raters.log_pooled)
        return ((labels * self.matrices).sum(axis=0) + TINY * pooled) / (labels.sum(axis=0) + TINY)


@dataclass(frozen=True)
class Settings:
    """How far raters are pulled together, and when to stop."""

    shrinkage: float
    max_iter: int
    tol: float


def maximise(
    votes: Votes,
    settings: Settings,
    start: Floats,
    raters: OrdinalRaters | None = None,
    item_prior: Floats | None = None,
    item_weight: Floats | None = None,
) -> RaterFit:
    """Alternate between matrices and posteriors until these move by less than `tol` on average.

    Parameters
    ----------
    votes : Votes
    settings : Settings
    start : array of shape (n_items, n_classes)
        First posterior of the true labels.
    raters : OrdinalRaters, optional
        Where to begin with the effects.
    item_prior : array of shape (n_items, n_classes), optional
        Probability of each true class before the labels, from features; else one class prior is estimated.
    item_weight : array of shape (n_items,), optional
        How often each item counts.
    """
    weight = np.ones(len(start)) if item_weight is None else item_weight
    state = OrdinalRaters.alike(votes.expected_counts(weight[:, None] * start)) if raters is None else raters
    trail, n_iter, change = [start], 0, np.inf
    while n_iter < settings.max_iter and not change < settings.tol:
        fit = _improved(votes, settings.shrinkage, trail[-1], state, item_prior, weight)
        state, n_iter = fit.raters, n_iter + 1
        change = float(weight @ np.abs(fit.posterior - trail[-1]).sum(axis=1) / weight.sum())
        trail = [*trail, fit.posterior] if change < NEAR else [fit.posterior]
        trail = [_extrapolated(*trail)] if len(trail) == 3 else trail
    return replace(fit, n_iter=n_iter, converged=change < settings.tol)


def _improved(
    votes: Votes, shrinkage: float, posterior: Floats, raters: OrdinalRaters, item_prior: Floats | None, weight: Floats
) -> RaterFit:
    """One plain step: matrices from the posterior, then the posterior from the matrices."""
    basis = effect_basis(votes.n_classes)
    counts = votes.expected_counts(weight[:, None] * posterior)
    raters = raters.fitted(counts, basis) if shrinkage > 0 else OrdinalRaters.alike(counts)
    matrices = shrunk_matrices(counts, raters.matrices(basis), shrinkage)
    class_prior = weight @ posterior / weight.sum()
    prior = class_prior if item_prior is None else item_prior
    evidence, posterior = _normalised(votes.log_likelihood(matrices) + np.log(np.maximum(prior, TINY)))
    return RaterFit(posterior, counts, matrices, class_prior, raters, float(weight @ evidence))


def _normalised(log_joint: Floats) -> tuple[Floats, Floats]:
    """Log of each row's sum, and the row as probabilities."""
    largest = log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint - largest)
    total = joint @ np.ones((joint.shape[1], 1))
    return (np.log(total) + largest)[:, 0], joint / total


def _extrapolated(first: Floats, second: Floats, third: Floats) -> Floats:
    """Where the posteriors are heading, from three in a row (Varadhan and Roland, 2008): plain steps end in a crawl."""
    step, bend = second - first, third - 2 * second + first
    length = np.clip(np.linalg.norm(step) / max(float(np.linalg.norm(bend)), TINY), 1.0, LONGEST_LEAP)
    leap = np.maximum(first + 2 * length * step + length**2 * bend, 0.0)
    return leap / leap.sum(axis=1, keepdims=True)


def likeliest_shrinkage(ratings: Ratings, settings: Settings, rng: np.random.Generator) -> float:
    """The strength under which a hidden share of the ratings is most probable given the others.

    Where every item has one rating nothing can be hidden, and the strength in `settings` is returned.
    """
    hidden = hidden_ratings(ratings.items, HIDDEN_SHARE, rng)
    if not hidden.any():
        return settings.shrinkage
    votes, unseen = Votes.of(ratings.where(~hidden)), ratings.where(hidden)
    posterior, raters, scores = votes.shares(), None, []
    for strength in STRENGTHS:
        fit = maximise(votes, replace(settings, shrinkage=strength, tol=100 * settings.tol), posterior, raters)
        posterior, raters = fit.posterior, fit.raters
        scores.append(mean_log_probability(fit, unseen))
    return STRENGTHS[int(np.argmax(scores))]


def hidden_ratings(items: Ints, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A random `share` of the ratings to hide, leaving every item one at least."""
    draw = rng.random(len(items))
    largest = np.zeros(items.max() + 1)
    np.maximum.at(largest, items, draw)
    return (draw < share) & (draw < largest[items])


def mean_log_probability(fit: RaterFit, unseen: Ratings) -> float:
    """Of ratings that the fit has not seen, by raters and of items that it has."""
    chances = (fit.posterior[unseen.items] * fit.matrices[unseen.raters, :, unseen.labels]).sum(axis=1)
    return float(np.log(np.maximum(chances, TINY)).mean())
