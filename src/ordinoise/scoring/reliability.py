"""Whether predicted probabilities come true on clean labels, told from recorded ones.

The noise matrix's inverse on the 0/1 levels "is the grade above j?" gives, on average over the noise, the levels of
the true label. So the share of true labels above j among rows with like predictions needs no clean label.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import (
    Floats,
    Ints,
    as_count,
    as_labels,
    as_number,
    as_probabilities,
    as_same_length,
)
from ordinoise.levels import corrected_levels

__all__ = ["Reliability", "reliability_curve"]


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predicted chances of a grade above j beside how often it came true, bin by bin.

    Attributes
    ----------
    predicted : array of shape (n_bins,)
        Mean predicted P(y > j) of each bin. Bins without a prediction are left out.
    observed : array of shape (n_bins,)
        Share of true labels above j, corrected for the noise. Unbiased, so it can leave [0, 1] where few rows speak.
    standard_error : array of shape (n_bins,)
        How far ``observed - predicted`` strays by chance, for the given noise matrix; a row is one draw, though it
        speaks once for each j.
    low, high : arrays of shape (n_bins,)
        Confidence interval of `observed`.
    counts : array of shape (n_bins,)
        Predictions in each bin; over all bins there are ``n_samples * (n_classes - 1)``.
    expected_calibration_error : float
        Mean of ``|observed - predicted|`` over all predictions.
    error_by_chance : float
        What that mean would be, about, for probabilities that are exactly right.
    confidence : float
        Level of the intervals.
    """

    predicted: Floats
    observed: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    counts: Ints
    expected_calibration_error: float
    error_by_chance: float
    confidence: float


def reliability_curve(
    probabilities: ArrayLike,
    recorded: ArrayLike,
    noise_matrix: ArrayLike,
    n_bins: int = 10,
    *,
    confidence: float = 0.95,
) -> Reliability:
    """How well probabilities of the true label hold, from recorded labels that the model has not seen.

    Every row and every j below the highest grade is a prediction P(y > j). Predictions are put into `n_bins` bins of
    equal width; in each, their mean stands beside the noise-corrected share of true labels above j.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of each *true* grade, lowest first, made without looking at `recorded`.
    recorded : array of shape (n_samples,)
        Labels 0..n_classes-1 as recorded.
    noise_matrix : array of shape (n_classes, n_classes)
        ``noise_matrix[true, recorded]``; the identity takes the labels at their word.
    n_bins : int, default=10
        Bins of equal width between 0 and 1.
    confidence : float, default=0.95
        Level of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from ordinoise.noise import adjacent
    >>> chances, recorded = np.tile([0.5, 0.5], (10, 1)), [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> found = reliability_curve(chances, recorded, adjacent(2, up=0.2, down=0.0))
    >>> found.predicted.round(2), found.observed.round(2)
    (array([0.5]), array([0.5]))
    """
    levels = corrected_levels(noise_matrix)
    chances = as_probabilities("probabilities", probabilities, len(levels))
    labels = as_labels("recorded", recorded, len(levels))
    as_same_length("recorded", len(labels), "probabilities", len(chances))
    as_count("n_bins", n_bins, 1)
    confidence = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    above = (1 - chances.cumsum(axis=1)[:, :-1]).clip(0.0, 1.0)
    bins = np.minimum((above * n_bins).astype(np.int64), n_bins - 1)
    return _binned(above, levels[labels], bins, n_bins, confidence)


def _binned(above: Floats, levels: Floats, bins: Ints, n_bins: int, confidence: float) -> Reliability:
    counts = np.bincount(bins.ravel(), minlength=n_bins)
    there = np.flatnonzero(counts)
    size = np.maximum(counts, 1)
    predicted = np.bincount(bins.ravel(), above.ravel(), n_bins) / size
    gap = np.bincount(bins.ravel(), (levels - above).ravel(), n_bins) / size
    error = _clustered_error(levels - above - gap[bins], bins, n_bins) / size
    # One row does not show its own error, but nothing strays by more than half its range.
    error = np.where(np.isnan(error), np.ptp(levels) / 2, error)
    observed, share = predicted + gap, counts / counts.sum()
    reach = (np.inf if confidence == 1 else NormalDist().inv_cdf((1 + confidence) / 2)) * error
    return Reliability(
        predicted=predicted[there],
        observed=observed[there],
        standard_error=error[there],
        low=(observed - reach)[there],
        high=(observed + reach)[there],
        counts=counts[there],
        expected_calibration_error=float(share @ np.abs(gap)),
        # The mean absolute value of a normal error.
        error_by_chance=float(share @ error * np.sqrt(2 / np.pi)),
        confidence=confidence,
    )


def _clustered_error(deviations: Floats, bins: Ints, n_bins: int) -> Floats:
    """Standard error of each bin's sum; a row's deviations in one bin go together. NaN for a bin of one row."""
    n_samples = len(deviations)
    cells = np.arange(n_samples)[:, None] * n_bins + bins
    sums = np.bincount(cells.ravel(), deviations.ravel(), n_samples * n_bins).reshape(n_samples, n_bins)
    rows = np.bincount(np.unique(cells) % n_bins, minlength=n_bins)
    inflation = np.where(rows > 1, rows / np.maximum(rows - 1, 1), np.nan)
    return np.asarray(np.sqrt((sums**2).sum(axis=0) * inflation))
