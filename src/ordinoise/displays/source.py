"""What the displays read from fitted models: noise, grades and probabilities in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, complain
from ordinoise.crossfit import with_every_class
from ordinoise.labels import ordered_classes, ranks_of
from ordinoise.noise import Noise


def fitted_part(estimator: Any) -> Any:
    """The fitted estimator, or the last step of a pipeline; refuses anything that is not fitted."""
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    if not any(hasattr(last, name) for name in ("classes_", "noise_", "noise_matrix_")):
        raise complain("estimator", "be fitted", type(estimator).__name__, "call fit first")
    return last


def noise_of(estimator: Any, noise: Any, n_classes: int) -> Noise:
    """The noise given or, for "model", that of the fitted estimator."""
    if not isinstance(noise, str):
        return Noise.of(noise, n_classes).average
    if noise != "model":
        raise complain("noise", "be 'model', None or a noise matrix", repr(noise))
    last = fitted_part(estimator)
    if not hasattr(last, "noise_"):
        advice = "pass a noise matrix, or None to trust the labels"
        raise complain("noise", "be given if the estimator has no noise_", type(last).__name__, advice)
    return Noise.of(last, n_classes).average


def predicted(estimator: Any, X: Any, y: Any, labels: Any) -> tuple[Floats, NDArray[Any]]:
    """Class probabilities with the columns in the order of the grades, and the grades."""
    last = fitted_part(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise complain("estimator", "have predict_proba", type(estimator).__name__)
    classes = np.asarray(last.classes_)
    if labels is None and (hasattr(last, "noise_") or classes.dtype.kind not in "OUST"):
        labels = classes  # ours are in order, and so are numbers
    ordered = ordered_classes(y, labels)
    table = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    return with_every_class(table, ranks_of("estimator.classes_", classes, ordered), len(ordered)), ordered
