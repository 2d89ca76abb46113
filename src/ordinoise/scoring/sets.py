"""Prediction sets: neighboring grades that contain the *true* label as often as asked, calibrated on recorded ones.

In every row the grades enter one by one: first the median, then repeatedly the likelier neighbor of the grades that
are in. The entry level of a grade is the total probability of the grades before it. A set holds the grades whose entry
level is at most a threshold, so it is one run of neighbors, never empty, and grows with the threshold.

The coverage of a threshold t is the mean of ``[entry level of the true grade <= t]``. With C the inverse of the noise
matrix N, a row recorded as r contributes ``sum_k C[r, k] [entry level of k <= t]``: averaged over the noise,
``sum_r N[true, r] C[r, k]`` is 1 for the true grade k and 0 for the others, so the mean is unbiased.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from ordinoise._text import TextTable, hypertext
from ordinoise._validation import (
    Floats,
    Ints,
    as_flag,
    as_floats,
    as_number,
    as_probabilities,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise.clusters import effect_on_mean
from ordinoise.labels import as_groups
from ordinoise.noise import Noise, correction_matrix
from ordinoise.noise.matrices import SINGULAR_CONDITION
from ordinoise.scoring._ranks import ranks_among

__all__ = ["PredictionSets", "SetCalibration", "calibrate_sets", "entry_levels", "prediction_sets"]

LEVELS = 1000
"""Steps of confidence in a calibration; what lies between is rounded up. A round number, chosen by no run."""
MOST_THRESHOLDS = 4000  # four per step of confidence
MOST_REPLICATES = 200  # bounds the cost; a quartile of 200 is known to 3 %
FEWEST, SMALLEST_SHARE = 0.5, 1e-9  # rows of a grade that nobody recorded, and their share: no promise is kept by fewer
CAUTION = 0.25
"""Share of the replicates under which the coverage may be below the one asked for. A convention."""


@dataclass(frozen=True, eq=False)
class SetCalibration:
    """The threshold for every confidence, in steps of a thousandth.

    Attributes
    ----------
    thresholds : array of shape (1000,) or (n_classes, 1000)
        Entry level up to which grades, or each grade, belong to the set, for confidence .001, .002, ..., 1; ascending.
    n_samples : int
        Number of recorded labels.
    """

    thresholds: Floats
    n_samples: int

    def threshold(self, confidence: float) -> Any:
        """Entry level up to which grades, or each grade, belong to the set of that confidence."""
        found = self.thresholds[..., max(int(np.ceil(confidence * LEVELS - 1e-9)) - 1, 0)]
        return float(found) if found.ndim == 0 else found


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """One run of neighboring grades per sample.

    Attributes
    ----------
    low, high : arrays of shape (n_samples,)
        Lowest and highest grade of each set, both in it.
    mask : bool array of shape (n_samples, n_classes)
        Which grades are in the set.
    confidence : float
        Share of samples, like those of the calibration, whose set contains the true label.
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

    def __str__(self) -> str:
        shares = np.bincount(self.sizes, minlength=self.mask.shape[1] + 1)[1:] / max(len(self), 1)
        sizes = ", ".join(f"{share:.0%} of {size} grades" for size, share in enumerate(shares, 1) if share)
        return f"{len(self)} sets that contain the true grade with probability {self.confidence:g}: {sizes}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = range(min(len(self), 10))
        rows = tuple((str(row), str(self.low[row]), str(self.high[row]), str(self.sizes[row])) for row in shown)
        return hypertext(TextTable("Prediction sets", ("row", "lowest", "highest", "grades"), rows, (str(self),)))


