"""Ordinal metrics, as observed and as they would be on clean labels.

A metric of predicted labels is a function of one small table, ``joint[true, predicted]``: the share of each pair. Noise
multiplies that table by the transposed noise matrix, so the inverse gives the table, and with it every metric, of clean
labels: :func:`noise_corrected`.

Integer labels are ranks as they stand (a distance of 2 lies between 1 and 3); any others need ``classes=``, the
grades in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_classes,
    as_number,
    as_probabilities,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise._warning import renamed
from ordinoise.clusters import standard_error
from ordinoise.estimate import Estimate, normal_reach
from ordinoise.labels import as_groups
from ordinoise.levels import level_table
from ordinoise.noise import Noise, correction_matrix
from ordinoise.noise.matrices import SINGULAR_CONDITION
from ordinoise.scoring._ranks import Labels, as_integers, paired_ranks, ranks_among

__all__ = [
    "METRICS",
    "CorrectedScore",
    "accuracy_off1_score",
    "average_mean_absolute_error",
    "kendall_tau",
    "linear_weighted_kappa",
    "mean_absolute_error",
    "noise_corrected",
    "noise_corrected_ranked_probability_score",
    "quadratic_weighted_kappa",
    "ranked_probability_score",
    "scorer",
    "zero_one_loss",
]


# Metrics of the joint table -----------------------------------------------------------------------------


def _distances(n_classes: int) -> Floats:
    ranks = np.arange(n_classes, dtype=float)
    return np.abs(ranks[:, None] - ranks)


def _joint_mean_absolute_error(joint: Floats) -> float:
    return float((joint * _distances(len(joint))).sum())


def _joint_zero_one_loss(joint: Floats) -> float:
    return float(joint.sum() - np.trace(joint))


def _joint_accuracy_off1(joint: Floats) -> float:
    return float(joint[_distances(len(joint)) <= 1].sum())


def _joint_average_mean_absolute_error(joint: Floats) -> float:
    frequency = joint.sum(axis=1)
    present = frequency != 0
    error = (joint * _distances(len(joint))).sum(axis=1)
    return float((error[present] / frequency[present]).mean())


def _joint_kappa(joint: Floats, power: int) -> float:
    cost = _distances(len(joint)) ** power
    by_chance = float((np.outer(joint.sum(axis=1), joint.sum(axis=0)) * cost).sum())
    # Both gradings are one and the same constant: kappa is 0 / 0.
    return 1 - float((joint * cost).sum()) / by_chance if by_chance else np.nan


def _joint_linear_kappa(joint: Floats) -> float:
    return _joint_kappa(joint, 1)


def _joint_quadratic_kappa(joint: Floats) -> float:
    return _joint_kappa(joint, 2)


@dataclass(frozen=True)
class _Metric:
    of_joint: Callable[[Floats], float]
    greater_is_better: bool
    lowest: float = 0.0
    highest: float | None = 1.0  # None: as many grades as the scale is long


METRICS: dict[str, _Metric] = {
    "mean_absolute_error": _Metric(_joint_mean_absolute_error, False, highest=None),
    "zero_one_loss": _Metric(_joint_zero_one_loss, False),
    "accuracy_off1_score": _Metric(_joint_accuracy_off1, True),
    "average_mean_absolute_error": _Metric(_joint_average_mean_absolute_error, False, highest=None),
    "linear_weighted_kappa": _Metric(_joint_linear_kappa, True, lowest=-1.0),
    "quadratic_weighted_kappa": _Metric(_joint_quadratic_kappa, True, lowest=-1.0),
}


TITLES = {
    "mean_absolute_error": "mean absolute error",
    "zero_one_loss": "error rate",
    "accuracy_off1_score": "within one grade",
    "average_mean_absolute_error": "macro-averaged MAE",
    "linear_weighted_kappa": "linear weighted kappa",
    "quadratic_weighted_kappa": "quadratic weighted kappa",
    "ranked_probability_score": "ranked probability score",
    "kendall_tau": "Kendall's tau",
}
"""What each metric is called, on the terminal, in the report and on the card of a model."""


def possible_range(metric: str, n_classes: int) -> tuple[float, float]:
    """Lowest and highest value that a score can have on any labels; the ranked probability score is like an error."""
    known = METRICS.get(metric, METRICS["mean_absolute_error"])
    return known.lowest, float(n_classes - 1) if known.highest is None else known.highest


# Metrics as observed -----------------------------------------------------------------------------------


@renamed(labels="classes")
def mean_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: Labels = None, sample_weight: ArrayLike | None = None
) -> float:
    """Mean number of grades between the true and the predicted label."""
    return _joint_mean_absolute_error(joint_of(y_true, y_pred, classes, sample_weight))


@renamed(labels="classes")
def zero_one_loss(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: Labels = None, sample_weight: ArrayLike | None = None
) -> float:
    """Share of samples whose predicted label is not the true one."""
    return _joint_zero_one_loss(joint_of(y_true, y_pred, classes, sample_weight))


@renamed(labels="classes")
def accuracy_off1_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: Labels = None, sample_weight: ArrayLike | None = None
) -> float:
    """Share of samples predicted right or one grade off."""
    return _joint_accuracy_off1(joint_of(y_true, y_pred, classes, sample_weight))


@renamed(labels="classes")
def average_mean_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: Labels = None, sample_weight: ArrayLike | None = None
) -> float:
    """Mean absolute error of each true class, averaged over the classes that occur: rare grades count in full."""
    return _joint_average_mean_absolute_error(joint_of(y_true, y_pred, classes, sample_weight))


@renamed(labels="classes")
def linear_weighted_kappa(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: Labels = None, sample_weight: ArrayLike | None = None
) -> float:
    """Agreement beyond chance, disagreements weighted by their distance."""
    return _joint_linear_kappa(joint_of(y_true, y_pred, classes, sample_weight))


@renamed(labels="classes")
def quadratic_weighted_kappa(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: Labels = None, sample_weight: ArrayLike | None = None
) -> float:
    """Agreement beyond chance, disagreements weighted by the square of their distance."""
    return _joint_quadratic_kappa(joint_of(y_true, y_pred, classes, sample_weight))


@renamed(labels="classes")
def kendall_tau(y_true: ArrayLike, y_pred: ArrayLike, *, classes: Labels = None) -> float:
    """Rank agreement of two gradings, ties corrected (Kendall's tau-b, by scipy); NaN if one of them is constant."""
    from scipy.stats import kendalltau

    true, predicted, _ = paired_ranks(y_true, y_pred, classes)
    return float(kendalltau(true, predicted).statistic)


@renamed(labels="classes")
def ranked_probability_score(
    y_true: ArrayLike, y_proba: ArrayLike, *, classes: Labels = None, sample_weight: ArrayLike | None = None
) -> float:
    """Mean squared distance between predicted and actual cumulative probabilities, summed over thresholds.

    `y_proba` has one column per class, in order; 0 is perfect. Labels 0..K-1 need no `labels`.
    """
    probabilities = as_probabilities("y_proba", y_proba, None, classes)
    true = ranks_among("y_true", y_true, classes, probabilities.shape[1])
    as_same_length("y_proba", len(probabilities), "y_true", len(true))
    costs = ranked_probability_costs(probabilities)
    return float(as_weights(sample_weight, len(true)) @ costs[np.arange(len(true)), true])


# Metrics as they would be on clean labels --------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CorrectedScore(Estimate):
    """A score on clean labels, estimated from noisy ones.

    Attributes
    ----------
    value : float
        The corrected score. For a given matrix unbiased for the means (MAE, 0-1, within one, ranked probability score)
        and consistent for the ratios (kappas, class-averaged MAE); for an estimated one drawn towards the observed
        score, as small estimates of noise are drawn towards none.
    standard_error : float
        Sampling error of `value`, for the given noise matrix.
    low, high : float
        Confidence interval of level `confidence`.
    observed : float
        The same score with the recorded labels taken as true.
    confidence : float
        Level of the interval.
    """

    standard_error: float
    observed: float


@renamed(labels="classes", noise_matrix="noise")
def noise_corrected(
    metric: str,
    noisy_labels: ArrayLike,
    y_pred: ArrayLike,
    noise: Any,
    *,
    classes: Labels = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    groups: Any = None,
) -> CorrectedScore:
    """`metric` on clean labels, estimated from noisy ones and the noise matrix, with an interval.

    Parameters
    ----------
    metric : str
        A name from :data:`METRICS`.
    noisy_labels, y_pred : array of shape (n_samples,)
        Labels as recorded, and predictions made without looking at them.
    noise : None, array, mapping, Noise, or fitted estimator or classifier
        Noise of the labels. Replicates widen the interval; one that is not believed (its `answer` is not "corrected")
        corrects nothing. For several raters the average matrix is used.
    classes : sequence, optional
        The grades in order, for labels other than 0..n_classes-1.
    groups : column of shape (n_samples,), optional
        Rows of one group (a patient, a query) are not independent, which widens the interval.

    Examples
    --------
    >>> from ordinoise.noise import adjacent
    >>> recorded, predicted = [0, 1, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2]
    >>> score = noise_corrected("mean_absolute_error", recorded, predicted, adjacent(3, up=0.2, down=0.0))
    >>> round(score.observed, 3), round(score.value, 3)
    (0.25, 0.102)
    """
    of_joint = METRICS[as_choice("metric", metric, METRICS)].of_joint
    record = _believed(noise, noisy_labels, classes)
    correction = correction_matrix(record.matrix)
    recorded = ranks_among("noisy_labels", noisy_labels, classes, len(correction))
    predicted = ranks_among("y_pred", y_pred, classes, len(correction))
    as_same_length("y_pred", len(predicted), "noisy_labels", len(recorded))
    weights = as_weights(sample_weight, len(recorded))
    observed = _joint_table(recorded, predicted, weights, len(correction))
    # The clean table is correction.T @ observed. Delta method: to first order the score is a mean over samples of its
    # slope in the observed table, correction @ (slope in the clean table), at the sample's cell.
    slope = correction @ _slope(of_joint, correction.T @ observed)
    score = _with_interval(
        of_joint(correction.T @ observed), slope[recorded, predicted], of_joint(observed), weights, confidence, groups
    )
    inverses = np.linalg.inv(usable_replicates(record))
    return with_matrix_variance(score, record, np.array([of_joint(inverse.T @ observed) for inverse in inverses]))


@renamed(labels="classes", noise_matrix="noise")
def noise_corrected_ranked_probability_score(
    noisy_labels: ArrayLike,
    y_proba: ArrayLike,
    noise: Any,
    *,
    classes: Labels = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    groups: Any = None,
) -> CorrectedScore:
    """The ranked probability score on clean labels, estimated from noisy ones, with an interval."""
    record = _believed(noise, noisy_labels, classes)
    correction = correction_matrix(record.matrix)
    probabilities = as_probabilities("y_proba", y_proba, len(correction), classes)
    recorded = ranks_among("noisy_labels", noisy_labels, classes, len(correction))
    as_same_length("y_proba", len(probabilities), "noisy_labels", len(recorded))
    weights = as_weights(sample_weight, len(recorded))
    costs = ranked_probability_costs(probabilities)
    corrected = (correction[recorded] * costs).sum(axis=1)
    observed = float(weights @ costs[np.arange(len(recorded)), recorded])
    score = _with_interval(float(weights @ corrected), corrected, observed, weights, confidence, groups)
    inverses = np.linalg.inv(usable_replicates(record))
    replicated = np.einsum("mik,ik,i->m", inverses[:, recorded], costs, weights)
    return with_matrix_variance(score, record, replicated)


@renamed(labels="classes", noise_matrix="noise")
def scorer(metric: str, *, noise: Any = None, classes: Labels = None) -> Callable[[Any, Any, Any], float]:
    """A scikit-learn scorer of `metric`, for ``GridSearchCV`` and friends; greater is better.

    With the noise of the labels, in any form that :func:`noise_corrected` takes, it estimates the score on clean labels
    from noisy ones. `metric` is a name from :data:`METRICS` or ``"ranked_probability_score"``. `classes` are the grades
    in order, by default those of the model if it is one of ours.
    """
    from ordinoise.scoring.scorers import ordinal_scorer

    name = as_choice("metric", metric, [*METRICS, "ranked_probability_score"])
    options = {"noise": noise} | ({} if classes is None else {"classes": classes})
    if name == "ranked_probability_score":
        return ordinal_scorer("predict_proba", -1, options)
    sign = 1 if METRICS[name].greater_is_better else -1
    return ordinal_scorer("predict", sign, options | {"metric": name})


# Tables and intervals ----------------------------------------------------------------------------------


def joint_of(y_true: ArrayLike, y_pred: ArrayLike, classes: Labels, sample_weight: ArrayLike | None) -> Floats:
    true, predicted, n_classes = paired_ranks(y_true, y_pred, classes)
    if len(true) == 0:
        raise complain("y_true", "not be empty", "no labels")
    return _joint_table(true, predicted, as_weights(sample_weight, len(true)), n_classes)


def _joint_table(true: Ints, predicted: Ints, weights: Floats, n_classes: int) -> Floats:
    cells = np.bincount(true * n_classes + predicted, weights=weights, minlength=n_classes**2)
    return cells.astype(np.float64).reshape(n_classes, n_classes)


def ranked_probability_costs(probabilities: Floats) -> Floats:
    """The score of each sample under every possible label, shape (n_samples, n_classes)."""
    n_classes = probabilities.shape[1]
    above = 1 - probabilities.cumsum(axis=1)[:, :-1]
    return np.stack([((above - row) ** 2).sum(axis=1) for row in level_table(n_classes)], axis=1)


def _slope(of_joint: Callable[[Floats], float], joint: Floats) -> Floats:
    """Derivative of the metric in each cell of the joint table, by central differences."""
    step = 1e-6
    slope = np.empty_like(joint)
    for cell in np.ndindex(*joint.shape):
        nudge = np.zeros_like(joint)
        nudge[cell] = step
        slope[cell] = (of_joint(joint + nudge) - of_joint(joint - nudge)) / (2 * step)
    return slope


def _believed(noise: Any, recorded: Any, classes: Labels) -> Noise:
    """The record of the noise to correct for, one matrix for all labels."""
    if noise is None:
        n_classes = (
            int(as_integers("noisy_labels", recorded).max()) + 1 if classes is None else len(as_classes(classes))
        )
        return Noise.of(None, n_classes)
    return Noise.of(noise).average.believed


def usable_replicates(noise: Noise) -> Floats:
    """Replicates of the matrix that have an inverse."""
    return np.asarray(noise.replicates[np.linalg.cond(noise.replicates) < SINGULAR_CONDITION])


def with_matrix_variance(score: CorrectedScore, noise: Noise, replicated: Floats) -> CorrectedScore:
    """The score with the variance of its values under the replicates of the noise added to its own."""
    if not len(noise.replicates):
        return score
    variance = float(replicated.var(ddof=1)) if len(replicated) > 1 else np.inf
    error = float(np.sqrt(score.standard_error**2 + variance))
    reach = normal_reach(error, score.confidence)
    return replace(score, standard_error=error, low=score.value - reach, high=score.value + reach)


def _with_interval(
    value: float, per_sample: Floats, observed: float, weights: Floats, confidence: float, groups: Any
) -> CorrectedScore:
    confidence = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    together = as_groups(groups, len(weights))
    error = standard_error(per_sample - weights @ per_sample, weights, together)
    reach = normal_reach(error, confidence)
    return CorrectedScore(value, value - reach, value + reach, confidence, standard_error=error, observed=observed)
