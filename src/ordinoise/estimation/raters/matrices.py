"""One noise matrix per rater: expectation-maximization over the true grades (Dawid and Skene, 1979).

With posterior ``q[i, c]`` of item i, class shares ``p[c]`` and rater r's matrix as ``table[r, k, c]``:

    counts[r, k, c] = sum over ratings (i, r, k) of q[i, c]                         expected ratings
    table           = a structure of the counts                                     M step
    q[i, c]         ~ p[c] * product over ratings (i, r, k) of table[r, k, c]       E step

Two structures are used, and their posteriors averaged. Both shrink a rater of whom little is known towards one who
ignores the item, not towards the others: an unknown rater gets no vote until the ratings earn it.

The shares p are not estimated: with free shares a class drifts to mean a cluster of items instead of a grade. They are
the recorded shares of the raters, each with the weight of :func:`~ordinoise.estimation.raters.ratings.voices`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from ordinoise._validation import Floats
from ordinoise.estimation.raters.effects import Effects
from ordinoise.estimation.raters.ratings import LEAST, Known, Ratings, Votes, log_sums_and_shares, voices

STRENGTHS = (1.0, 4.0, 16.0, 64.0)
"""Strengths of shrinkage that are tried by hidden ratings."""
UNTRIED_SHRINKAGE = 4.0
"""Strength if no rating can be hidden: between those that hidden ratings choose on simulated raters (1 to 4) and on
web search (16)."""
SHARES_STRENGTH = 100.0
"""Verified grades after which the class shares are theirs by half: a share near .2 of 100 grades has a standard error
of .04, about that of the raters' own. With 20, 50 verified grades did harm on web search (.110 wrong, .096 without)."""


@dataclass(frozen=True)
class Stop:
    """When to stop: most steps, and the mean change of an item's posterior that counts as none."""

    max_iter: int = 200
    tol: float = 1e-3


class Structure(Protocol):
    """How the table of the raters follows from expected counts."""

    def step(self, counts: Floats) -> Self:
        """The structure after one M step."""

    @property
    def table(self) -> Floats:
        """``[rater, recorded, true]``."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Every entry free: counts plus `shrinkage` pseudo-counts per row, spread like the rater's own use of grades."""

    usage: Floats
    shrinkage: float
    table: Floats

    @classmethod
    def of(cls, votes: Votes, shrinkage: float) -> Self:
        """All raters uninformative."""
        usage = votes.own_usage()
        return cls(usage, shrinkage, np.repeat(usage[:, :, None], votes.shape[2], axis=2))

    def step(self, counts: Floats) -> Self:
        """The table under which counts and pseudo-counts are most likely."""
        pull = max(self.shrinkage, LEAST)
        table = (counts + pull * self.usage[:, :, None]) / (counts.sum(axis=1, keepdims=True) + pull)
        return replace(self, table=table)


@dataclass(frozen=True, eq=False)
class MatrixFit:
    """Result of the expectation-maximization over true grades."""

    posterior: Floats
    structure: Structure
    class_shares: Floats
    log_likelihood: float
    n_iter: int = 0
    converged: bool = False

    @property
    def matrices(self) -> Floats:
        """``[rater, true, recorded]``."""
        return self.structure.table.swapaxes(1, 2)

    def probability(self, unseen: Ratings) -> Floats:
        """Probability of each of the ratings that the fit has not seen."""
        chosen = self.structure.table[unseen.raters, unseen.grades]
        return np.asarray((self.posterior[unseen.items] * chosen).sum(axis=1))


def fit_matrices(
    votes: Votes,
    known: Known,
    structure: Structure,
    stop: Stop,
    start: MatrixFit | None = None,
    tick: Callable[[], None] = lambda: None,
) -> MatrixFit:
    """Alternate between tables and posteriors until the posteriors change by less than `stop.tol` on average."""
    begun = MatrixFit(votes.vote_shares(), structure, votes.recorded_shares(), -np.inf)
    fit = _clamped(begun, known) if start is None else start
    for n_iter in range(1, stop.max_iter + 1):
        following = _step(fit, votes, known)
        change = known.weight @ np.abs(following.posterior - fit.posterior).sum(axis=1) / known.weight.sum()
        fit = replace(following, n_iter=n_iter, converged=bool(change < stop.tol))
        tick()
        if fit.converged:
            break
    return fit


def _step(fit: MatrixFit, votes: Votes, known: Known) -> MatrixFit:
    counts = votes.counts(known.weight[:, None] * fit.posterior)
    structure = fit.structure.step(counts)
    shares = informed_shares(counts, structure.table, fit.class_shares, known)
    prior = shares if known.prior is None else known.prior
    evidence, posterior = log_sums_and_shares(votes.log_likelihood(structure.table) + np.log(np.maximum(prior, LEAST)))
    moved = MatrixFit(posterior, structure, shares, float(known.weight @ evidence))
    return _clamped(moved, known)


def _clamped(fit: MatrixFit, known: Known) -> MatrixFit:
    """The fit with certainty about verified items."""
    if not known.is_trusted.any():
        return fit
    posterior = fit.posterior.copy()
    posterior[known.is_trusted] = np.eye(posterior.shape[1])[known.trusted[known.is_trusted]]
    return replace(fit, posterior=posterior)


def informed_shares(counts: Floats, table: Floats, class_shares: Floats, known: Known) -> Floats:
    """Class shares as the raters record them, each with the weight that is due; verified items have their say."""
    used = counts.sum(axis=2)
    shares = voices(used.sum(axis=1), table, class_shares) @ (used / np.maximum(used.sum(axis=1, keepdims=True), LEAST))
    verified = known.is_trusted
    seen = np.bincount(known.trusted[verified], known.weight[verified], minlength=len(shares))
    mixed = np.maximum(seen + SHARES_STRENGTH * shares, LEAST)
    return np.asarray(mixed / mixed.sum())


def likeliest_shrinkage(votes: Votes, known: Known, unseen: Ratings, stop: Stop) -> float:
    """The strength under which the hidden ratings are most probable given the others."""
    if not len(unseen.items):
        return UNTRIED_SHRINKAGE

    def score(strength: float) -> float:
        fit = fit_matrices(votes, known, Entries.of(votes, strength), stop)
        return float(np.log(np.maximum(fit.probability(unseen), LEAST)).sum())

    return max(STRENGTHS, key=score)


def structures(votes: Votes, shrinkage: float) -> tuple[Structure, Structure]:
    """The two structures whose posteriors are averaged."""
    return Effects.of(votes), Entries.of(votes, shrinkage)
