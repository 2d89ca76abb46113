"""Trials without work that log which process ran them; as a program, a run that tests may kill."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordinoise.jobs import ResultStore, executor, run_plan, write_table


@dataclass(frozen=True)
class Toy:
    """A number to work on; leaves a line in the folder of `log` for every time it is run."""

    number: int
    log: str = ""
    pause: float = 0.0
    rates: tuple[float, ...] = (0.1, 0.3)

    @property
    def cost(self) -> float:
        return 1.0


def toy(trial: Toy) -> dict[str, Any]:
    if trial.log:
        with (Path(trial.log) / f"{trial.number}").open("a") as file:
            file.write(f"{os.getpid()}\n")
    time.sleep(trial.pause)
    return {"third": trial.number / 3, "root": trial.number**0.5, "even": trial.number % 2 == 0}


def deadly(trial: Toy) -> dict[str, Any]:
    """Takes its process along at the fourth number."""
    if trial.number == 3:
        os._exit(1)
    return toy(trial)


def n_runs(log: Path) -> int:
    """How many times trials were begun."""
    return sum(len(file.read_text().splitlines()) for file in log.iterdir())


def toys(n: int, log: Path | str = "", pause: float = 0.0) -> list[Toy]:
    return [Toy(number, str(log), pause) for number in range(n)]


if __name__ == "__main__":
    store_path, table_path, log, n_trials, pause = sys.argv[1:]
    with ResultStore(store_path) as store, executor(2) as pool:
        outcome = run_plan(toys(int(n_trials), log, float(pause)), toy, store, pool)
    write_table(outcome.results, table_path)
