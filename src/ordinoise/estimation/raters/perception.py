"""Raters perceive a latent score of the item and cut it into grades, or guess.

Item i has a score z. Rater r records the number of own cuts ``t[r, j]`` below ``z + sigma_r d``, d normal, or with
probability pi_r guesses, by own habit ``h[r, k]``. On a grid of scores z_q this is one table:

    table[r, k, q] = pi_r h[r, k] + (1 - pi_r) (F((t[r, k] - z_q) / sigma_r) - F((t[r, k - 1] - z_q) / sigma_r))

and everything follows from it as in :mod:`~ordinoise.estimation.raters.matrices`, with grid points in place of classes.
``(t_r - t, log sigma_r - mu)`` have a normal prior around zero whose covariance is estimated from all raters, pi_r a
beta prior. Only the ratios of scores, cuts and sigma matter, so the scores have mean about 0 and variance about 1.

The true grade is the number of *scale* cuts below z. Ratings alone do not tell where those are: by convention they are
the average cuts of the raters, weighted by :func:`~ordinoise.estimation.raters.ratings.voices`; verified items move
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

from ordinoise._validation import Floats
from ordinoise.estimation.raters.effects import prior_covariance
from ordinoise.estimation.raters.matrices import Stop
from ordinoise.estimation.raters.ratings import LEAST, Known, Ratings, Votes, log_sums_and_shares, voices

GRID = np.linspace(-3.6, 3.6, 49)
"""Scores: a normal variable leaves them once in 3000 times; the step, .15, is half of a careful rater's sigma."""
NORMAL_ITEMS = 1000.0
"""Pseudo-items that pull the distribution of the scores towards the normal one. Of 20, 100, 300, 1000 and infinity, 300
and more were equally good on simulated raters, and confidence was nearest to the share right between 300 and 1000."""
FIRST_SIGMA, FIRST_GUESSING = 0.7, 0.1
SIGMAS, LONE_SIGMAS, TYPICAL_SIGMAS = (0.12, 1.5), (0.12, 4.0), (0.15, 1.0)
"""Least and largest sigma of one among several raters, of a single one, and of the typical rater. Below the grid's step
nothing changes; above 1.5 times the spread of the items a rater is better described as one who guesses."""
GUESSING_STRENGTH = 4.0
"""Pseudo-ratings of the prior of a rater's chance of guessing. A round number, chosen by no run."""
LONE_PRECISION = 0.25
"""Prior precision of log sigma of a single rater: a standard deviation of 2, so hardly any."""
LONGEST_STEP, LONGEST_CUT_STEP = 0.5, 0.2
"""Longest steps of Fisher scoring, on the scale of the scores. Chosen by no run."""
CUT_SPREAD = 0.25
"""Prior standard deviation of the scale's cuts around the raters' average, if there are verified items. A round number;
.5 gave the same cuts on web search."""


