"""Samples per second of one and of two processes with one thread each, on a large network.

python -m studies.torch_scaling            # 256 features, two layers of 1024 units, batches of 2048, CPU

The ratio is given by wall time and by processor time of the first process, which depends less on other load of the
machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from statistics import median
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from ordinoise.classifiers.torch import OrdinalTorchClassifier
from ordinoise.noise import inverse_decay

# Sizes are round numbers, chosen by no run.
N_SAMPLES, N_FEATURES, HIDDEN, BATCH, N_CLASSES = 16384, 256, (1024, 1024), 2048, 5
N_EPOCHS, REPEATS = 3, 3
WANTED = 1.6  # the ratio to reach; how it was chosen is not recorded


def worker() -> None:
    """Fit, and print samples per second by wall and by processor time after the first epoch, and the last loss."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    features = rng.normal(
        size=(  # Sizes are round numbers, chosen by no run.
            N_SAMPLES,
            N_FEATURES,
        )
    ).astype(np.float32)
    labels = np.digitize(features[:, :8].sum(axis=1), [-3, -1, 1, 3])
    ends: list[tuple[float, float]] = []
    settings: dict[str, Any] = {"noise": inverse_decay(N_CLASSES, 0.1), "hidden_layer_sizes": HIDDEN, "device": "cpu"}
    settings["callbacks"] = [lambda _: ends.append((time.perf_counter(), time.process_time()))]
    model = OrdinalTorchClassifier(batch_size=BATCH, max_iter=N_EPOCHS, random_state=0, **settings)
    model.fit(features, labels)
    if ends:
        n_samples = N_SAMPLES * (len(ends) - 1)
        clock, processor = (last - first for first, last in zip(ends[0], ends[-1], strict=True))
        print(n_samples / clock, n_samples / processor, model.loss_curve_[-1])


def measured(n_processes: int) -> list[float]:
    """Samples per second by wall and by processor time, and the last loss, of a run in `n_processes` processes."""
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(n_processes)]
    launcher += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    command = [sys.executable, *(launcher if n_processes > 1 else []), "-m", "studies.torch_scaling", "--worker"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [float(number) for number in result.stdout.split()[-3:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", action="store_true")
    if parser.parse_args().worker:
        worker()
        return
    console = Console()
    console.print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    pairs = [(measured(1), measured(2)) for _ in range(REPEATS)]
    table = Table("run", "1 process", "2 processes", "ratio", "ratio by processor", "losses")
    for number, (one, two) in enumerate(pairs, start=1):
        speeds = f"{one[0]:.0f}", f"{two[0]:.0f}", f"{two[0] / one[0]:.2f}", f"{two[1] / one[1]:.2f}"
        table.add_row(str(number), *speeds, f"{one[2]:.6f} {two[2]:.6f}")
    console.print(table)
    clock, processor = (median(two[place] / one[place] for one, two in pairs) for place in (0, 1))
    console.print(f"median ratio {clock:.2f} (by processor {processor:.2f}), wanted {WANTED}")


if __name__ == "__main__":
    main()
