"""The fitted network as JSON settings and named arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ordinoise._validation import complain
from ordinoise.classifiers.saving import Arrays
from ordinoise.learners.mlp import Architecture, Network, OptimiserState

if TYPE_CHECKING:
    from ordinoise.classifiers.mlp import OrdinalMLPClassifier

PLAIN = (type(None), bool, int, float, str)
FLOATING = {"center": "f8", "scale": "f8", "noise_matrices": "f8", "noise_matrix": "f8"}
SINGLE = {"parameters": "f4", "first_moment": "f4", "second_moment": "f4"}


def state_of(model: OrdinalMLPClassifier) -> tuple[dict[str, Any], Arrays]:
    """What JSON can hold of the model, and its arrays."""
    network, optimiser = model.network_, model.optimiser_state_
    settings = {
        "parameters": {name: encoded(name, value) for name, value in model.get_params(deep=False).items()},
        "classes": encoded("classes", model.classes_),
        "feature_names": encoded("feature_names", getattr(model, "feature_names_in_", None)),
        "architecture": {
            **asdict(network.architecture),
            "hidden_layer_sizes": list(network.architecture.hidden_layer_sizes),
        },
        "n_optimiser_updates": optimiser.n_updates,
        "loss_curve": model.loss_curve_,
        "validation_curve": model.validation_curve_,
        "n_iter": model.n_iter_,
        "n_updates": model.n_updates_,
        "threshold_inversions": model.threshold_inversions_,
    }
    arrays: Arrays = {
        "parameters": network.parameters,
        "center": network.center,
        "scale": network.scale,
        "first_moment": optimiser.first_moment,
        "second_moment": optimiser.second_moment,
        "noise_matrices": model.noise_matrices_,
        "noise_matrix": model.noise_matrix_,
    }
    return settings, arrays


def parameters_from(settings: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments."""
    return {name: decoded(value) for name, value in settings["parameters"].items()}


def restore(model: OrdinalMLPClassifier, settings: dict[str, Any], arrays: Arrays) -> None:
    """Give an unfitted model its fitted attributes."""
    _check_arrays(arrays)
    described = settings["architecture"]
    architecture = Architecture(**{**described, "hidden_layer_sizes": tuple(described["hidden_layer_sizes"])})
    model.classes_ = decoded(settings["classes"])
    if len(model.classes_) != architecture.n_classes:
        raise complain("classes", f"name {architecture.n_classes} classes", len(model.classes_))
    model.network_ = Network(architecture, arrays["parameters"], arrays["center"], arrays["scale"])
    moments = arrays["first_moment"], arrays["second_moment"]
    model.optimiser_state_ = OptimiserState(*moments, settings["n_optimiser_updates"])
    model.noise_matrices_, model.noise_matrix_ = arrays["noise_matrices"], arrays["noise_matrix"]
    model.noise_estimator_ = None
    model.n_features_in_ = architecture.n_features
    names = decoded(settings["feature_names"])
    if names is not None:
        model.feature_names_in_ = names
    for name in ("loss_curve", "validation_curve", "n_iter", "n_updates", "threshold_inversions"):
        setattr(model, f"{name}_", settings[name])


def encoded(name: str, value: Any) -> Any:
    """`value` as JSON can hold it, with a tag where JSON has no such thing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return None  # a stream that has moved on cannot be given back
    if isinstance(value, (tuple, list)):
        return {"list" if isinstance(value, list) else "tuple": [encoded(name, item) for item in value]}
    if isinstance(value, np.ndarray):
        kind = "O" if value.dtype.kind == "O" else value.dtype.str
        return {"array": [encoded(name, item) for item in value.ravel().tolist()], "shape": value.shape, "dtype": kind}
    if isinstance(value, Mapping):
        return {"pairs": [[encoded(name, key), encoded(name, item)] for key, item in value.items()]}
    if type(value).__module__.startswith("ordinoise.estimation"):
        parameters = {key: encoded(key, item) for key, item in value.get_params(deep=False).items()}
        return {"estimator": type(value).__name__, "parameters": parameters}
    raise complain(name, "be something that JSON can hold, to be saved", type(value).__name__)


def decoded(value: Any) -> Any:
    """What `encoded` was given."""
    if isinstance(value, PLAIN):
        return value
    if "tuple" in value:
        return tuple(decoded(item) for item in value["tuple"])
    if "list" in value:
        return [decoded(item) for item in value["list"]]
    if "pairs" in value:
        return {decoded(key): decoded(item) for key, item in value["pairs"]}
    if "estimator" in value:
        from ordinoise import estimation

        known = {name: getattr(estimation, name) for name in estimation.__all__}
        return known[value["estimator"]](**{key: decoded(item) for key, item in value["parameters"].items()})
    return np.array(value["array"], dtype=np.dtype(value["dtype"])).reshape(value["shape"])


def _check_arrays(arrays: Arrays) -> None:
    expected = FLOATING | SINGLE
    if set(arrays) != set(expected):
        raise complain("arrays", f"be {sorted(expected)}", sorted(arrays))
    for name, kind in expected.items():
        if arrays[name].dtype != np.dtype(kind) or not np.isfinite(arrays[name]).all():
            raise complain(f"array {name}", f"hold finite {kind} numbers", arrays[name].dtype)
