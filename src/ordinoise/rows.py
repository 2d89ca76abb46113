"""Which rows to learn from and which to stop by, and the scale of their features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints, complain

ROWS_AT_A_TIME = 4096

__all__ = ["center_and_scale", "split_rows"]


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
