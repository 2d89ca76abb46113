"""Microseconds per update: the compiled learner compared with an ordinary PyTorch loop and with the paper's style.

python -m studies.steps             # microseconds per update, and the cost of robust training
python -m studies.steps --memory    # peak memory of fitting 1.2 million x 136 rows
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from ordinoise.learners.mlp import Architecture, Objective, Optimizer, initial_network, train
from ordinoise.levels import level_table

if TYPE_CHECKING:
    from torch import nn

# Features, hidden units and batch size, from the paper's smallest network to large ones; chosen by no run.
SHAPES = [
    (8, 10, 16), (8, 64, 16), (21, 64, 64), (136, 64, 64), (136, 256, 256), (136, 256, 1024), (1024, 1024, 256),
    (1024, 1024, 1024),
]  # fmt: skip
# Speed ratios to reach, one per shape: aims, chosen by no run. Wide layers depend on the BLAS library (decision 0026).
WANTED = [200, 200, 10, 1.2, 1.2, 1.2, 1, 1]
WANTED_PAPER = [200, 200, 10, 1.2, 1.2, 1.2, 1, 1]
REPEATS, REPEATS_OF_COSTS = 9, 21  # chosen by no run
N_CLASSES = 5
MEMORY_ROWS, MEMORY_FEATURES = 1_200_000, 136  # the size of MSLR-WEB10K
ALLOWED_MEMORY = 2.2  # times the size of the data; how it was chosen is not recorded

# An asymmetric matrix; only time is measured, so its entries do not matter.
NOISE = np.array(
    [
        [0.7, 0.2, 0.1, 0, 0],
        [0.1, 0.75, 0.1, 0.05, 0],
        [0, 0.15, 0.7, 0.1, 0.05],
        [0, 0, 0.2, 0.7, 0.1],
        [0, 0, 0.1, 0.3, 0.6],
    ]
)
LEVELS = level_table(N_CLASSES)

Features = NDArray[np.float32]
Labels = NDArray[np.int64]
Run = Callable[[int], None]


@dataclass(frozen=True)
class Shape:
    """Sizes of one measurement."""

    n_features: int
    n_hidden: int
    n_batch: int

    def data(self) -> tuple[Features, Labels]:
        """Random features and independent labels, since only time is measured."""
        rng = np.random.default_rng(0)
        n_samples = max(64 * self.n_batch, 4096)
        features = rng.normal(size=(n_samples, self.n_features)).astype(np.float32)
        return features, rng.integers(0, N_CLASSES, n_samples)

    def n_updates(self, microseconds: float) -> int:
        """Number of updates that take about 100 ms, but at least those of one epoch: a fit has many."""
        return max(int(1e5 / microseconds), 64)


def compiled(shape: Shape, objective: Objective) -> Run:
    """The compiled learner, called as by the classifier."""
    features, labels = shape.data()
    architecture = Architecture(shape.n_features, N_CLASSES, (shape.n_hidden,))
    network = initial_network(architecture, np.random.default_rng(0))
    optimizer = Optimizer(batch_size=shape.n_batch)

    def run(n_updates: int) -> None:
        n_rows = min(n_updates * shape.n_batch, len(labels))
        n_epochs = max(n_updates * shape.n_batch // n_rows, 1)
        rng = np.random.default_rng(0)
        train(network, features, labels, objective, optimizer, max_epochs=n_epochs, rng=rng, rows=np.arange(n_rows))

    return run


def ordinary_loop(shape: Shape) -> Run:
    """An efficient PyTorch loop: no DataLoader, batches as slices, fused AdamW."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    features, labels = (torch.from_numpy(array) for array in shape.data())
    levels = torch.from_numpy(LEVELS.astype(np.float32))
    score, thresholds = _torch_network(shape)
    adamw = torch.optim.AdamW([*score.parameters(), thresholds], lr=1e-3, fused=True)
    n_batches = len(labels) // shape.n_batch

    def run(n_updates: int) -> None:
        for update in range(n_updates):
            rows = slice(update % n_batches * shape.n_batch, (update % n_batches + 1) * shape.n_batch)
            logits = score(features[rows]) + thresholds
            loss = binary_cross_entropy_with_logits(logits, levels[labels[rows]], reduction="sum") / shape.n_batch
            adamw.zero_grad(set_to_none=True)
            loss.backward()
            adamw.step()

    return run


def paper_style(shape: Shape) -> Run:
    """The paper's style: a DataLoader, default AdamW, the loss as printed."""
    import torch

    from ordinoise.learners.torch.paper_loop import paper_style_loop

    torch.set_num_threads(1)
    features, labels = (torch.from_numpy(array) for array in shape.data())
    return paper_style_loop(
        features, labels, torch.from_numpy(LEVELS.astype(np.float32)), shape.n_hidden, shape.n_batch
    )


