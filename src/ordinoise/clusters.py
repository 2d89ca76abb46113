"""Rows of one group, such as those of a patient, say less than as many independent ones: how much less."""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats, Ints

LEAST_CHANCE = 0.01
"""Records that are less likely count as if they were so likely, so that a few do not decide. By no run."""

SMALLEST_SPREAD = 1e-12  # values that are all the same then have a finite mean in standard errors


def record_correlation(probabilities: Floats, ranks: Ints, groups: Ints | None) -> float:
    """Correlation within groups of what records show beyond their predictions, from 0 to 1; 0 without groups.

    The largest of three: of which grade is recorded, of how far it lies above the expected one, as where a group is
    graded severely, and of how unlikely it is, as where a group is graded carelessly.
    """
    if groups is None:
        return 0.0
    rows, grades = np.arange(len(ranks)), np.arange(probabilities.shape[1])
    chances = np.maximum(probabilities, LEAST_CHANCE)
    which = (np.eye(len(grades))[ranks] - probabilities) / np.sqrt(chances)
    above = _standardized(probabilities, np.broadcast_to(grades, probabilities.shape))
    unlikely = _standardized(probabilities, -np.log(chances))
    kinds = (which, above[rows, ranks, None], unlikely[rows, ranks, None])
    return max(correlation_within(one, groups) for one in kinds)


def _standardized(probabilities: Floats, values: Floats) -> Floats:
    """Values of the possible records of each row, less their expectation, over their standard deviation."""
    deviations = values - (probabilities * values).sum(axis=1, keepdims=True)
    variance = (probabilities * deviations**2).sum(axis=1, keepdims=True)
    return np.asarray(deviations / np.sqrt(variance + LEAST_CHANCE))


def correlation_within(residuals: Floats, groups: Ints | None) -> float:
    """Correlation of the residuals of two rows of one group, from 0 to 1; columns count together.

    The sum over pairs of rows of one group, ``|sum e|^2 - sum |e|^2``, per pair, over the mean of ``|e|^2``.
    """
    if groups is None:
        return 0.0
    deviations = residuals - residuals.mean(axis=0)
    sizes = np.bincount(groups)
    n_pairs = float((sizes * (sizes - 1.0)).sum())
    square = float((deviations**2).sum())
    if n_pairs == 0 or square == 0:
        return 0.0
    together = sum(float((np.bincount(groups, one) ** 2).sum()) for one in np.atleast_2d(deviations.T))
    return float(np.clip((together - square) / n_pairs / (square / len(groups)), 0.0, 1.0))


def design_effect(correlation: float, groups: Ints | None, weights: Floats | None = None) -> float:
    """Variance of a weighted sum over rows, in units of that of independent ones: ``1 + correlation (m - 1)``.

    m is the mean size of the group of a row, ``sum_groups (sum w)^2 / sum w^2``.
    """
    if groups is None:
        return 1.0
    rows = np.ones(len(groups)) if weights is None else weights
    size = float((np.bincount(groups, rows) ** 2).sum() / (rows**2).sum())
    return 1 + correlation * max(size - 1, 0.0)


def effect_on_records(probabilities: Floats, ranks: Ints, groups: Ints | None, n_rows: int) -> float:
    """Design effect on counts of `n_rows` records, of which these are a random sample with its predictions.

    A group has as many rows more in the whole than in the sample as there are rows more, on average.
    """
    effect = design_effect(record_correlation(probabilities, ranks, groups), groups)
    return 1 + (effect - 1) * n_rows / len(ranks)


def effect_on_mean(values: Floats, groups: Ints | None) -> float:
    """Variance of the mean of these values, in units of that of independent ones; at least one."""
    return design_effect(correlation_within(values[:, None], groups), groups)


def in_errors(values: Floats, groups: Ints | None = None) -> float:
    """The mean of these values in units of its standard error."""
    n_independent = len(values) / effect_on_mean(values, groups)
    return float(values.mean() / max(values.std(), SMALLEST_SPREAD) * np.sqrt(n_independent))


def standard_error(deviations: Floats, weights: Floats, groups: Ints | None = None) -> float:
    """Standard error of a weighted mean, from deviations of rows from it and weights that sum to one.

    Sums over groups are independent. ``n / (n - 1)``, with n their effective number, makes equal weights unbiased.
    """
    parts, sizes = weights * deviations, weights
    if groups is not None:
        parts, sizes = (np.asarray(np.bincount(groups, one), dtype=np.float64) for one in (parts, sizes))
    n_effective = 1 / float((sizes**2).sum())
    inflation = n_effective / (n_effective - 1) if n_effective > 1 else np.nan
    return float(np.sqrt((parts**2).sum() * inflation))
