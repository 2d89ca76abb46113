"""One trial of the study: a table of a world, through all stages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from studies.truth import tables
from studies.truth.stages import measured
from studies.truth.worlds import WORLDS, World, people


@dataclass(frozen=True)
class Trial:
    """One table of a world."""

    world: str
    rows: int
    number: int

    @property
    def cost(self) -> float:
        """Rough relative time."""
        return 1 + self.rows / 2000


def run(trial: Trial, folder: Path, data_dir: Path | None, package: str) -> dict[str, Any]:
    world = next(one for one in every(data_dir) if one.name == trial.world)
    with threadpool_limits(1):
        made = tables.table(world, trial.rows, trial.number, folder)
        rng = tables.seeded(world, trial.rows, trial.number + 1000)
        return {"package": package, **measured(made, rng)}


def every(data_dir: Path | None) -> tuple[World, ...]:
    return WORLDS if data_dir is None else (*WORLDS, *people(data_dir))
