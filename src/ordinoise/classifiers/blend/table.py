"""One table in three forms: with missing values and codes for trees, as finite numbers for networks, and sparse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ordinoise._sparse import as_csr, is_sparse, slices
from ordinoise._validation import Floats, Ints
from ordinoise.columns.summaries import Summaries
from ordinoise.columns.texts import LENGTHS, Grams, Weights, association, rarity, weighted

MOST_CATEGORIES = 50
"""Most categories of one column that are one-hot encoded, by frequency; the others are all zeros. Chosen by no run."""
DENSE_ROWS = 65_536
"""Rows that are made dense at a time, 50 MB with 100 columns; a multiple of those that a network predicts together."""


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
        return np.hstack([filled, gaps[:, self.flagged], *ones], dtype=np.float64)

    def n_columns(self, n_features: int) -> int:
        """Number of columns of `dense`."""
        return n_features - len(self.codes) + len(self.flagged) + sum(len(codes) for codes in self.codes.values())


@dataclass(frozen=True, eq=False)
class Counts:
    """Sparse columns of a table: the n-grams of one text column or its summary, or the columns of a sparse matrix.

    Attributes
    ----------
    matrix : CSR matrix of shape (n_samples, n_columns)
    analyzer : str or None
        Kind of n-grams; None for columns that are read as they are.
    """

    matrix: Any
    analyzer: str | None = None

    def rarity(self, rows: Ints) -> Weights:
        """The weight of each column among some rows."""
        if self.analyzer is None:
            return np.ones(self.matrix.shape[1], dtype=np.float32)
        return rarity(self.matrix[rows], self.analyzer)

    def telling(self, rows: Ints, grades: Floats, weights: Floats) -> Weights:
        """Rarity of each n-gram, times how much the grades of the rows that hold it differ from those of the others."""
        if self.analyzer is None:
            return self.rarity(rows)
        learned = self.matrix[rows]
        return rarity(learned, self.analyzer) * association(learned, grades, weights)

    def unit_rows(self, rows: Ints) -> Any:
        """The columns as a model of these rows reads them, every row of length one (or zero)."""
        from sklearn.preprocessing import normalize

        coded = self.weighted(self.rarity(rows))
        return normalize(coded) if coded.shape[1] else coded

    def weighted(self, weights: Weights) -> Any:
        """The columns as a model reads them."""
        return self.matrix if self.analyzer is None else weighted(self.matrix, weights)


Coding = tuple[Weights, ...]
"""The weight of each n-gram in each of a table's `counts`, learned from the training rows of one fold."""


