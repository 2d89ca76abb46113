"""The score axis: the density of each grade along the expected grade, and the thresholds between grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from sklearn.isotonic import IsotonicRegression

from ordinoise._validation import Floats, Ints
from ordinoise.audit.posterior import posterior

# Resolution of the densities, and standard deviation of their kernel as a share of the axis; chosen by eye on the page.
N_BINS, SMOOTHING = 240, 0.02


@dataclass(frozen=True, eq=False)
class ScoreAxis:
    """Densities and thresholds along the expected grade.

    Attributes
    ----------
    places : array of shape (n_places,)
        Scores, that is expected ranks of the true grade.
    of_true, of_recorded : arrays of shape (n_classes, n_places)
        Density of the rows of each true and of each recorded grade, with a mean of one; zeros if there are no rows.
        A row counts for each true grade by its probability given the features and the recorded grade.
    expected_counts : array of shape (n_classes,)
        Expected number of rows of each true grade.
    thresholds : array of shape (n_classes - 1,)
        Score at which a grade above j becomes more likely than not; minus infinity if it is at every score, infinity
        if at none.
    """

    places: Floats
    of_true: Floats
    of_recorded: Floats
    expected_counts: Floats
    thresholds: Floats


def score_axis(probabilities: Floats, recorded: Ints, noise_matrix: Floats) -> ScoreAxis:
    """Densities and thresholds from the probabilities of the true grades and the recorded ranks."""
    n_classes = probabilities.shape[1]
    scores = probabilities @ np.arange(n_classes)
    edges = np.linspace(0, n_classes - 1, N_BINS + 1)
    bins = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, N_BINS - 1)
    weights = posterior(probabilities, recorded, noise_matrix)
    of_true: Floats = np.stack([np.bincount(bins, weights[:, grade], N_BINS) for grade in range(n_classes)])
    of_recorded: Floats = np.stack([np.bincount(bins, 1.0 * (recorded == grade), N_BINS) for grade in range(n_classes)])
    above = 1 - probabilities.cumsum(axis=1)[:, :-1]
    return ScoreAxis(
        places=(edges[1:] + edges[:-1]) / 2,
        of_true=_smooth(of_true),
        of_recorded=_smooth(of_recorded),
        expected_counts=of_true.sum(axis=1),
        thresholds=np.array([_crossing(scores, above[:, grade]) for grade in range(n_classes - 1)]),
    )


def unreachable(found: ScoreAxis) -> list[int]:
    """Grades that are predicted at no score: those beyond the lowest and the highest threshold that is reached."""
    lowest = int(np.isneginf(found.thresholds).sum())
    highest = len(found.thresholds) - int(np.isposinf(found.thresholds).sum())
    return [grade for grade in range(len(found.thresholds) + 1) if not lowest <= grade <= highest]


def _smooth(counts: Floats) -> Floats:
    """Each row smoothed and scaled to a mean of one."""
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return np.asarray(gaussian_filter1d(shares, SMOOTHING * N_BINS, axis=1, mode="reflect") * counts.shape[1])


def _crossing(scores: Floats, above: Floats) -> float:
    """The score at which the isotonic regression of `above` reaches one half."""
    order = np.argsort(scores, kind="stable")
    places, rising = scores[order], IsotonicRegression().fit_transform(scores[order], above[order])
    if rising[0] > 0.5 or rising[-1] < 0.5:
        return float("-inf") if rising[0] > 0.5 else float("inf")
    after = int(np.searchsorted(rising, 0.5))
    if after == 0 or rising[after] == rising[after - 1]:
        return float(places[after])
    share = (0.5 - rising[after - 1]) / (rising[after] - rising[after - 1])
    return float(places[after - 1] + share * (places[after] - places[after - 1]))
