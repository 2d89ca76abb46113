"""Are the probabilities calibrated on clean labels? Estimated from recorded ones.

The inverse of the noise matrix, applied to the 0/1 levels "is the grade above j?", gives on average over the noise the
levels of the true label. So the share of true labels above j among rows with similar predictions needs no clean label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import (
    Floats,
    Ints,
    as_count,
    as_number,
    as_probabilities,
    as_same_length,
)
from ordinoise._warning import renamed
from ordinoise.estimate import normal_reach
from ordinoise.levels import corrected_levels
from ordinoise.noise import Noise
from ordinoise.scoring._ranks import Labels, ranks_among

__all__ = ["Reliability", "reliability_curve"]


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predicted probabilities of a grade above j and observed frequencies, per bin.

    Attributes
    ----------
    predicted : array of shape (n_bins,)
        Mean predicted P(y > j) of each bin. Empty bins are skipped.
    observed : array of shape (n_bins,)
        Share of true labels above j, corrected for the noise. Unbiased, so with few rows it can leave [0, 1].
    standard_error : array of shape (n_bins,)
        Sampling error of ``observed - predicted``, for the given noise matrix. Rows are independent; the predictions of
        one row, one per j, are not.
    low, high : arrays of shape (n_bins,)
        Confidence interval of `observed`.
    counts : array of shape (n_bins,)
        Predictions in each bin; over all bins there are ``n_samples * (n_classes - 1)``.
    expected_calibration_error : float
        Mean of ``|observed - predicted|`` over all predictions.
    error_by_chance : float
        About what that mean would be for perfectly calibrated probabilities.
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


@renamed(noise_matrix="noise")
def reliability_curve(
    probabilities: ArrayLike,
    recorded: ArrayLike,
    noise: Any,
    n_bins: int = 10,
    *,
    classes: Labels = None,
    confidence: float = 0.95,
) -> Reliability:
    """Calibration of probabilities of the true label, from recorded labels that the model has not seen.

    Every row gives one prediction P(y > j) per j below the highest grade. Predictions are sorted into `n_bins` bins of
    equal width; each bin has their mean and the noise-corrected share of true labels above j.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of each *true* grade, lowest first, made without looking at `recorded`.
    recorded : column of shape (n_samples,)
        Labels as recorded.
    noise : None, array, mapping, Noise, or fitted estimator or classifier
        Noise of the labels; None trusts them. For several raters the average matrix is used.
    n_bins : int, default=10
        Bins of equal width between 0 and 1.
    classes : sequence, optional
        The grades from lowest to highest; by default labels are ranks 0..n_classes-1.
    confidence : float, default=0.95
        Level of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from ordinoise.noise import adjacent
    >>> probabilities, recorded = np.tile([0.5, 0.5], (10, 1)), [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> found = reliability_curve(probabilities, recorded, adjacent(2, up=0.2, down=0.0))
    >>> found.predicted.round(2), found.observed.round(2)
    (array([0.5]), array([0.5]))
    """
    checked = as_probabilities("probabilities", probabilities, classes=classes)
    levels = corrected_levels(Noise.of(noise, checked.shape[1]).average.believed.matrix)
    labels = ranks_among("recorded", recorded, classes, len(levels))
    as_same_length("recorded", len(labels), "probabilities", len(checked))
    as_count("n_bins", n_bins, 1)
    confidence = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    above = (1 - checked.cumsum(axis=1)[:, :-1]).clip(0.0, 1.0)
    bins = np.minimum((above * n_bins).astype(np.int64), n_bins - 1)
    return _reliability(above, levels[labels], bins, n_bins, confidence)


def _reliability(above: Floats, levels: Floats, bins: Ints, n_bins: int, confidence: float) -> Reliability:
    counts = np.bincount(bins.ravel(), minlength=n_bins)
    filled = np.flatnonzero(counts)
    size = np.maximum(counts, 1)
    predicted = np.bincount(bins.ravel(), above.ravel(), n_bins) / size
    gap = np.bincount(bins.ravel(), (levels - above).ravel(), n_bins) / size
    error = _clustered_error(levels - above - gap[bins], bins, n_bins) / size
    # The error of a bin with one row is unknown; no standard deviation exceeds half the range.
    error = np.where(np.isnan(error), np.ptp(levels) / 2, error)
    observed, share = predicted + gap, counts / counts.sum()
    reach = normal_reach(1.0, confidence) * error
    return Reliability(
        predicted=predicted[filled],
        observed=observed[filled],
        standard_error=error[filled],
        low=(observed - reach)[filled],
        high=(observed + reach)[filled],
        counts=counts[filled],
        expected_calibration_error=float(share @ np.abs(gap)),
        # The mean absolute value of a normal error.
        error_by_chance=float(share @ error * np.sqrt(2 / np.pi)),
        confidence=confidence,
    )


def _clustered_error(deviations: Floats, bins: Ints, n_bins: int) -> Floats:
    """Standard error of each bin's sum, clustered by row: a row's deviations in one bin are added first.

    NaN for a bin with one row.
    """
    n_samples = len(deviations)
    cells = np.arange(n_samples)[:, None] * n_bins + bins
    sums = np.bincount(cells.ravel(), deviations.ravel(), n_samples * n_bins).reshape(n_samples, n_bins)
    rows = np.bincount(np.unique(cells) % n_bins, minlength=n_bins)
    inflation = np.where(rows > 1, rows / np.maximum(rows - 1, 1), np.nan)
    return np.asarray(np.sqrt((sums**2).sum(axis=0) * inflation))
