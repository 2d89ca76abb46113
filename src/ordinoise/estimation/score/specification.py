"""Can the columns predict where the fit is surprised? If so, the noise or the overlap is not what the fit assumes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.clusters import in_errors
from ordinoise.crossfit import stratified_folds
from ordinoise.learners.boosting.regression import held_out_predictions

N_FOLDS = 5
MOST_ROWS = 100_000
"""Rows that the test looks at, to bound its time; a round number."""
FARTHEST = 5.0
"""Surprises are cut at this many standard deviations, so that single rows do not decide. A round number."""
SMALLEST_VARIANCE = 1e-3  # rows whose label the fit is sure of do not weigh without limit
UNLIKELY = 1e-12  # a record of probability zero then has a finite surprise
FEWEST_ROWS = 200  # the booster needs 20 rows in a leaf


def predictable_surprise(features: Any, expected: Floats, ranks: Ints, seed: int, groups: Ints | None = None) -> float:
    """How well a small booster predicts, out of fold, the surprises of the records: a t value, about zero if the fit
    is right.

    The surprise is ``-log P(record)`` less its expectation, divided by its standard deviation, all under the fit: it is
    positive on average where rows are noisier, or overlap more, than the fit says.

    Parameters
    ----------
    features : array of shape (n_samples, n_features), or a function
        Numbers; NaN where missing. A function is called with a slice or an array of rows and returns their features.
    expected : array of shape (n_samples, n_classes)
        P(recorded label) of each row under the fit.
    ranks : array of shape (n_samples,)
        Recorded labels.
    seed : int
        Of the folds and of the rows, if there are more than `MOST_ROWS`.
    groups : array of shape (n_samples,), optional
        Numbers from 0; rows of one group are held out together.
    """
    if len(ranks) < FEWEST_ROWS:
        return 0.0
    rng = np.random.default_rng(seed)
    rows: slice | Ints = slice(None)
    if len(ranks) > MOST_ROWS:
        rows = np.sort(rng.choice(len(ranks), MOST_ROWS, replace=False))
    features = features(rows) if callable(features) else features[rows]
    expected, ranks, groups = expected[rows], ranks[rows], None if groups is None else groups[rows]
    surprise = _surprise(expected, ranks)
    folds = rng.permutation(len(ranks)) % N_FOLDS if groups is None else stratified_folds(ranks, N_FOLDS, rng, groups)
    product = surprise * held_out_predictions(features, surprise, folds)
    return in_errors(product, groups)


def _surprise(expected: Floats, ranks: Ints) -> Floats:
    cost = -np.log(np.maximum(expected, UNLIKELY))
    mean = (expected * cost).sum(axis=1)
    variance = (expected * cost**2).sum(axis=1) - mean**2
    seen = cost[np.arange(len(ranks)), ranks]
    return np.clip((seen - mean) / np.sqrt(variance + SMALLEST_VARIANCE), -FARTHEST, FARTHEST)
