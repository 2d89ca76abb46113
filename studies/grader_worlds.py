"""Simulated tables with one grade per row, given by graders who differ: shifts, spreads and wrong grades are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import logistic, norm

from ordinoise._validation import Floats, Ints

N_COLUMNS, OVERLAP = 6, 0.8  # the scale of a logistic error of standard deviation 1.45
SHARES = (0.12, 0.23, 0.3, 0.23, 0.12)
"""Shares of the true grades, repeated where there are more."""


STEMS, ENDS = ("bar", "mol", "tin", "ver", "gos", "lup"), ("a", "e", "i", "o", "u", "y", "en")


@dataclass(frozen=True)
class World:
    """How graders differ, and how rows were given out.

    Attributes
    ----------
    sizes : tuple of int
        Rows of each grader; empty for fifty with 10 to 2000 rows, as many of each order.
    shift, scatter, unequal : float
        Standard deviation of the shifts on the latent scale, the median of the scatter, and how unequal it is.
    signal : float
        Standard deviation of what the columns say of the latent quality; 1.5, or .45 where they say little.
    feature, difficulty, hidden : float
        Correlation of the order in which rows were given out with the columns, with the latent quality, and with what
        no column shows of it.
    aligned : float
        Correlation of the order of the graders with their shifts.
    n_classes : int
    """

    sizes: tuple[int, ...] = ()
    shift: float = 0.5
    scatter: float = 0.7
    unequal: float = 0.3
    signal: float = 1.5
    feature: float = 0.0
    difficulty: float = 0.0
    hidden: float = 0.0
    aligned: float = 0.0
    n_classes: int = 5


@dataclass(frozen=True)
class Drawn:
    """A table of a world: columns, records, graders, their true shifts in grades, the share of wrong grades."""

    columns: Any
    ranks: Ints
    who: Ints
    truth: Floats
    wrong: float


def drawn(world: World, seed: int) -> Drawn:
    """One table of a world."""
    rng = np.random.default_rng(seed)
    sizes = np.array(world.sizes or rng.permutation(np.geomspace(10, 2000, 50).astype(int)))
    n, n_graders = int(sizes.sum()), len(sizes)
    columns, signal = rng.normal(size=(n, N_COLUMNS)), np.zeros(n)
    for weight, column in zip((1.0, 0.7, 0.5, 0.4), columns.T, strict=False):
        signal += weight * column
    signal += 0.6 * np.sin(2 * columns[:, 4]) + 0.4 * columns[:, 0] * columns[:, 5]
    signal *= world.signal / signal.std()
    error = logistic(scale=OVERLAP).rvs(n, random_state=rng)
    latent = signal + error
    shares = np.resize(SHARES, world.n_classes)
    cuts = np.quantile(latent, shares.cumsum()[:-1] / shares.sum())
    shift = world.shift * rng.normal(size=n_graders)
    scatter = world.scatter * np.exp(world.unequal * rng.normal(size=n_graders))
    place = world.aligned * norm.ppf((np.argsort(np.argsort(shift)) + 0.5) / n_graders)
    place = place + np.sqrt(1 - world.aligned**2) * rng.normal(size=n_graders)
    who = _given_out(world, signal, latent, error, sizes, np.argsort(place), rng)
    ranks = np.digitize(latent + shift[who] + scatter[who] * rng.normal(size=n), cuts)
    at_or_above = [norm.cdf((latent[:, None] + shift[g] - cuts) / scatter[g]) for g in range(n_graders)]
    means = np.array([each.sum(axis=1).mean() for each in at_or_above])
    share = sizes / n
    truth = means - (share @ means - share * means) / (1 - share)
    return Drawn(columns, ranks, who, truth, float((ranks != np.digitize(latent, cuts)).mean()))


def _given_out(
    world: World, signal: Floats, latent: Floats, error: Floats, sizes: Ints, order: Ints, rng: np.random.Generator
) -> Ints:
    """Who graded each row: rows sorted by a key of the wanted correlations go to the graders in order."""
    parts = ((world.feature, signal), (world.difficulty, latent), (world.hidden, error))
    rest = max(0.0, 1 - sum(weight**2 for weight, _ in parts))
    key = np.sqrt(rest) * rng.normal(size=len(signal))
    for weight, column in parts:
        key += weight * (column - column.mean()) / column.std()
    who = np.empty(len(signal), dtype=np.int64)
    who[np.argsort(key)] = np.repeat(order, sizes[order])
    return who


def in_words(table: Drawn) -> Drawn:
    """The table with each column told by one of seven words in a text."""
    steps = np.digitize(table.columns, (-1.5, -0.9, -0.3, 0.3, 0.9, 1.5))
    names = np.array([[f"{stem}{end}" for end in ENDS] for stem in STEMS])
    words = np.stack([names[at][steps[:, at]] for at in range(N_COLUMNS)], axis=1)
    texts = [" ".join(("the", *row, "was seen there")) for row in words.tolist()]
    return replace(table, columns=pd.DataFrame({"text": texts}))