@dataclass(frozen=True, eq=False)
class Perception:
    """Parameters of all raters.

    Attributes
    ----------
    cuts : array of shape (n_classes - 1,)
        Center of the raters' cuts.
    log_sigma : float
        Center of the raters' log sigma.
    deviations : array of shape (n_raters, n_classes)
        Each rater's cuts less `cuts`, then log sigma less `log_sigma`.
    covariance : array of shape (n_classes, n_classes)
        Prior covariance of the deviations.
    guessing : array of shape (n_raters,)
        Chance of guessing; its mean over raters is the prior mean.
    usage : array of shape (n_raters, n_classes)
        Distribution of guesses.
    weights : array of shape (n_points,)
        Distribution of the scores over `GRID`.
    """

    cuts: Floats
    log_sigma: float
    deviations: Floats
    covariance: Floats
    guessing: Floats
    usage: Floats
    weights: Floats

    @classmethod
    def of(cls, votes: Votes) -> Self:
        """All raters alike."""
        _, n_raters, n_classes = votes.shape
        cuts = ndtri(votes.recorded_shares().cumsum()[:-1]) * np.hypot(1, FIRST_SIGMA)
        return cls(
            cuts, float(np.log(FIRST_SIGMA)), np.zeros((n_raters, n_classes)), 0.25 * np.eye(n_classes),
            np.full(n_raters, FIRST_GUESSING), votes.own_usage(), normal_weights(),
        )  # fmt: skip

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return len(self.guessing)

    @property
    def rater_cuts(self) -> Floats:
        """Cuts of each rater, in order, (n_raters, n_classes - 1)."""
        return np.maximum.accumulate(self.cuts + self.deviations[:, :-1], axis=1)

    @property
    def sigmas(self) -> Floats:
        """Noise of each rater's perception, (n_raters,)."""
        ends = np.log(SIGMAS if self.n_raters > 1 else LONE_SIGMAS)
        return np.exp(np.clip(self.log_sigma + self.deviations[:, -1], *ends))

    @property
    def table(self) -> Floats:
        """Probability of each grade, ``[rater, grade, point]``."""
        return self._mixed(self.attentive()[1])

    @property
    def message(self) -> Floats:
        """What a grade says of the score: the table, as the parameters of every rater are taken as known."""
        return self.table

    def _mixed(self, attentive: Floats) -> Floats:
        chance = self.guessing[:, None, None]
        return np.asarray(chance * self.usage[:, :, None] + (1 - chance) * attentive)

    def attentive(self) -> tuple[Floats, Floats]:
        """Standardized distances of the cuts from the points, and the table of raters who do not guess."""
        distance = (self.rater_cuts[:, :, None] - GRID) / self.sigmas[:, None, None]
        below = np.pad(ndtr(distance), ((0, 0), (1, 1), (0, 0)))
        below[:, -1] = 1
        return distance, np.maximum(np.diff(below, axis=1), 1e-9)

    def step(self, counts: Floats, score_counts: Floats) -> Self:
        """One step of Fisher scoring towards the expected ``counts[rater, grade, point]`` and items per point."""
        distance, attentive = self.attentive()
        looked = counts * (1 - self.guessing)[:, None, None] * attentive / self._mixed(attentive)
        slopes = cell_slopes(distance, self.sigmas)
        seen = looked.sum(axis=1, keepdims=True)
        flat, cells_flat = (len(slopes), slopes.shape[1], -1), (len(slopes), 1, -1)
        by_cell = slopes.reshape(flat)
        gradient = (by_cell @ (looked / attentive).reshape(cells_flat).swapaxes(1, 2))[:, :, 0]
        information = (by_cell * (seen / attentive).reshape(cells_flat)) @ by_cell.swapaxes(1, 2)
        weights = score_counts + NORMAL_ITEMS * normal_weights()
        moved = replace(
            self._with_deviations(gradient, information),
            guessing=self._guessing((counts - looked).sum(axis=(1, 2)), counts.sum(axis=(1, 2))),
            weights=weights / weights.sum(),
        )
        bend = information[:, :-1, :-1].sum(axis=0) + 1e-3 * np.eye(len(self.cuts))
        shift = np.clip(np.linalg.solve(bend, gradient[:, :-1].sum(axis=0)), -LONGEST_CUT_STEP, LONGEST_CUT_STEP)
        return replace(moved, cuts=np.sort(self.cuts + shift))

    def _with_deviations(self, gradient: Floats, information: Floats) -> Self:
        n_params = self.deviations.shape[1]
        if self.n_raters == 1:  # the cuts of a single rater are `cuts`
            step = gradient[0, -1] - LONE_PRECISION * self.deviations[0, -1]
            step = np.clip(step / (information[0, -1, -1] + LONE_PRECISION), -LONGEST_STEP, LONGEST_STEP)
            return replace(self, deviations=self.deviations + step * np.eye(n_params)[-1:])
        precision = np.linalg.inv(self.covariance)
        spread = np.linalg.inv(information + precision)
        step = (spread @ (gradient - self.deviations @ precision)[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        deviations = self.deviations + step * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        center = float(np.clip(self.log_sigma + deviations[:, -1].mean(), *np.log(TYPICAL_SIGMAS)))
        deviations[:, -1] -= center - self.log_sigma
        covariance = prior_covariance(deviations, spread)
        return replace(self, deviations=deviations, log_sigma=center, covariance=covariance)

    def _guessing(self, guessed: Floats, total: Floats) -> Floats:
        center = FIRST_GUESSING if self.n_raters == 1 else float(np.clip(self.guessing.mean(), 0.01, 0.7))
        chance = (guessed + center * GUESSING_STRENGTH) / (total + GUESSING_STRENGTH)
        return np.asarray(np.clip(chance, 1e-3, 0.999))

    def scale(self, n_grades: Floats) -> Floats:
        """The cuts of the scale by convention: the raters' own, averaged with the weight that is due to each."""
        return np.asarray(np.sort(voices(n_grades, self.table, self.weights) @ self.rater_cuts))


def normal_weights() -> Floats:
    """The normal distribution on the grid."""
    density = np.exp(-(GRID**2) / 2)
    return np.asarray(density / density.sum())


def cell_slopes(distance: Floats, sigmas: Floats) -> Floats:
    """Derivatives of the attentive table by each cut and by log sigma, ``[rater, parameter, grade, point]``.

    A cell is ``F(x_k) - F(x_{k-1})``: its upper cut adds ``f(x_k) / sigma``, its lower one takes as much.
    """
    n_raters, n_cuts, n_points = distance.shape
    density = np.exp(-(distance**2) / 2) / np.sqrt(2 * np.pi)
    slopes = np.zeros((n_raters, n_cuts + 1, n_cuts + 1, n_points))
    for cut in range(n_cuts):
        slope = density[:, cut] / sigmas[:, None]
        slopes[:, cut, cut], slopes[:, cut, cut + 1] = slope, -slope
    slopes[:, -1] = np.diff(np.pad(-density * distance, ((0, 0), (1, 1), (0, 0))), axis=1)
    return slopes


def cells(cuts: Floats) -> Floats:
    """Share of each point's bin of the grid that lies in each grade of the scale, (n_points, n_classes)."""
    step = GRID[1] - GRID[0]
    below = np.clip((cuts - GRID[:, None]) / step + 0.5, 0, 1)
    return np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)


class Raters(Protocol):
    """How raters make grades of scores; the shapes are those of `Perception`."""

    @property
    def cuts(self) -> Floats:
        """Center of the raters' cuts."""

    @property
    def weights(self) -> Floats:
        """Distribution of the scores over the grid."""

    @property
    def table(self) -> Floats:
        """Probability of each grade, ``[rater, grade, point]``."""

    @property
    def message(self) -> Floats:
        """What a grade says of the score, ``[rater, grade, point]``, up to a factor."""

    def step(self, counts: Floats, score_counts: Floats) -> Any:
        """The raters after one M step."""

    def scale(self, n_grades: Floats) -> Floats:
        """The cuts of the scale by convention."""


R = TypeVar("R", bound=Raters)


@dataclass(frozen=True, eq=False)
class PerceptionFit(Generic[R]):
    """Result of the expectation-maximization over scores; `states` is the posterior over the grid."""

    parameters: R
    states: Floats
    scale_cuts: Floats
    trusted: Known
    log_likelihood: float = -np.inf
    n_iter: int = 0
    converged: bool = False

    @property
    def posterior(self) -> Floats:
        """Probability of each true grade, (n_items, n_classes)."""
        return clamped(self.states @ cells(self.scale_cuts), self.trusted)

    @property
    def matrices(self) -> Floats:
        """``[rater, true, recorded]``: the table, averaged over the scores in each grade of the scale."""
        inside = self.parameters.weights[:, None] * cells(self.scale_cuts) + LEAST / len(GRID)
        return (self.parameters.table @ (inside / inside.sum(axis=0))).swapaxes(1, 2)

    def probability(self, unseen: Ratings) -> Floats:
        """Probability of each of the ratings that the fit has not seen."""
        table = self.parameters.table
        return np.asarray((self.states[unseen.items] * table[unseen.raters, unseen.grades]).sum(axis=1))


def clamped(posterior: Floats, known: Known) -> Floats:
    """The posterior with certainty about verified items."""
    certain = np.eye(posterior.shape[1])[known.trusted]
    return np.where(known.is_trusted[:, None], certain, posterior)


def fit_perception(
    votes: Votes,
    known: Known,
    stop: Stop,
    start: R,
    tick: Callable[[], None] = lambda: None,
) -> PerceptionFit[R]:
    """Alternate between raters and scores until the posteriors of the grades change by less than `stop.tol`."""
    parameters = start
    n_grades, before = votes.usage().sum(axis=1), votes.vote_shares()
    for n_iter in range(1, stop.max_iter + 1):
        log_joint = votes.log_likelihood(parameters.message) + _log_prior(parameters, known, n_grades)
        evidence, states = log_sums_and_shares(log_joint)
        found = PerceptionFit(parameters, states, parameters.cuts, known, float(known.weight @ evidence), n_iter)
        posterior = found.posterior
        change = known.weight @ np.abs(posterior - before).sum(axis=1) / known.weight.sum()
        tick()
        if change < stop.tol or n_iter == stop.max_iter:
            break
        before = posterior
        parameters = parameters.step(votes.counts(known.weight[:, None] * states), known.weight @ states)
    scale = verified_scale(states, parameters.scale(n_grades), known)
    return replace(found, scale_cuts=scale, converged=bool(change < stop.tol))


def _log_prior(parameters: Raters, known: Known, n_grades: Floats) -> Floats:
    """Log-prior of the scores, for all items or, with class probabilities from features, for each."""
    log_weights = np.log(np.maximum(parameters.weights, LEAST))
    if known.prior is None:
        return log_weights
    inside = cells(parameters.scale(n_grades))
    shares = np.maximum(parameters.weights @ inside, LEAST)
    return np.asarray(log_weights + np.log(np.maximum((known.prior / shares) @ inside.T, LEAST)))


def verified_scale(states: Floats, cuts: Floats, known: Known) -> Floats:
    """The cuts under which the verified grades are most likely, with a normal prior around the convention.

    Cut j is chosen among the bins' borders: ``sum_i log P(z_i on the verified side of the cut) - prior``.
    """
    verified = known.is_trusted
    if not verified.any():
        return cuts
    step = GRID[1] - GRID[0]
    borders = GRID[:-1] + step / 2
    below = np.clip(states[verified].cumsum(axis=1)[:, :-1], LEAST, 1 - LEAST)
    is_above = known.trusted[verified][:, None] > np.arange(len(cuts))
    log_likelihood = is_above.T @ np.log(1 - below) + (~is_above).T @ np.log(below)
    penalty = (borders - cuts[:, None]) ** 2 / (2 * CUT_SPREAD**2)
    return np.sort(borders[(log_likelihood - penalty).argmax(axis=1)])
