"""Model selection on noisy validation labels: the raw score compared with the corrected one.

``python -m studies.selection [--data-dir DIR] [--repeats 12]``

Every repeat trains the same candidates on noisy labels, picks one by each criterion on a noisy validation set, and
scores the pick on clean test labels. "regret" is the difference of its mean absolute error from that of the best
candidate. The matrix is estimated from the training rows; candidates with correction are given the true one. "clean
validation" shows the regret that is due to the size of the validation set alone.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ordinoise import OrdinalMLPClassifier, adjacent, corrupt, inverse_decay
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.estimation import IdentifiabilityWarning, ScoreLikelihood
from ordinoise.scoring.metrics import mean_absolute_error, scorer

SETS = ("abalone", "computer", "california")
N_TRAINING, N_VALIDATION, N_TEST = 1000, 1000, 2000  # round numbers, chosen by no run
# Uniform is the paper's noise; the rates of the others are chosen by no run.
NOISES: dict[str, Callable[[int], NDArray[np.float64]]] = {
    "adjacent, up .25, down .08": lambda n_classes: adjacent(n_classes, up=0.25, down=0.08),
    "conditional .03 to .20": lambda n_classes: inverse_decay(n_classes, np.linspace(0.03, 0.2, n_classes)),
    "uniform .15": lambda n_classes: inverse_decay(n_classes, 0.15),
}
CRITERIA = ("raw", "corrected, matrix estimated", "corrected, matrix known", "clean validation")


@dataclass(frozen=True)
class Choice:
    """The pick of one criterion: whether it is the best on clean test labels, and its regret."""

    is_best: bool
    regret: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--repeats", type=int, default=12)
    options = parser.parse_args()
    warnings.simplefilter("ignore", IdentifiabilityWarning)
    shown = Table("noise", "data", *CRITERIA, title=f"Share of best picks, mean regret ({options.repeats} repeats)")
    for noise_name, noise in NOISES.items():
        everywhere: list[dict[str, Choice]] = []
        for name in SETS:
            data = load(name, options.data_dir)
            assert isinstance(data, OrdinalDataset)
            choices = [chosen(data, noise(data.n_classes), repeat) for repeat in range(options.repeats)]
            shown.add_row(noise_name, name, *summary(choices))
            everywhere += choices
        shown.add_row(noise_name, "all", *summary(everywhere), style="bold", end_section=True)
    Console().print(shown)


def candidates(noise_matrix: NDArray[np.float64], n_classes: int, seed: int) -> list[OrdinalMLPClassifier]:
    """Models that trust the labels, models that correct for noise, and models with asymmetric costs."""
    distance = np.subtract.outer(np.arange(n_classes), np.arange(n_classes)).astype(float)
    # cost[true, predicted]: a grade too high costs twice, or half, as much as a grade too low.
    wary, bold = np.where(distance < 0, -2 * distance, distance), np.where(distance < 0, -0.5 * distance, distance)
    network: dict[str, Any] = {"max_iter": 60, "learning_rate_init": 0.003, "random_state": seed}
    settings: list[dict[str, Any]] = [
        *({"noise": noise, "hidden_layer_sizes": hidden} for noise in (None, noise_matrix) for hidden in ((), (10,))),
        {"noise": None, "hidden_layer_sizes": (50,), "max_iter": 150},
        {"noise": noise_matrix, "hidden_layer_sizes": (50,), "max_iter": 150},
        *({"noise": None, "decision": decision} for decision in ("mode", wary, bold)),
        {"noise": noise_matrix, "decision": bold},
    ]
    return [OrdinalMLPClassifier(**network | setting) for setting in settings]


def chosen(data: OrdinalDataset, noise_matrix: NDArray[np.float64], repeat: int) -> dict[str, Choice]:
    """The pick of every criterion in one repeat."""
    rng = np.random.default_rng(repeat)
    edges = np.cumsum([N_TRAINING, N_VALIDATION, N_TEST])
    training, validation, test, _ = np.split(rng.permutation(data.n_samples), edges)
    recorded = corrupt(data.labels, noise_matrix, rng)
    estimate = ScoreLikelihood(random_state=repeat, n_bootstrap=0)
    estimated = estimate.fit(data.features[training], recorded[training]).noise_matrix_
    models = [
        model.fit(data.features[training], recorded[training])
        for model in candidates(noise_matrix, data.n_classes, repeat)
    ]
    errors = np.array([mean_absolute_error(data.labels[test], model.predict(data.features[test])) for model in models])
    rulers = {
        "raw": (scorer("mean_absolute_error"), recorded),
        "corrected, matrix estimated": (scorer("mean_absolute_error", noise=estimated), recorded),
        "corrected, matrix known": (scorer("mean_absolute_error", noise=noise_matrix), recorded),
        "clean validation": (scorer("mean_absolute_error"), data.labels),
    }
    picks = {
        name: int(np.argmax([score(model, data.features[validation], labels[validation]) for model in models]))
        for name, (score, labels) in rulers.items()
    }
    return {
        name: Choice(bool(errors[pick] == errors.min()), float(errors[pick] - errors.min()))
        for name, pick in picks.items()
    }


def summary(choices: list[dict[str, Choice]]) -> list[str]:
    cells = []
    for name in CRITERIA:
        share = np.mean([choice[name].is_best for choice in choices])
        cells.append(f"{share:.0%}, {np.mean([choice[name].regret for choice in choices]):.4f}")
    return cells


if __name__ == "__main__":
    main()
