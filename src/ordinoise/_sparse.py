"""Sparse matrices of any of scipy's kinds, as the one kind that is used here: CSR."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

STORED_AT_A_TIME = 5_000_000
"""Stored numbers of a matrix whose intermediate results are in memory together: a round number, chosen by no run."""


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy."""
    return bool(sparse.issparse(X))


def as_csr(content: Any, **options: Any) -> Any:
    """A CSR matrix of `content`, any of the forms that scipy takes; not copied if it is one already."""
    return sparse.csr_matrix(content, **options)


def slices(length: int, n_stored: int) -> list[slice]:
    """Equal parts of `length` rows with `n_stored` numbers together, about `STORED_AT_A_TIME` or fewer in each."""
    n_parts = max(1, min(length, 1 + n_stored // STORED_AT_A_TIME))
    bounds = np.linspace(0, length, n_parts + 1).astype(np.int64).tolist()
    return [slice(*pair) for pair in pairwise(bounds)]


def holding(matrix: Any) -> NDArray[np.int64]:
    """Number of rows of a CSR matrix that have each column."""
    total = np.zeros(matrix.shape[1], dtype=np.int64)
    for some in slices(matrix.nnz, matrix.nnz):  # `bincount` copies its argument as int64
        total += np.bincount(matrix.indices[some], minlength=matrix.shape[1])
    return total
