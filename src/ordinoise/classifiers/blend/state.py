"""A fitted blend as JSON settings, named arrays and LightGBM's texts, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ordinoise._validation import complain
from ordinoise.classifiers._columns import Columns
from ordinoise.classifiers._mlp_state import decoded, encoded
from ordinoise.classifiers.blend.members import Model, NetworkModel, TreesModel
from ordinoise.classifiers.blend.table import Filling
from ordinoise.classifiers.saving import FILES, Arrays
from ordinoise.learners.boosting import Ensemble
from ordinoise.learners.mlp import Architecture, Network

if TYPE_CHECKING:
    from ordinoise.classifiers.ordinal import OrdinalClassifier

OWN = ("noise_matrices", "noise_matrix", "medians", "flagged")


def state_of(model: OrdinalClassifier) -> tuple[dict[str, Any], Arrays]:
    """What JSON can hold of the model, the trees' texts among it, and its arrays."""
    arrays: Arrays = {
        "noise_matrices": model.noise_matrices_,
        "noise_matrix": model.noise_matrix_,
        "medians": model.filling_.medians,
        "flagged": model.filling_.flagged,
    }
    texts: dict[str, str] = {}
    members: dict[str, list[Any]] = {}
    for number, (name, some) in enumerate(model.models_.items()):
        members[name] = [_put(f"{number}-{fold}", one, arrays, texts) for fold, one in enumerate(some)]
    settings = {
        "parameters": {name: encoded(name, value) for name, value in model.get_params(deep=False).items()},
        "classes": encoded("classes", model.classes_),
        "feature_names": encoded("feature_names", getattr(model, "feature_names_in_", None)),
        "n_features": model.n_features_in_,
        "categories": encoded("categories", dict(model.columns_.categories)),
        "codes": encoded("codes", {j: codes.tolist() for j, codes in model.filling_.codes.items()}),
        "members": members,
        "weights": model.weights_,
        "selection": model.selection_,
        "learner": model.learner_,
        FILES: texts,
    }
    return settings, arrays


def parameters_from(settings: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments."""
    return {name: decoded(value) for name, value in settings["parameters"].items()}


def restore(model: OrdinalClassifier, settings: dict[str, Any], arrays: Arrays) -> None:
    """Give an unfitted model its fitted attributes."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise complain(f"array {name}", "hold finite numbers", "others")
    model.classes_ = decoded(settings["classes"])
    model.n_features_in_ = settings["n_features"]
    names = decoded(settings["feature_names"])
    if names is not None:
        model.feature_names_in_ = names
    model.columns_ = Columns(decoded(settings["categories"]))
    codes = {j: np.array(listed, dtype=np.int64) for j, listed in decoded(settings["codes"]).items()}
    model.filling_ = Filling(arrays["medians"], arrays["flagged"], codes)
    texts = settings.get(FILES, {})
    model.models_ = {
        name: tuple(_taken(described, arrays, texts, len(model.classes_)) for described in some)
        for name, some in settings["members"].items()
    }
    _check_whole(model, arrays)
    model.noise_matrices_, model.noise_matrix_ = arrays["noise_matrices"], arrays["noise_matrix"]
    model.noise_estimator_ = None
    model.weights_, model.selection_ = settings["weights"], settings["selection"]
    model.learner_ = settings["learner"]
    model.out_of_fold_, model.curves_ = None, {}


def _put(key: str, model: Model, arrays: Arrays, texts: dict[str, str]) -> dict[str, Any]:
    """Lay a model's arrays and text beside the others'; what is left is its description."""
    if isinstance(model, TreesModel):
        texts[f"trees-{key}.txt"] = model.ensemble.text
        arrays[f"offsets-{key}"] = model.ensemble.offsets
        return {"trees": key, "head": model.ensemble.head, "n_jobs": model.ensemble.n_jobs}
    assert isinstance(model, NetworkModel)
    network = model.network
    arrays |= {f"parameters-{key}": network.parameters, f"center-{key}": network.center, f"scale-{key}": network.scale}
    sizes = list(network.architecture.hidden_layer_sizes)
    return {"network": key, "architecture": {**asdict(network.architecture), "hidden_layer_sizes": sizes}}


def _taken(described: dict[str, Any], arrays: Arrays, texts: dict[str, str], n_classes: int) -> Model:
    """The model that `_put` described."""
    if "trees" in described:
        key = described["trees"]
        text, offsets = texts[f"trees-{key}.txt"], arrays[f"offsets-{key}"]
        ensemble = Ensemble(described["head"], text, offsets, described["n_jobs"])
        if ensemble.n_classes != n_classes:
            raise complain("the trees", f"be grown for {n_classes} classes", ensemble.n_classes)
        return TreesModel(ensemble)
    key, sizes = described["network"], tuple(described["architecture"]["hidden_layer_sizes"])
    architecture = Architecture(**{**described["architecture"], "hidden_layer_sizes": sizes})
    if architecture.n_classes != n_classes:
        raise complain("the networks", f"be for {n_classes} classes", architecture.n_classes)
    parts = (arrays[f"{part}-{key}"] for part in ("parameters", "center", "scale"))
    return NetworkModel(Network(architecture, *parts))


def _check_whole(model: OrdinalClassifier, arrays: Arrays) -> None:
    expected: dict[str, Any] = dict.fromkeys(OWN)
    for number, some in enumerate(model.models_.values()):
        for fold, one in enumerate(some):
            _put(f"{number}-{fold}", one, expected, {})
    if set(arrays) != set(expected):
        raise complain("arrays", f"be {sorted(expected)[:6]} ...", sorted(arrays)[:6])
    if len(model.filling_.medians) != model.n_features_in_:
        raise complain("medians", f"be {model.n_features_in_} numbers", len(model.filling_.medians))
