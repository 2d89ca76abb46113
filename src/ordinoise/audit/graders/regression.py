"""Residual on residual: how much a grade differs from what the columns tell, by how much its grader does.

A record's residual ``r = record - E(record | x)`` is regressed on the excess ``e_g = 1(grader is g) - P(g | x)`` of
every grader. Both have the columns' part taken out, so a grader who gets rows that the columns tell apart is compared
with what others would have said of such rows (Robinson 1988; Chernozhukov and others 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ordinoise._validation import Floats, Ints

SPREADS = np.geomspace(0.01, 1.5, 50)
"""Standard deviations of the graders' shifts that are averaged over, in grades, all as likely before the data."""
RIDGE = 100.0  # penalty of P(g | x) on standardized columns; with FEW a round number, chosen by no run
FEW = 20.0  # rows that the variance common to all graders counts among a grader's own
TINY = 1e-8  # eigenvalues below this part of the largest are a constant: only differences of graders are told


def excess(columns: Floats, indicators: Floats, folds: Ints) -> Floats:
    """Indicators less their chance given the columns, out of fold, shape (n_rows, n_indicators).

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns)
        Standardized columns, without a constant.
    indicators : array of shape (n_rows, n_indicators)
        One column of 0 and 1 per grader.
    folds : int array of shape (n_rows,)
    """
    left = np.empty(indicators.shape)
    for fold in range(int(folds.max()) + 1):
        seen, held = folds != fold, folds == fold
        mean, share = columns[seen].mean(axis=0), indicators[seen].mean(axis=0)
        centered = columns[seen] - mean
        gram = centered.T @ centered + RIDGE * np.eye(columns.shape[1])
        slopes = np.linalg.solve(gram, centered.T @ (indicators[seen] - share))
        left[held] = indicators[held] - share - (columns[held] - mean) @ slopes
    return left


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
    def of(cls, residuals: Floats, left: Floats, weights: Floats, shares: Floats) -> Shifts:
        """The regression of `residuals` on `left` with one precision per row."""
        weighted = left * weights[:, None]
        precisions, directions = np.linalg.eigh(weighted.T @ left)
        kept = precisions > TINY * precisions[-1]
        precisions, directions = precisions[kept], directions[:, kept]
        estimates = directions.T @ (weighted.T @ residuals) / precisions
        return cls(shares, precisions, directions, estimates)

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
