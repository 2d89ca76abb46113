"""What the two network classifiers share: logits cut by thresholds, the tables of their losses, training curves."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints, as_choice, as_count, as_number, complain
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.crossfit import automatic_batch_size
from ordinoise.estimation.resolution import levels_for, needs_data, warn_of_hard_noise
from ordinoise.levels import class_probabilities, labels_from_logits, level_table, log_class_probabilities
from ordinoise.noise import Noise

CORRECTIONS = ("forward", "unbiased")
LOSSES = ("cross_entropy", "hinge")
THRESHOLDS = ("ordered", "free")
CURVES = ("loss_curve", "validation_curve", "n_iter", "n_updates", "threshold_inversions")
"""Fitted attributes, without the underscore at the end, that describe the training."""


class NetworkClassifierBase(OrdinalClassifierBase):
    """One score per sample, cut by thresholds; a learner adds `fit`, `_logits` and `_thresholds`."""

    correction: str
    loss: str
    thresholds: str
    hidden_layer_sizes: Any
    batch_size: int | str
    max_iter: int
    validation_fraction: float
    early_stopping: bool
    tol: float
    loss_curve_: list[float]
    validation_curve_: list[float]
    n_iter_: int
    n_updates_: int
    threshold_inversions_: int

    @abstractmethod
    def _logits(self, X: Any) -> Floats:
        """Score plus thresholds, shape (n_samples, n_classes - 1)."""

    @abstractmethod
    def _thresholds(self) -> Floats | None:
        """Thresholds of the fitted network; None before `fit`."""

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes); valid also for unordered thresholds."""
        return class_probabilities(self._logits(X))

    @property
    def thresholds_(self) -> Floats:
        """Added to the score, descending (the paper's b)."""
        thresholds = self._thresholds()
        if thresholds is None:
            raise AttributeError(f"{type(self).__name__} has no thresholds before it is fitted")
        return thresholds

    @property
    def cutpoints_(self) -> Floats:
        """Cuts of the score axis, ascending: minus the thresholds."""
        return -self.thresholds_

    def _log_probabilities(self, X: Any) -> Floats:
        return log_class_probabilities(self._logits(X))

    def _decide(self, X: Any, decision: Any) -> Ints:
        # The number of positive logits is the median, without the rounding of probabilities near one half.
        if isinstance(decision, str) and decision == "median":
            return labels_from_logits(self._logits(X))
        return super()._decide(X, decision)

    def _check_losses(self) -> None:
        as_choice("correction", self.correction, CORRECTIONS)
        as_choice("loss", self.loss, LOSSES)
        as_choice("thresholds", self.thresholds, THRESHOLDS)
        as_count("max_iter", self.max_iter, 1)
        as_number("tol", self.tol, 0.0, np.inf)
        if self.noise is not None and self.correction == "forward" and self.loss != "cross_entropy":
            advice = "correction='unbiased' takes any loss"
            raise complain("loss", "be 'cross_entropy' for the forward correction", repr(self.loss), advice)

    def _check_known_noise(self) -> None:
        if needs_data(self.noise):
            advice = "fit once, then pass its noise_"
            raise complain("noise", "be known in partial_fit", repr(self.noise), advice)

    def _check_same_classes(self, classes: NDArray[Any]) -> None:
        if not np.array_equal(classes, self.classes_):
            raise complain("y", f"hold the classes of the earlier fit, {self.classes_.tolist()}", classes.tolist())

    def _loss_table(self, noise: Noise, n_rows: int) -> tuple[str, Floats]:
        """Name of the loss, and one table per noise matrix: levels, noise matrices or corrected levels."""
        if noise.source == "trusted":
            return self.loss, level_table(noise.n_classes)[None]
        if self.correction == "forward":
            return "forward", noise.matrices
        warn_of_hard_noise(noise.matrices, n_rows)
        return self.loss, levels_for(noise.matrices)

    def _layer_sizes(self) -> tuple[int, ...]:
        sizes: Any = (self.hidden_layer_sizes,) if np.isscalar(self.hidden_layer_sizes) else self.hidden_layer_sizes
        return tuple(as_count("hidden_layer_sizes", size, 1) for size in sizes)

    def _batch_rows(self, n_rows: int) -> int:
        """Rows per update."""
        if isinstance(self.batch_size, str):
            as_choice("batch_size", self.batch_size, ["auto"])
            return automatic_batch_size(n_rows)
        return min(as_count("batch_size", self.batch_size, 1), max(n_rows, 1))

    def _stopping_share(self) -> float:
        """Share of the samples to stop by; 0 without early stopping."""
        fraction = as_number("validation_fraction", self.validation_fraction, 0.0, 0.9, open_low=True)
        return fraction if self.early_stopping else 0.0

    def _keep_curves(self, training: Any, *, adds: bool) -> None:
        """Store the curves and counts of either learner's training; `adds` puts them on top of the earlier ones."""
        self.loss_curve_ = [*(self.loss_curve_ if adds else []), *training.loss_curve]
        self.validation_curve_ = training.validation_curve
        self.n_iter_ = (self.n_iter_ if adds else 0) + training.n_epochs
        self.n_updates_ = (self.n_updates_ if adds else 0) + training.n_updates
        self.threshold_inversions_ = (self.threshold_inversions_ if adds else 0) + training.threshold_inversions
