"""Is one method better than another over data sets? Statistics whose unit is the set.

Runs on one set (its splits, its noises) are not independent: their differences are averaged first, and the set is one
number. Two statistics of these numbers: a bootstrap over sets for the mean, and the Bayesian signed-rank test
(Benavoli, Corani, Mangili, Zaffalon 2014), which says how probable it is that most pairs of sets favor one of the two,
or neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats

N_DRAWS = 20_000
PRIOR = 0.5
"""Weight of the one set that is believed before all data, on which both methods are equal; as its authors have it."""


@dataclass(frozen=True)
class Comparison:
    """How much better the first of two methods is; a positive difference favors it.

    Attributes
    ----------
    n_sets : int
    mean, low, high : float
        Mean difference over sets, and its 95 % interval by a bootstrap over sets.
    better, equal, worse : float
        Probabilities that the first is better, that both are equal within the margin, and that it is worse.
    """

    n_sets: int
    mean: float
    low: float
    high: float
    better: float
    equal: float
    worse: float

    def __str__(self) -> str:
        return (
            f"{self.mean:+.3f} ({self.low:+.3f} to {self.high:+.3f}); "
            f"better {self.better:.0%}, equal {self.equal:.0%}, worse {self.worse:.0%}"
        )


def by_set(sets: Sequence[str], differences: Iterable[float]) -> Floats:
    """The mean difference of each set, in alphabetical order."""
    names, places = np.unique(sets, return_inverse=True)
    return np.bincount(places, weights=np.fromiter(differences, float)) / np.bincount(places, minlength=len(names))


def compared(differences: Floats, margin: float, seed: int = 0) -> Comparison:
    """The comparison of two methods by their mean difference on each set; differences below the margin count as none.

    Examples
    --------
    >>> print(compared(np.array([0.02, 0.03, 0.01, 0.05, 0.04]), margin=0.005))
    +0.030 (+0.018 to +0.042); better 100%, equal 0%, worse 0%
    """
    rng, n_sets = np.random.default_rng(seed), len(differences)
    means = rng.choice(differences, (N_DRAWS, n_sets)).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    shares = _signed_ranks(differences, margin, rng)
    winners = np.bincount(shares.argmax(axis=0), minlength=3) / N_DRAWS
    return Comparison(n_sets, float(differences.mean()), float(low), float(high), *winners.tolist())


def _signed_ranks(differences: Floats, margin: float, rng: np.random.Generator) -> Floats:
    """Draws of the posterior of the shares of pairs of sets that are better, equal, worse; shape (3, `N_DRAWS`)."""
    values = np.concatenate([[0.0], differences])
    weights = rng.dirichlet([PRIOR, *np.ones(len(differences))], N_DRAWS)
    sums = values[:, None] + values
    kinds = (sums > 2 * margin, np.abs(sums) <= 2 * margin, sums < -2 * margin)
    return np.array([np.einsum("di,ij,dj->d", weights, kind.astype(float), weights) for kind in kinds])
