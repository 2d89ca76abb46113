"""Rows with recorded labels, and the noise of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.classifiers.blend.table import Table
from ordinoise.labels import Verified


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rows with recorded labels, their weights and their noise matrices.

    `index` is the number of each row's matrix in `matrices`; None if all rows share one. Rows with the same number in
    `groups` are held out together.
    """

    table: Table
    ranks: Ints
    weights: Floats
    matrices: Floats
    index: Ints | None = None
    groups: Ints | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.matrices.shape[1]

    def rows(self, rows: Ints) -> Recorded:
        """Some of the rows."""
        index, groups = (None if numbers is None else numbers[rows] for numbers in (self.index, self.groups))
        return Recorded(self.table.rows(rows), self.ranks[rows], self.weights[rows], self.matrices, index, groups)

    def with_trusted(self, trusted: Verified) -> Recorded:
        """The data with verified labels: their record is what was recorded and verified together."""
        rows, ranks, verdict = trusted.rows, self.ranks.copy(), trusted.likelihood
        record = self.likelihood_of(rows)
        both = verdict * record
        # A record that allows one class only, as where labels are trusted, leaves nothing to weigh: the verdict stands
        # alone, as beside a record that the noise rules out, and where there is none.
        use_both = trusted.is_recorded & (both.max(axis=1) > 0) & ((record > 0).sum(axis=1) > 1)
        likelihood = np.where(use_both[:, None], both, verdict)
        likelihood = likelihood / likelihood.max(axis=1, keepdims=True)
        cells, at = np.unique(np.column_stack([trusted.labels, likelihood]), axis=0, return_inverse=True)
        index = np.zeros(len(ranks), dtype=np.int64) if self.index is None else self.index.copy()
        ranks[rows], index[rows] = trusted.labels, len(self.matrices) + at.ravel()
        more = record_matrices(cells[:, 1:], cells[:, 0].astype(np.int64))
        return replace(self, ranks=ranks, matrices=np.concatenate([self.matrices, more]), index=index)

    @property
    def is_corrected(self) -> bool:
        """Whether some matrix says that records may be wrong."""
        return bool((self.matrices != np.eye(self.n_classes)).any())

    @property
    def likelihood(self) -> Floats:
        """Probability of each row's record under every true class, shape (n_samples, n_classes)."""
        return self.likelihood_of(slice(None))

    def likelihood_of(self, rows: Any) -> Floats:
        """Probability of the records of some rows under every true class, shape (len(rows), n_classes)."""
        return np.asarray(self.matrices[0 if self.index is None else self.index[rows], :, self.ranks[rows]])


def record_matrices(likelihood: Floats, ranks: Ints) -> Floats:
    """Matrices whose columns `ranks` hold these likelihoods, one per row, of at most one; the next holds the rest."""
    n_records, n_classes = likelihood.shape
    matrices, record = np.zeros((n_records, n_classes, n_classes)), np.arange(n_records)
    matrices[record, :, ranks] = likelihood
    matrices[record, :, (ranks + 1) % n_classes] = 1 - likelihood  # other records than those seen
    return matrices
