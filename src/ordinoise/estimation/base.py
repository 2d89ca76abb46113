"""Base of the noise estimators: ordered labels in, a `Noise` with its intervals and doubts out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples

from ordinoise._frames import as_native
from ordinoise._validation import Floats, Ints, as_generator, as_number, as_same_length, complain
from ordinoise._warning import warn_caller
from ordinoise.labels import as_groups, ordered_classes, ranks_of
from ordinoise.noise import Noise


class IdentifiabilityWarning(UserWarning):
    """The noise matrix cannot be identified well from these features and labels."""


def warn_of_doubts(noise: Noise) -> None:
    """Warn of the doubts about an estimate, with what would settle them, or about a given matrix."""
    if noise.is_in_doubt:
        advice = "a prior rate, trusted labels or several raters per item would settle it"
        words = f"the noise matrix is in doubt: {noise.doubt_text}"
        warn_caller(f"{words}; {advice}" if noise.is_estimated else words, IdentifiabilityWarning)


class NoiseEstimator(BaseEstimator, ABC):
    """Noise from features and recorded labels; a subclass adds `_estimate`."""

    classes: Any
    confidence: float
    random_state: Any
    noise_: Noise

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Estimate the noise of the recorded labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.
        y : column of shape (n_samples,)
            Labels as recorded.
        groups : column of shape (n_samples,), optional
            Rows of one group (a patient, a query, an item with several labels) are held out together, and drawn
            together for the intervals where rows are drawn.
        """
        X = as_native(X)
        confidence = as_number("confidence", self.confidence, 0.5, 0.9999)
        self.classes_ = ordered_classes(y, self.classes)
        if len(self.classes_) < 2:
            raise complain("y", "hold at least 2 classes", self.classes_.tolist())
        ranks = ranks_of("y", y, self.classes_)
        as_same_length("y", len(ranks), "X", _num_samples(X))
        together = as_groups(groups, len(ranks))
        self.noise_ = self._estimate(X, ranks, together, confidence, as_generator(self.random_state))
        warn_of_doubts(self.noise_)
        return self

    @abstractmethod
    def _estimate(self, X: Any, ranks: Ints, groups: Ints | None, confidence: float, rng: np.random.Generator) -> Noise:
        """The noise of labels 0..n_classes-1."""

    @property
    def noise_matrix_(self) -> Floats:
        """Estimated ``[true, recorded]``: `noise_.matrix`."""
        return self.noise_.matrix
