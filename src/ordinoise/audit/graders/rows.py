"""Graded rows of several people: sums of what the columns leave of each grade, and what they show of the graders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_law

from ordinoise._validation import Floats, Ints
from ordinoise.audit.graders.regression import Shifts, row_variances
from ordinoise.clusters import effect_on_mean
from ordinoise.estimate import Estimate, normal_reach

TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Rows:
    """Graded rows: what the columns tell of each grade, and what is left of it.

    Attributes
    ----------
    expected, variances, residuals : arrays of shape (n_rows,)
        Mean and variance of the grade given the columns; the record less that mean, centered.
    who : int array of shape (n_rows,)
    weights : array of shape (n_rows,)
        In units of rows: their sum is the number of rows that would have the same precision without weights.
    own : array of shape (n_graders,)
        Rows of each grader in that unit.
    effect : float
        How many times the variance of a mean is larger because rows of one group go together.
    """

    expected: Floats
    variances: Floats
    residuals: Floats
    who: Ints
    weights: Floats
    own: Floats
    effect: float

    @classmethod
    def of(cls, table: Floats, ranks: Ints, who: Ints, weights: Floats, groups: Ints | None) -> Rows:
        """The rows of records and of the probabilities that the columns give them."""
        grades = np.arange(table.shape[1])
        weights = weights * (weights.sum() / (weights**2).sum())
        expected = table @ grades
        residuals = ranks - expected
        residuals = residuals - np.average(residuals, weights=weights)
        standard = residuals / np.sqrt(row_variances(residuals, who, weights))[who]
        return cls(
            expected, table @ grades**2 - expected**2, residuals, who, weights,
            np.bincount(who, weights).astype(np.float64), _design_effect(standard, who, groups),
        )  # fmt: skip

    @property
    def precision(self) -> Floats:
        """Precision of each residual, by the spread of its grader."""
        spread = row_variances(self.residuals, self.who, self.weights)[self.who]
        return np.asarray(self.weights / (spread * self.effect))

    @property
    def n_rows(self) -> float:
        """Number of rows in the unit of the weights."""
        return float(self.weights.sum())

    @property
    def means(self) -> tuple[Floats, Floats]:
        """Mean expected grade of the rows of each grader, and of those of the others."""
        sums = np.bincount(self.who, self.weights * self.expected)
        return sums / self.own, (sums.sum() - sums) / (self.n_rows - self.own)

    @property
    def assignment(self) -> tuple[float, float]:
        """F ratio of the expected grades between graders, and its p value if rows were given out at random."""
        mean, n_graders = self.means[0], len(self.own)
        overall = float(self.weights @ self.expected) / self.n_rows
        between = float(self.own @ (mean - overall) ** 2) / (n_graders - 1)
        left = max(self.n_rows / self.effect - n_graders, 1.0)
        within = float(self.weights @ (self.expected - mean[self.who]) ** 2) / left
        if within <= TINY:
            return 0.0, 1.0
        return between / within, float(f_law.sf(between / within, n_graders - 1, left))

    def hidden(self, ratio: float) -> Floats:
        """How far shifts may be off if unseen reasons weigh as much as seen ones, per unit of variance, (n_graders,).

        Equal selection (Altonji, Elder and Taber 2005): what the columns tell of the grade differs between the rows of
        a grader and the others' by ``mean - others``; of what they do not tell a part as large in proportion may, too.
        """
        mean, others = self.means
        center = np.average(self.expected, weights=self.weights)
        seen = float(np.average((self.expected - center) ** 2, weights=self.weights))
        unseen = float(np.average(self.residuals**2, weights=self.weights))
        return np.asarray(np.abs(mean - others) * max(0.0, 1 - 1 / ratio) * unseen / seen)

    def spreads(self, shift: Floats, level: float) -> list[Estimate]:
        """How many times as far each grader's grades scatter around what the columns tell, shrunken as shifts are."""
        about = self.residuals - shift[self.who]
        about = about - np.average(about, weights=self.weights)
        squares = np.maximum(np.bincount(self.who, self.weights * about**2), TINY)
        usual = np.maximum(np.bincount(self.who, self.weights * self.variances), TINY)
        logs = 0.5 * np.log(squares / usual)
        standard = about / np.sqrt(squares / self.own)[self.who]
        kurtosis = float(np.average(standard**4, weights=self.weights))
        variance = max(kurtosis - 1, TINY) * self.effect / (4 * self.own)
        center = float(np.average(logs, weights=1 / variance))
        shares = self.own / self.n_rows
        value, error = Shifts(shares, 1 / variance, np.eye(len(self.own)), logs - center).shrunken()
        reach = np.array([normal_reach(one, level) for one in error.tolist()])
        return Estimate.each((np.exp(value + sign * reach) for sign in (0, -1, 1)), level)


def _design_effect(residuals: Floats, who: Ints, groups: Ints | None) -> float:
    """How many times the variance of a mean is larger because rows of one group and grader go together."""
    if groups is None:
        return 1.0
    _, together = np.unique(np.column_stack([groups, who]), axis=0, return_inverse=True)
    return effect_on_mean(residuals, together.reshape(-1))
