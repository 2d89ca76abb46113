"""One grade per item from its posterior: within the range of the grades given, and near to the vote in doubt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.decisions import decide
from ordinoise.estimation.raters.average import Trial, with_prior
from ordinoise.estimation.raters.ratings import Votes

DEFERENCE = 0.05
"""Without names, and where hidden ratings speak for the consensus, the median of the grades stands unless the expected
distance to the truth falls by more than this. Of 0 to .4 on simulated raters without names (seeds 200 to 207) it was
best or nearly so. Elsewhere the median stands: on texts leaving it did harm, if little (decision 0022)."""
FEWEST_MOVED = 0.005
"""Share of the items that the consensus must move: for fewer nothing is gained, and on one of two sets of texts a
little was lost (30 draws). A round number."""
CONFIRMED = 3.0
"""Standard errors by which hidden ratings must be nearer to the consensus than to the vote. A convention."""


def within(posterior: Floats, given: Floats, is_free: NDArray[np.bool_]) -> Floats:
    """The posterior restricted to the range of the grades given to each item, except where `is_free`."""
    from_lowest = given.cumsum(axis=1) > 0
    to_highest = given[:, ::-1].cumsum(axis=1)[:, ::-1] > 0
    allowed = (from_lowest & to_highest) | is_free[:, None]
    inside = np.where(allowed, posterior + 1e-12, 0.0)
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def deferring(posterior: Floats, given: Floats, deference: float) -> Ints:
    """The posterior's median, or the vote if its expected distance to the truth is larger by less than `deference`.

    The vote is the nearer of the two medians of the grades given.
    """
    rows, ranks = np.arange(len(given)), np.arange(given.shape[1])
    consensus = decide(posterior, "median")
    expected_distance = posterior @ np.abs(np.subtract.outer(ranks, ranks))
    below, half = given.cumsum(axis=1), given.sum(axis=1, keepdims=True) / 2
    medians = np.stack([(below < half).sum(axis=1), (below <= half).sum(axis=1)])
    vote = medians[expected_distance[rows, medians].argmin(axis=0), rows]
    loss = expected_distance[rows, vote] - expected_distance[rows, consensus]
    return np.where(loss < deference, vote, consensus)


def consensus_without_names(
    posterior: Floats, given: Floats, trials: Sequence[Trial], prior: Floats | None = None
) -> Ints:
    """The vote, unless hidden ratings speak for the consensus of the others and it moves more than a few items."""
    vote = deferring(posterior, given, np.inf)
    if nearer_than_vote(trials, prior) <= CONFIRMED:
        return vote
    moved = deferring(posterior, given, DEFERENCE)
    return moved if (moved != vote).mean() >= FEWEST_MOVED else vote


def nearer_than_vote(trials: Sequence[Trial], prior: Floats | None = None) -> float:
    """Standard errors by which hidden ratings are nearer to the consensus of the others than to their vote."""
    nearer = np.concatenate([_nearer(trial, prior) for trial in trials])
    return float(nearer.sum() / max(np.sqrt((nearer**2).sum()), 1e-12))


def _nearer(trial: Trial, prior: Floats | None) -> Floats:
    """By how many grades each hidden rating is nearer to the consensus than to the vote."""
    given, unseen = Votes.of(trial.seen).given, trial.unseen
    posterior = trial.average.perception.posterior
    posterior = posterior if prior is None else with_prior(posterior, prior)
    inside = within(posterior, given, np.zeros(len(given), dtype=bool))
    consensus, vote = (deferring(inside, given, least)[unseen.items] for least in (DEFERENCE, np.inf))
    return np.abs(unseen.grades - vote) - np.abs(unseen.grades - consensus).astype(np.float64)
