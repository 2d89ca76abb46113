"""The paper's training as an ordinary PyTorch loop, against which the compiled learner is timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import torch
from torch.utils.data import DataLoader, TensorDataset

WARM_UP, UPDATES, REPEATS = 20, 60, 5  # round numbers, chosen by no run


def paper_style_loop(
    features: torch.Tensor, labels: torch.Tensor, levels: torch.Tensor, n_hidden: int, batch_size: int
) -> Callable[[int], None]:
    """A function that makes n updates: a DataLoader, AdamW with its defaults, the loss as the paper prints it."""
    loader = DataLoader(TensorDataset(features, labels), batch_size=batch_size, shuffle=True)
    hidden = torch.nn.Linear(features.shape[1], n_hidden)
    score = torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(n_hidden, 1, bias=False))
    thresholds = torch.nn.Parameter(torch.zeros(levels.shape[1]))
    adamw = torch.optim.AdamW([*score.parameters(), thresholds], lr=1e-3)

    def run(n_updates: int) -> None:
        done = 0
        while True:
            for rows, recorded in loader:
                exceedance = torch.sigmoid(score(rows) + thresholds)
                z = levels[recorded]
                loss = -(z * torch.log(exceedance) + (1 - z) * torch.log(1 - exceedance)).sum(dim=1).mean()
                adamw.zero_grad()
                loss.backward()
                adamw.step()
                done += 1
                if done == n_updates:
                    return

    return run


def microseconds_per_update(n_features: int, n_classes: int, n_hidden: int = 10, batch_size: int = 16) -> float:
    """Processor time per update of the paper's loop, on one thread: the median of a few runs."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        generator = torch.Generator().manual_seed(0)
        features = torch.randn(64 * batch_size, n_features, generator=generator)
        labels = torch.randint(n_classes, (len(features),), generator=generator)
        levels = (torch.arange(n_classes)[:, None] > torch.arange(n_classes - 1)).float()
        run = paper_style_loop(features, labels, levels, n_hidden, batch_size)
        run(WARM_UP)
        return median(_timed(run) for _ in range(REPEATS))
    finally:
        torch.set_num_threads(n_threads)


def _timed(run: Callable[[int], None]) -> float:
    begin = time.thread_time()
    run(UPDATES)
    return (time.thread_time() - begin) / UPDATES * 1e6
