"""Tables whose true grades are known: how grades overlap, and how they are recorded, in many ways.

Five grades are cut from a score of six columns plus an error. *Clean* worlds have right labels and errors of many
shapes; in *noisy* ones a share of the labels is wrong; *adverse* ones hide wrong labels as well as can be. *People* are
sets with one rating per item, whose truth is what all raters said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ordinoise import adjacent, corrupt, inverse_decay
from ordinoise._validation import Floats, Ints
from ordinoise.noise.items import in_region, perceived
from studies import harm, real
from studies.harm import linear

N_CLASSES = 5
SPREAD, WIDE = 0.25, 1.0
"""Scale of the error of the score, whose own standard deviation is 1.9."""
BRANCH_SLIPS = np.array([0.01, 0.05, 0.1, 0.16])
"""Share of slips by one grade in each branch: 8 % on average."""


@dataclass(frozen=True, eq=False)
class Made:
    """A table: features, true and recorded grades, from 0."""

    features: Floats
    true: Ints
    recorded: Ints


@dataclass(frozen=True)
class World:
    """How grades overlap and how they are recorded.

    `kind` is "clean", "noisy", "adverse" or "people". `floor_holds` is False where overlap has a cause that no column
    shows: such rows look like far errors. `ceiling_holds` is False where a wrong rule is learned as right, and where a
    grade is recorded as another one more often than as itself.
    """

    name: str
    kind: str
    make: Callable[[int, np.random.Generator], Made]
    floor_holds: bool = True
    ceiling_holds: bool = True


def logistic(features: Floats, rng: np.random.Generator, spread: float = SPREAD) -> Floats:
    return linear(features) + spread * rng.logistic(size=len(features))


def student(features: Floats, rng: np.random.Generator, degrees: float) -> Floats:
    return linear(features) + SPREAD * rng.standard_t(degrees, size=len(features))


def mixture(features: Floats, rng: np.random.Generator) -> Floats:
    """A tenth of the rows has four times the spread; no column says which."""
    spread = np.where(rng.random(len(features)) < 0.1, 4 * SPREAD, SPREAD)
    return linear(features) + spread * rng.logistic(size=len(features))


def sharp(features: Floats, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return linear(features)


def hidden_cause(features: Floats, rng: np.random.Generator) -> Floats:
    """Eight rows in a hundred are moved by two and a half units, for a reason that no column shows."""
    moved = np.where(rng.random(len(features)) < 0.08, rng.choice([-2.5, 2.5], size=len(features)), 0.0)
    return logistic(features, rng) + moved


def branch_of(features: Floats) -> Ints:
    return np.digitize(features[:, 4], [-0.5, 0.0, 0.5])


def in_branches(world: harm.World, rng: np.random.Generator) -> Ints:
    """Slips by one grade, the more the later the branch; and two rows in a hundred three grades off."""
    up = np.where(rng.random(len(world.labels)) < 0.5, 1, -1)
    slipped = np.where(rng.random(len(up)) < BRANCH_SLIPS[branch_of(world.features)], up, 0)
    moved = np.where(rng.random(len(up)) < 0.02, 3 * up, slipped)
    top = N_CLASSES - 1
    there = world.labels + moved
    return np.where((there < 0) | (there > top), np.clip(world.labels - moved, 0, top), there)


def far(world: harm.World, rng: np.random.Generator) -> Ints:
    """Four in a hundred are recorded two grades off or more."""
    grades = np.arange(N_CLASSES)
    apart = np.abs(grades[:, None] - grades) >= 2
    return corrupt(world.labels, 0.96 * np.eye(N_CLASSES) + 0.04 * apart / apart.sum(axis=1, keepdims=True), rng)


def uniform(rate: float) -> Floats:
    off = 1 - np.eye(N_CLASSES)
    return (1 - rate) * np.eye(N_CLASSES) + rate * off / (N_CLASSES - 1)


def careless(world: harm.World, rng: np.random.Generator) -> Ints:
    """Where a column is high, half of the grades are drawn blindly."""
    return corrupt(world.labels, in_region(world.features[:, 4] > 0.78, uniform(0.5)), rng)


def by_matrix(noise_matrix: Floats) -> harm.Recording:
    return lambda world, rng: corrupt(world.labels, noise_matrix, rng)


def by_region(share: float, noise_matrix: Floats) -> harm.Recording:
    """The matrix where a column is in its upper `share`, and no error elsewhere."""
    return lambda world, rng: corrupt(world.labels, in_region(world.features[:, 4] > 1 - 2 * share, noise_matrix), rng)


def perceived_by(spread: float) -> harm.Recording:
    return lambda world, rng: corrupt(world.labels, perceived(world.positions, world.cuts, spread), rng)


def made(overlap: harm.Overlap, recording: harm.Recording, n_rows: int, rng: np.random.Generator) -> Made:
    features = rng.uniform(-1, 1, size=(n_rows, harm.N_FEATURES))
    positions = overlap(features, rng)
    cuts = np.quantile(positions, np.arange(1, N_CLASSES) / N_CLASSES)
    true = harm.World(features, positions, cuts, np.digitize(positions, cuts))
    return Made(features, true.labels, recording(true, rng))


def of_people(name: str, data_dir: Path, n_rows: int, rng: np.random.Generator) -> Made:
    """Rows of a set with one rating each, as many as there are at most."""
    table = real.problem(data_dir, name, int(rng.integers(2**31)))
    some = rng.permutation(len(table.true))[:n_rows]
    return Made(table.features[some], table.true[some], table.recorded[some])


def _world(kind: str, name: str, overlap: harm.Overlap, recording: harm.Recording, **holds: bool) -> World:
    return World(name, kind, partial(made, overlap, recording), **holds)


TOO_LOW = adjacent(N_CLASSES, up=0.0, down=1.0)
WORLDS = (
    _world("clean", "logistic", logistic, harm.clean),
    _world("clean", "heteroscedastic", harm.heteroscedastic, harm.clean),
    _world("clean", "t3", partial(student, degrees=3), harm.clean),
    _world("clean", "t2", partial(student, degrees=2), harm.clean),
    _world("clean", "mixture", mixture, harm.clean),
    _world("clean", "wide", partial(logistic, spread=WIDE), harm.clean),
    _world("clean", "hidden cause", hidden_cause, harm.clean, floor_holds=False),
    _world("noisy", "branches", logistic, in_branches),
    _world("noisy", "t3 branches", partial(student, degrees=3), in_branches),
    _world("noisy", "wide branches", partial(logistic, spread=WIDE), in_branches),
    _world("noisy", "inverse decay .08", logistic, by_matrix(inverse_decay(N_CLASSES, 0.08))),
    _world("noisy", "inverse decay .2", logistic, by_matrix(inverse_decay(N_CLASSES, 0.2))),
    _world("noisy", "one-sided", logistic, by_matrix(adjacent(N_CLASSES, up=0.16, down=0.0))),
    _world("noisy", "perceived", logistic, perceived_by(0.3)),
    _world("noisy", "far", logistic, far),
    _world("noisy", "rare", logistic, by_matrix(uniform(0.02))),
    _world("noisy", "rare slips", logistic, by_matrix(adjacent(N_CLASSES, up=0.03, down=0.03))),
    _world("noisy", "careless", logistic, careless),
    _world("adverse", "systematic", logistic, by_region(0.1, TOO_LOW)),
    _world("adverse", "sharp decay", sharp, by_matrix(inverse_decay(N_CLASSES, 0.125))),
    _world("adverse", "sharp perceived", sharp, perceived_by(0.3)),
    _world("adverse", "region low", sharp, by_region(0.3, TOO_LOW), ceiling_holds=False),
)


def people(data_dir: Path) -> tuple[World, ...]:
    """Ratings that people gave, as worlds."""
    return tuple(
        World(name, "people", partial(of_people, name, data_dir), ceiling_holds=name != "lidc_malignancy")
        for name in real.SETS
    )
