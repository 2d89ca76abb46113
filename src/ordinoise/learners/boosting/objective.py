"""What boosting minimizes: the forward likelihood, whose gradient reads the noise from a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, Ints, as_floats, as_labels, as_noise_matrix, as_same_length, complain
from ordinoise.levels import log_class_probabilities

from . import _kernels
from ._kernels import Float32s

NARROWEST = 1e-3  # least distance that a step leaves between two thresholds: a round number, chosen by no run
RIDGE = 1e-6  # added to the information's diagonal, as a share of its trace: a round number, chosen by no run


@dataclass(frozen=True, eq=False)
class ForwardObjective(ABC):
    """Minus the log-likelihood of the recorded label, ``-log sum_k N[k, recorded] P(k | x)``; a head adds P.

    Trees add up to scores that start at zero. `offsets` are the numbers that a head adds to them.

    Parameters
    ----------
    noise_matrices : array of shape (n_raters, n_classes, n_classes)
        One matrix ``[true, recorded]`` per rater; a single one without raters.
    """

    noise_matrices: Floats

    head: ClassVar[str]

    def __post_init__(self) -> None:
        stack = as_floats("noise_matrices", self.noise_matrices, 3)
        object.__setattr__(self, "noise_matrices", np.stack([as_noise_matrix(matrix) for matrix in stack]))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.noise_matrices.shape[1]

    @property
    @abstractmethod
    def n_scores(self) -> int:
        """Scores per sample, and trees per round."""

    @cached_property
    def likelihood(self) -> Floats:
        """Probability of a record under every true class, shape (n_raters * K, K): row ``rater * K + y`` is N[:, y]."""
        # Transposed and contiguous, so that a sample reads one short stretch of memory.
        return np.ascontiguousarray(self.noise_matrices.transpose(0, 2, 1)).reshape(-1, self.n_classes)

    def cells(self, labels: ArrayLike, raters: ArrayLike | None = None) -> Ints:
        """Row of `likelihood` that each sample reads, ``rater * K + recorded label``."""
        recorded = as_labels("labels", labels, self.n_classes)
        if raters is None:
            if len(self.noise_matrices) > 1:
                raise complain("raters", f"name one of {len(self.noise_matrices)} matrices for each sample", "None")
            return recorded
        rows = as_labels("raters", raters, len(self.noise_matrices))
        as_same_length("raters", len(rows), "the labels", len(recorded))
        return rows * self.n_classes + recorded

    @abstractmethod
    def first_offsets(self, class_frequencies: Floats) -> Floats:
        """Offsets with which scores of zero give these class frequencies, all of which must be positive."""

    @abstractmethod
    def slopes(
        self, scores: Floats, offsets: Floats, cells: Ints, weights: Floats
    ) -> tuple[Float32s, Float32s, Floats]:
        """Gradient and curvature by score, as LightGBM takes them, and the offsets of the next round."""

    @abstractmethod
    def losses(self, scores: Floats, offsets: Floats, cells: Ints) -> Floats:
        """Loss of each sample, shape (n_samples,)."""

    @staticmethod
    @abstractmethod
    def log_probabilities(scores: Floats, offsets: Floats) -> Floats:
        """Logarithm of each clean class's probability, shape (n_samples, n_classes)."""


