"""Residual on residual: how much a grade differs from what the columns tell, by how much its grader does.

A record's residual ``r = record - E(record | x)`` is regressed on the excess ``e_g = 1(grader is g) - P(g | x)`` of
every grader. Both have the columns' part taken out, so a grader who gets rows that the columns tell apart is compared
with what others would have said of such rows (Robinson 1988; Chernozhukov and others 2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from ordinoise._validation import Floats, Ints

Columns = NDArray[np.floating[Any]]
SPREADS = np.geomspace(0.01, 1.5, 50)
"""Standard deviations of the graders' shifts that are averaged over, in grades, all as likely before the data."""
RIDGE = 100.0  # penalty of P(g | x) on standardized columns; with FEW a round number, chosen by no run
FEW = 20.0  # rows that the variance common to all graders counts among a grader's own
TINY = 1e-8  # eigenvalues below this part of the largest are a constant: only differences of graders are told
BLOCK = 2**20  # cells of a block of rows by graders; a round number, chosen by no run


def indicators(who: Ints, n_graders: int) -> Any:
    """One row per record, with a one in the column of its grader."""
    return csr_array((np.ones(len(who)), who, np.arange(len(who) + 1)), shape=(len(who), n_graders))


def excess(columns: Columns, flags: Any, folds: Ints, weights: Floats) -> Iterator[tuple[Ints, Floats]]:
    """Blocks of rows, and their flags less the chance of these given the columns, out of fold.

    Every fold is predicted by one ridge regression on the others; its sums are those of all rows less its own.

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns)
        Standardized columns, without a constant; products are computed in their precision.
    flags : sparse array of shape (n_rows, n_flags)
        Zeros and ones, such as `indicators`.
    folds : int array of shape (n_rows,)
    weights : array of shape (n_rows,)
    """
    parts = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
    sums = [_sums(columns[part], flags[part], weights[part]) for part in parts]
    gram, cross = (sum(each) for each in zip(*sums, strict=True))
    penalty = np.diag([0.0, *[RIDGE] * columns.shape[1]])
    for part, (own_gram, own_cross) in zip(parts, sums, strict=True):
        slopes = cho_solve(cho_factor(gram - own_gram + penalty, overwrite_a=True), cross - own_cross)
        of_columns = slopes[1:].astype(columns.dtype)
        for rows in np.array_split(part, max(1, part.size * flags.shape[1] // BLOCK)):
            yield rows, flags[rows].toarray() - slopes[0] - columns[rows] @ of_columns


def _sums(columns: Columns, flags: Any, weights: Floats) -> tuple[Floats, Floats]:
    """Sums of products of the columns, a constant first, with each other and with the flags."""
    constant = np.column_stack([np.ones(len(columns), dtype=columns.dtype), columns])
    weighted = constant * weights.astype(columns.dtype)[:, None]
    gram = np.asarray(weighted.T @ constant, dtype=np.float64)
    return gram, np.asarray((flags.T @ weighted).T, dtype=np.float64)


def excess_column(columns: Columns, flags: Floats, folds: Ints, weights: Floats) -> Floats:
    """One column of flags less their chance given the columns, shape (n_rows,)."""
    left = np.empty(len(flags))
    for rows, some in excess(columns, csr_array(flags[:, None]), folds, weights):
        left[rows] = some[:, 0]
    return left


class Moments(NamedTuple):
    """Sums over rows of products of the excess of the graders: all that the regression needs.

    Attributes
    ----------
    gram : array of shape (n_graders, n_graders)
        With each other, by the precision of the rows.
    cross : array of shape (n_graders, n_sides)
        With the residuals and, beside them, the excess of a contrast.
    inner : array of shape (n_sides, n_sides)
        Of these with each other.
    squares : array of shape (n_graders,)
        Squares, by the weight of the rows.
    """

    gram: Floats
    cross: Floats
    inner: Floats
    squares: Floats

    @classmethod
    def of(cls, blocks: Iterable[tuple[Ints, Floats]], precision: Floats, sides: Floats, weights: Floats) -> Moments:
        """The sums over blocks of `excess`."""
        parts = []
        for rows, left in blocks:
            weighted = left * precision[rows, None]
            parts.append((weighted.T @ left, weighted.T @ sides[rows], weights[rows] @ left**2))
        gram, cross, squares = (np.sum(one, axis=0) for one in zip(*parts, strict=True))
        return cls(gram, cross, sides.T @ (sides * precision[:, None]), squares)

    def shifts(self, shares: Floats) -> Shifts:
        """The regression on all graders; a contrast is taken out of both sides by weighted least squares."""
        gram, cross = self.gram, self.cross[:, 0]
        if self.cross.shape[1] > 1:
            slopes = self.cross[:, 1] / max(self.inner[1, 1], TINY)
            gram, cross = gram - np.outer(slopes, self.cross[:, 1]), cross - slopes * self.inner[0, 1]
        return Shifts.of(gram, cross, shares)


@dataclass(frozen=True, eq=False)
class Shifts:
    """A regression of residuals on the excess of each grader, ready to be shrunken.

    Attributes
    ----------
    shares : array of shape (n_graders,)
        Share of the rows that each grader has; they sum to one.
    precisions : array of shape (n_directions,)
        Precision of each direction in the space of shifts, from the rows alone.
    directions : array of shape (n_graders, n_directions)
    estimates : array of shape (n_directions,)
        Least-squares estimate along each direction.
    """

    shares: Floats
    precisions: Floats
    directions: Floats
    estimates: Floats

    @classmethod
    def of(cls, gram: Floats, cross: Floats, shares: Floats) -> Shifts:
        """The regression with these sums of products of the excess, with each other and with the residuals."""
        precisions, directions = np.linalg.eigh(gram)
        kept = precisions > TINY * precisions[-1]
        precisions, directions = precisions[kept], directions[:, kept]
        return cls(shares, precisions, directions, directions.T @ cross / precisions)

    @cached_property
    def contrasts(self) -> Floats:
        """What turns directions into each grader less the mean of the others, by rows."""
        others = (self.shares @ self.directions - self.shares[:, None] * self.directions) / (1 - self.shares)[:, None]
        return self.directions - others

    def unshrunken(self) -> tuple[Floats, Floats]:
        """Each grader less the others, and its standard error, by the rows alone."""
        return self.contrasts @ self.estimates, np.sqrt((self.contrasts**2 / self.precisions).sum(axis=1))

    def shrunken(self) -> tuple[Floats, Floats]:
        """Each grader less the others with its standard error, averaged over the spread of all graders."""
        chances, kept, centers = self._mixture
        means = (kept * centers) @ self.contrasts.T
        mean = chances @ means
        within = (kept / self.precisions) @ (self.contrasts**2).T
        return mean, np.sqrt(chances @ (within + (means - mean) ** 2))

    @cached_property
    def _mixture(self) -> tuple[Floats, Floats, Floats]:
        """Chance of each spread; how much of each direction it keeps; the estimates."""
        total = SPREADS[:, None] ** 2 + 1 / self.precisions
        # The grid is geometric and the prior flat in the spread: log(SPREADS) is the width of a cell.
        logs = np.log(SPREADS) - 0.5 * (np.log(total) + self.estimates**2 / total).sum(axis=1)
        chances = np.exp(logs - logs.max())
        return chances / chances.sum(), SPREADS[:, None] ** 2 / total, self.estimates

    def common(self) -> tuple[Floats, Floats]:
        """Mean and covariance of all shifts, shrunken, apart from a constant that no data tells."""
        chances, kept, centers = self._mixture
        means = kept * centers
        mean = chances @ means
        inner = np.diag(chances @ (kept / self.precisions)) + (means - mean).T @ ((means - mean) * chances[:, None])
        return self.directions @ mean, self.directions @ inner @ self.directions.T


def row_variances(residuals: Floats, graders: Ints, weights: Floats) -> Floats:
    """Variance of each grader's residuals about their mean, pulled to the common one by `FEW` rows."""
    n_rows = np.bincount(graders, weights)
    mean = np.bincount(graders, weights * residuals) / n_rows
    squares = np.bincount(graders, weights * (residuals - mean[graders]) ** 2)
    common = np.average(residuals**2, weights=weights)
    return np.asarray((squares + FEW * common) / np.maximum(n_rows - 1 + FEW, 1.0))
