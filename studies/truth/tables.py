"""Tables with out-of-fold probabilities: fitted once and stored, as all samples of a review are drawn from these."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from ordinoise import OrdinalClassifier
from ordinoise._files import write_whole
from ordinoise._validation import Floats, Ints
from studies.truth.worlds import N_CLASSES, World

FIRST_SEED = 40_000
"""Tables of other studies have smaller seeds."""


@dataclass(frozen=True, eq=False)
class Table:
    """Out-of-fold probabilities of the recorded grade, recorded and true grades."""

    probabilities: Floats
    recorded: Ints
    true: Ints


def seeded(world: World, n_rows: int, number: int) -> np.random.Generator:
    """Random numbers of a table: another stream for each world, size and number."""
    return np.random.default_rng([FIRST_SEED + number, n_rows, *map(ord, world.name)])


def table(world: World, n_rows: int, number: int, folder: Path) -> Table:
    """The table with this number; fitted if the folder does not hold it."""
    path = folder / f"{world.name.replace(' ', '-')}-{n_rows}-{number}.npz"
    if not path.exists():
        rng = seeded(world, n_rows, number)
        rows = world.make(n_rows, rng)
        model = OrdinalClassifier(
            "mlp", answer="trusting", classes=range(N_CLASSES), n_jobs=1, random_state=int(rng.integers(2**31))
        )
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            model.fit(rows.features, rows.recorded)
        assert model.out_of_fold_ is not None
        _store(path, np.asarray(model.out_of_fold_, dtype=np.float32), rows.recorded, rows.true)
    with np.load(path) as stored:
        chances = stored["probabilities"].astype(np.float64)
        return Table(chances / chances.sum(axis=1, keepdims=True), stored["recorded"], stored["true"])


def _store(path: Path, probabilities: Floats, recorded: Ints, true: Ints) -> None:
    """The file as a whole or not at all: a study that was stopped goes on."""
    import io

    content = io.BytesIO()
    np.savez_compressed(content, probabilities=probabilities, recorded=recorded, true=true)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content.getvalue())
