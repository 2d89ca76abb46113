"""Which rows a model learns from, which it stops by, which it is judged on: folds, splits, out-of-fold predictions."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints, as_count, complain

FitPredict = Callable[[Ints, Ints, int], Floats]

ROWS_AT_A_TIME = 4096


def stratified_folds(ranks: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """Fold of every sample, 0..n_folds-1, each class spread over the folds as evenly as it goes."""
    n_folds = as_count("n_folds", n_folds, 2)
    if len(ranks) < n_folds:
        raise complain("n_folds", f"be at most the number of samples ({len(ranks)})", n_folds)
    folds = np.empty(len(ranks), dtype=np.int64)
    folds[np.lexsort((rng.random(len(ranks)), ranks))] = np.arange(len(ranks)) % n_folds
    return folds


def out_of_fold(
    fit_predict: FitPredict,
    ranks: Ints,
    n_classes: int,
    *,
    n_folds: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Floats:
    """Class probabilities of every sample from models that did not see it, shape (n_samples, n_classes).

    Parameters
    ----------
    fit_predict : callable
        ``fit_predict(training_rows, test_rows, seed)`` gives the class probabilities of the test rows.
    ranks : array of shape (n_samples,)
        Labels 0..n_classes-1, spread evenly over the folds.
    n_jobs : int, optional
        Folds at a time, in threads; as many as there are processors by default. The answer does not depend on it.
    """
    folds = stratified_folds(ranks, n_folds, rng)
    seeds = rng.integers(2**31, size=n_folds).tolist()
    workers = min(n_folds, os.cpu_count() or 1) if n_jobs is None else as_count("n_jobs", n_jobs, 1)
    probabilities = np.empty((len(ranks), n_classes))

    def fill(fold: int) -> None:
        test = np.flatnonzero(folds == fold)
        probabilities[test] = fit_predict(np.flatnonzero(folds != fold), test, seeds[fold])

    with ThreadPoolExecutor(workers) as pool:
        for task in [pool.submit(fill, fold) for fold in range(n_folds)]:
            task.result()
    return probabilities


def fitted_probabilities(model: Any, X: Any, ranks: Ints, n_classes: int, training: Ints, test: Ints) -> Floats:
    """Class probabilities of the test rows, a column for every class, by a classifier fitted to the training rows."""
    model.fit(_rows(X, training), ranks[training])
    probabilities = np.zeros((len(test), n_classes))
    # A class that the training rows lack has no column.
    probabilities[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(_rows(X, test))
    return probabilities


def _rows(X: Any, rows: Ints) -> Any:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


def center_and_scale(X: NDArray[np.floating], rows: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted mean and standard deviation of the chosen rows, without a copy of the whole table.

    A feature that does not vary gets a scale of one.
    """
    share = weights[rows] / weights[rows].sum()
    center, variance = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        center += share[part] @ X[rows[part]].astype(np.float64)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        variance += share[part] @ (X[rows[part]].astype(np.float64) - center) ** 2
    scale = np.sqrt(variance)
    # Sums of many equal numbers stray from them by some hundreds of roundings.
    constant = scale <= 1000 * np.finfo(np.float64).eps * np.abs(center)
    return center, np.where(constant | (scale == 0), 1.0, scale)


def split_rows(
    ranks: Ints, weights: Floats, validation_fraction: float, rng: np.random.Generator
) -> tuple[Ints, Ints | None]:
    """Rows to train on and rows to stop by, each class in both as far as it goes; rows of no weight in neither."""
    rows = np.flatnonzero(weights)
    if validation_fraction == 0:
        return rows, None
    if len(rows) < 2:
        raise complain("early_stopping", "be False for fewer than 2 samples", "True")
    by_class = rows[np.lexsort((rng.random(len(rows)), ranks[rows]))]
    n_validation = min(max(1, round(validation_fraction * len(rows))), len(rows) - 1)
    picked = np.zeros(len(rows), dtype=bool)
    picked[((np.arange(n_validation) + 0.5) * len(rows) / n_validation).astype(int)] = True
    return np.sort(by_class[~picked]), np.sort(by_class[picked])
