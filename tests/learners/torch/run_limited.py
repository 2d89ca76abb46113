"""A training under a limit of memory: ``run_limited.py folder megabytes``; prints what it took, in megabytes.

The limit is on what is allocated beyond a first small training, after which all libraries are loaded.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ordinoise.classifiers.torch import OrdinalTorchClassifier
from ordinoise.learners.torch import ParquetStream

N_FEATURES = 50


def status(name: str) -> float:
    """A line of the process's status, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


def fit(folder: Path) -> tuple[OrdinalTorchClassifier, int]:
    stream = ParquetStream(folder, [f"x{number}" for number in range(N_FEATURES)], "stars", buffer_rows=20_000)
    settings: dict[str, Any] = {
        "classes": [0, 1, 2, 3],
        "max_iter": 1,
        "batch_size": 2048,
        "random_state": 0,
        "device": "cpu",
    }
    return OrdinalTorchClassifier(learning_rate_init=0.02, **settings).fit(stream), stream.n_rows


def main() -> None:
    torch.set_num_threads(1)
    folder, megabytes = Path(sys.argv[1]), float(sys.argv[2])
    fit(folder / "small")
    data, resident = status("VmData"), status("VmRSS")
    limit = int((data + megabytes) * 2**20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    model, n_rows = fit(folder / "large")
    took = status("VmHWM") - resident
    try:
        np.empty((n_rows, N_FEATURES), dtype=np.float32)
        refused = False
    except MemoryError:
        refused = True
    found = {"loss": model.loss_curve_[-1], "n_updates": model.n_updates_, "took": took, "refused": refused}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
