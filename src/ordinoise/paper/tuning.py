"""The paper's grid search: five-fold cross-validation on noisy labels, plain loss, one result for all variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ordinoise.crossfit import stratified_folds
from ordinoise.datasets.files import DataDir
from ordinoise.jobs.store import StoredResult
from ordinoise.learners.mlp import Objective
from ordinoise.levels import labels_from_logits, level_table
from ordinoise.paper.protocol import LOSSES, PROTOCOLS, SETS, NetworkSettings, Tuned, training_cost
from ordinoise.paper.trials import generator, load_set, recorded_labels, split_rows, train_network
from ordinoise.scoring.metrics import mean_absolute_error

# The paper names the two parameters and not their values; these span those of the authors' released runs.
N_HIDDEN = (6, 8, 10)
LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01)
N_FOLDS = 5  # from the paper


@dataclass(frozen=True)
class TuningTrial:
    """One fold of one point of the grid, on the noisy training labels of the first split."""

    dataset: str
    cut: str
    loss: str
    fold: int
    settings: NetworkSettings

    @property
    def cost(self) -> float:
        """Expected work in updates of a small network."""
        return training_cost(self.dataset, self.settings)


def grid(datasets: Sequence[str], protocol: str = "inferred") -> list[TuningTrial]:
    """All trials of the grid search."""
    chosen = PROTOCOLS[protocol]
    return [
        TuningTrial(name, SETS[name].cut, loss, fold, chosen.settings(SETS[name], "plain", (n_hidden, learning_rate)))
        for name in datasets
        for loss, n_hidden, learning_rate in product(LOSSES, N_HIDDEN, LEARNING_RATES)
        for fold in range(N_FOLDS)
    ]


def run_tuning(trial: TuningTrial, data_dir: DataDir = None) -> Mapping[str, Any]:
    """Mean absolute error on the noisy labels of the held-out fold."""
    data = load_set(trial.dataset, None if data_dir is None else str(data_dir))
    rows, _ = split_rows(data, 0)
    labels = recorded_labels(data, rows, "uniform", 0)
    is_held_out = stratified_folds(labels, N_FOLDS, generator(trial.dataset, 0, "folds")) == trial.fold
    objective = Objective(trial.loss, level_table(data.n_classes)[None])
    features = data.features[rows]
    rng = generator(trial.dataset, trial.fold, "tuning")
    network = train_network(features[~is_held_out], labels[~is_held_out], objective, trial.settings, rng).network
    predicted = labels_from_logits(network.logits(features[is_held_out]))
    return {"mean_absolute_error": mean_absolute_error(labels[is_held_out], predicted)}


def best_settings(results: Sequence[StoredResult]) -> Tuned:
    """Hidden units and learning rate with the smallest mean error over the folds, by set and loss."""
    errors: dict[tuple[str, str], dict[tuple[int, float], list[float]]] = {}
    for stored in results:
        trial, settings = stored.trial, stored.trial["settings"]
        point = (settings["n_hidden"], settings["learning_rate"])
        of_points = errors.setdefault((trial["dataset"], trial["loss"]), {})
        of_points.setdefault(point, []).append(stored.result["mean_absolute_error"])
    return {
        which: min(of_points, key=lambda point: float(np.mean(of_points[point]))) for which, of_points in errors.items()
    }
