"""Difficult items: a share e of them is graded without regard to the item, by each rater's own habit.

With p the class shares, M the matrices and u the raters' use of the grades, item i is such a one with probability

    h[i] = e prod u_r[y] / (e prod u_r[y] + (1 - e) sum_k p[k] prod M_r[k, y])        over its ratings (r, y)

e is estimated by expectation-maximization. The families are fitted again without those items, which made sound raters
look careless and careless ones sound; the posterior of an item is ``(1 - h) q + h p``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ordinoise._validation import Floats
from ordinoise.estimation.raters.average import Average, refit
from ordinoise.estimation.raters.matrices import Stop
from ordinoise.estimation.raters.perception import clamped
from ordinoise.estimation.raters.ratings import LEAST, Known, Votes, log_sums_and_shares

PSEUDO_ITEMS, FEW = 20.0, 0.02
"""Items of the prior of e, and its mean. Round numbers, chosen by no run."""
ROUNDS, STEPS = 4, 50
"""Fits without the difficult items (ten changed little more), and steps of e."""
LEAST_SHARE = 0.01
"""Share of difficult items below which nothing is fitted again: on web search .001."""
FEWEST_GRADES, FEWEST_BY_RATER = 3.0, 50.0
"""Grades per item and per rater that it takes on average: of two grades that differ none can be said to ignore the
item, and where raters are hardly known their errors look like difficult items (seven grades each: 1.30 for 1.14 from a
hidden rating)."""


def with_difficult_items(
    average: Average, votes: Votes, known: Known, families: tuple[str, ...], stop: Stop
) -> Average:
    """The average whose raters are described by the items that can be graded, and whose posterior knows the others."""
    n_items, n_raters, _ = votes.shape
    is_thin = votes.given.sum() < max(FEWEST_GRADES * n_items, FEWEST_BY_RATER * n_raters)
    if n_raters == 1 or is_thin or average.weights["types"] > 0.5:
        return average
    found, difficult = average, difficult_items(average, votes, known)
    if difficult.mean() < LEAST_SHARE:
        return average
    for _ in range(ROUNDS):
        found = refit(found, votes, replace(known, weight=known.weight * (1 - difficult)), families, stop)
        difficult = difficult_items(found, votes, known)
    shares = _shares(found, difficult)
    posterior = (1 - difficult)[:, None] * found.posterior + difficult[:, None] * shares
    return replace(found, posterior=clamped(posterior, known))


def difficult_items(average: Average, votes: Votes, known: Known) -> Floats:
    """Probability of each item that it was graded without regard to it; zero if it is verified."""
    usage = votes.own_usage()
    at_random = votes.log_likelihood(usage[:, :, None])[:, 0]
    by_class = votes.log_likelihood(average.matrices.swapaxes(1, 2))
    regular = log_sums_and_shares(by_class + np.log(_shares(average, np.zeros(len(by_class)))))[0]
    share, counts = FEW, ~known.is_trusted
    for _ in range(STEPS):
        odds = np.clip(at_random - regular + np.log(share / (1 - share)), -700, 700)
        difficult = np.where(counts, 1 / (1 + np.exp(-odds)), 0.0)
        share = float((difficult.sum() + PSEUDO_ITEMS * FEW) / (len(difficult) + PSEUDO_ITEMS))
    return difficult


def _shares(average: Average, difficult: Floats) -> Floats:
    """Class shares of the items that are not difficult."""
    shares = np.average(average.posterior, axis=0, weights=1 - difficult + LEAST)
    return np.asarray(np.maximum(shares, LEAST) / np.maximum(shares, LEAST).sum())
