"""A training that a test starts by torchrun: ``run_scenario.py scenario folder``; the first process writes the answer."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ordinoise.classifiers.torch import OrdinalTorchClassifier
from ordinoise.learners.torch import ParquetStream

NOISE = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])
RANK = int(os.environ.get("RANK", "0"))


def samples(n: int = 331) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 3)) * [1, 5, 0.1] + [0, 100, -3]
    score = features[:, 0] + 0.2 * (features[:, 1] - 100) + rng.normal(scale=0.2, size=n)
    return features, np.digitize(score, [-1.2, 0, 1.2])


def answer(model: OrdinalTorchClassifier, features: Any) -> dict[str, Any]:
    return {
        "losses": model.loss_curve_,
        "validation": model.validation_curve_,
        "probabilities": model.predict_proba(features).tolist(),
        "n_updates": model.n_updates_,
    }


def settings(**changes: Any) -> dict[str, Any]:
    fast = {"max_iter": 5, "learning_rate_init": 0.02, "batch_size": 33, "random_state": 0, "device": "cpu"}
    return fast | {"noise": NOISE} | changes


def plain(_: Path) -> dict[str, Any]:
    """331 samples in batches of 33: the last batch is one sample, of which the second process has none."""
    features, labels = samples()
    weights = np.random.default_rng(1).uniform(0.1, 3, len(labels))
    variants: dict[str, dict[str, Any]] = {
        "forward": {"early_stopping": True, "n_iter_no_change": 3},
        "unbiased": {"correction": "unbiased", "max_grad_norm": 0.5},
    }
    found = {}
    for name, changes in variants.items():
        found[name] = answer(OrdinalTorchClassifier(**settings(**changes)).fit(features, labels, weights), features)
    return found


def stream(folder: Path) -> dict[str, Any]:
    """A folder of row groups of uneven size, so that one process is done before the other."""
    data = ParquetStream(folder / "data", ["a", "b", "c"], "stars", buffer_rows=100)
    model = OrdinalTorchClassifier(**settings(classes=[0, 1, 2, 3], max_iter=20)).fit(data)
    return {"model": answer(model, data)}


def killed(folder: Path) -> dict[str, Any]:
    """The last process is killed in the middle of the third epoch of the first attempt."""
    features, labels = samples()
    here = Path(os.environ.get("SCENARIO_KILLS", ""))

    class Deadly(torch.nn.Linear):
        """Counts the batches that it sees."""

        n_seen = 0

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            Deadly.n_seen += self.training
            is_mine = int(os.environ.get("WORLD_SIZE", "1")) - 1 == RANK
            if here.name and is_mine and Deadly.n_seen == 28 and not here.exists():
                here.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().forward(inputs)

    module = torch.nn.Sequential(Deadly(3, 8), torch.nn.ReLU(), torch.nn.Dropout(0.2))
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.linspace(-0.5, 0.5, weight.numel()).reshape(weight.shape))
    changes: dict[str, Any] = {"module": module, "standardize": True, "checkpoint_dir": folder / "checkpoints"}
    model = OrdinalTorchClassifier(**settings(checkpoint_updates=5, **changes)).fit(features, labels)
    return {"model": answer(model, features), "attempt": os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")}


def main() -> None:
    torch.set_num_threads(1)
    scenario, folder = sys.argv[1], Path(sys.argv[2])
    start = time.perf_counter()
    found = {"plain": plain, "stream": stream, "killed": killed}[scenario](folder)
    if RANK == 0:
        (folder / "answer.json").write_text(json.dumps({**found, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