def microseconds(runs: dict[str, Run], shape: Shape, repeats: int = REPEATS) -> dict[str, float]:
    """Median processor time per update of every contestant; they take turns, since the machine's speed varies."""
    counts = {}
    for name, run in runs.items():
        run(8)
        begin = time.process_time()
        run(32)
        rough = (time.process_time() - begin) / 32 * 1e6
        counts[name] = shape.n_updates(rough)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            n_updates = _whole_epochs(counts[name], shape) if name not in TORCH else counts[name]
            begin = time.process_time()
            run(n_updates)
            times[name].append((time.process_time() - begin) / n_updates * 1e6)
    return {name: median(values) for name, values in times.items()}


TORCH = ("ordinary loop", "paper's style")


def _whole_epochs(n_updates: int, shape: Shape) -> int:
    n_batches = len(shape.data()[1]) // shape.n_batch
    return n_updates if n_updates < n_batches else n_updates // n_batches * n_batches


def _torch_network(shape: Shape) -> tuple[nn.Module, nn.Parameter]:
    import torch

    torch.set_num_threads(1)
    hidden = torch.nn.Linear(shape.n_features, shape.n_hidden)
    score = torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(shape.n_hidden, 1, bias=False))
    return score, torch.nn.Parameter(torch.zeros(N_CLASSES - 1))


def speeds(console: Console) -> None:
    """Print the table of speeds."""
    table = Table(title=f"microseconds of processor time per update, one thread, K = {N_CLASSES}, cross-entropy")
    for column in ("features, hidden, batch", "compiled", *TORCH, "times the loop", "times the paper's"):
        table.add_column(column, justify="right")
    objective = Objective("cross_entropy", LEVELS[np.newaxis])
    for sizes, wanted, wanted_paper in zip(SHAPES, WANTED, WANTED_PAPER, strict=True):
        shape = Shape(*sizes)
        runs = {"compiled": compiled(shape, objective), TORCH[0]: ordinary_loop(shape), TORCH[1]: paper_style(shape)}
        times = microseconds(runs, shape)
        faster, faster_paper = (times[name] / times["compiled"] for name in TORCH)
        table.add_row(
            str(sizes),
            *(f"{times[name]:.2f}" for name in runs),
            f"{faster:.2f} (wanted {wanted})",
            f"{faster_paper:.2f} (wanted {wanted_paper})",
        )
    console.print(table)


def robust_costs(console: Console) -> None:
    """Print the time of robust training relative to plain training."""
    table = Table(title="cost of robust training: time over that of plain cross-entropy")
    for column in ("features, hidden, batch", "plain (us)", "unbiased (wanted 1.05)", "forward (wanted 1.3)"):
        table.add_column(column, justify="right")
    objectives = {
        "plain": Objective("cross_entropy", LEVELS[np.newaxis]),
        "unbiased": Objective("cross_entropy", (np.linalg.inv(NOISE) @ LEVELS)[np.newaxis]),
        "forward": Objective("forward", NOISE[np.newaxis]),
    }
    for sizes in SHAPES[:3]:
        shape = Shape(*sizes)
        runs = {name: compiled(shape, objective) for name, objective in objectives.items()}
        times = microseconds(runs, shape, REPEATS_OF_COSTS)
        ratios = (f"{times[name] / times['plain']:.2f}" for name in ("unbiased", "forward"))
        table.add_row(str(sizes), f"{times['plain']:.2f}", *ratios)
    console.print(table)


def memory(console: Console) -> None:
    """Print the peak memory of a fit in a separate process."""
    command = [sys.executable, __file__, "--fit-large"]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    size = MEMORY_ROWS * MEMORY_FEATURES * 4
    console.print(
        f"peak memory of fitting {MEMORY_ROWS:,} x {MEMORY_FEATURES} float32: {peak / 1e6:.0f} MB, "
        f"{peak / size:.2f} times the data's {size / 1e6:.0f} MB (wanted below {ALLOWED_MEMORY})"
    )


def fit_large() -> None:
    """Train one epoch on large data and print the peak memory of this process in bytes."""
    rng = np.random.default_rng(0)
    features = np.empty((MEMORY_ROWS, MEMORY_FEATURES), dtype=np.float32)
    for start in range(0, MEMORY_ROWS, 10_000):
        features[start : start + 10_000] = rng.standard_normal((10_000, MEMORY_FEATURES), dtype=np.float32)
    labels = rng.integers(0, N_CLASSES, MEMORY_ROWS)
    network = initial_network(Architecture(MEMORY_FEATURES, N_CLASSES, (64,)), rng)
    objective = Objective("forward", NOISE[np.newaxis])
    training = train(network, features, labels, objective, Optimizer(batch_size=64), max_epochs=1, rng=rng)
    training.network.logits(features)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true", help="measure peak memory instead of speed")
    parser.add_argument("--fit-large", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    console = Console(width=120)
    if arguments.fit_large:
        fit_large()
    elif arguments.memory:
        memory(console)
    else:
        with threadpool_limits(1):
            speeds(console)
            robust_costs(console)


if __name__ == "__main__":
    main()
