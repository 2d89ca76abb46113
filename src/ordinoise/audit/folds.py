"""Probabilities of each sample by a model that did not see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ordinoise._validation import Floats, Ints
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.crossfit import fitted_probabilities, out_of_fold


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
    n_classes = len(noise_matrix)

    def fit_predict(training: Ints, test: Ints, seed: int) -> Floats:
        return fitted_probabilities(_told(estimator, noise_matrix, seed), X, recorded, n_classes, training, test)

    return out_of_fold(fit_predict, recorded, n_classes, n_folds=n_folds, rng=rng, n_jobs=n_jobs)


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
