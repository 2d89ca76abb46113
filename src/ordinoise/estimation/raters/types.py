"""Raters of whom each has few grades: every rater is one of some types, and the shares of the types are learned.

A type s perceives a score as in :mod:`~ordinoise.estimation.raters.perception`, with the common cuts moved by b_s and
noise sigma_s, and guesses two times in a hundred:

    table[s, k, q] = .98 (F((t[k] + b_s - z_q) / sigma_s) - F((t[k - 1] + b_s - z_q) / sigma_s)) + .02 share[k]

How much raters differ is learned from all of them (nonparametric empirical Bayes). A rater's own table is the *expected
logarithm* over the types that the rater may be, so that a rater of whom little is known says little, but something: one
matrix or one set of cuts fitted to seven grades says too much or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri

from ordinoise._validation import Floats
from ordinoise.estimation.raters.perception import (
    FIRST_SIGMA,
    GRID,
    LONGEST_CUT_STEP,
    NORMAL_ITEMS,
    cell_slopes,
    normal_weights,
)
from ordinoise.estimation.raters.ratings import Votes, log_sums_and_shares

SHIFTS, SIGMAS = (-1.2, -0.7, -0.35, 0.0, 0.35, 0.7, 1.2), (0.2, 0.35, 0.6, 0.9, 1.4, 2.2, 5.0)
GUESSES = 0.02
PSEUDO_RATERS = 10.0
"""Raters of a normal law that keep the shares of the types regular if raters are few."""
SHIFT_SPREAD, SIGMA_CENTER, SIGMA_SPREAD = 0.5, 0.7, 0.6
"""That law: shifts are normal, sigmas log-normal. Chosen by no run."""
B, S = (np.array(each) for each in zip(*product(SHIFTS, SIGMAS), strict=True))


def _law() -> Floats:
    law = np.exp(-(B**2) / (2 * SHIFT_SPREAD**2) - np.log(S / SIGMA_CENTER) ** 2 / (2 * SIGMA_SPREAD**2))
    return np.asarray(law / law.sum())


@dataclass(frozen=True, eq=False)
class Types:
    """Common cuts, what each rater may be, and the distribution of the scores.

    Attributes
    ----------
    cuts : array of shape (n_classes - 1,)
    shares : array of shape (n_classes,)
        What guesses are drawn from.
    of_rater : array of shape (n_raters, n_types)
        Probability of each type.
    of_all : array of shape (n_types,)
    weights : array of shape (n_points,)
        Distribution of the scores over the grid.
    """

    cuts: Floats
    shares: Floats
    of_rater: Floats
    of_all: Floats
    weights: Floats

    @classmethod
    def of(cls, votes: Votes) -> Self:
        """Nothing known of any rater."""
        shares = votes.recorded_shares()
        cuts = ndtri(shares.cumsum()[:-1]) * np.hypot(1, FIRST_SIGMA)
        return cls(cuts, shares, np.tile(_law(), (votes.shape[1], 1)), _law(), normal_weights())

    def attentive(self) -> tuple[Floats, Floats]:
        """Standardized distances of the cuts from the points, and the tables of types that do not guess."""
        distance = (self.cuts[None, :, None] + B[:, None, None] - GRID) / S[:, None, None]
        below = np.pad(ndtr(distance), ((0, 0), (1, 1), (0, 0)))
        below[:, -1] = 1
        return distance, np.maximum(np.diff(below, axis=1), 1e-9)

    @property
    def type_table(self) -> Floats:
        """``[type, grade, point]``."""
        return np.asarray((1 - GUESSES) * self.attentive()[1] + GUESSES * self.shares[:, None])

    @property
    def table(self) -> Floats:
        """Probability of each grade, ``[rater, grade, point]``."""
        return np.tensordot(self.of_rater, self.type_table, axes=1)

    @property
    def message(self) -> Floats:
        """What a grade says of the score: by the expected logarithm over what the rater may be."""
        return np.exp(np.tensordot(self.of_rater, np.log(self.type_table), axes=1))

    def step(self, counts: Floats, score_counts: Floats) -> Self:
        """The types of each rater, their shares, cuts and scores, from ``counts[rater, grade, point]``."""
        distance, attentive = self.attentive()
        table = (1 - GUESSES) * attentive + GUESSES * self.shares[:, None]
        fits = counts.reshape(len(counts), -1) @ np.log(table).reshape(len(B), -1).T
        of_rater = log_sums_and_shares(fits + np.log(self.of_all))[1]
        of_all = (of_rater.sum(axis=0) + PSEUDO_RATERS * _law()) / (len(counts) + PSEUDO_RATERS)
        weights = score_counts + NORMAL_ITEMS * normal_weights()
        by_type = np.tensordot(of_rater.T, counts, axes=1)
        slopes = (1 - GUESSES) * cell_slopes(distance, S)[:, :-1]
        gradient = np.einsum("sjkq,skq->j", slopes, by_type / table)
        seen = by_type.sum(axis=1, keepdims=True) / table
        information = np.einsum("sjkq,slkq->jl", slopes * seen[:, None], slopes) + 1e-3 * np.eye(len(self.cuts))
        shift = np.clip(np.linalg.solve(information, gradient), -LONGEST_CUT_STEP, LONGEST_CUT_STEP)
        return type(self)(np.sort(self.cuts + shift), self.shares, of_rater, of_all, weights / weights.sum())

    def scale(self, n_grades: Floats) -> Floats:
        """The cuts by convention: those of the raters, each with the weight of the grades and their precision."""
        voice = n_grades * (self.of_rater @ (1 / (1 + S**2)))
        return np.asarray(np.sort(self.cuts + (voice / voice.sum()) @ (self.of_rater @ B)))
