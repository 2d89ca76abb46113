"""Prediction sets: neighbouring grades that hold the *true* label as often as promised, calibrated on recorded ones.

Every row puts its grades into an order of entry: first the median, then again and again the likelier neighbour of the
grades that are in. The entry level of a grade is the probability of those before it. A set holds the grades whose entry
level is at most a threshold, so it is one run of neighbours, never empty, and grows with the threshold.

How often a threshold covers the true label is an average over true labels, which the inverse of the noise matrix gives
from recorded ones: for a row recorded as r, ``sum_k inverse(noise_matrix)[r, k] * [entry level of k <= threshold]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import (
    Floats,
    Ints,
    as_floats,
    as_labels,
    as_noise_matrix,
    as_number,
    as_probabilities,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise.noise import SINGULAR_CONDITION, correction_matrix

__all__ = ["PredictionSets", "SetCalibration", "calibrate_sets", "entry_levels", "prediction_sets"]

LEVELS = 1000
"""Steps of confidence that a calibration knows; what lies between is rounded up."""
MOST_THRESHOLDS = 4000
MOST_REPLICATES = 200
CAUTION = 0.25
"""Share of plausible noise matrices that may promise less coverage than was asked for."""


@dataclass(frozen=True, eq=False)
class SetCalibration:
    """The threshold of every confidence, in steps of a thousandth.

    Attributes
    ----------
    thresholds : array of shape (1000,)
        Entry level up to which grades belong to the set, for confidence .001, .002, ..., 1; never falls.
    n_samples : int
        Recorded labels it rests on.
    """

    thresholds: Floats
    n_samples: int

    def threshold(self, confidence: float) -> float:
        """Entry level up to which grades belong to the set of that confidence."""
        return float(self.thresholds[max(int(np.ceil(confidence * LEVELS - 1e-9)) - 1, 0)])


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """One run of neighbouring grades a sample.

    Attributes
    ----------
    low, high : arrays of shape (n_samples,)
        Lowest and highest grade of each set, both in it.
    mask : bool array of shape (n_samples, n_classes)
        Which grades are in.
    confidence : float
        How often the true label is to be in its set, over samples like those of the calibration.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    mask: NDArray[np.bool_]
    confidence: float

    @property
    def sizes(self) -> Ints:
        """Number of grades in each set, at least one."""
        return self.mask.sum(axis=1)

    def __len__(self) -> int:
        return len(self.mask)


def entry_levels(probabilities: Floats) -> Floats:
    """Probability of the grades that enter a row's set before each grade, shape (n_samples, n_classes).

    Zero for the median; rising from there in both directions.

    Examples
    --------
    >>> entry_levels(np.array([[0.1, 0.25, 0.4, 0.25]])).round(2)
    array([[0.9 , 0.4 , 0.  , 0.65]])
    """
    n_samples, n_classes = probabilities.shape
    rows = np.arange(n_samples)
    low = (1 - probabilities.cumsum(axis=1)[:, :-1] > 0.5).sum(axis=1)
    high = low.copy()
    # A fence on either side, less likely than any grade.
    fenced = np.pad(probabilities, ((0, 0), (1, 1)), constant_values=-1.0)
    inside, levels = probabilities[rows, low], np.zeros_like(probabilities)
    for _ in range(n_classes - 1):
        below, above = fenced[rows, low], fenced[rows, high + 2]
        goes_down = below >= above
        low, high = low - goes_down, high + ~goes_down
        levels[rows, np.where(goes_down, low, high)] = inside
        inside = inside + np.maximum(below, above)
    return levels.clip(0.0, 1.0)