class ForwardSoftmax(ForwardObjective):
    """One score per class. Without noise this is LightGBM's own multiclass objective, number for number.

    The gradient is ``P(k | x) - P(k | x, recorded)``: the probability of a class given the features, minus that given
    the features and the recorded label.
    """

    head = "softmax"

    @property
    def n_scores(self) -> int:
        """One per class."""
        return self.n_classes

    def first_offsets(self, class_frequencies: Floats) -> Floats:
        """Log-frequencies, which training leaves unchanged."""
        return np.log(class_frequencies)

    def slopes(
        self, scores: Floats, offsets: Floats, cells: Ints, weights: Floats
    ) -> tuple[Float32s, Float32s, Floats]:
        """Gradient and curvature of shape (n_samples, n_classes), and the unchanged offsets.

        The curvature is that of the clean loss, ``P (1 - P) K / (K - 1)``; the exact one, ``P (1 - P)`` minus the
        same ``R (1 - R)`` of the posterior R, is negative where R is nearer to one half.
        """
        # Column by column, as LightGBM reads them: all samples of the first class, then of the second.
        gradient, curvature = (np.empty(scores.shape, dtype=np.float32, order="F") for _ in range(2))
        _kernels.softmax_slopes(scores, offsets, cells, weights, self.likelihood, gradient, curvature)
        return gradient, curvature, offsets

    def losses(self, scores: Floats, offsets: Floats, cells: Ints) -> Floats:
        """Loss of each sample, shape (n_samples,)."""
        losses = np.empty(len(cells))
        _kernels.softmax_losses(scores, offsets, cells, self.likelihood, losses)
        return losses

    @staticmethod
    def log_probabilities(scores: Floats, offsets: Floats) -> Floats:
        """Logarithm of each clean class's probability, shape (n_samples, n_classes)."""
        logits = scores + offsets
        return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)


class ForwardOrdered(ForwardObjective):
    """One score for all classes, cut by thresholds that descend: ``P(y > j) = sigmoid(score + threshold_j)``.

    Every round moves the thresholds by one step of Fisher scoring before it grows a tree.
    """

    head = "ordered"

    @property
    def n_scores(self) -> int:
        """One for all classes."""
        return 1

    def first_offsets(self, class_frequencies: Floats) -> Floats:
        """Logits of the frequency of exceeding each class but the last."""
        above = class_frequencies[::-1].cumsum()[::-1][1:]
        return np.log(above) - np.log(class_frequencies.cumsum()[:-1])

    def slopes(
        self, scores: Floats, offsets: Floats, cells: Ints, weights: Floats
    ) -> tuple[Float32s, Float32s, Floats]:
        """Gradient and curvature of shape (n_samples,), and the thresholds after one step of Fisher scoring."""
        gradient, curvature = np.empty(len(cells), dtype=np.float32), np.empty(len(cells), dtype=np.float32)
        slopes, information = np.empty(len(offsets)), np.empty((len(offsets), len(offsets)))
        _kernels.ordered_slopes(
            scores.ravel(), offsets, cells, weights, self.likelihood, gradient, curvature, slopes, information
        )
        return gradient, curvature, _stepped(offsets, slopes, information)

    def losses(self, scores: Floats, offsets: Floats, cells: Ints) -> Floats:
        """Loss of each sample, shape (n_samples,)."""
        losses = np.empty(len(cells))
        _kernels.ordered_losses(scores.ravel(), offsets, cells, self.likelihood, losses)
        return losses

    @staticmethod
    def log_probabilities(scores: Floats, offsets: Floats) -> Floats:
        """Logarithm of each clean class's probability, shape (n_samples, n_classes)."""
        return log_class_probabilities(scores.reshape(-1, 1) + offsets)


OBJECTIVES: dict[str, type[ForwardObjective]] = {kind.head: kind for kind in (ForwardOrdered, ForwardSoftmax)}


def _stepped(thresholds: Floats, slopes: Floats, lower_information: Floats) -> Floats:
    """Thresholds after the step ``(information + ridge)^-1 slopes``, halved until they descend.

    The information is that of observing the true classes. The noisy records carry no more, so the step is short
    rather than long. The ridge keeps the equations solvable where a class has no samples near its thresholds.
    """
    information = lower_information + np.tril(lower_information, -1).T  # only the lower triangle is filled
    ridge = RIDGE * max(information.trace(), 1e-6) * np.eye(len(slopes))
    step = np.linalg.solve(information + ridge, slopes)
    # Thresholds that already are nearer than NARROWEST need not move apart, or the loop might not end.
    while len(step) > 1 and np.diff(thresholds + step).max() > -min(NARROWEST, -np.diff(thresholds).max()):
        step = step / 2
    return thresholds + step
