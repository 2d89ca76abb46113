"""A fitted PyTorch classifier as JSON settings and named arrays, and back; its module's code is not among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ordinoise._validation import complain
from ordinoise.classifiers._mlp_state import decoded, encoded
from ordinoise.classifiers.saving import Arrays

if TYPE_CHECKING:
    from ordinoise.classifiers.torch import OrdinalTorchClassifier

CODE = ("module", "optimizer", "scheduler", "callbacks")  # parameters that are code
CURVES = ("loss_curve", "validation_curve", "n_iter", "n_updates", "threshold_inversions", "best_iter")
WEIGHT = "weight."

T = TypeVar("T")


def state_of(model: OrdinalTorchClassifier) -> tuple[dict[str, Any], Arrays]:
    """What JSON can hold of the model, and its arrays."""
    from ordinoise.learners.torch.modules import described, weights_of

    parameters = model.get_params(deep=False)
    if hasattr(model.noise, "fit"):
        parameters["noise"] = model.noise_matrix_  # what it estimated
    if parameters["checkpoint_dir"] is not None:
        parameters["checkpoint_dir"] = str(parameters["checkpoint_dir"])
    settings = {
        "parameters": {name: encoded(name, value) for name, value in parameters.items() if name not in CODE},
        "module": None if model.module is None else type(model.module_.module).__name__,
        "structure": described(model.module_),
        "classes": encoded("classes", model.classes_),
        "n_features": getattr(model, "n_features_in_", None),
        "feature_names": encoded("feature_names", getattr(model, "feature_names_in_", None)),
        **{name: getattr(model, f"{name}_") for name in CURVES},
    }
    arrays: Arrays = {f"{WEIGHT}{name}": array for name, array in weights_of(model.module_).items()}
    return settings, arrays | {"noise_matrices": model.noise_matrices_, "noise_matrix": model.noise_matrix_}


def parameters_from(settings: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments that are not code."""
    return {name: decoded(value) for name, value in settings["parameters"].items()}


def restore(model: OrdinalTorchClassifier, settings: dict[str, Any], arrays: Arrays) -> None:
    """Give an unfitted model its fitted attributes."""
    from ordinoise.learners.torch.modules import rebuilt

    model.classes_ = decoded(settings["classes"])
    model.noise_matrices_, model.noise_matrix_ = arrays["noise_matrices"], arrays["noise_matrix"]
    model.noise_estimator_ = model.optimizer_state_ = None
    weights = {name.removeprefix(WEIGHT): array for name, array in arrays.items() if name.startswith(WEIGHT)}
    model.module_ = rebuilt(model.module, settings["structure"], weights, model.device)
    if model.module_.head.num_classes != len(model.classes_):
        raise complain("classes", f"name {model.module_.head.num_classes} classes", len(model.classes_))
    if settings["n_features"] is not None:
        model.n_features_in_ = settings["n_features"]
    names = decoded(settings["feature_names"])
    if names is not None:
        model.feature_names_in_ = names
    for name in CURVES:
        setattr(model, f"{name}_", settings[name])


def whole(make: Callable[[], T]) -> T:
    """What `make` makes; a damaged folder is one sentence."""
    try:
        return make()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
        words = str(error).splitlines()[0] if str(error) else ""
        advice = "the folder is damaged, or the module is not the one that was saved"
        raise complain("path", "hold a whole model", f"{type(error).__name__}: {words}", advice) from None
