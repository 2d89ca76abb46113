"""Scorers for scikit-learn that know the order of the grades from the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.metrics._scorer import _Scorer

from ordinoise.scoring._ranks import Labels
from ordinoise.scoring.metrics import (
    METRICS,
    joint_of,
    noise_corrected,
    noise_corrected_ranked_probability_score,
    ranked_probability_score,
)


class OrdinalScorer(_Scorer):
    """A scorer of ordered labels: without `classes`, those of the model that is scored, if it is one of ours."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **options: Any) -> Any:
        own = None if "classes" in self._kwargs else _classes_of(estimator)
        options |= {} if own is None else {"classes": own}
        return super()._score(method_caller, estimator, X, y_true, **options)


def ordinal_scorer(response_method: str, sign: int, options: dict[str, Any]) -> Callable[[Any, Any, Any], float]:
    """A scorer of the output of `response_method`; a `sign` of -1 makes a loss greater where it is better."""
    score = _score_labels if response_method == "predict" else _score_probabilities
    found: Callable[[Any, Any, Any], float] = OrdinalScorer(score, sign, options, response_method)
    return found


def _classes_of(estimator: Any) -> Any:
    """The grades of our classifier, also inside a search or a pipeline; None for others, whose order is not known."""
    while hasattr(estimator, "best_estimator_") or hasattr(estimator, "steps"):
        estimator = estimator.best_estimator_ if hasattr(estimator, "best_estimator_") else estimator.steps[-1][1]
    return estimator.classes_ if hasattr(estimator, "noise_") else None


def _score_labels(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    metric: str,
    noise: Any,
    classes: Labels = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    if noise is None:
        return METRICS[metric].of_joint(joint_of(y_true, y_pred, classes, sample_weight))
    return noise_corrected(metric, y_true, y_pred, noise, classes=classes, sample_weight=sample_weight).value


def _score_probabilities(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    noise: Any,
    classes: Labels = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    if noise is None:
        return ranked_probability_score(y_true, y_proba, classes=classes, sample_weight=sample_weight)
    return noise_corrected_ranked_probability_score(
        y_true, y_proba, noise, classes=classes, sample_weight=sample_weight
    ).value
