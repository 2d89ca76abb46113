"""What all noise estimators share: ordered labels in; a matrix, its intervals and an honest word out."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples

from ordinoise._validation import Floats, Ints, as_generator, as_number, as_same_length, complain
from ordinoise.labels import ordered_classes, ranks_of


class IdentifiabilityWarning(UserWarning):
    """The labels and features at hand leave the noise matrix in doubt."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What an estimator found.

    Attributes
    ----------
    noise_matrix, class_prior : arrays of shape (n_classes, n_classes) and (n_classes,)
        The estimate, and how common each true class is.
    matrices, noise_rates : arrays of shape (n_bootstrap, n_classes, n_classes) and (n_bootstrap,)
        The same on resampled data.
    likelihood_ratio : float
        Twice the gain in log-likelihood of the recorded labels over no noise.
    doubts : tuple of str
        Why the matrix may not be identifiable.
    """

    noise_matrix: Floats
    class_prior: Floats
    matrices: Floats
    noise_rates: Floats
    likelihood_ratio: float
    doubts: tuple[str, ...]


class NoiseEstimator(BaseEstimator, ABC):
    """A noise matrix from features and recorded labels; a method adds `_estimate`."""

    classes: Any
    confidence: float
    random_state: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the noise of the recorded labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.
        y : column of shape (n_samples,)
            Labels as recorded.
        """
        confidence = as_number("confidence", self.confidence, 0.5, 0.9999)
        self.classes_ = ordered_classes(y, self.classes)
        if len(self.classes_) < 2:
            raise complain("y", "hold at least 2 classes", self.classes_.tolist())
        ranks = ranks_of("y", y, self.classes_)
        as_same_length("y", len(ranks), "X", _num_samples(X))
        self._keep(self._estimate(X, ranks, as_generator(self.random_state)), confidence)
        return self

    @abstractmethod
    def _estimate(self, X: Any, ranks: Ints, rng: np.random.Generator) -> Estimate:
        """The estimate for labels 0..n_classes-1."""

    def _keep(self, found: Estimate, confidence: float) -> None:
        self.noise_matrix_ = found.noise_matrix
        self.class_prior_ = found.class_prior
        self.noise_rate_ = float(1 - found.class_prior @ found.noise_matrix.diagonal())
        self.bootstrap_matrices_ = found.matrices
        ends = (1 - confidence) / 2, (1 + confidence) / 2
        if len(found.matrices):
            self.noise_matrix_interval_ = np.quantile(found.matrices, ends, axis=0)
            self.noise_rate_interval_ = np.quantile(found.noise_rates, ends)
        else:
            self.noise_matrix_interval_ = np.full((2, *found.noise_matrix.shape), np.nan)
            self.noise_rate_interval_ = np.full(2, np.nan)
        self.likelihood_ratio_ = found.likelihood_ratio
        self.is_identifiable_ = not found.doubts
        self.identifiability_ = "; ".join(found.doubts) or "nothing speaks against the estimate"
        if found.doubts:
            warnings.warn(
                f"the noise matrix is in doubt: {self.identifiability_}; a prior rate, trusted labels or several "
                "raters an item would settle it",
                IdentifiabilityWarning,
                stacklevel=3,
            )


def implied_prior(noise_matrix: Floats, recorded_frequencies: Floats, n_steps: int = 200) -> Floats:
    """Frequencies of the true classes that, through the noise, best explain those recorded (a few steps of EM)."""
    prior = np.full(len(noise_matrix), 1 / len(noise_matrix))
    for _ in range(n_steps):
        recorded = np.maximum(prior @ noise_matrix, 1e-300)
        prior = prior * (noise_matrix @ (recorded_frequencies / recorded))
    return prior / prior.sum()
