"""Ratings that were made from known matrices or perceptions, for the tests of the raters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise.estimation.raters.estimator import RepeatedLabels, from_wide
from ordinoise.estimation.raters.ratings import Ratings
from ordinoise.noise import corrupt

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UP = np.array([[0.7, 0.2, 0.08, 0.02], [0.05, 0.65, 0.2, 0.1], [0.02, 0.08, 0.7, 0.2], [0.01, 0.02, 0.07, 0.9]])
DOWN = np.array([[0.95, 0.03, 0.01, 0.01], [0.3, 0.6, 0.07, 0.03], [0.1, 0.3, 0.55, 0.05], [0.05, 0.1, 0.25, 0.6]])
SHARP = np.array([[0.9, 0.07, 0.02, 0.01], [0.1, 0.8, 0.07, 0.03], [0.03, 0.02, 0.85, 0.1], [0.0, 0.05, 0.1, 0.85]])
PRIOR = np.array([0.35, 0.3, 0.2, 0.15])


def graded(n_items: int, matrices: list[Floats], seed: int = 0) -> tuple[Ints, Ints]:
    """True labels and a table of shape (n_items, n_raters) of what every rater made of them."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(PRIOR), size=n_items, p=PRIOR)
    return truth, np.column_stack([corrupt(truth, matrix, rng) for matrix in matrices])


def quick(**settings: Any) -> RepeatedLabels:
    return RepeatedLabels(**{"n_bootstrap": 0, "random_state": 0, **settings})


def perceiving(n_items: int, n_raters: int, seed: int) -> tuple[tuple[Ints, Ints, Ints, Ints], dict[str, Floats]]:
    """Five ratings per item by raters with own cuts, noise and chance of guessing, the truth, and what they are."""
    rng = np.random.default_rng(seed)
    score, cuts = rng.normal(size=n_items), np.array([-0.9, -0.1, 0.8])
    severity, sigma = rng.normal(scale=0.3, size=n_raters), rng.uniform(0.3, 0.9, n_raters)
    severity -= severity.mean()  # the scale is that of the typical rater
    guessing = np.where(np.arange(n_raters) == 3, 0.6, 0.05)
    items = np.repeat(np.arange(n_items), 5)
    raters = np.argsort(rng.random((n_items, n_raters)), axis=1)[:, :5].ravel()
    seen = score[items] + sigma[raters] * rng.normal(size=len(items)) - severity[raters]
    labels = (seen[:, None] > cuts).sum(axis=1)
    labels = np.where(rng.random(len(items)) < guessing[raters], rng.integers(4, size=len(items)), labels)
    truth = (score[:, None] > cuts).sum(axis=1)
    return (items, raters, labels, truth), {"severity": severity, "sigma": sigma, "guessing": guessing}


def ratings_of(table: Ints) -> Ratings:
    items, raters, labels = from_wide(table)
    return Ratings(items, raters, labels, (*table.shape, len(PRIOR)))


def perceived_panel(n_items: int, groups: tuple[tuple[int, float], ...], seed: int, shared: float = 0.0) -> Any:
    """Truth and grades of groups of (number, sigma), all of everything; each group may have an error of its own."""
    rng = np.random.default_rng(seed)
    score, cuts = rng.normal(size=n_items), np.array([-0.8, 0.0, 0.8])
    columns = []
    for number, sigma in groups:
        seen = score + shared * rng.normal(size=n_items)
        columns += [seen + sigma * rng.normal(size=n_items) for _ in range(number)]
    grades = (np.column_stack(columns)[:, :, None] > cuts).sum(axis=2)
    return (score[:, None] > cuts).sum(axis=1), grades


def with_copies(grades: Ints, n_copies: int, slips: float, seed: int) -> Ints:
    """The table with copies of its last column, each of which guesses a share of the grades."""
    rng = np.random.default_rng(seed)
    shape = (len(grades), n_copies)
    copies = np.where(rng.random(shape) < slips, rng.integers(4, size=shape), grades[:, -1:])
    return np.column_stack([grades, copies])
