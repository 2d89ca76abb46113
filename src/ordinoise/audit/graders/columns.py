"""Columns from which the chance of a grader is learned: numbers, categories and text, and curves of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._sparse import is_sparse
from ordinoise._validation import Floats, complain
from ordinoise.classifiers.blend.table import Filling, Reading, Table, sparse_table
from ordinoise.columns.coding import Columns, is_frame

Singles = NDArray[np.float32]
SMALLEST_SPREAD = 1e-9  # of a column that is not constant, beside its largest value
N_CURVES = 150  # random cosines of the columns, so that the chance may bend; with N_DIRECTIONS chosen by no run
N_DIRECTIONS = 50  # singular directions that stand for the n-grams of a text, or for a sparse matrix


def standardized_columns(features: Any, rng: np.random.Generator) -> Singles:
    """All that the features say, as standardized columns of numbers; constant ones are left out."""
    table = features if isinstance(features, Table) else _table(features)
    dense = np.asarray(table.dense, dtype=np.float64)
    parts = [_standardized(dense)]
    if parts[0].shape[1]:
        n_columns = parts[0].shape[1]
        slopes = rng.normal(size=(n_columns, N_CURVES)) / np.sqrt(n_columns)
        turns = parts[0] @ slopes.astype(np.float32)
        turns += rng.uniform(0, 2 * np.pi, size=N_CURVES).astype(np.float32)
        parts.append(_standardized(np.cos(turns, out=turns)))
    parts += [_standardized(_directions(some, rng)) for some in table.counts]
    return np.hstack(parts)


def _table(features: Any) -> Table:
    if is_sparse(features):
        return sparse_table(features, Filling.of(np.empty((features.shape[0], 0)), ()))
    X = features if is_frame(features) else _array(features)
    columns = Columns.of(X, "auto", "auto")
    encoded = columns.encoded(X)
    return Table(encoded, Filling.of(encoded, columns.categories), Reading.of(columns.cells(X))[1])


def _array(features: Any) -> Floats:
    """An array of numbers, NaN where they are missing."""
    try:
        found = np.asarray(features)
    except ValueError:  # rows of unequal length
        found = np.empty(0, dtype=object)
    if found.ndim != 2 or found.dtype.kind not in "biuf" or np.isinf(found.astype(np.float64)).any():
        rule = "be a frame, a sparse matrix or an array of finite numbers of shape (n_samples, n_features)"
        raise complain("features", rule, f"a {type(features).__name__} of {found.dtype}, shape {found.shape}")
    return found.astype(np.float64)


def _standardized(columns: Floats) -> Singles:
    """In single precision: the ridge regressions that read them need no more, and take half the time."""
    centered = columns - columns.mean(axis=0)
    spread = np.sqrt(np.einsum("ij,ij->j", centered, centered) / len(columns))
    kept = spread > SMALLEST_SPREAD * (1 + np.abs(columns).max(axis=0, initial=0.0))
    return np.asarray(centered[:, kept] / spread[kept], dtype=np.float32)


def _directions(counts: Any, rng: np.random.Generator) -> Floats:
    """The first singular directions of sparse columns; the columns themselves if they are few."""
    rows = counts.unit_rows(np.arange(counts.matrix.shape[0]))
    if rows.shape[1] <= N_DIRECTIONS:
        return np.asarray(rows.toarray(), dtype=np.float64)
    from sklearn.decomposition import TruncatedSVD

    n_directions = min(N_DIRECTIONS, rows.shape[0] - 1)
    reduction = TruncatedSVD(n_directions, random_state=int(rng.integers(2**31)))
    return np.asarray(reduction.fit_transform(rows.astype(np.float64)))
