"""Several ratings of one item as one training row: what all of them together say about its true grade.

The loss of an item is ``-log sum_k P(k | x) P(its ratings | k)``. A learner reads the second factor from a table, as it
reads a noise matrix: the ratings of an item are its record, and its matrix says how likely they are under each grade.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ordinoise._validation import Floats, Ints, complain
from ordinoise.classifiers.blend.data import Recorded, record_matrices
from ordinoise.classifiers.blend.mixture import Blend
from ordinoise.decisions import decide
from ordinoise.labels import Verified, as_column, distinct
from ordinoise.noise import Noise

if TYPE_CHECKING:
    from ordinoise.estimation.raters.estimator import RepeatedLabels

LEAST = 1e-12
"""Least share of a class, and least probability in a logarithm."""
RAREST = 0.005
"""Less probable medians get no row, for speed. A round number, chosen by no run."""


@dataclass(frozen=True, eq=False)
class Consensus:
    """What the ratings say about every item, without its features.

    Attributes
    ----------
    noise : Noise
    likelihood : array of shape (n_items, n_classes)
        Probability of the ratings of an item under each true grade, up to a factor per item.
    posterior : array of shape (n_items, n_classes)
    """

    noise: Noise
    likelihood: Floats
    posterior: Floats

    @property
    def ranks(self) -> Ints:
        """The median of each item's posterior."""
        return decide(self.posterior, "median")


