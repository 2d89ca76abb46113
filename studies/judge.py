"""Coverage and width of the intervals of `ordinoise.scoring.judge`, beside human grades alone, PPI and PPI++.

``python -m studies.judge [PART ...] [--repeats 400] [--seed 100] [--data-dir DIR]``, parts simulated, split, lean and
web. The rivals are those of the package ppi-python. Constants were settled on seeds 0, 1, 301 and 302.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from ppi_py import classical_mean_ci, ppi_mean_ci
from rich.console import Console
from rich.table import Table

from ordinoise.datasets import web_search
from ordinoise.noise import corrupt
from ordinoise.scoring import judge
from ordinoise.scoring.judges.estimate import Counts, estimated_means, intervals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
METHODS = ("judge", "human alone", "PPI", "PPI++")
N_JUDGED = 1000


@dataclass(frozen=True)
class Scenario:
    """A population of human grades in each system, and the matrix of its judge."""

    shares: Floats
    matrices: Floats

    @property
    def n_classes(self) -> int:
        """Number of grades."""
        return self.shares.shape[1]

    def draw(self, n_judged: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
        """System, judge grade and human grade of `n_judged` rows per system."""
        parts = []
        for system, (shares, matrix) in enumerate(zip(self.shares, self.matrices, strict=True)):
            human = rng.choice(self.n_classes, n_judged, p=shares)
            parts.append((np.full(n_judged, system), corrupt(human, matrix, random_state=rng), human))
        system, judged, human = (np.concatenate(one) for one in zip(*parts, strict=True))
        return system, judged, human


def scenarios(n_classes: int, n_systems: int) -> Iterator[tuple[str, Scenario]]:
    """Usual, skewed, skewed with a nearly perfect judge, and flat with a poor judge who leans to the last system."""
    ranks = np.arange(n_classes)
    skewed = np.exp(1.3 * ranks * (1 if n_classes > 2 else 2.2))
    usual = np.exp(-0.5 * (ranks - (n_classes - 1) / 2) ** 2)
    for name, weights, right, lean in (
        ("usual", usual, 0.75, 0.0), ("skewed", skewed, 0.75, 0.0), ("skewed, good judge", skewed, 0.95, 0.0),
        ("flat, poor judge who leans", np.ones(n_classes), 0.5, 0.4),
    ):  # fmt: skip
        shares = np.stack([weights * np.exp(0.2 * system * ranks) for system in range(n_systems)])
        matrices = np.stack([judge_matrix(n_classes, right, lean * (s == n_systems - 1)) for s in range(n_systems)])
        yield name, Scenario(shares / shares.sum(axis=1, keepdims=True), matrices)


def judge_matrix(n_classes: int, right: float, lean: float = 0.0) -> Floats:
    """Errors that fall off with distance; a share `lean` of the grades is one too high."""
    ranks = np.arange(n_classes)
    errors = np.exp(-1.2 * np.abs(ranks[:, None] - ranks))
    np.fill_diagonal(errors, 0)
    matrix = errors / errors.sum(axis=1, keepdims=True) * (1 - right) + right * np.eye(n_classes)
    above = np.eye(n_classes)[np.minimum(ranks + 1, n_classes - 1)]
    return np.asarray((1 - lean) * matrix + lean * matrix @ above)


def queried(ranks: Ints, n_classes: int) -> Floats:
    """Rank, and whether it is at least the upper half of the scale."""
    return np.column_stack([ranks, ranks >= (n_classes + 1) // 2]).astype(np.float64)


def all_ends(system: Ints, judged: Ints, human: Ints, graded: Ints, n_classes: int) -> Floats:
    """Ends of every method, shape (n_methods, 2, n_systems, 2): mean and share."""
    n_systems = int(system.max()) + 1
    cell = system * n_classes + judged
    counts = Counts(np.bincount(cell, minlength=n_systems * n_classes).reshape(n_systems, -1) * 1.0, cell[graded])
    truth, guess = queried(human, n_classes), queried(judged, n_classes)
    low, high, step = np.zeros(2), np.array([n_classes - 1.0, 1.0]), np.ones(2)
    ours = intervals(estimated_means(counts, truth[graded]), counts.n_graded, low, high, step, 0.95)
    rest = np.setdiff1d(np.arange(len(system)), graded)
    rivals = np.zeros((3, 2, n_systems, 2))
    for one in range(n_systems):
        known, others = graded[system[graded] == one], rest[system[rest] == one]
        for value in range(2):
            three = (truth[known, value], guess[known, value], guess[others, value])
            rivals[0, :, one, value] = np.ravel(classical_mean_ci(three[0], alpha=0.05))
            rivals[1, :, one, value] = np.ravel(ppi_mean_ci(*three, alpha=0.05, lam=1))
            rivals[2, :, one, value] = np.ravel(ppi_mean_ci(*three, alpha=0.05))
    return np.concatenate([ours[None], rivals])


Draw = Callable[[np.random.Generator], tuple[Ints, Ints, Ints]]


def measured(
    draw: Draw, truth: Floats, n_classes: int, n_graded: int, repeats: int, seed: int
) -> tuple[Floats, Floats]:
    """Coverage and mean width of every method, shape (n_methods, 2) each: of the mean and of the share."""
    covered, widths = [], []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        system, judged, human = draw(rng)
        graded = rng.permutation(len(system))[:n_graded]
        ends = all_ends(system, judged, human, graded, n_classes)
        covered.append((ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1]))
        widths.append(ends[:, 1] - ends[:, 0])
    return np.mean(covered, axis=(0, 2)), np.mean(widths, axis=(0, 2))


def simulated(console: Console, options: argparse.Namespace, n_systems: int = 1) -> None:
    """K = 2, 3, 5 and 50, 100, 500 human grades, four scenarios each."""
    where = "one system" if n_systems == 1 else f"{n_systems} systems that share the human grades"
    rows = {}
    for n_classes in (2, 3, 5):
        for n_graded in (50, 100, 500):
            found = []
            for _, scenario in scenarios(n_classes, n_systems):
                ranks = np.arange(n_classes)
                truth = scenario.shares @ queried(ranks, n_classes)
                draw = partial(scenario.draw, N_JUDGED)
                found.append(measured(draw, truth, n_classes, n_graded, options.repeats, options.seed))
            rows[f"K = {n_classes}, {n_graded} human grades"] = found
    print_results(console, f"Four scenarios, {N_JUDGED} judged rows per system, {where}", rows)


def split(console: Console, options: argparse.Namespace) -> None:
    """The same with three systems: a third of the human grades each."""
    simulated(console, options, n_systems=3)


def web(console: Console, options: argparse.Namespace) -> None:
    """Ten workers of the web search study as judges, gold grades as people; odd and even items as systems."""
    data = web_search(options.data_dir)
    assert data.truth is not None
    has_gold = data.truth[data.items] >= 0
    busiest = np.bincount(data.raters[has_gold]).argsort()[::-1][:10]
    rows = {}
    for n_graded in (50, 100, 500):
        found = []
        for worker in busiest:
            mine = np.flatnonzero((data.raters == worker) & has_gold)
            system, judged, human = data.items[mine] % 2, data.labels[mine], data.truth[data.items[mine]]

            def draw(
                rng: np.random.Generator, system: Ints = system, judged: Ints = judged, human: Ints = human
            ) -> tuple[Ints, Ints, Ints]:
                rows = rng.integers(len(system), size=2 * N_JUDGED)
                return system[rows], judged[rows], human[rows]

            truth = np.stack([queried(human[system == one], 5).mean(axis=0) for one in range(2)])
            found.append(measured(draw, truth, 5, n_graded, options.repeats // 4, options.seed))
        rows[f"{n_graded} human grades"] = found
    print_results(console, "Web search, ten workers as judges, two artificial systems", rows)


def lean(console: Console, options: argparse.Namespace) -> None:
    """How often the evidence says that the judge leans to one of three systems."""
    table = Table(title="Three systems, K = 5: probability that one matrix serves all")
    for name in (
        "share of one system graded one too high",
        "human grades",
        "median",
        "below .5",
        "below .1",
        "above .9",
    ):
        table.add_column(name, justify="right")
    for share in (0.0, 0.25, 0.5, 0.8):
        for n_graded in (75, 150, 450):
            found = np.array([_one_matrix(share, n_graded, [options.seed, repeat]) for repeat in range(40)])
            cells = (np.median(found), (found < 0.5).mean(), (found < 0.1).mean(), (found > 0.9).mean())
            table.add_row(f"{share:.0%}", str(n_graded), *(f"{cell:.2f}" for cell in cells))
    console.print(table)


def _one_matrix(share: float, n_graded: int, seed: list[int]) -> float:
    rng = np.random.default_rng(seed)
    matrices = np.stack([judge_matrix(5, 0.7), judge_matrix(5, 0.7), judge_matrix(5, 0.7, share)])
    system, judged, human = Scenario(np.full((3, 5), 0.2), matrices).draw(500, rng)
    people = np.full(len(human), np.nan)
    graded = rng.permutation(len(human))[:n_graded]
    people[graded] = human[graded]
    return judge(judged, people, system, random_state=0).one_matrix


def print_results(console: Console, title: str, found: dict[str, list[tuple[Floats, Floats]]]) -> None:
    """Coverage of every method, mean and lowest of the scenarios, and mean width: of the mean and of the share."""
    for value, name in enumerate(("mean grade", "share of the upper half of the scale")):
        table = Table("", title=f"{title}: {name}. Coverage (lowest scenario), mean width")
        for method in METHODS:
            table.add_column(method, justify="right")
        for row, parts in found.items():
            covered, widths = (np.stack(part)[:, :, value] for part in zip(*parts, strict=True))
            summary = zip(covered.mean(axis=0), covered.min(axis=0), widths.mean(axis=0), strict=True)
            table.add_row(row, *(f"{mean:.3f} ({least:.2f}) {width:.3f}" for mean, least, width in summary))
        console.print(table)


PARTS = {"simulated": simulated, "split": split, "lean": lean, "web": web}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts:
        PARTS[part](Console(width=140), options)


if __name__ == "__main__":
    main()
