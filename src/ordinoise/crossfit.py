"""Which rows a model trains on, stops by and predicts: folds, splits and out-of-fold predictions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ordinoise._frames import frame_of
from ordinoise._sparse import is_sparse
from ordinoise._validation import Floats, Ints, as_count, complain
from ordinoise._warning import for_caller

FitPredict = Callable[[Ints, Ints, int], Floats]
Keys = NDArray[np.uint64]

LARGEST_SQUARED = 1e150  # its square is still a number
ROWS_AT_A_TIME = 4096  # a block of 100 float64 columns is then 3 MB
SMALLEST_BATCH, LARGEST_BATCH, ROWS_PER_BATCH_ROW = 16, 256, 1000
"""Automatic batch size: 16 is the paper's; the growth and the largest are round numbers, chosen by no run."""


def stratified_folds(ranks: Ints, n_folds: int, rng: np.random.Generator, groups: Ints | None = None) -> Ints:
    """Fold of every sample, 0..n_folds-1; the counts of a class differ by at most one between folds.

    With `groups`, numbers from 0, all samples of a group are in one fold, and the counts differ as little as that
    allows. There are then at most as many folds as groups.
    """
    n_folds = as_count("n_folds", n_folds, 2)
    if groups is not None:
        return _grouped_folds(ranks, n_folds, rng, groups)
    if len(ranks) < n_folds:
        raise complain("n_folds", f"be at most the number of samples ({len(ranks)})", n_folds)
    folds = np.empty(len(ranks), dtype=np.int64)
    folds[np.lexsort((rng.random(len(ranks)), ranks))] = np.arange(len(ranks)) % n_folds
    return folds


def _grouped_folds(ranks: Ints, n_folds: int, rng: np.random.Generator, groups: Ints) -> Ints:
    """Every group, the largest first, goes where its classes are rarest so far.

    With counts c[f, k] of fold f and g[k] of the group, both as shares of all samples of class k, that is the fold of
    the least ``sum_k c[f, k] g[k]``: the sum of squares of c then grows least. The size counts as one more class, so
    that an empty fold is always filled first.
    """
    names, numbers = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise complain("groups", "hold at least 2 distinct values, to keep one apart", len(names))
    counts = np.zeros((len(names), int(ranks.max()) + 2))
    np.add.at(counts, (numbers, ranks), 1)
    counts[:, -1] = counts.sum(axis=1)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    filled, fold_of = np.zeros((min(n_folds, len(names)), counts.shape[1])), np.empty(len(names), dtype=np.int64)
    for group in np.lexsort((rng.random(len(names)), -counts[:, -1])):
        fold_of[group] = fold = int((filled @ shares[group]).argmin())
        filled[fold] += shares[group]
    return fold_of[numbers]


def kept_apart(folds: Ints, rows: Ints) -> NDArray[np.bool_]:
    """Whether each model did not see each row, shape (n_models, n_rows): one model per fold and line of `folds`."""
    return np.array([drawn[rows] == fold for drawn in folds for fold in range(int(drawn.max()) + 1)])


