"""`OrdinalClassifier()` on every set, compared with its two learners alone and with LightGBM that trusts the labels.

``python -m studies.front [--data-dir DIR] [--sets NAME ...] [--noises uniform none ...] [--seeds 5] [--only NAME ...]``

80/20 splits, noise in the training labels only, mean absolute error on clean test labels; processor seconds of fit and
prediction in brackets. Prints each split, then the means.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ordinoise import adjacent, corrupt, inverse_decay
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.decisions import decide
from ordinoise.scoring.metrics import mean_absolute_error

FREQUENCY: dict[str, Any] = {"strategy": "equal_frequency", "n_classes": 4}
SETS: dict[str, dict[str, Any]] = {
    "boston": {}, "abalone": {}, "computer": {}, "california": {}, "california, equal frequency": FREQUENCY, "mslr": {},
    **{name: {} for name in ("ERA", "LEV", "SWD", "automobile", "balance-scale", "car", "newthyroid", "toy")},
    "winequality-red": {},
}  # fmt: skip
MANY = 8  # from this number of classes, inverse decay at .15 would make most labels of a class wrong
# Uniform is the paper's noise; the rates of the others are chosen by no run.
NOISES: dict[str, Callable[[int], NDArray[np.float64] | None]] = {
    "uniform": lambda k: inverse_decay(k, 0.15 if k < MANY else 0.12),
    "adjacent": lambda k: adjacent(k, up=0.25, down=0.08),
    "conditional": lambda k: inverse_decay(k, np.linspace(0.03, 0.2 if k < MANY else 0.15, k)),
    "none": lambda _: None,
}
FRONT, KNOWN, TRUSTING = "OrdinalClassifier()", "matrix known", "LightGBM, trusting"
NAMES = (FRONT, KNOWN, "networks only", "trees only", TRUSTING)
console = Console()


def contestant(name: str, matrix: NDArray[np.float64] | None, seed: int) -> Any:
    settings: dict[str, Any] = {"n_jobs": 1, "random_state": seed}
    if name == TRUSTING:
        return LGBMClassifier(verbosity=-1, **settings)
    if name == KNOWN:
        return OrdinalClassifier(noise=matrix, **settings)
    return OrdinalClassifier({FRONT: "auto", "networks only": "mlp", "trees only": "boosting"}[name], **settings)


def split(data: OrdinalDataset, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and test rows; all rows of a query are on the same side."""
    if data.groups is not None:
        queries = rng.permutation(np.unique(data.groups))
        is_test = np.isin(data.groups, queries[: len(queries) // 5])
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)
    test, training = np.split(rng.permutation(data.n_samples), [data.n_samples // 5])
    return training, test


def errors(data: OrdinalDataset, noise: str, seed: int, names: list[str]) -> dict[str, tuple[float, float]]:
    """Mean absolute error and processor seconds of every contestant on one split."""
    rng = np.random.default_rng(seed)
    training, test = split(data, rng)
    matrix = NOISES[noise](data.n_classes)
    labels = data.labels[training] if matrix is None else corrupt(data.labels[training], matrix, rng)
    found = {}
    for name in names:
        start = time.process_time()
        model = contestant(name, matrix, seed).fit(data.features[training], labels)
        guesses = model.classes_[decide(model.predict_proba(data.features[test]))]
        found[name] = (mean_absolute_error(data.labels[test], guesses), time.process_time() - start)
    return found


def cells(found: dict[str, tuple[float, float]]) -> list[str]:
    return [f"{error:.4f} ({seconds:.0f} s)" for error, seconds in found.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--noises", nargs="+", choices=list(NOISES), default=["uniform", "none"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table("set", "noise", *options.only, title=f"Clean-test mean absolute error, {options.seeds} splits")
    for name in options.sets:
        data = load(name.partition(",")[0], options.data_dir, **SETS[name])
        assert isinstance(data, OrdinalDataset)
        for noise in options.noises:
            runs = []
            for seed in range(options.first_seed, options.first_seed + options.seeds):
                runs.append(errors(data, noise, seed, options.only))
                print(name, noise, seed, *cells(runs[-1]), sep=" | ", flush=True)
            means = {one: tuple(np.mean([run[one] for run in runs], axis=0)) for one in options.only}
            table.add_row(name, noise, *cells(means))
    console.print(table)


if __name__ == "__main__":
    main()
