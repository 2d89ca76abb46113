"""The noise matrix by cleanlab's method: counts of samples that are confidently of another class."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_count
from ordinoise.estimation._likelihood_ratio import likelihood_ratio
from ordinoise.estimation._networks import recorded_probabilities
from ordinoise.estimation.anchor_points import resampled_noise
from ordinoise.estimation.base import NoiseEstimator
from ordinoise.noise import Noise


@dataclass(eq=False, repr=False)
class ConfidentJoint(NoiseEstimator):
    """Noise matrix by confident learning (Northcutt et al., 2021), for comparison.

    A sample recorded as r counts as truly t if its out-of-fold probability of t reaches the average of that
    probability among the samples recorded as t; of several such classes the likeliest is taken. It ignores the order
    of the classes and counts overlap of neighbors as noise.

    Parameters
    ----------
    base_estimator : classifier with `predict_proba`, optional
        Predicts the recorded label out of fold; the ordinal network by default.
    n_folds : int, default=5
        Number of folds.
    n_jobs : int, optional
        Number of folds at a time; one per processor by default.
    n_bootstrap, confidence, classes, random_state
        As in :class:`AnchorPoints`, with the same fitted attributes.
    """

    _: KW_ONLY
    base_estimator: Any = None
    n_folds: int = 5
    n_jobs: int | None = None
    n_bootstrap: int = 100
    confidence: float = 0.95
    classes: Any = None
    random_state: Any = None

    def _estimate(self, X: Any, ranks: Ints, groups: Ints | None, confidence: float, rng: np.random.Generator) -> Noise:
        # Half the epochs of the paper's network at three times its rate, to be quicker; chosen by no run.
        settings = {"hidden_layer_sizes": (10,), "max_epochs": 100, "learning_rate": 0.003}
        probabilities = recorded_probabilities(
            X, ranks, len(self.classes_), self.base_estimator, n_folds=self.n_folds, n_rounds=1, settings=settings,
            rng=rng, n_jobs=self.n_jobs, groups=groups,
        )  # fmt: skip
        self.likelihood_ratio_ = likelihood_ratio(probabilities, ranks, confident_matrix(probabilities, ranks))
        return resampled_noise(
            lambda rows: confident_matrix(probabilities[rows], ranks[rows]), ranks, len(self.classes_),
            as_count("n_bootstrap", self.n_bootstrap, 0), rng, confidence=confidence, method=type(self).__name__,
            groups=groups,
        )  # fmt: skip


def confident_matrix(probabilities: Floats, ranks: Ints) -> Floats:
    """Shares of the recorded labels among the samples that confidently belong to each true class, [true, recorded]."""
    n_classes = probabilities.shape[1]
    recorded = np.bincount(ranks, minlength=n_classes)
    own = np.bincount(ranks, weights=probabilities[np.arange(len(ranks)), ranks], minlength=n_classes)
    thresholds = np.where(recorded > 0, own / np.maximum(recorded, 1), np.inf)
    confident = np.where(probabilities >= thresholds, probabilities, -1.0)
    true, counted = confident.argmax(axis=1), confident.max(axis=1) >= 0
    joint = np.zeros((n_classes, n_classes))
    np.add.at(joint, (true[counted], ranks[counted]), 1)
    # Each column is scaled to the number of labels recorded as that class, as cleanlab does.
    joint *= recorded / np.maximum(joint.sum(axis=0), 1)
    empty = joint.sum(axis=1) == 0
    joint[empty, empty] = 1.0
    return joint / joint.sum(axis=1, keepdims=True)