def entry_levels(probabilities: Floats) -> Floats:
    """Total probability of the grades that enter a row's set before each grade, shape (n_samples, n_classes).

    Zero for the median, increasing from there in both directions.

    Examples
    --------
    >>> entry_levels(np.array([[0.1, 0.25, 0.4, 0.25]])).round(2)
    array([[0.9 , 0.4 , 0.  , 0.65]])
    """
    n_samples, n_classes = probabilities.shape
    rows = np.arange(n_samples)
    low = (1 - probabilities.cumsum(axis=1)[:, :-1] > 0.5).sum(axis=1)
    high = low.copy()
    # low and high are the ends of each row's set. A column of -1 on either side is less likely than any grade, so that
    # a set at the edge grows inwards. It shifts columns by one: fenced[low] is grade low - 1, fenced[high + 2] is
    # grade high + 1.
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
    noise: Any,
    *,
    raters: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: Any = None,
    assurance: float | None = None,
    by_grade: bool = False,
    classes: Any = None,
) -> SetCalibration:
    """Thresholds at which prediction sets cover the true label, from recorded labels that the model has not seen.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of each grade, lowest first, made without looking at `recorded`. They may be wrong: the sets become larger, but
        keep their coverage.
    recorded : column of shape (n_samples,)
        Labels as recorded.
    noise : None, array, mapping, Noise, or fitted estimator or classifier
        Noise of the labels; None trusts them, and so does a `Noise` whose answer is not "corrected": its sets cover
        the label as it would be recorded. If it has replicates, the coverage is reached under three of four of them,
        which errs on the side of larger sets.
    raters : column of shape (n_samples,), optional
        Who recorded each label, if `noise` holds one matrix per rater.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples.
    groups : column of shape (n_samples,), optional
        Rows of one group (a patient, a query) are not independent: they count as fewer.
    assurance : float, optional
        Share of calibrations, such as 0.9, whose sets cover as often as promised. By default the coverage is right on
        average over calibrations: of those with 200 rows half promise too much, by .02 to .04 as a rule.
    by_grade : bool, default=False
        Whether every true grade is covered as often as promised. By default all rows are together, of which rare grades
        may be covered far less often. Sets with few rows of a grade hold that grade nearly always.
    classes : sequence, optional
        The grades from lowest to highest; by default labels are ranks 0..n_classes-1.

    Notes
    -----
    For the identity matrix this is split conformal prediction: of n rows at least ``(n + 1) * confidence`` must be
    covered, and a new row like them is covered with probability `confidence` or more. For a known matrix the estimate
    of the coverage is unbiased, and the guarantee holds up to its sampling error, which grows with the entries of the
    inverse. The estimate can fall as the threshold rises, since the inverse has negative entries; it is replaced by the
    mean of its largest value before and its smallest value after, which cannot.
    """
    checked = as_probabilities("probabilities", probabilities, classes=classes)
    record = Noise.of(noise, checked.shape[1]).believed
    labels = ranks_among("recorded", recorded, classes, record.n_classes)
    as_same_length("recorded", len(labels), "probabilities", len(checked))
    index = record.index_of(raters, len(labels))
    who = np.zeros(len(labels), dtype=np.int64) if index is None else index
    matrices = record.matrices
    weights = as_weights(sample_weight, len(labels))
    levels = entry_levels(checked)
    candidates = _thin(np.unique(levels))
    tables = _covered_tables(levels, labels, who, weights, candidates, len(matrices))
    sure = None if assurance is None else as_number("assurance", assurance, 0.5, 0.9999)
    caution = CAUTION if sure is None else min(CAUTION, 1 - sure)
    n_effective = 1 / float((weights**2).sum()) / _effect_of(as_groups(groups, len(labels)), levels, labels)
    if as_flag("by_grade", by_grade):
        found = _by_grade(tables, matrices, record.replicates, caution)
        each = [_thresholds(candidates, *one, n_effective, sure) for one in found]
        return SetCalibration(np.stack(each), len(labels))
    corrections = np.stack([correction_matrix(matrix) for matrix in matrices])[who]
    variance = np.zeros(1) if sure is None else _row_variance(levels, labels, corrections, weights, candidates)
    coverage = _coverage(tables, matrices, record.replicates, caution)
    return SetCalibration(_thresholds(candidates, coverage, variance, 1.0, n_effective, sure), len(labels))


def _thresholds(
    candidates: Floats, coverage: Floats, variance: Floats, share: float, n_effective: float, sure: float | None
) -> Floats:
    """The lowest threshold that covers enough, for each step of confidence; where none does, 1, which takes all grades.

    `variance` is that of a row's part in the coverage, `share` that of the rows which it is about.
    """
    promised = np.arange(1, LEVELS + 1) / LEVELS
    n_rows = max(n_effective * share, FEWEST)
    # Split conformal prediction asks for (n + 1) / n times the confidence; weighted rows count by effective number.
    wanted = promised * (n_rows + 1) / n_rows
    if sure is not None:
        wanted = np.maximum.accumulate(promised + ndtri(sure) * np.sqrt(promised * (1 - promised) / n_rows))
    position = np.searchsorted(_monotone(coverage), wanted - 1e-12)
    if sure is not None:  # as many standard errors of a corrected share too, which are more than those of a plain one
        least = coverage - ndtri(sure) * np.sqrt(variance / n_effective)
        position = np.maximum(position, np.searchsorted(_monotone(least), promised - 1e-12))
    return np.append(candidates, 1.0)[position]


def _by_grade(
    tables: Floats, matrices: Floats, replicates: Floats, caution: float
) -> Iterator[tuple[Floats, Floats, float]]:
    """Of each true grade, the share of its rows that are covered at each threshold, its variance, and its own share.

    A row recorded as r counts ``C[r, k]`` times as one of grade k, which is right on average over the noise.
    """
    corrections = np.stack([correction_matrix(matrix) for matrix in matrices])
    drawn = corrections[None] if len(matrices) > 1 else np.concatenate([corrections, *_inverses(replicates)])[:, None]
    for grade in range(tables.shape[3]):
        covered = np.einsum("tar,dar->dt", tables[..., grade], drawn[..., grade])
        shares = np.maximum(covered[:, -1:], SMALLEST_SHARE)
        coverage = (covered / shares)[0] if len(drawn) == 1 else np.quantile((covered / shares)[1:], caution, axis=0)
        squares = np.einsum("tar,ar->t", tables[..., grade], corrections[..., grade] ** 2) / shares[0] ** 2
        variance = (1 - 2 * coverage) * squares + coverage**2 * squares[-1]
        yield coverage, np.maximum(variance, 0.0), float(shares[0, 0])


