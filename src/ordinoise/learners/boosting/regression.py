"""A small booster for one number per row, out of fold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.threads import n_workers

N_TREES = 40
SETTINGS: dict[str, Any] = {
    "objective": "l2", "num_leaves": 8, "learning_rate": 0.1, "min_data_in_leaf": 20, "lambda_l2": 10.0, "verbose": -1,
    "deterministic": True, "force_row_wise": True, "num_threads": 1,
}  # fmt: skip
"""Small enough for a second, large enough to see interactions. Chosen by no run. One thread, as several wait for each
other on a busy machine, and hang after a fork."""


def held_out_predictions(features: Floats, target: Floats, folds: Ints) -> Floats:
    """What a booster that did not see a row predicts for it, less the mean of the rows that it saw.

    Parameters
    ----------
    features : array of shape (n_samples, n_features)
        Numbers; NaN where missing.
    target : array of shape (n_samples,)
    folds : array of shape (n_samples,)
        Fold of every row, from 0.
    """
    import lightgbm

    predicted = np.empty(len(target))

    def predict(fold: int) -> None:
        held_out, others = folds == fold, folds != fold
        booster = lightgbm.train(SETTINGS, lightgbm.Dataset(features[others], target[others]), N_TREES)
        predicted[held_out] = booster.predict(features[held_out], num_threads=1) - target[others].mean()

    n_folds = int(folds.max()) + 1
    with ThreadPoolExecutor(n_workers(None, n_folds)) as pool:  # ends here: a process forked later inherits no threads
        list(pool.map(predict, range(n_folds)))
    return predicted
