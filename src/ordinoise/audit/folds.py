"""Class probabilities of each sample by a model that did not see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.crossfit import fitted_probabilities, out_of_fold, seeded_clone


def out_of_fold_probabilities(
    estimator: Any,
    X: Any,
    recorded: Ints,
    noise_matrix: Floats,
    n_folds: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    groups: Ints | None = None,
) -> Floats:
    """Class probabilities of each sample, shape (n_samples, n_classes), by a clone fitted on the other folds.

    Of the true label if the estimator is or contains one of our classifiers, which is given the noise matrix; else of
    the recorded label.
    """
    n_classes = len(noise_matrix)

    def fit_predict(training: Ints, test: Ints, seed: int) -> Floats:
        model = _with_noise(seeded_clone(estimator, seed), noise_matrix)
        return fitted_probabilities(model, X, recorded, n_classes, training, test, groups)

    return out_of_fold(fit_predict, recorded, n_classes, n_folds=n_folds, rng=rng, n_jobs=n_jobs, groups=groups)


def noise_prefix(estimator: Any) -> str | None:
    """Prefix of the parameters of our classifier inside the estimator (empty for the classifier itself), or None."""
    if isinstance(estimator, OrdinalClassifierBase):
        return ""
    parameters = estimator.get_params(deep=True)
    ours = [name for name, value in parameters.items() if isinstance(value, OrdinalClassifierBase)]
    return f"{ours[0]}__" if ours else None


def _with_noise(estimator: Any, noise_matrix: Floats) -> Any:
    """The estimator with its parameters `noise` and `classes` set, where it has them."""
    prefix = noise_prefix(estimator)
    if prefix is None:
        return estimator
    return estimator.set_params(**{f"{prefix}noise": noise_matrix, f"{prefix}classes": np.arange(len(noise_matrix))})
