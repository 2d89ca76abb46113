"""Scorers for scikit-learn that know the order of the grades from the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics._scorer import _Scorer


class OrdinalScorer(_Scorer):
    """A scorer of ordered labels: without `classes`, those of the model that is scored, if it is one of ours."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **options: Any) -> Any:
        own = None if "classes" in self._kwargs else _classes_of(estimator)
        options |= {} if own is None else {"classes": own}
        return super()._score(method_caller, estimator, X, y_true, **options)


def ordinal_scorer(
    score: Callable[..., float], response_method: str, sign: int, options: dict[str, Any]
) -> Callable[[Any, Any, Any], float]:
    """A scorer of the output of `response_method`; a `sign` of -1 makes a loss greater where it is better."""
    found: Callable[[Any, Any, Any], float] = OrdinalScorer(score, sign, options, response_method)
    return found


def _classes_of(estimator: Any) -> Any:
    """The grades of our classifier, also inside a search or a pipeline; None for others, whose order is not known."""
    while hasattr(estimator, "best_estimator_") or hasattr(estimator, "steps"):
        estimator = estimator.best_estimator_ if hasattr(estimator, "best_estimator_") else estimator.steps[-1][1]
    return estimator.classes_ if hasattr(estimator, "noise_") else None
