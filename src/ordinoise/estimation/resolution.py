"""What `noise=` may be, brought to one form: a stack of noise matrices, one a rater."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ordinoise._validation import Floats, Ints, as_noise_matrix, as_ranks, as_same_length, complain
from ordinoise.labels import as_column
from ordinoise.levels import corrected_levels, level_table
from ordinoise.noise import correction_matrix, noise_properties, safe_noise_matrix

FEW_SAMPLES = 500  # below this the unbiased losses were found worse than no correction


@dataclass(frozen=True)
class ResolvedNoise:
    """Noise matrices, and which of them each sample was recorded under.

    Attributes
    ----------
    matrices : array of shape (n_raters, n_classes, n_classes)
        One matrix where there are no raters.
    raters : array of shape (n_samples,) or None
        Row of `matrices` for each sample.
    estimator : object or None
        The fitted estimator that the matrix came from.
    """

    matrices: Floats
    raters: Ints | None
    estimator: Any = None

    @property
    def pooled(self) -> Floats:
        """One matrix: that of the average sample."""
        if self.raters is None:
            return self.matrices.mean(axis=0)
        counts = np.bincount(self.raters, minlength=len(self.matrices))
        return np.average(self.matrices, axis=0, weights=counts)


def resolve_noise(
    noise: Any, X: Any, ranks: Ints, n_classes: int, raters: Any, random_state: int, *, base: Any = None
) -> ResolvedNoise:
    """Noise matrices from None, a matrix, a matrix for each rater, ``"estimate"`` or an estimator.

    `base` holds parameters of the estimator that ``"estimate"`` stands for.
    """
    if noise is None:
        return ResolvedNoise(np.eye(n_classes)[None], None)
    if isinstance(noise, str) or hasattr(noise, "fit"):
        refuse_raters(raters)
        estimator = _fitted_estimator(noise, X, ranks, n_classes, random_state, base or {})
        return ResolvedNoise(as_noise_matrix(estimator.noise_matrix_, n_classes)[None], None, estimator)
    if isinstance(noise, Mapping):
        return _by_name(noise, raters, n_classes, len(ranks))
    matrices = np.asarray(noise)
    if matrices.ndim == 3:
        return _by_name(dict(enumerate(matrices)), raters, n_classes, len(ranks))
    refuse_raters(raters)
    return ResolvedNoise(as_noise_matrix(noise, n_classes)[None], None)


def levels_for(matrices: Floats) -> Floats:
    """Corrected levels of every rater, shape (n_raters, n_classes, n_classes - 1)."""
    return np.stack([corrected_levels(safe_noise_matrix(matrix)) for matrix in matrices])


def corrections_for(matrices: Floats) -> Floats:
    """Inverse matrices of every rater, for the non-negative risk."""
    return np.stack([correction_matrix(safe_noise_matrix(matrix)) for matrix in matrices])


def plain_levels(n_classes: int) -> Floats:
    """Levels of labels that are taken at their word, in the same form."""
    return level_table(n_classes)[None]


def warn_of_hard_noise(matrices: Floats, n_samples: int) -> None:
    """Warn where the unbiased losses are known to do badly, though they are defined."""
    if n_samples < FEW_SAMPLES:
        warnings.warn(
            f"correction='unbiased' with {n_samples} samples often does worse than no correction; "
            "correction='forward' needs fewer",
            stacklevel=4,
        )
    wrong = max(1 - matrix.diagonal().min() for matrix in matrices)
    if not all(noise_properties(matrix).is_dominant for matrix in matrices):
        warnings.warn(
            f"noise_matrix records some class wrong with probability {wrong:.2f}: the unbiased correction assumes "
            "that every label is right more often than wrong; correction='forward' does not",
            stacklevel=4,
        )


def _fitted_estimator(
    noise: Any, X: Any, ranks: Ints, n_classes: int, random_state: int, base: Mapping[str, Any]
) -> Any:
    from ordinoise.estimation import ScoreLikelihood

    if isinstance(noise, str) and noise != "estimate":
        raise complain("noise", "be None, a noise matrix, 'estimate' or an estimator", repr(noise))
    estimator = ScoreLikelihood().set_params(**base) if isinstance(noise, str) else clone(noise)
    known = estimator.get_params(deep=False)
    if "classes" in known:
        estimator.set_params(classes=np.arange(n_classes))
    if "random_state" in known and known["random_state"] is None:
        estimator.set_params(random_state=random_state)
    return estimator.fit(X, ranks)


def _by_name(noise: Mapping[Any, Any], raters: Any, n_classes: int, n_samples: int) -> ResolvedNoise:
    if raters is None:
        raise complain("raters", "name the rater of each sample when noise holds a matrix for each", "None")
    names: NDArray[Any] = np.asarray(list(noise))
    column = as_column("raters", raters)
    as_same_length("raters", len(column), "y", n_samples)
    matrices = np.stack([as_noise_matrix(matrix, n_classes) for matrix in noise.values()])
    return ResolvedNoise(matrices, as_ranks("raters", column, names))


def refuse_raters(raters: Any) -> None:
    """Complain if raters are named where one matrix serves all."""
    if raters is not None:
        advice = "pass noise={rater: matrix}"
        raise complain("noise", "hold a matrix for each rater when raters are given", "one matrix for all", advice)
