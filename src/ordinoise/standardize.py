"""Center and scale of columns, read in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinoise._sparse import is_sparse
from ordinoise._validation import Floats, Ints

LARGEST_SQUARED = 1e150  # its square is still a number
ROWS_AT_A_TIME = 4096  # a block of 100 float64 columns is then 3 MB


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
