"""The fitted booster as JSON settings, named arrays and LightGBM's text, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ordinoise._validation import complain
from ordinoise.classifiers._columns import Columns
from ordinoise.classifiers._mlp_state import decoded, encoded
from ordinoise.classifiers.saving import FILES, Arrays
from ordinoise.learners.boosting import Ensemble

if TYPE_CHECKING:
    from ordinoise.classifiers.boosting import OrdinalBoostingClassifier

TREES = "trees.txt"
ARRAYS = ("offsets", "noise_matrices", "noise_matrix")


def state_of(model: OrdinalBoostingClassifier) -> tuple[dict[str, Any], Arrays]:
    """What JSON can hold of the model, the trees' text among it, and its arrays."""
    settings = {
        "parameters": {name: encoded(name, value) for name, value in model.get_params(deep=False).items()},
        "classes": encoded("classes", model.classes_),
        "feature_names": encoded("feature_names", getattr(model, "feature_names_in_", None)),
        "n_features": model.n_features_in_,
        "categories": encoded("categories", dict(model.columns_.categories)),
        "head": model.ensemble_.head,
        "n_jobs": model.ensemble_.n_jobs,
        "n_iter": model.n_iter_,
        "validation_curve": model.validation_curve_,
        FILES: {TREES: model.ensemble_.text},
    }
    arrays: Arrays = {
        "offsets": model.ensemble_.offsets,
        "noise_matrices": model.noise_matrices_,
        "noise_matrix": model.noise_matrix_,
    }
    return settings, arrays


def parameters_from(settings: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments."""
    return {name: decoded(value) for name, value in settings["parameters"].items()}


def restore(model: OrdinalBoostingClassifier, settings: dict[str, Any], arrays: Arrays) -> None:
    """Give an unfitted model its fitted attributes."""
    _check_arrays(arrays)
    model.classes_ = decoded(settings["classes"])
    model.n_features_in_ = settings["n_features"]
    model.ensemble_ = Ensemble(settings["head"], settings[FILES][TREES], arrays["offsets"], settings["n_jobs"])
    if len(model.classes_) != model.ensemble_.n_classes:
        raise complain("classes", f"name {model.ensemble_.n_classes} classes", len(model.classes_))
    if model.ensemble_.n_features != model.n_features_in_:
        raise complain("the trees", f"be grown on {model.n_features_in_} columns", model.ensemble_.n_features)
    model.columns_ = Columns(decoded(settings["categories"]))
    model.noise_matrices_, model.noise_matrix_ = arrays["noise_matrices"], arrays["noise_matrix"]
    model.noise_estimator_ = None
    names = decoded(settings["feature_names"])
    if names is not None:
        model.feature_names_in_ = names
    model.n_iter_, model.validation_curve_ = settings["n_iter"], settings["validation_curve"]


def _check_arrays(arrays: Arrays) -> None:
    if set(arrays) != set(ARRAYS):
        raise complain("arrays", f"be {sorted(ARRAYS)}", sorted(arrays))
    for name, array in arrays.items():
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise complain(f"array {name}", "hold finite f8 numbers", array.dtype)
