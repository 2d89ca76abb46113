"""How many labels are wrong, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.audit.posterior import deconvolved, posterior

# The spread over matrices is a property of the whole: this many rows show it, and bound its cost.
MOST_ROWS = 2000


@dataclass(frozen=True)
class WrongCount:
    """An estimated number of wrong labels.

    Attributes
    ----------
    value : float
        Expected number.
    standard_error : float
        How far the true number strays from it.
    low, high : float
        Interval of level `confidence`, within 0 and `n_samples`.
    n_samples : int
        Labels in all.
    """

    value: float
    standard_error: float
    low: float
    high: float
    n_samples: int
    confidence: float

    @property
    def share(self) -> float:
        """Expected share of wrong labels."""
        return self.value / self.n_samples

    def __str__(self) -> str:
        interval = f"{self.confidence:.0%} interval {self.low:.0f} to {self.high:.0f}"
        return f"about {self.value:.0f} of {self.n_samples} labels are wrong ({interval})"


def wrong_count(
    probabilities: Floats, recorded: Ints, noise_matrix: Floats, replicates: Floats, confidence: float = 0.95
) -> WrongCount:
    """Expected number of wrong labels, with an interval.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of the true label, given the features.
    recorded : int array of shape (n_samples,)
        Recorded labels as ranks.
    noise_matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    replicates : array of shape (n_replicates, n_classes, n_classes)
        Matrices that might have been estimated instead, or none.
    confidence : float, default=0.95
        Level of the interval.

    Notes
    -----
    Two variances are added: each label is right or wrong by its own chance (Poisson-binomial), and, with replicates,
    the matrix is an estimate. Under another matrix the probabilities move so that they still explain the recorded
    labels. The probabilities themselves are taken as calibrated: their error is not counted.
    """
    wrong = _probability_wrong(probabilities, recorded, noise_matrix)
    variance = float((wrong * (1 - wrong)).sum())
    variance += _matrix_variance(probabilities, recorded, noise_matrix, replicates, wrong)
    value, n_samples = float(wrong.sum()), len(recorded)
    error = float(np.sqrt(variance))
    reach = np.inf if confidence == 1 else NormalDist().inv_cdf((1 + confidence) / 2) * error
    # Nothing to stray where every label is certain, also at a confidence of one.
    reach = reach if error else 0.0
    return WrongCount(value, error, max(0.0, value - reach), min(value + reach, n_samples), n_samples, confidence)


def _probability_wrong(probabilities: Floats, recorded: Ints, noise_matrix: Floats) -> Floats:
    return 1 - posterior(probabilities, recorded, noise_matrix)[np.arange(len(recorded)), recorded]


def _matrix_variance(
    probabilities: Floats, recorded: Ints, noise_matrix: Floats, replicates: Floats, wrong: Floats
) -> float:
    usable = [replicate for replicate in replicates if (replicate[:, np.unique(recorded)] > 0).any(axis=0).all()]
    if len(usable) < 2:
        return 0.0 if len(replicates) == 0 else np.inf
    rows = _spread_rows(wrong)
    chosen, labels = probabilities[rows], recorded[rows]
    explained = chosen @ noise_matrix
    counts = [
        _probability_wrong(deconvolved(explained, replicate, start=chosen), labels, replicate).sum()
        for replicate in usable
    ]
    return float(np.var(counts, ddof=1)) * (len(recorded) / len(rows)) ** 2


def _spread_rows(wrong: Floats) -> Ints:
    """Rows that stand for all: evenly spaced from the least to the most suspicious."""
    if len(wrong) <= MOST_ROWS:
        return np.arange(len(wrong))
    places = ((np.arange(MOST_ROWS) + 0.5) * len(wrong) / MOST_ROWS).astype(np.int64)
    return np.argsort(wrong, kind="stable")[places]
