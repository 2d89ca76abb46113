"""Accuracy of estimated noise matrices, and of classifiers that use them.

``python -m studies.noise errors | growth | accuracy | coverage  [--data-dir DIR] [--seeds 10] [--n 1500]``
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ordinoise import OrdinalMLPClassifier, adjacent, corrupt, inverse_decay
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.estimation import AnchorPoints, ConfidentJoint, ScoreLikelihood
from ordinoise.scoring.metrics import mean_absolute_error

SETS = ("synthetic", "abalone", "computer", "california")
# Uniform is the paper's noise; the rates of the others are chosen by no run.
CLASS_RATES = (0.10, 0.20, 0.15, 0.05, 0.12)
NOISES: dict[str, Callable[[int], NDArray[np.float64]]] = {
    "uniform .15": lambda k: inverse_decay(k, 0.15),
    "class-conditional": lambda k: inverse_decay(k, CLASS_RATES[:k]),
    "adjacent .25 up .08 down": lambda k: adjacent(k, up=0.25, down=0.08),
}
CLEAN: dict[str, Callable[[int], NDArray[np.float64]]] = {"none": np.eye}
# The paper's network, batches and epochs.
NETWORK: dict[str, Any] = {"hidden_layer_sizes": (10,), "batch_size": 16, "max_iter": 200}
console = Console()


@dataclass(frozen=True)
class Case:
    """A training sample with clean and noisy labels, and test rows with clean labels."""

    data: str
    noise: str
    matrix: NDArray[np.float64]
    X: NDArray[np.floating]
    clean: NDArray[np.int64]
    noisy: NDArray[np.int64]
    X_test: NDArray[np.floating]
    y_test: NDArray[np.int64]
    seed: int


def cases(options: argparse.Namespace, noises: dict[str, Any], n: int, sets: tuple[str, ...] = SETS) -> Iterator[Case]:
    for name in sets:
        data = load(name) if name == "synthetic" else load(name, options.data_dir)
        for noise, matrix in noises.items():
            for seed in range(options.first_seed, options.first_seed + options.seeds):
                yield case(data, noise, matrix(data.n_classes), n, seed)


def case(data: OrdinalDataset, noise: str, matrix: NDArray[np.float64], n: int, seed: int) -> Case:
    rng = np.random.default_rng([seed, n])
    order = rng.permutation(data.n_samples)
    train, test = order[:n], order[n : n + 4000]
    noisy = corrupt(data.labels[train], matrix, rng)
    X, X_test = data.features[train], data.features[test]
    return Case(data.name, noise, matrix, X, data.labels[train], noisy, X_test, data.labels[test], seed)


def together(work: Callable[[Case], Any], todo: list[Case]) -> list[Any]:
    """Results of all cases, computed on two threads."""
    from rich.progress import track

    with ThreadPoolExecutor(2) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(track(pool.map(work, todo), total=len(todo), console=Console(stderr=True), transient=True))


def estimators(seed: int, n_bootstrap: int = 0) -> dict[str, Any]:
    common = {"n_bootstrap": n_bootstrap, "random_state": seed}
    return {
        "score likelihood": ScoreLikelihood(n_jobs=1, **common),
        "anchor points (the paper's)": AnchorPoints(**common),
        "confident joint (cleanlab's way)": ConfidentJoint(n_jobs=1, **common),
    }


def errors(options: argparse.Namespace) -> None:
    """Mean absolute error of the estimated matrix, by estimator and noise; of clean labels the share called wrong."""

    def work(c: Case) -> dict[str, float]:
        fitted = {name: e.fit(c.X, c.noisy) for name, e in estimators(c.seed).items()}
        if c.noise == "none":
            return {name: float(e.noise_.rate) for name, e in fitted.items()}
        return {name: float(np.abs(e.noise_matrix_ - c.matrix).mean()) for name, e in fitted.items()}

    todo = [*cases(options, NOISES, options.n), *cases(options, CLEAN, options.n)]
    found = together(work, todo)
    title = f"Mean |estimated - true| over entries, {options.seeds} seeds, n = {options.n}"
    table = Table("estimator", *NOISES, "mean of the three", "clean labels called wrong", title=title)
    for name in found[0]:
        by_noise = {k: np.mean([f[name] for f, c in zip(found, todo, strict=True) if c.noise == k]) for k in NOISES}
        false = np.mean([f[name] for f, c in zip(found, todo, strict=True) if c.noise == "none"])
        table.add_row(
            name, *[f"{e:.4f}" for e in by_noise.values()], f"{np.mean([*by_noise.values()]):.4f}", f"{false:.4f}"
        )
    console.print(table)
    by_set = Table("score likelihood by set", *NOISES, "clean labels called wrong")
    for data in dict.fromkeys(c.data for c in todo):
        cells = [
            np.mean([f["score likelihood"] for f, c in zip(found, todo, strict=True) if (c.noise, c.data) == (k, data)])
            for k in [*NOISES, "none"]
        ]
        by_set.add_row(data, *[f"{cell:.4f}" for cell in cells])
    console.print(by_set)


def growth(options: argparse.Namespace) -> None:
    """Mean absolute error of the estimated matrix by sample size, on the sets with enough rows."""
    sizes, sets = (500, 1000, 2000, 4000, 8000), ("synthetic", "computer", "california")
    table = Table("n", "score likelihood", "anchor points", title="Mean |estimated - true|, sets with 8000 samples")
    for n in sizes:

        def work(c: Case) -> tuple[float, float]:
            both = list(estimators(c.seed).values())[:2]
            one, two = (float(np.abs(e.fit(c.X, c.noisy).noise_matrix_ - c.matrix).mean()) for e in both)
            return one, two

        mean = np.mean(together(work, list(cases(options, NOISES, n, sets))), axis=0)
        table.add_row(str(n), *[f"{error:.4f}" for error in mean])
    console.print(table)


def accuracy(options: argparse.Namespace) -> None:
    """Mean absolute error on clean test labels of every correction, on the same splits."""
    variants: dict[str, Callable[[Case], dict[str, Any]]] = {
        "no correction": lambda _: {},
        "unbiased cross-entropy, known": lambda c: {"noise": c.matrix, "correction": "unbiased"},
        "unbiased hinge, known": lambda c: {"noise": c.matrix, "correction": "unbiased", "loss": "hinge"},
        "forward, known": lambda c: {"noise": c.matrix},
        "forward, anchor points": lambda _: {"noise": AnchorPoints(n_bootstrap=0)},
        "forward, estimated (default)": lambda _: {"noise": ScoreLikelihood(n_jobs=1, n_bootstrap=0)},
    }

    def work(c: Case) -> dict[str, float]:
        result = {}
        for name, settings in variants.items():
            model = OrdinalMLPClassifier(**NETWORK, **settings(c), random_state=c.seed).fit(c.X, c.noisy)
            result[name] = mean_absolute_error(c.y_test, model.predict(c.X_test))
        clean = OrdinalMLPClassifier(**NETWORK, random_state=c.seed).fit(c.X, c.clean)
        return {**result, "clean labels": mean_absolute_error(c.y_test, clean.predict(c.X_test))}

    title = f"Mean absolute error on clean test labels, n = {options.n}, {options.seeds} seeds"
    table = Table("variant", *NOISES, "mean of the three", "none", title=title)
    todo = [*cases(options, NOISES, options.n), *cases(options, CLEAN, options.n)]
    found = together(work, todo)
    for name in found[0]:
        cells = [
            np.mean([f[name] for f, c in zip(found, todo, strict=True) if c.noise == k]) for k in [*NOISES, "none"]
        ]
        table.add_row(name, *[f"{cell:.4f}" for cell in [*cells[:3], np.mean(cells[:3]), cells[3]]])
    console.print(table)


def coverage(options: argparse.Namespace) -> None:
    """How often the 95 % interval of the noise rate covers the true rate, and how often the estimate is in doubt."""

    def work(c: Case) -> tuple[bool, bool, float]:
        e = ScoreLikelihood(n_jobs=1, n_bootstrap=100, random_state=c.seed).fit(c.X, c.noisy)
        truth = float((c.matrix.diagonal() @ -np.bincount(c.clean, minlength=len(c.matrix))) / len(c.clean) + 1)
        assert e.noise_.rate_interval is not None  # these samples have rows enough
        low, high = e.noise_.rate_interval
        return bool(low <= truth <= high), not e.noise_.is_in_doubt, float(high - low)

    todo = [*cases(options, NOISES, options.n), *cases(options, CLEAN, options.n)]
    found = together(work, todo)
    table = Table("set", "noise", "covered", "no doubt raised", "covered where no doubt", "mean width")
    rows = [(d, k) for d in dict.fromkeys(c.data for c in todo) for k in [*NOISES, "none"]]
    for data, noise in [*rows, ("all", "with noise")]:
        part = [
            f for f, c in zip(found, todo, strict=True)
            if (c.data, c.noise) == (data, noise) or (data == "all" and c.noise != "none")
        ]  # fmt: skip
        sure = [hit for hit, identifiable, _ in part if identifiable]
        table.add_row(
            data, noise, f"{np.mean([f[0] for f in part]):.0%}", f"{np.mean([f[1] for f in part]):.0%}",
            f"{np.mean(sure):.0%} of {len(sure)}" if sure else "-", f"{np.mean([f[2] for f in part]):.3f}",
        )  # fmt: skip
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["errors", "growth", "accuracy", "coverage"])
    parser.add_argument("--data-dir")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--n", type=int, default=1500)
    options = parser.parse_args()
    {"errors": errors, "growth": growth, "accuracy": accuracy, "coverage": coverage}[options.what](options)


if __name__ == "__main__":
    main()
