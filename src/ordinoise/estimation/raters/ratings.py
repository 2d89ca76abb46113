"""Ratings as numbers and as sparse counts, and what is known about the items besides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ordinoise._validation import Floats, Ints

LEAST = 1e-12
"""Least probability in a logarithm."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """One entry per rating: item, rater and grade as numbers from 0; `shape` is how many there are of each."""

    items: Ints
    raters: Ints
    grades: Ints
    shape: tuple[int, int, int]

    def where(self, chosen: NDArray[np.bool_]) -> Ratings:
        """Some of the ratings, of the same items and raters."""
        return Ratings(self.items[chosen], self.raters[chosen], self.grades[chosen], self.shape)


@dataclass(frozen=True, eq=False)
class Votes:
    """Ratings as sparse counts, (n_items, n_raters * n_classes), so that both EM steps are matrix products."""

    table: csr_array
    transposed: csr_array
    shape: tuple[int, int, int]
    given: Floats = field(repr=False)

    @classmethod
    def of(cls, ratings: Ratings) -> Self:
        """How often each rater gave each grade to each item; `given` is the sum over raters, (n_items, n_classes)."""
        n_items, n_raters, n_classes = ratings.shape
        cells = (ratings.items, ratings.raters * n_classes + ratings.grades)
        table = csr_array((np.ones(len(ratings.items)), cells), shape=(n_items, n_raters * n_classes))
        given: Floats = table @ np.tile(np.eye(n_classes), (n_raters, 1))
        return cls(table, csr_array(table.T), ratings.shape, given)

    def counts(self, states: Floats) -> Floats:
        """Expected number of ratings per rater, grade and state, from a posterior of shape (n_items, n_states)."""
        _, n_raters, n_classes = self.shape
        counts: Floats = self.transposed @ states
        return counts.reshape(n_raters, n_classes, -1)

    def log_likelihood(self, table: Floats) -> Floats:
        """Log-probability of the ratings of every item in each state, for ``table[rater, grade, state]``."""
        likelihood: Floats = self.table @ np.log(np.maximum(table, LEAST)).reshape(-1, table.shape[2])
        return likelihood

    def usage(self) -> Floats:
        """How often each rater gave each grade, (n_raters, n_classes)."""
        return self.counts(np.ones((self.shape[0], 1)))[:, :, 0]

    def recorded_shares(self) -> Floats:
        """Share of each grade among all ratings, none of them zero."""
        counts = self.given.sum(axis=0) + 0.5
        return np.asarray(counts / counts.sum())

    def vote_shares(self) -> Floats:
        """Share of each grade among the ratings of an item; even for an item without ratings."""
        smoothed = self.given + LEAST
        return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))

    def own_usage(self) -> Floats:
        """Shares of the grades that each rater gives, shrunk to those of all by one pseudo-rating per grade.

        This is the rater who ignores the item: the uninformative one.
        """
        used, n_classes = self.usage(), self.shape[2]
        mixed = used + n_classes * self.recorded_shares()
        return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Known:
    """What is known about the items besides the ratings.

    Not `Verified`, because it has an entry for every item: its prior and its weight in a resample too.

    Attributes
    ----------
    trusted : int array of shape (n_items,)
        The verified grade, or -1.
    prior : array of shape (n_items, n_classes) or None
        Class probabilities from features.
    weight : array of shape (n_items,)
        How often an item counts: 1, or the number of times that it is in a resample.
    """

    trusted: Ints
    weight: Floats
    prior: Floats | None = None

    @classmethod
    def nothing(cls, n_items: int) -> Self:
        """No verified grade, no features, equal weights."""
        return cls(np.full(n_items, -1), np.ones(n_items))

    @property
    def is_trusted(self) -> NDArray[np.bool_]:
        """Which items are verified."""
        return self.trusted >= 0


def split_items(voices: Ratings) -> NDArray[np.bool_]:
    """Items with two different grades where nobody else can say who is right.

    That is so where there are but two raters or, without names, where no item has a third grade.
    """
    n_items, n_raters, n_classes = voices.shape
    per_item = np.bincount(voices.items, minlength=n_items)
    lowest, highest = np.full(n_items, n_classes), np.full(n_items, -1)
    np.minimum.at(lowest, voices.items, voices.grades)
    np.maximum.at(highest, voices.items, voices.grades)
    nobody_else = n_raters == 2 or (n_raters == 1 and per_item.max() == 2)
    return np.asarray((lowest < highest) & nobody_else)


def hiding_folds(items: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """Fold in which each rating is hidden, as even as can be among the ratings of an item; -1 for an only rating."""
    order = np.lexsort((rng.random(len(items)), items))
    per_item = np.bincount(items)
    first = per_item.cumsum() - per_item
    place = np.empty(len(items), dtype=np.int64)
    place[order] = np.arange(len(items)) - first[items[order]]
    fold = (place + rng.integers(n_folds, size=len(per_item))[items]) % n_folds
    # An item with more ratings than folds keeps one in every fold, as its ratings lie in all of them.
    return np.where(per_item[items] > 1, fold, -1)


def log_sums_and_shares(log_joint: Floats) -> tuple[Floats, Floats]:
    """Log of the sum of exponentials of each row, and the row as probabilities."""
    largest = log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint - largest)
    total = joint.sum(axis=1, keepdims=True)
    return (np.log(total) + largest)[:, 0], joint / total


def information(table: Floats, weights: Floats) -> Floats:
    """Information of one grade about the state, in nats, per rater: of ``table[rater, grade, state]``."""
    overall = (table @ weights)[:, :, None]
    return np.asarray(((table * np.log(np.maximum(table, LEAST) / np.maximum(overall, LEAST))) @ weights).sum(axis=1))


def voices(n_grades: Floats, table: Floats, weights: Floats) -> Floats:
    """Weight of each rater in what a grade means: grades given, times the square of the information in one of them.

    So a rater who guesses has no voice, whatever the grades used. The square was settled on simulated raters
    (seeds 10 to 14 of both kinds: .1045 wrong, .106 without the square, .113 for estimated shares).
    """
    weight = n_grades * information(table, weights) ** 2 + LEAST
    return np.asarray(weight / weight.sum())
