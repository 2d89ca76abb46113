"""Raters who were fitted as one with others: their own matrices and habits, from the posterior of the items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.raters.average import Average
from ordinoise.estimation.raters.matrices import UNTRIED_SHRINKAGE, Entries
from ordinoise.estimation.raters.perception import Perception
from ordinoise.estimation.raters.ratings import Votes

STEPS = 10
"""Steps of Fisher scoring for a member's own cuts; the items stay, so a few suffice. Chosen by no run."""


def with_members(average: Average, votes: Votes, voice_of: Ints) -> Average:
    """The average with an entry for every rater of `votes`, where it was fitted to one voice per group of them."""
    if len(voice_of) == len(average.guessers):
        return average
    fit, parameters = average.perception, _own_parameters(average, votes, voice_of)
    perception = replace(fit, parameters=parameters)
    strength = average.shrinkage if np.isfinite(average.shrinkage) else UNTRIED_SHRINKAGE
    free = member_matrices(votes, average.posterior, strength)
    matrices = average.weights["matrices"] * free + (1 - average.weights["matrices"]) * perception.matrices
    is_alone = np.bincount(voice_of)[voice_of] == 1
    return replace(
        average,
        matrices=np.where(is_alone[:, None, None], average.matrices[voice_of], matrices),
        perception=perception,
        guessers=average.guessers[voice_of],
    )


def member_matrices(votes: Votes, posterior: Floats, shrinkage: float) -> Floats:
    """``[rater, true, recorded]`` by one step from the posterior of the items."""
    return Entries.of(votes, shrinkage).step(votes.counts(posterior)).table.swapaxes(1, 2)


def _own_parameters(average: Average, votes: Votes, voice_of: Ints) -> Perception:
    """Each rater's deviations and guessing under the scores of the items, which do not move."""
    whole = average.perception.parameters
    found = replace(
        whole,
        deviations=whole.deviations[voice_of],
        guessing=whole.guessing[voice_of],
        usage=votes.own_usage(),
    )
    counts, score_counts = votes.counts(average.perception.states), average.perception.states.sum(axis=0)
    for _ in range(STEPS):
        moved = found.step(counts, score_counts)
        found = replace(moved, cuts=whole.cuts, covariance=whole.covariance, weights=whole.weights)
    return found
