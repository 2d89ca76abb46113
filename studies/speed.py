"""Wall time of a fit, an audit and a prediction beside cleanlab's CleanLearning and LightGBM on the same table.

``python -m studies.speed [--rows 4000 16000 100000] [--repeats 3] [--data-dir DIR]``
``python -m studies.speed growth [--rows 16000 64000 256000]``

California in four grades of equal frequency, noisy. Tables larger than it, and all of ``growth``, have new rows: near a
row of California, graded by a model of it and an error of their own, so that no row says anything about the grade of
another but by its columns. Both libraries may use all processors. Medians over the repeats; multiples of CleanLearning
(with LightGBM's defaults, five folds and a last fit) for fit and audit, of LightGBM's `predict_proba` for prediction.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from cleanlab.classification import CleanLearning
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ordinoise import corrupt, find_label_issues, inverse_decay
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.scoring.metrics import mean_absolute_error

N_TEST = 4000
JITTER, SPREAD = 0.1, 0.25  # of a column's standard deviation, and of the error in grades; round numbers
console = Console()
Floats = NDArray[np.floating]
Ints = NDArray[np.int64]


def table(
    n_rows: int, seed: int, data_dir: str | None = None, *, new: bool = False
) -> tuple[Floats, Ints, Floats, Ints]:
    """Training features and recorded grades; features and true grades of test rows that are not among them."""
    data = load("california", data_dir, strategy="equal_frequency", n_classes=4)
    assert isinstance(data, OrdinalDataset)
    rng = np.random.default_rng(seed)
    if new or n_rows > data.n_samples - N_TEST:
        features, labels = new_rows(data, n_rows + N_TEST, rng)
    else:
        rows = rng.permutation(data.n_samples)[: n_rows + N_TEST]
        features, labels = data.features[rows], data.labels[rows]
    recorded = corrupt(labels[N_TEST:], inverse_decay(4, 0.15), rng)
    return features[N_TEST:], recorded, features[:N_TEST], labels[:N_TEST]


def new_rows(data: OrdinalDataset, n_rows: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Features near those of rows of a set, and grades: boosted regression plus a logistic error, cut at quartiles."""
    rule = LGBMRegressor(n_estimators=300, learning_rate=0.05, verbosity=-1, random_state=0)
    rule.fit(data.features, data.labels)
    features = data.features[rng.integers(data.n_samples, size=n_rows)]
    features = features + JITTER * data.features.std(axis=0) * rng.normal(size=features.shape)
    score = rule.predict(features) + SPREAD * rng.logistic(size=n_rows)
    return features, np.searchsorted(np.quantile(score, [0.25, 0.5, 0.75]), score)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time and result."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def one_run(n_rows: int, seed: int, data_dir: str | None) -> list[float]:
    """Seconds of CleanLearning, fit, audit, LightGBM's and our prediction; both errors on clean test labels."""
    features, recorded, test, true = table(n_rows, seed, data_dir)
    clean, cleaned = seconds(lambda: CleanLearning(LGBMClassifier(verbosity=-1)).fit(features, recorded))
    fit, model = seconds(lambda: OrdinalClassifier(random_state=seed).fit(features, recorded))
    audit, _ = seconds(lambda: find_label_issues(features, recorded, random_state=seed))
    plain = LGBMClassifier(verbosity=-1).fit(features, recorded)
    theirs, _ = seconds(lambda: plain.predict_proba(test))
    ours, _ = seconds(lambda: model.predict_proba(test))
    errors = [mean_absolute_error(true, one.predict(test)) for one in (cleaned, model)]
    return [clean, fit, audit, theirs, ours, *errors]


def compare(rows: list[int], repeats: int, data_dir: str | None) -> None:
    """Print the multiples."""
    shown = Table("rows", "CleanLearning", "fit", "audit", "LightGBM predicts", "we predict", "its error", "our error")
    for n_rows in rows:
        runs = np.array([one_run(n_rows, seed, data_dir) for seed in range(repeats)])
        clean, fit, audit, theirs, ours, their_error, our_error = np.median(runs, axis=0)
        shown.add_row(
            f"{n_rows:,}", f"{clean:.2f} s", f"{fit:.2f} s, {fit / clean:.2f}x", f"{audit:.2f} s, {audit / clean:.2f}x",
            f"{1000 * theirs:.0f} ms", f"{1000 * ours:.0f} ms, {ours / theirs:.2f}x", f"{their_error:.3f}",
            f"{our_error:.3f}",
        )  # fmt: skip
        print(n_rows, np.median(runs, axis=0).round(4).tolist(), flush=True)
    console.print(shown)


def growth(rows: list[int], data_dir: str | None) -> None:
    """Print the time of a fit by rows, and the exponent between the smallest and the largest table."""
    taken = []
    for n_rows in rows:
        features, recorded, *_ = table(n_rows, 0, data_dir, new=True)
        taken.append(seconds(lambda: OrdinalClassifier(random_state=0).fit(features, recorded))[0])  # noqa: B023
        print(f"{n_rows:,} rows: {taken[-1]:.1f} s", flush=True)
    print(f"exponent {np.log(taken[-1] / taken[0]) / np.log(rows[-1] / rows[0]):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("compare", "growth"), default="compare")
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    one_run(1000, 0, given.data_dir)  # compiles what is not compiled yet
    one_run(2500, 0, given.data_dir)
    if given.part == "growth":
        growth(given.rows or [16_000, 64_000, 256_000], given.data_dir)
    else:
        compare(given.rows or [4000, 16_000, 100_000], given.repeats, given.data_dir)
