"""Simulated raters of two kinds: one asymmetric noise matrix each, or a latent score, own cuts and guesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
N_CLASSES, PER_ITEM = 5, 5


@dataclass(frozen=True, eq=False)
class Drawn:
    """One entry per rating, and the truth of every item."""

    items: Ints
    raters: Ints
    labels: Ints
    truth: Ints


def class_conditional(seed: int, n_items: int, n_raters: int, spammers: float) -> Drawn:
    """Every rater has a matrix of random steepness, severity, care and entries; a spammer's rows are equal."""
    rng = np.random.default_rng(seed)
    ranks = np.arange(N_CLASSES)
    truth = rng.choice(N_CLASSES, n_items, p=rng.dirichlet(np.full(N_CLASSES, 3.0)))
    steep = -np.abs(ranks[:, None] - ranks) * rng.uniform(0.8, 1.6)
    matrices = np.array([_matrix(rng, steep, spammers) for _ in range(n_raters)])
    items, raters = _assigned(rng, n_items, n_raters)
    labels = (rng.random(len(items))[:, None] > matrices[raters, truth[items]].cumsum(axis=1)).sum(axis=1)
    return Drawn(items, raters, labels.clip(max=N_CLASSES - 1), truth)


def _matrix(rng: np.random.Generator, steep: Floats, spammers: float) -> Floats:
    if rng.random() < spammers:
        return np.tile(rng.dirichlet(np.full(N_CLASSES, 0.7)), (N_CLASSES, 1))
    logits = steep * rng.lognormal(0.2, 0.5) + rng.normal(0, 0.5, steep.shape)
    logits += rng.normal(0, 0.6) * (np.arange(N_CLASSES) - 2) + rng.normal(1.0, 0.7) * np.eye(N_CLASSES)
    matrix: Floats = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return matrix


def perceived(seed: int, n_items: int, n_raters: int, spammers: float) -> Drawn:
    """A score of one or two humps, cuts and noise of each rater around common ones; a spammer always guesses."""
    rng = np.random.default_rng(seed)
    humps = np.where(rng.random(n_items) < 0.5, rng.normal(-0.8, 0.6, n_items), rng.normal(0.7, 0.7, n_items))
    score = rng.normal(size=n_items) if rng.random() < 0.5 else humps
    cuts = np.quantile(score, rng.dirichlet(np.full(N_CLASSES, 4.0)).cumsum()[:-1])
    own = cuts + 0.2 * rng.normal(size=(n_raters, 1)) + 0.2 * rng.normal(size=(n_raters, N_CLASSES - 1))
    sigma = 0.7 * rng.lognormal(0, 0.5, n_raters)
    guessing = np.where(rng.random(n_raters) < spammers, 1.0, rng.beta(1, 20, n_raters))
    items, raters = _assigned(rng, n_items, n_raters)
    seen = score[items] + sigma[raters] * rng.normal(size=len(items))
    labels = (seen[:, None] > np.sort(own, axis=1)[raters]).sum(axis=1)
    guessed = rng.random(len(items)) < guessing[raters]
    labels = np.where(guessed, rng.integers(N_CLASSES, size=len(items)), labels)
    return Drawn(items, raters, labels, (score[:, None] > cuts).sum(axis=1))


def _assigned(rng: np.random.Generator, n_items: int, n_raters: int) -> tuple[Ints, Ints]:
    """Five raters per item, some of them far busier than others."""
    busy = np.log(rng.lognormal(0, 1.0, n_raters))
    chosen = np.argsort(-(busy + rng.gumbel(size=(n_items, n_raters))), axis=1)[:, :PER_ITEM]
    return np.repeat(np.arange(n_items), PER_ITEM), chosen.ravel()


def features_of(drawn: Drawn, seed: int, n_columns: int = 12) -> Floats:
    """Columns of which two thirds tell of the true grade, all of them with much noise of their own."""
    rng = np.random.default_rng([seed, n_columns])
    place = drawn.truth + rng.uniform(-0.5, 0.5, len(drawn.truth))
    loadings = np.where(np.arange(n_columns) < 2 * n_columns // 3, rng.uniform(0.3, 1.0, n_columns), 0.0)
    return place[:, None] * loadings + rng.normal(0, 1.5, (len(place), n_columns))


def panel(
    seed: int,
    n_items: int,
    groups: tuple[tuple[int, float], ...],
    slips: float | None = None,
    shared: float = 0.0,
    at_random: float = 0.0,
    spread: float = 0.0,
) -> Drawn:
    """Everybody grades everything, in groups of (number, sigma) whose raters depend on each other.

    Parameters
    ----------
    slips : float, optional
        The second and later groups copy their first rater, but for this share of the grades, which they guess.
    shared : float
        Standard deviation of an error that the raters of a group share, for groups that do not copy.
    at_random : float
        Share of the items that everybody grades without regard to them.
    spread : float
        Standard deviation of the logarithm by which the noise of an item differs.
    """
    rng = np.random.default_rng(seed)
    score, hardness = rng.normal(size=n_items), np.exp(spread * rng.normal(size=n_items))
    cuts = np.quantile(score, rng.dirichlet(np.full(N_CLASSES, 6.0)).cumsum()[:-1])
    is_random = rng.random(n_items) < at_random
    columns = []
    for place, (number, sigma) in enumerate(groups):
        perceived_score = score + shared * rng.normal(size=n_items)
        source = None
        for _ in range(number):
            own = np.sort(cuts + 0.05 * rng.normal() + 0.05 * rng.normal(size=len(cuts)))
            seen = perceived_score + sigma * hardness * rng.lognormal(0, 0.2) * rng.normal(size=n_items)
            grades = (seen[:, None] > own).sum(axis=1)
            grades = np.where(is_random, rng.integers(N_CLASSES, size=n_items), grades)
            if place and slips is not None:
                source = grades if source is None else source
                slips_here = rng.random(n_items) < slips
                grades = np.where(slips_here, rng.integers(N_CLASSES, size=n_items), source)
            columns.append(grades)
    items, raters = np.divmod(np.arange(n_items * len(columns)), len(columns))
    return Drawn(items, raters, np.column_stack(columns).ravel(), (score[:, None] > cuts).sum(axis=1))
