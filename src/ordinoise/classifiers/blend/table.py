"""One table in two forms: as trees read it, and as a network must have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints

MOST_CATEGORIES = 50
"""Categories of one column that get a column of their own, the most frequent ones; the others look like none."""


@dataclass(frozen=True, eq=False)
class Filling:
    """How a table with gaps and codes of categories becomes finite numbers.

    Attributes
    ----------
    medians : array of shape (n_features,)
        What a missing number is taken for.
    flagged : array of int
        Columns of numbers with gaps in the training rows: whether a value is missing is told by one more column.
    codes : mapping of int to array
        Column number of each categorical column, and the codes that get a column of zeros and ones.
    """

    medians: Floats
    flagged: Ints
    codes: Mapping[int, Ints]

    @classmethod
    def of(cls, features: NDArray[np.floating], categorical: Iterable[int]) -> Filling:
        """The rule that the training rows ask for."""
        codes = {j: _frequent(features[:, j]) for j in categorical}
        missing = np.isnan(features).any(axis=0)
        medians = np.zeros(features.shape[1])
        for j in np.flatnonzero(missing):
            known = features[~np.isnan(features[:, j]), j]
            medians[j] = np.median(known) if len(known) else 0.0
        flagged = np.array([j for j in np.flatnonzero(missing) if j not in codes], dtype=np.int64)
        return cls(medians, flagged, codes)

    def dense(self, features: NDArray[np.floating]) -> NDArray[np.floating]:
        """Numbers with gaps filled, then flags, then categories; the table itself where there is nothing to do."""
        gaps = np.isnan(features)
        if not self.codes and not len(self.flagged) and not gaps.any():
            return features
        numbers = [j for j in range(features.shape[1]) if j not in self.codes]
        filled = np.where(gaps, self.medians, features)[:, numbers]
        ones = [(features[:, j, None] == codes) for j, codes in self.codes.items()]
        return np.hstack([filled, gaps[:, self.flagged], *ones]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Table:
    """Features as trees read them, with NaN for gaps and codes for categories, and the rule for networks."""

    features: NDArray[np.floating]
    filling: Filling

    @cached_property
    def dense(self) -> NDArray[np.floating]:
        """Finite numbers."""
        return self.filling.dense(self.features)

    def rows(self, rows: Ints) -> Table:
        """Some of the rows."""
        return Table(self.features[rows], self.filling)


def _frequent(codes: NDArray[np.floating]) -> Ints:
    found, counts = np.unique(codes[~np.isnan(codes)].astype(np.int64), return_counts=True)
    return np.sort(found[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