@dataclass(frozen=True, eq=False)
class Table:
    """Features with NaN for missing values and codes for categories, the rule that makes them dense, sparse columns."""

    features: NDArray[np.floating]
    filling: Filling
    counts: tuple[Counts, ...] = ()

    @cached_property
    def dense(self) -> NDArray[np.floating]:
        """The features as finite numbers, for networks; of a large table rather a part at a time."""
        return self.filling.dense(self.features)

    def dense_parts(self) -> Iterator[NDArray[np.floating]]:
        """The columns of `dense`, `DENSE_ROWS` rows at a time; only a table that is one part keeps them."""
        if len(self.features) <= DENSE_ROWS:
            yield self.dense
        else:
            for start in range(0, len(self.features), DENSE_ROWS):
                yield self.filling.dense(self.features[start : start + DENSE_ROWS])

    @property
    def columns(self) -> Any:
        """The columns that an estimator of the noise is shown: the dense ones, or the sparse ones if there are none."""
        is_sparse = self.counts and not self.features.shape[1]
        return self.sparse(self.coding(np.arange(len(self.features)))) if is_sparse else self.dense

    def blocks(self) -> Iterator[Table]:
        """The rows in order, so many at a time that `sparse` of a block takes little memory."""
        n_rows = len(self.features)
        parts = slices(n_rows, sum(some.matrix.nnz for some in self.counts))
        return (self if len(parts) == 1 else self.rows(rows) for rows in parts)

    def rows(self, rows: Ints | slice) -> Table:
        """Some of the rows."""
        counts = tuple(replace(some, matrix=some.matrix[rows]) for some in self.counts)
        return Table(self.features[rows], self.filling, counts)

    @staticmethod
    def stacked(tables: Sequence[Table]) -> Table:
        """The rows of several tables with the same columns, one table below the other."""
        first = tables[0]
        counts = tuple(
            replace(some, matrix=sparse.vstack([table.counts[at].matrix for table in tables], format="csr"))
            for at, some in enumerate(first.counts)
        )
        return Table(np.concatenate([table.features for table in tables]), first.filling, counts)

    def only_sparse(self) -> Table:
        """All rows, without the dense columns."""
        nothing = Filling(np.empty(0), np.empty(0, dtype=np.int64), {})
        return Table(self.features[:, :0], nothing, self.counts)

    def with_column(self, numbers: Floats) -> Table:
        """All rows, with one more column of numbers, the last."""
        filling = replace(self.filling, medians=np.append(self.filling.medians, 0.0))
        return Table(np.column_stack([self.features, numbers]), filling, self.counts)

    def coding(self, rows: Ints) -> Coding:
        """How sparse columns are weighted by a model that learns from these rows."""
        return tuple(some.rarity(rows) for some in self.counts)

    def telling(self, rows: Ints, grades: Floats, weights: Floats) -> Coding:
        """How sparse columns are weighted by a model of these grades: n-grams that go with them weigh more."""
        return tuple(some.telling(rows, grades, weights) for some in self.counts)

    @property
    def n_columns(self) -> int:
        """Number of columns of `sparse`."""
        return self.filling.n_columns(self.features.shape[1]) + sum(some.matrix.shape[1] for some in self.counts)

    def sparse(self, coding: Coding) -> Any:
        """All columns as one CSR matrix of float64: the dense ones, then the sparse ones."""
        parts = [some.weighted(weights) for some, weights in zip(self.counts, coding, strict=True)]
        if self.features.shape[1]:
            parts.insert(0, as_csr(self.dense))
        return sparse.hstack(parts, format="csr", dtype=np.float64)


def sparse_table(features: Any, filling: Filling) -> Table:
    """The table of a matrix whose columns are read as they are."""
    return Table(np.empty((features.shape[0], 0)), filling, (Counts(as_csr(features)),))


@dataclass(frozen=True, eq=False)
class Reading:
    """How text columns become sparse ones: the n-grams of each, every kind, then the summary of each."""

    grams: tuple[Grams, ...] = ()
    summaries: tuple[Summaries, ...] = ()

    @classmethod
    def of(cls, cells: Sequence[Sequence[str]]) -> tuple[Reading, tuple[Counts, ...]]:
        """What is read in these texts, and their counts."""
        grams = [Grams.of(at, kind, texts) for at, texts in enumerate(cells) for kind in LENGTHS]
        summaries = [Summaries.of(at, texts) for at, texts in enumerate(cells)]
        counts = [Counts(counted, one.analyzer) for one, counted in grams] + [Counts(own) for _, own in summaries]
        return cls(tuple(one for one, _ in grams), tuple(one for one, _ in summaries)), tuple(counts)

    @property
    def blocks(self) -> tuple[Grams | Summaries, ...]:
        """What each of the `counts` comes from."""
        return (*self.grams, *self.summaries)

    def counts(self, cells: Sequence[Sequence[str]]) -> tuple[Counts, ...]:
        """The counts of new texts."""
        return tuple(Counts(one.counted(cells[one.column]), getattr(one, "analyzer", None)) for one in self.blocks)


def text_table(features: Any, filling: Filling, reading: Reading, cells: Sequence[Sequence[str]]) -> Table:
    """New rows with what is read in their texts."""
    dense = features.toarray() if is_sparse(features) else features
    return Table(dense, filling, reading.counts(cells))


def _frequent(codes: NDArray[np.floating]) -> Ints:
    found, counts = np.unique(codes[~np.isnan(codes)].astype(np.int64), return_counts=True)
    return np.sort(found[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
