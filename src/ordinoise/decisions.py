"""Which grade to predict from class probabilities, and what a decision costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, Ints, as_choice, as_floats, complain

RULES = ("median", "mode", "mean")


def decide(class_probabilities: Floats, decision: str | ArrayLike = "median") -> Ints:
    """The grade to predict for each sample, as ranks.

    Parameters
    ----------
    class_probabilities : array of shape (n_samples, n_classes)
        Probability of each grade.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes)
        The median has the least expected absolute error, the mode the least expected 0-1 error, the rounded mean
        the least expected squared error. An array is ``cost[true, predicted]``: the grade with the least expected cost.
    """
    n_classes = class_probabilities.shape[1]
    rule = as_decision(decision, n_classes)
    if isinstance(rule, np.ndarray):
        return (class_probabilities @ rule).argmin(axis=1)
    if rule == "mode":
        return class_probabilities.argmax(axis=1)
    if rule == "mean":
        return np.floor(class_probabilities @ np.arange(n_classes) + 0.5).astype(np.int64)
    exceedance = 1 - class_probabilities.cumsum(axis=1)[:, :-1]
    return (exceedance > 0.5).sum(axis=1)


def as_decision(decision: str | ArrayLike, n_classes: int) -> str | Floats:
    """The decision rule, checked: one of the names, or a cost matrix of the right size."""
    if isinstance(decision, str):
        return as_choice("decision", decision, RULES)
    cost = as_floats("decision", decision, 2)
    if cost.shape != (n_classes, n_classes):
        rule = f"be one of {list(RULES)} or a {n_classes} x {n_classes} cost[true, predicted]"
        raise complain("decision", rule, f"shape {cost.shape}")
    return cost


def costs_of(decision: str | ArrayLike, n_classes: int) -> Floats:
    """What each decision costs, ``[true, decided]``: the cost whose expectation the rule minimizes."""
    rule = as_decision(decision, n_classes)
    if isinstance(rule, np.ndarray):
        return rule
    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))).astype(np.float64)
    return {"median": distance, "mode": np.minimum(distance, 1), "mean": distance**2}[rule]


def combined(table: Floats, weights: Floats) -> Floats:
    """``table @ weights``, added up in the order of the columns.

    A row then has the same result, to the last bit, whatever rows are beside it, which matrix products do not promise.
    """
    total = table[:, :1] * weights[0]
    for at in range(1, len(weights)):
        total = total + table[:, at, None] * weights[at]
    return total
