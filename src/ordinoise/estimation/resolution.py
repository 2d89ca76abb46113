"""Every form of the argument `noise` as one record, and the matrix of each label in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ordinoise._validation import Floats, Ints, complain
from ordinoise._warning import warn_caller
from ordinoise.estimation.base import warn_of_doubts
from ordinoise.labels import as_column
from ordinoise.levels import corrected_levels
from ordinoise.noise import Noise, noise_properties, safe_noise_matrix

FEW_SAMPLES = 500  # below it the unbiased losses did worse than no correction (decision 0007); no run is kept


def resolve_noise(
    noise: Any,
    X: Any,
    ranks: Ints,
    n_classes: int,
    raters: Any = None,
    random_state: int = 0,
    *,
    base: Mapping[str, Any] | None = None,
    groups: Ints | None = None,
) -> tuple[Noise, Ints | None]:
    """The record of `noise`, and which of its matrices each label was recorded under (None: one for all).

    Parameters
    ----------
    noise : None, array, mapping, Noise, "estimate" or estimator
        None trusts the labels. A fitted estimator gives its `noise_`; an unfitted one is cloned and fitted to `X`.
    X : array or frame
        Features that an estimator is fitted to.
    ranks : array of shape (n_samples,)
        Recorded labels, 0..n_classes-1.
    raters : column of shape (n_samples,), optional
        Who recorded each label, if `noise` holds one matrix per rater.
    base : mapping, optional
        Parameters of the default estimator, for ``"estimate"``.
    groups : array of shape (n_samples,), optional
        Numbers from 0; an estimator whose `fit` takes groups holds rows of one group out together.
    """
    if needs_data(noise):
        noise = _fit_estimator(noise, X, ranks, n_classes, random_state, base or {}, groups)
    record = Noise.of(noise, n_classes)
    if record.source == "given":
        warn_of_doubts(record)
    index = record.index_of(None if raters is None else as_column("raters", raters), len(ranks))
    return record.seen_in(ranks, index), index


def needs_data(noise: Any) -> bool:
    """Whether `noise` must be estimated from features and labels."""
    is_estimator = hasattr(noise, "fit") and not hasattr(noise, "predict") and not hasattr(noise, "noise_matrix_")
    return isinstance(noise, str) or is_estimator


def _fit_estimator(
    noise: Any, X: Any, ranks: Ints, n_classes: int, random_state: int, base: Mapping[str, Any], groups: Ints | None
) -> Any:
    from ordinoise.estimation.score.estimator import ScoreLikelihood

    if isinstance(noise, str) and noise != "estimate":
        raise complain("noise", "be None, a noise matrix, 'estimate' or an estimator", repr(noise))
    estimator = ScoreLikelihood().set_params(**base) if isinstance(noise, str) else clone(noise)
    known = estimator.get_params(deep=False)
    if "classes" in known:
        estimator.set_params(classes=np.arange(n_classes))
    if "random_state" in known and known["random_state"] is None:
        estimator.set_params(random_state=random_state)
    return estimator.fit(X, ranks, **({"groups": groups} if has_fit_parameter(estimator, "groups") else {}))


def levels_for(matrices: Floats) -> Floats:
    """Corrected levels under every matrix, shape (n_matrices, n_classes, n_classes - 1)."""
    return np.stack([corrected_levels(safe_noise_matrix(matrix)) for matrix in matrices])


def warn_of_hard_noise(matrices: Floats, n_samples: int) -> None:
    """Warn where the unbiased losses usually do badly: few samples, or labels more often wrong than right."""
    if n_samples < FEW_SAMPLES:
        warn_caller(
            f"correction='unbiased' with {n_samples} samples often does worse than no correction; "
            "correction='forward' needs fewer",
        )
    wrong = max(1 - matrix.diagonal().min() for matrix in matrices)
    if not all(noise_properties(matrix).is_dominant for matrix in matrices):
        warn_caller(
            f"noise_matrix records some class wrong with probability {wrong:.2f}: the unbiased correction assumes "
            "that every label is right more often than wrong; correction='forward' does not",
        )
