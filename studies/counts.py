"""How many labels are wrong, at a hundred thousand rows: does the interval of the count hold, or is a doubt raised?

Grades overlap by a logistic or normal error, or by one that grows with a column; labels are clean, or wrong by inverse
decay, at one rate or one per class. The chances of the recorded labels are exact, so what fails here is the estimate of
the noise and not a learner.

    python -m studies.counts --runs 40
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

from ordinoise import corrupt, inverse_decay
from ordinoise._validation import Floats
from ordinoise.audit import issues_from_probabilities
from ordinoise.classifiers.blend.evidence import with_first_answer
from ordinoise.estimation.score.estimator import noise_from_probabilities
from studies.harm import CLASS_RATES, N_FEATURES, linear

N_CLASSES = 5
Overlap = Callable[[Floats], Any]
OVERLAPS: dict[str, Overlap] = {
    "logistic": lambda _: stats.logistic(scale=0.5),
    "normal": lambda _: stats.norm(scale=1.0),
    "heteroscedastic": lambda features: stats.logistic(scale=0.15 * np.exp(1.5 * features[:, 3:4])),
}
MATRICES: dict[str, Floats] = {
    "clean": np.eye(N_CLASSES),
    "inverse decay .15": inverse_decay(N_CLASSES, 0.15),
    "by class": inverse_decay(N_CLASSES, CLASS_RATES),
}


def run(overlap: str, recording: str, n_rows: int, seed: int) -> tuple[float, float, float, bool]:
    """The number of wrong labels, the ends of its interval or range, and whether a doubt was raised."""
    rng = np.random.default_rng([seed, *map(ord, overlap + recording)])
    features = rng.uniform(-1, 1, size=(n_rows, N_FEATURES))
    scores, error = linear(features)[:, None], OVERLAPS[overlap](features)
    positions = (scores + error.rvs((n_rows, 1), random_state=rng))[:, 0]
    cuts = np.quantile(positions, np.arange(1, N_CLASSES) / N_CLASSES)
    true, matrix = np.digitize(positions, cuts), MATRICES[recording]
    ends = np.hstack([np.zeros((n_rows, 1)), error.cdf(cuts - scores), np.ones((n_rows, 1))])
    chances = np.diff(ends, axis=1) @ matrix
    recorded = corrupt(true, matrix, rng)
    noise = with_first_answer(noise_from_probabilities(chances, recorded, features=features, random_state=seed))
    count = issues_from_probabilities(chances, recorded, noise, of="recorded", classes=range(N_CLASSES)).expected_wrong
    assert count is not None
    return float((recorded != true).sum()), count.low, count.high, noise.is_in_doubt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    settings = list(product(OVERLAPS, MATRICES))
    found: dict[tuple[str, str], list[tuple[float, float, float, bool]]] = {}
    console = Console()
    for number in range(options.runs):
        setting = settings[number % len(settings)]
        one = run(*setting, options.rows, options.first_seed + number // len(settings))
        found.setdefault(setting, []).append(one)
        console.print(", ".join(setting), *(f"{value:.0f}" for value in one[:3]), "in doubt" if one[3] else "")
    table = Table(title=f"Wrong labels among {options.rows:,}, {options.runs} runs")
    for column in ("overlap, recording", "wrong", "low", "high", "in doubt", "holds"):
        table.add_column(column, justify="left" if column.startswith("overlap") else "right")
    for setting, runs in found.items():
        means = (f"{np.mean([one[at] for one in runs]):,.0f}" for at in range(3))
        doubted, held = np.mean([one[3] for one in runs]), np.mean([_holds(one) for one in runs])
        table.add_row(", ".join(setting), *means, f"{doubted:.0%}", f"{held:.0%}")
    console.print(table)
    every = [one for runs in found.values() for one in runs]
    good = np.mean([_holds(one) or one[3] for one in every])
    console.print(f"the number lies between the ends, or a doubt is raised: {good:.0%} of {len(every)} runs")


def _holds(one: tuple[float, float, float, bool]) -> bool:
    return one[1] - 0.5 <= one[0] <= one[2] + 0.5


if __name__ == "__main__":
    main()