def _inverses(replicates: Floats) -> list[Floats]:
    """Inverses of the replicates that have one, at most `MOST_REPLICATES`."""
    if not len(replicates):
        return []
    usable = replicates[np.linalg.cond(replicates) < SINGULAR_CONDITION][:MOST_REPLICATES]
    return [np.linalg.inv(usable)] if len(usable) > 1 else []


def _effect_of(groups: Ints | None, levels: Floats, labels: Ints) -> float:
    """Design effect of groups on a share of covered rows, by the ranks of the levels at which records enter."""
    return effect_on_mean(rankdata(levels[np.arange(len(labels)), labels]), groups)


def prediction_sets(
    probabilities: ArrayLike, calibration: SetCalibration, confidence: float = 0.9, *, classes: Any = None
) -> PredictionSets:
    """The set of each sample: neighboring grades that contain the true one with probability `confidence`.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        From the model that was calibrated.
    calibration : SetCalibration
        From :func:`calibrate_sets`.
    confidence : float, default=0.9
        Share of samples whose set contains the true label. A higher one only adds grades.
    classes : sequence, optional
        Names of the grades, lowest first; 0..n_classes-1 by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> exact = rng.dirichlet([1.0, 2.0, 1.0], 500)
    >>> labels = [rng.choice(3, p=row) for row in exact]
    >>> calibration = calibrate_sets(exact, labels, np.eye(3))
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
    checked = as_probabilities("probabilities", probabilities, len(names), names.tolist())
    mask = entry_levels(checked) <= calibration.threshold(confidence)
    low, high = mask.argmax(axis=1), len(names) - 1 - mask[:, ::-1].argmax(axis=1)
    grades = np.arange(len(names))  # thresholds by grade may leave one out between two others
    mask = (grades >= low[:, None]) & (grades <= high[:, None])
    return PredictionSets(names[low], names[high], mask, confidence)


def _thin(values: Floats) -> Floats:
    """At most `MOST_THRESHOLDS` of the sorted values, evenly by rank, including the last."""
    if len(values) <= MOST_THRESHOLDS:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_THRESHOLDS).round().astype(np.int64)]


def _covered_tables(
    levels: Floats, labels: Ints, raters: Ints, weights: Floats, candidates: Floats, n_raters: int
) -> Floats:
    """``tables[t, a, r, k]``: weight of the rows by rater a, recorded as r, whose set at threshold t contains grade k.

    With these tables the coverage under any matrix, also under every replicate, is a sum over small arrays.
    """
    n_classes = levels.shape[1]
    tables = np.zeros((len(candidates), n_raters, n_classes, n_classes))
    for rater, recorded, grade in np.ndindex(n_raters, n_classes, n_classes):
        rows = np.flatnonzero((raters == rater) & (labels == recorded))
        order = rows[levels[rows, grade].argsort(kind="stable")]
        shares = np.append(0.0, weights[order].cumsum())
        tables[:, rater, recorded, grade] = shares[np.searchsorted(levels[order, grade], candidates, side="right")]
    return tables


def _row_variance(levels: Floats, labels: Ints, corrections: Floats, weights: Floats, candidates: Floats) -> Floats:
    """Variance, over rows, of the corrected coverage of a row, ``sum_k C[r, k] [level of k <= t]``, at each threshold.

    Each row's is a step function of t, and so is its square: both are sums of steps, of all rows together.
    """
    order = levels.argsort(axis=1, kind="stable")
    heights = np.take_along_axis(corrections[np.arange(len(labels)), labels], order, axis=1).cumsum(axis=1)
    steps = np.take_along_axis(levels, order, axis=1).ravel()
    sorted_steps = steps.argsort(kind="stable")
    place = np.searchsorted(steps[sorted_steps], candidates, side="right")

    def mean(values: Floats) -> Floats:
        rises = (weights[:, None] * np.diff(values, axis=1, prepend=0.0)).ravel()[sorted_steps]
        return np.append(0.0, rises.cumsum())[place]

    return np.asarray(np.maximum(mean(heights**2) - mean(heights) ** 2, 0.0))


def _coverage(tables: Floats, matrices: Floats, replicates: Floats, caution: float = CAUTION) -> Floats:
    """Share of true labels covered at each threshold, ``sum_ark C_a[r, k] tables[t, a, r, k]``.

    With replicates of a single matrix, their quantile at `caution`; replicates without an inverse are
    ignored.
    """
    if len(replicates) and len(matrices) == 1:
        for inverses in _inverses(replicates):
            coverages = np.einsum("trk,drk->dt", tables[:, 0], inverses, optimize=True)
            return np.quantile(coverages, caution, axis=0)
    corrections = np.stack([correction_matrix(matrix) for matrix in matrices])
    return np.asarray(np.einsum("tark,ark->t", tables, corrections))


def _monotone(coverage: Floats) -> Floats:
    """The coverage made non-decreasing: the mean of its largest value before and its smallest value after."""
    coverage = coverage.clip(0.0, 1.0)
    before, after = np.maximum.accumulate(coverage), np.minimum.accumulate(coverage[::-1])[::-1]
    return np.asarray((before + after) / 2)
