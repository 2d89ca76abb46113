"""Probabilities of each sample by a model that did not see it."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from ordinoise._validation import Floats, Ints
from ordinoise.estimators._base import OrdinalClassifierBase


def out_of_fold_probabilities(
    estimator: Any,
    X: Any,
    recorded: Ints,
    noise_matrix: Floats,
    n_folds: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Floats:
    """Class probabilities of each sample, shape (n_samples, n_classes), by a clone fitted on the other folds.

    They are of the true label where the estimator is ours, which is told the noise, else of the recorded one.
    """
    fold = _stratified_folds(recorded, n_folds, rng)
    seeds = rng.integers(2**31, size=n_folds)
    models = [_told(estimator, noise_matrix, int(seed)) for seed in seeds]
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_probabilities)(model, X, recorded, np.flatnonzero(fold != k), np.flatnonzero(fold == k), noise_matrix)
        for k, model in enumerate(models)
    )
    probabilities = np.empty((len(recorded), len(noise_matrix)))
    for k, part in enumerate(parts):
        probabilities[fold == k] = part
    return probabilities


def noise_prefix(estimator: Any) -> str | None:
    """Where to tell the estimator about noise: the prefix of one of our classifiers' parameters in it, or None."""
    if isinstance(estimator, OrdinalClassifierBase):
        return ""
    parameters = estimator.get_params(deep=True)
    ours = [name for name, value in parameters.items() if isinstance(value, OrdinalClassifierBase)]
    return f"{ours[0]}__" if ours else None


def _told(estimator: Any, noise_matrix: Floats, seed: int) -> Any:
    """A clone that knows the noise, if it can, and has a seed wherever it had none."""
    model = clone(estimator)
    states = {
        name: seed
        for name, value in model.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    prefix = noise_prefix(model)
    noise = {} if prefix is None else {f"{prefix}noise": noise_matrix, f"{prefix}classes": np.arange(len(noise_matrix))}
    return model.set_params(**states, **noise)


def _probabilities(model: Any, X: Any, recorded: Ints, others: Ints, rows: Ints, noise_matrix: Floats) -> Floats:
    model.fit(_rows(X, others), recorded[others])
    probabilities = np.zeros((len(rows), len(noise_matrix)))
    # A class that the other folds lack has no column.
    probabilities[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(_rows(X, rows))
    return probabilities


def _rows(X: Any, rows: Ints) -> Any:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


def _stratified_folds(recorded: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """The fold of each sample: every class dealt out in turn, in random order."""
    fold = np.empty(len(recorded), dtype=np.int64)
    fold[np.lexsort((rng.random(len(recorded)), recorded))] = np.arange(len(recorded)) % n_folds
    return fold