def n_processors() -> int:
    """Processors that this process may use: a scheduler of jobs may leave it fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_workers(n_jobs: int | None, n_tasks: int) -> int:
    """Threads to run `n_tasks` in: `n_jobs`, or as many as there are processors and tasks."""
    return min(n_tasks, n_processors()) if n_jobs is None else as_count("n_jobs", n_jobs, 1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep matrix products to one thread each while fits run side by side. Also a decorator."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def out_of_fold(
    fit_predict: FitPredict,
    ranks: Ints,
    n_classes: int,
    *,
    n_folds: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    groups: Ints | None = None,
) -> Floats:
    """Class probabilities of every sample from models that did not see it, shape (n_samples, n_classes).

    Parameters
    ----------
    fit_predict : callable
        ``fit_predict(training_rows, test_rows, seed)`` returns the class probabilities of the test rows.
    ranks : array of shape (n_samples,)
        Labels 0..n_classes-1, spread evenly over the folds.
    n_jobs : int, optional
        Number of folds at a time, in threads; one per processor by default. The result does not depend on it.
    groups : array of shape (n_samples,), optional
        Numbers from 0; no sample is predicted by a model that saw another one of its group.
    """
    folds = stratified_folds(ranks, n_folds, rng, groups)
    n_folds = int(folds.max()) + 1
    seeds = rng.integers(2**31, size=n_folds).tolist()
    probabilities = np.empty((len(ranks), n_classes))

    def fill(fold: int) -> None:
        test = np.flatnonzero(folds == fold)
        probabilities[test] = fit_predict(np.flatnonzero(folds != fold), test, seeds[fold])

    task_of = for_caller(fill)
    with ThreadPoolExecutor(n_workers(n_jobs, n_folds)) as pool:
        for task in [pool.submit(task_of, fold) for fold in range(n_folds)]:
            task.result()
    return probabilities


def fitted_probabilities(
    model: Any, X: Any, ranks: Ints, n_classes: int, training: Ints, test: Ints, groups: Ints | None = None
) -> Floats:
    """Class probabilities of the test rows, one column per class, by `model` fitted to the training rows.

    A model whose `fit` takes groups gets them: it may hold out rows of its own.
    """
    from sklearn.utils.validation import has_fit_parameter

    takes = groups is not None and has_fit_parameter(model, "groups")
    more = {"groups": groups[training]} if takes and groups is not None else {}
    model.fit(rows_of(X, training), ranks[training], **more)
    return with_every_class(model.predict_proba(rows_of(X, test)), model.classes_, n_classes)


def with_every_class(probabilities: NDArray[np.floating], present: Any, n_classes: int) -> Floats:
    """Probabilities with one column per class: zeros for classes that the training rows lacked.

    `present` holds the rank of each column of `probabilities`.
    """
    table = np.zeros((len(probabilities), n_classes))
    table[:, np.asarray(present, dtype=np.int64)] = probabilities
    return table


def seeded_clone(estimator: Any, seed: int) -> Any:
    """An unfitted copy whose every `random_state` that is None, at any depth, is `seed`."""
    from sklearn.base import clone

    model = clone(estimator)
    states = {
        name: seed
        for name, value in model.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    return model.set_params(**states)


def rows_of(X: Any, rows: Any) -> Any:
    """Some rows of a frame or an array."""
    frame = frame_of(X)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


def center_and_scale(X: Any, rows: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted mean and standard deviation of the chosen rows, without a copy of the whole table.

    A feature that does not vary gets a scale of one. A sparse matrix is not centered, and all of its columns have the
    same scale, the root mean square of what is not zero: rare columns stay rare.
    """
    if is_sparse(X):
        return np.zeros(X.shape[1]), np.full(X.shape[1], _root_mean_square(X[rows], weights[rows]))
    share = weights[rows] / weights[rows].sum()
    center, variance, largest = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        some = X[rows[part]].astype(np.float64)
        center += share[part] @ some
        largest = np.maximum(largest, np.abs(some).max(axis=0))
    # Numbers whose squares would overflow, or vanish, are measured by the largest of their column.
    unit = np.where((largest > LARGEST_SQUARED) | (largest < 1 / LARGEST_SQUARED) & (largest > 0), largest, 1.0)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        variance += share[part] @ ((X[rows[part]].astype(np.float64) - center) / unit) ** 2
    scale = np.sqrt(variance) * unit
    # The mean of many equal numbers differs from them by some hundreds of rounding errors.
    constant = scale <= 1000 * np.finfo(np.float64).eps * np.abs(center)
    return center, np.where(constant | (scale == 0), 1.0, scale)


