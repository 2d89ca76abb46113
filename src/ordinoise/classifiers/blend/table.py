"""One table in two forms: with missing values and codes for trees, and as finite numbers for networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints

MOST_CATEGORIES = 50
"""Most categories of one column that are one-hot encoded, by frequency; the others are all zeros. Chosen by no run."""


@dataclass(frozen=True, eq=False)
class Filling:
    """How a table with missing values and category codes becomes finite numbers.

    Attributes
    ----------
    medians : array of shape (n_features,)
        Replacement of a missing number, per column.
    flagged : array of int
        Columns of numbers with missing values in the training rows, each of which gets an indicator column.
    codes : mapping of int to array
        Position of each categorical column, and the codes that are one-hot encoded.
    """

    medians: Floats
    flagged: Ints
    codes: Mapping[int, Ints]

    @classmethod
    def of(cls, features: NDArray[np.floating], categorical: Iterable[int]) -> Filling:
        """The rule for these training rows."""
        codes = {j: _frequent(features[:, j]) for j in categorical}
        missing = np.isnan(features).any(axis=0)
        medians = np.zeros(features.shape[1])
        for j in np.flatnonzero(missing):
            known = features[~np.isnan(features[:, j]), j]
            medians[j] = np.median(known) if len(known) else 0.0
        flagged = np.array([j for j in np.flatnonzero(missing) if j not in codes], dtype=np.int64)
        return cls(medians, flagged, codes)

    def dense(self, features: NDArray[np.floating]) -> NDArray[np.floating]:
        """Filled numbers, then indicators, then one-hot categories; the table itself if there is nothing to do."""
        gaps = np.isnan(features)
        if not self.codes and not len(self.flagged) and not gaps.any():
            return features
        numbers = [j for j in range(features.shape[1]) if j not in self.codes]
        filled = np.where(gaps, self.medians, features)[:, numbers]
        ones = [(features[:, j, None] == codes) for j, codes in self.codes.items()]
        return np.hstack([filled, gaps[:, self.flagged], *ones]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Table:
    """Features with NaN for missing values and codes for categories, and the rule that makes them dense."""

    features: NDArray[np.floating]
    filling: Filling

    @cached_property
    def dense(self) -> NDArray[np.floating]:
        """The features as finite numbers, for networks."""
        return self.filling.dense(self.features)

    def rows(self, rows: Ints) -> Table:
        """Some of the rows."""
        return Table(self.features[rows], self.filling)


def _frequent(codes: NDArray[np.floating]) -> Ints:
    found, counts = np.unique(codes[~np.isnan(codes)].astype(np.int64), return_counts=True)
    return np.sort(found[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
