"""Which rows a model trains on, stops by and predicts: folds, splits and out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ordinoise._frames import frame_of
from ordinoise._validation import Floats, Ints, as_count, complain
from ordinoise._warning import for_caller
from ordinoise.threads import n_workers

FitPredict = Callable[[Ints, Ints, int], Floats]


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
    splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(int(folds.max()) + 1)]
    return predicted_by(fit_predict, splits, n_classes, rng=rng, n_jobs=n_jobs)


def predicted_by(
    fit_predict: FitPredict,
    splits: Sequence[tuple[Ints, Ints]],
    n_classes: int,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Floats:
    """Class probabilities of every sample, each the test row of one of the pairs of training and test rows."""
    seeds = rng.integers(2**31, size=len(splits)).tolist()
    probabilities = np.empty((sum(len(test) for _, test in splits), n_classes))

    def fill(split: int) -> None:
        training, test = splits[split]
        probabilities[test] = fit_predict(training, test, seeds[split])

    task_of = for_caller(fill)
    with ThreadPoolExecutor(n_workers(n_jobs, len(splits))) as pool:
        for task in [pool.submit(task_of, split) for split in range(len(splits))]:
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

    if not hasattr(estimator, "get_params"):
        advice = "derive it from sklearn.base.ClassifierMixin and BaseEstimator, so that it can be copied"
        raise complain("estimator", "have get_params", type(estimator).__name__, advice)
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