def _root_mean_square(X: Any, weights: Floats) -> float:
    """Of the numbers that are not zero; one if there are none."""
    X.eliminate_zeros()
    shares = np.repeat(weights, np.diff(X.indptr))
    return float(np.sqrt(np.average(X.data.astype(np.float64) ** 2, weights=shares))) if shares.sum() > 0 else 1.0


def split_rows(
    ranks: Ints, weights: Floats, validation_fraction: float, rng: np.random.Generator, groups: Ints | None = None
) -> tuple[Ints, Ints | None]:
    """Rows to train on and rows to stop by, stratified by class; rows with zero weight are ignored.

    The second is None for a `validation_fraction` of 0. All rows of one of the `groups` are on one side.
    """
    rows = np.flatnonzero(weights)
    if validation_fraction == 0:
        return rows, None
    if len(rows) < 2:
        raise complain("early_stopping", "be False for fewer than 2 samples", "True")
    if groups is not None:
        n_parts = max(round(1 / min(validation_fraction, 1 - validation_fraction)), 2)
        parts = stratified_folds(ranks[rows], n_parts, rng, groups[rows])
        is_one = parts == rng.integers(parts.max() + 1)
        held_out = is_one if validation_fraction <= 0.5 else ~is_one
        return rows[~held_out], rows[held_out]
    by_class = rows[np.lexsort((rng.random(len(rows)), ranks[rows]))]
    n_validation = min(max(1, round(validation_fraction * len(rows))), len(rows) - 1)
    picked = np.zeros(len(rows), dtype=bool)
    picked[((np.arange(n_validation) + 0.5) * len(rows) / n_validation).astype(int)] = True
    return np.sort(by_class[~picked]), np.sort(by_class[picked])


def automatic_batch_size(n_rows: int) -> int:
    """Rows per update: one per 1000 training rows, at least 16 and at most 256."""
    return min(LARGEST_BATCH, max(SMALLEST_BATCH, n_rows // ROWS_PER_BATCH_ROW))


def average_weight(epoch: int) -> float:
    """Weight with which the weights after `epoch` (from 1) enter their running average: 4 / (epoch + 3).

    Shamir and Zhang's average (2013, arXiv 1212.1824) with eta = 3: about the last quarter of the epochs, however
    many there are. `python -m studies.networks bound` prints the errors with and without it.
    """
    return 4 / (epoch + 3)


def row_keys(rows: Ints, seed: int) -> Keys:
    """64 random-looking bits for each row number: the same wherever and in whatever part the row is read.

    The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
    """
    return _mixed(rows.astype(np.uint64) + _mixed(np.array([seed], dtype=np.uint64)))


def name_keys(names: Sequence[str], seed: int) -> Keys:
    """The same for names, such as those of groups; equal names have equal keys."""
    known: dict[str, int] = {}
    for name in names:
        if name not in known:
            digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
            known[name] = int.from_bytes(digest, "little")
    return row_keys(np.array([known[name] for name in names], dtype=np.uint64), seed)


def hashed_folds(keys: Keys, n_folds: int) -> Ints:
    """Fold of each key, 0..n_folds-1; each fold has about as many."""
    return (keys % np.uint64(n_folds)).astype(np.int64)


def places_of(keys: Keys, draw: int) -> Floats:
    """A number from 0 to 1 for each key; those of another `draw`, and the folds, do not depend on them."""
    bits = _mixed(keys + _mixed(np.array([draw + 1], dtype=np.uint64))) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def combined(table: Floats, weights: Floats) -> Floats:
    """``table @ weights``, added up in the order of the columns.

    A row then has the same result, to the last bit, whatever rows are beside it, which matrix products do not promise.
    """
    total = table[:, :1] * weights[0]
    for at in range(1, len(weights)):
        total = total + table[:, at, None] * weights[at]
    return total


def _mixed(keys: Keys) -> Keys:
    with np.errstate(over="ignore"):
        keys = keys + np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return keys ^ (keys >> np.uint64(31))