@dataclass(frozen=True, eq=False)
class Items:
    """The items that rows are ratings of.

    Attributes
    ----------
    rows : Recorded
        One row per rating.
    names : array of shape (n_items,)
    numbers : int array of shape (n_ratings,)
        Which item each row is a rating of.
    """

    rows: Recorded
    names: NDArray[Any]
    numbers: Ints

    @classmethod
    def of(cls, rows: Recorded, items: Any) -> Self:
        """The items with at least one row; all rows of an item must have the same features."""
        names, numbers = distinct("items", items, len(rows.ranks), "X")
        found = cls(rows, names, numbers)
        features, at = rows.table.features, found.first[numbers]
        own = features[at]
        differs = ((own != features) & ~(np.isnan(own) & np.isnan(features))).any(axis=1)
        for some in rows.table.counts:
            differs |= np.asarray((some.matrix[at] != some.matrix).sum(axis=1)).ravel() > 0
        if differs.any():
            advice = "pass groups= if rows belong together but differ"
            name = names[numbers[int(differs.argmax())]]
            raise complain("X", "be the same in all rows of an item", f"two kinds of rows for {name}", advice)
        return found

    @cached_property
    def first(self) -> Ints:
        """The row that stands for each item."""
        return np.unique(self.numbers, return_index=True)[1].astype(np.int64)

    @property
    def are_repeated(self) -> bool:
        """Whether some item has two ratings."""
        return len(self.numbers) > len(self.names)

    @property
    def groups(self) -> Ints | None:
        """Group of each item, if rows have groups wider than an item."""
        groups = self.rows.groups
        if groups is None or len(np.unique(groups)) == len(self.names):
            return None
        return groups[self.first]

    @cached_property
    def given(self) -> Floats:
        """Weight of the ratings of each grade, (n_items, n_classes)."""
        given = np.zeros((len(self.names), self.rows.n_classes))
        np.add.at(given, (self.numbers, self.rows.ranks), self.rows.weights)
        return given

    def trusting(self) -> tuple[Recorded, Ints]:
        """Every rating as it is: one row per item and grade, weighted by its ratings; and the item of each row."""
        return self._rows(self.given)

    def voting(self) -> tuple[Recorded, Ints]:
        """The vote: one row per item and grade, weighted by the probability that the median of as many ratings, drawn
        from those of the item, is that grade, times the weight of its ratings; and the item of each row.

        With F_k the share of ratings up to grade k, the a-th of m drawn ones is at most k with probability
        ``P(Binomial(m, F_k) >= a)``. Single ratings that lie apart lose weight, whoever gave them.
        """
        n_ratings, total = np.bincount(self.numbers)[:, None], self.given.sum(axis=1, keepdims=True)
        share = np.minimum(self.given.cumsum(axis=1) / total, 1.0)
        lower, upper = (np.asarray(binom.sf(at, n_ratings, share)) for at in ((n_ratings - 1) // 2, n_ratings // 2))
        at_most = (lower + upper) / 2
        votes = np.diff(at_most, axis=1, prepend=0.0)
        votes = np.where(votes < RAREST, 0.0, votes)
        return self._rows(total * votes / votes.sum(axis=1, keepdims=True))

    def _rows(self, weights: Floats) -> tuple[Recorded, Ints]:
        item, grade = np.nonzero(weights)
        table = self.rows.table.rows(self.first[item])
        return replace(self.rows, table=table, ranks=grade, weights=weights[item, grade], groups=None), item

    def jointly(self, likelihood: Floats, ranks: Ints) -> Recorded:
        """One row per item, whose record are all of its ratings.

        Parameters
        ----------
        likelihood : array of shape (n_items, n_classes)
            Probability of the ratings under each true grade, up to a factor per item.
        ranks : array of shape (n_items,)
            The column of each item's matrix that holds its likelihood: a consensus, from which learners start.
        """
        matrices = record_matrices(likelihood / likelihood.max(axis=1, keepdims=True), ranks)
        weights = self.given.sum(axis=1) / np.bincount(self.numbers)
        table = self.rows.table.rows(self.first)
        return Recorded(table, ranks, weights, matrices, np.arange(len(ranks)), self.groups)

    def expanded(self, blend: Blend, item: Ints | None = None) -> Blend:
        """The blend with held-out predictions for every rating; `item` is the item of each of its rows."""
        per_item = np.empty((len(self.names), self.rows.n_classes))
        per_item[slice(None) if item is None else item] = blend.out_of_fold
        return replace(blend, out_of_fold=per_item[self.numbers])

    def verified(self, trusted: Verified | None) -> tuple[Ints, Ints] | None:
        """Items and true ranks of the verified rows; the rows of an item must agree."""
        if trusted is None:
            return None
        rows, true = trusted.rows, trusted.labels
        found, at = np.unique(self.numbers[rows], return_index=True)
        rank_of = np.full(len(self.names), -1)
        rank_of[found] = true[at]
        differs = np.flatnonzero(rank_of[self.numbers[rows]] != true)
        if len(differs):
            name = self.names[self.numbers[rows[differs[0]]]]
            raise complain("trusted", "give every item one verified label", f"two for {name}")
        return found, true[at]

    def by_raters(self, estimator: RepeatedLabels, raters: Any, trusted: Verified | None) -> Consensus:
        """The raters estimated from the ratings alone; without names one matrix for all."""
        fit = estimator.fit(self.numbers, raters, self.rows.ranks, trusted=self.verified(trusted))
        noise = fit.noise_ if raters is not None else fit.noise_.average
        shares = np.maximum(np.asarray(fit.noise_.class_shares), LEAST)
        return Consensus(noise, fit.posterior_ / shares, fit.posterior_)

    def by_matrices(self, noise: Noise, index: Ints | None, trusted: Verified | None) -> Consensus:
        """The matrices known; each rating is independent of the others given the true grade."""
        each = noise.matrices[0 if index is None else index, :, self.rows.ranks]
        total = np.zeros((len(self.names), noise.n_classes))
        np.add.at(total, self.numbers, np.log(np.maximum(each, LEAST)))
        likelihood = np.exp(total - total.max(axis=1, keepdims=True))
        known = self.verified(trusted)
        if known is not None:
            likelihood[known[0]] = np.eye(noise.n_classes)[known[1]]
        posterior = likelihood * np.maximum(np.asarray(noise.class_shares), LEAST)
        return Consensus(noise, likelihood, posterior / posterior.sum(axis=1, keepdims=True))


def repeated_items(rows: Recorded, items: Any, weighted: Ints) -> Items | None:
    """The items of the rows with positive weight; None if there are none, or none has two rows."""
    found = None if items is None else Items.of(rows, as_column("items", items)[weighted])
    return found if found is not None and found.are_repeated else None
