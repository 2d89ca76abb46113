"""Sparse matrices of any of scipy's kinds, as the one kind that is used here: CSR."""

from __future__ import annotations

from typing import Any

from scipy import sparse


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy."""
    return bool(sparse.issparse(X))


def as_csr(content: Any, **options: Any) -> Any:
    """A CSR matrix of `content`, any of the forms that scipy takes; not copied if it is one already."""
    return sparse.csr_matrix(content, **options)