def calibrate_sets(
    probabilities: ArrayLike,
    recorded: ArrayLike,
    noise_matrix: ArrayLike,
    *,
    raters: ArrayLike | None = None,
    replicates: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> SetCalibration:
    """Thresholds under which prediction sets cover the true label, from recorded labels that the model has not seen.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of each grade, lowest first, made without looking at `recorded`. They may be wrong: coverage does not rest on
        them, only the size of the sets does.
    recorded : array of shape (n_samples,)
        Labels 0..n_classes-1 as recorded.
    noise_matrix : array of shape (n_classes, n_classes) or (n_raters, n_classes, n_classes)
        ``noise_matrix[true, recorded]``; the identity takes the labels at their word.
    raters : array of shape (n_samples,), optional
        Which of several matrices each label was recorded under.
    replicates : array of shape (n_replicates, n_classes, n_classes), optional
        Matrices that are as plausible as an estimated `noise_matrix`. Then the coverage is at least the wanted one
        under three of four of them, which errs on the side of larger sets.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples.

    Notes
    -----
    For a noise matrix of the identity this is split conformal prediction: of n rows at least ``(n + 1) * confidence``
    must be covered, and a new row like them is covered with probability `confidence` or more. For a known matrix
    the estimate of the coverage is unbiased, and the promise holds up to the chance error of that estimate, which
    grows with the entries of the inverse. The estimate can fall as the threshold rises; the mean of its largest value
    before and its smallest value after is taken, which cannot.
    """
    matrices = _as_matrices(noise_matrix)
    chances = as_probabilities("probabilities", probabilities, matrices.shape[1])
    labels = as_labels("recorded", recorded, matrices.shape[1])
    as_same_length("recorded", len(labels), "probabilities", len(chances))
    who = np.zeros(len(labels), dtype=np.int64) if raters is None else as_labels("raters", raters, len(matrices))
    as_same_length("raters", len(who), "recorded", len(labels))
    if raters is None and len(matrices) > 1:
        raise complain("raters", "say which noise matrix each label was recorded under", "None")
    weights = as_weights(sample_weight, len(labels))
    levels = entry_levels(chances)
    candidates = _thinned(np.unique(levels))
    tables = _covered_tables(levels, labels, who, weights, candidates, len(matrices))
    coverage = _coverage(tables, matrices, replicates)
    n_effective = 1 / float((weights**2).sum())
    wanted = np.arange(1, LEVELS + 1) / LEVELS * (n_effective + 1) / n_effective
    position = np.searchsorted(_without_falls(coverage), wanted - 1e-12)
    return SetCalibration(np.append(candidates, 1.0)[position], len(labels))


def prediction_sets(
    probabilities: ArrayLike, calibration: SetCalibration, confidence: float = 0.9, *, classes: Any = None
) -> PredictionSets:
    """The set of each sample: neighbouring grades that hold the true one with probability `confidence`.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        From the model that was calibrated.
    calibration : SetCalibration
        From :func:`calibrate_sets`.
    confidence : float, default=0.9
        How often the true label is to be in its set. A higher one gives sets that hold those of a lower one.
    classes : sequence, optional
        Names of the grades, lowest first; 0..n_classes-1 by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chances = rng.dirichlet([1.0, 2.0, 1.0], 500)
    >>> labels = [rng.choice(3, p=row) for row in chances]
    >>> calibration = calibrate_sets(chances, labels, np.eye(3))
    >>> sets = prediction_sets([[0.1, 0.8, 0.1], [0.4, 0.5, 0.1]], calibration, 0.8)
    >>> sets.low, sets.high
    (array([1, 0]), array([1, 1]))
    """
    confidence = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    columns = as_floats("probabilities", probabilities, 2).shape[1]
    try:
        names = np.arange(columns) if classes is None else np.asarray(classes)
    except ValueError:
        names = np.empty(0)
    if names.shape != (columns,):
        raise complain("classes", f"name all {columns} columns of probabilities", repr(classes))
    chances = as_probabilities("probabilities", probabilities, len(names))
    mask = entry_levels(chances) <= calibration.threshold(confidence)
    low, high = mask.argmax(axis=1), len(names) - 1 - mask[:, ::-1].argmax(axis=1)
    return PredictionSets(names[low], names[high], mask, confidence)


def _as_matrices(noise_matrix: Any) -> Floats:
    """A stack of matrices, one a rater."""
    is_stack = isinstance(noise_matrix, np.ndarray) and noise_matrix.ndim == 3 and len(noise_matrix)
    stack = noise_matrix if is_stack else [noise_matrix]
    return np.stack([as_noise_matrix(matrix) for matrix in stack])


def _thinned(values: Floats) -> Floats:
    """At most so many of the sorted values, the last among them."""
    if len(values) <= MOST_THRESHOLDS:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_THRESHOLDS).round().astype(np.int64)]


def _covered_tables(
    levels: Floats, labels: Ints, raters: Ints, weights: Floats, candidates: Floats, n_raters: int
) -> Floats:
    """Share of rows by rater and record whose set has each grade: (n_thresholds, n_raters, n_classes, n_classes)."""
    n_classes = levels.shape[1]
    tables = np.zeros((len(candidates), n_raters, n_classes, n_classes))
    for rater, recorded, grade in np.ndindex(n_raters, n_classes, n_classes):
        rows = np.flatnonzero((raters == rater) & (labels == recorded))
        order = rows[levels[rows, grade].argsort(kind="stable")]
        shares = np.append(0.0, weights[order].cumsum())
        tables[:, rater, recorded, grade] = shares[np.searchsorted(levels[order, grade], candidates, side="right")]
    return tables


def _coverage(tables: Floats, matrices: Floats, replicates: ArrayLike | None) -> Floats:
    """Share of true labels covered at each threshold; with replicates, what all but a quarter of them promise."""
    if replicates is not None and len(matrices) == 1:
        stack = as_floats("replicates", replicates, 3)
        usable = stack[np.linalg.cond(stack) < SINGULAR_CONDITION][:MOST_REPLICATES]
        if len(usable) > 1:
            # The inverse on a table: cell (recorded, grade) counts as often as the inverse says.
            promised = np.einsum("trk,drk->dt", tables[:, 0], np.linalg.inv(usable), optimize=True)
            return np.quantile(promised, CAUTION, axis=0)
    corrections = np.stack([correction_matrix(matrix) for matrix in matrices])
    return np.asarray(np.einsum("tark,ark->t", tables, corrections))


def _without_falls(coverage: Floats) -> Floats:
    """The coverage, made to rise with the threshold: between its largest value before and its smallest after."""
    coverage = coverage.clip(0.0, 1.0)
    before, after = np.maximum.accumulate(coverage), np.minimum.accumulate(coverage[::-1])[::-1]
    return np.asarray((before + after) / 2)
