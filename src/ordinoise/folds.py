"""Out-of-fold predictions: every sample seen by models that were not trained on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import narwhals as nw
import numpy as np

from ordinoise._validation import Floats, Ints, as_count, complain

FitPredict = Callable[[Ints, Ints, int], Floats]

__all__ = ["fitted_probabilities", "out_of_fold", "stratified_folds"]


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
