"""The noise matrix as cleanlab estimates it: count the samples that are confidently of another class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_count
from ordinoise.estimation._networks import recorded_probabilities
from ordinoise.estimation.anchor_points import resampled
from ordinoise.estimation.base import Estimate, NoiseEstimator


class ConfidentJoint(NoiseEstimator):
    """Noise matrix by confident learning (Northcutt et al., 2021), for comparison.

    A sample recorded as r counts as truly t if its out-of-fold probability of t reaches the average of that
    probability among the samples recorded as t; of several such classes the likeliest is taken. It ignores the order
    of the classes and takes overlap of neighbours for noise.

    Parameters
    ----------
    base_estimator : classifier with `predict_proba`, optional
        Gives the out-of-fold probabilities; the ordinal network by default.
    n_folds : int, default=5
        Folds.
    n_jobs : int, optional
        Folds at a time; all processors by default.
    n_bootstrap, confidence, classes, random_state
        As in :class:`AnchorPoints`, with the same fitted attributes.
    """

    def __init__(
        self,
        *,
        base_estimator: Any = None,
        n_folds: int = 5,
        n_jobs: int | None = None,
        n_bootstrap: int = 100,
        confidence: float = 0.95,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.n_bootstrap = n_bootstrap
        self.confidence = confidence
        self.classes = classes
        self.random_state = random_state

    def _estimate(self, X: Any, ranks: Ints, rng: np.random.Generator) -> Estimate:
        settings = {"hidden_layer_sizes": (10,), "max_epochs": 100, "learning_rate": 0.003}
        probabilities = recorded_probabilities(
            X, ranks, len(self.classes_), self.base_estimator, n_folds=self.n_folds, n_rounds=1, settings=settings,
            rng=rng, n_jobs=self.n_jobs,
        )  # fmt: skip
        n_bootstrap = as_count("n_bootstrap", self.n_bootstrap, 0)
        return resampled(
            lambda rows: confident_matrix(probabilities[rows], ranks[rows]), probabilities, ranks, n_bootstrap, rng, []
        )


def confident_matrix(probabilities: Floats, ranks: Ints) -> Floats:
    """Shares of recorded labels among the samples that confidently belong to each class; rows ``[true, recorded]``."""
    n_classes = probabilities.shape[1]
    recorded = np.bincount(ranks, minlength=n_classes)
    own = np.bincount(ranks, weights=probabilities[np.arange(len(ranks)), ranks], minlength=n_classes)
    thresholds = np.where(recorded > 0, own / np.maximum(recorded, 1), np.inf)
    confident = np.where(probabilities >= thresholds, probabilities, -1.0)
    true, counted = confident.argmax(axis=1), confident.max(axis=1) >= 0
    joint = np.zeros((n_classes, n_classes))
    np.add.at(joint, (true[counted], ranks[counted]), 1)
    # Counts of a recorded class are brought to its true number, as cleanlab calibrates them.
    joint *= recorded / np.maximum(joint.sum(axis=0), 1)
    empty = joint.sum(axis=1) == 0
    joint[empty, empty] = 1.0
    return joint / joint.sum(axis=1, keepdims=True)
