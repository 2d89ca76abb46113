"""A fitted blend as JSON settings and named arrays, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ordinoise._validation import as_choice, as_number, complain
from ordinoise.classifiers._trees import ensemble_from, ensemble_state
from ordinoise.classifiers.blend.members import CLASS_SHARES, Model, NetworkModel, TreesModel
from ordinoise.classifiers.blend.table import Filling
from ordinoise.classifiers.saving import Arrays, as_json, columns_from, columns_state, from_json
from ordinoise.learners.mlp import Architecture, Network

if TYPE_CHECKING:
    from ordinoise.classifiers.ordinal import OrdinalClassifier

OWN = ("medians", "flagged")
TREES = "trees"


def state_of(model: OrdinalClassifier) -> tuple[dict[str, Any], Arrays]:
    """The settings of the fitted model for JSON, and its arrays."""
    arrays: Arrays = {
        "medians": model.filling_.medians,
        "flagged": model.filling_.flagged,
    }
    members: dict[str, list[Any]] = {}
    for number, (name, some) in enumerate(model.models_.items()):
        members[name] = [_store_member(f"{number}-{fold}", one, arrays) for fold, one in enumerate(some)]
    settings = {
        "columns": columns_state(model.columns_),
        "codes": as_json("codes", {j: codes.tolist() for j, codes in model.filling_.codes.items()}),
        "members": members,
        "weights": model.weights_,
        "selection": model.selection_,
        "learner": model.learner_,
    }
    return settings, arrays


def restore(model: OrdinalClassifier, settings: dict[str, Any], arrays: Arrays) -> None:
    """Set the fitted attributes of a model from saved settings and arrays."""
    model.columns_ = columns_from(settings["columns"], model.n_features_in_)
    codes = {j: np.array(listed, dtype=np.int64) for j, listed in from_json(settings["codes"]).items()}
    model.filling_ = Filling(arrays["medians"], arrays["flagged"], codes)
    model.models_ = {
        name: tuple(_restored_member(described, arrays, model) for described in some)
        for name, some in settings["members"].items()
    }
    _check_whole(model, arrays)
    model.weights_ = {name: as_number("weight", value, 0.0, 1.0) for name, value in settings["weights"].items()}
    if not model.models_ or not set(model.models_) <= set(model.weights_):
        raise complain("weights", f"name the models {list(model.models_)}", list(model.weights_))
    model.selection_ = {
        name: as_number("selection", value, -np.inf, np.inf) for name, value in settings["selection"].items()
    }
    model.learner_ = as_choice("learner", settings["learner"], ("mlp", "boosting", "blend", CLASS_SHARES))
    model.out_of_fold_, model.folds_, model.curves_ = None, None, {}


def _store_member(key: str, model: Model, arrays: Arrays) -> dict[str, Any]:
    """Add a model's arrays under `key`, and return its description for JSON."""
    if isinstance(model, TreesModel):
        settings, own = ensemble_state(f"{TREES}-{key}.", model.ensemble)
        arrays |= own
        return {TREES: key, **settings}
    assert isinstance(model, NetworkModel)
    network = model.network
    arrays |= {f"parameters-{key}": network.parameters, f"center-{key}": network.center, f"scale-{key}": network.scale}
    sizes = list(network.architecture.hidden_layer_sizes)
    return {"network": key, "architecture": {**asdict(network.architecture), "hidden_layer_sizes": sizes}}


def _restored_member(described: dict[str, Any], arrays: Arrays, whole: OrdinalClassifier) -> Model:
    """The model that `_store_member` described."""
    if TREES in described:
        return TreesModel(ensemble_from(f"{TREES}-{described[TREES]}.", described, arrays, whole))
    key, sizes = described["network"], tuple(described["architecture"]["hidden_layer_sizes"])
    architecture = Architecture(**{**described["architecture"], "hidden_layer_sizes": sizes})
    n_classes = len(whole.classes_)
    if architecture.n_classes != n_classes:
        raise complain("the networks", f"be for {n_classes} classes", architecture.n_classes)
    parts = (arrays[f"{part}-{key}"] for part in ("parameters", "center", "scale"))
    return NetworkModel(Network(architecture, *parts))


def _check_whole(model: OrdinalClassifier, arrays: Arrays) -> None:
    expected: dict[str, Any] = dict.fromkeys(OWN)
    for number, some in enumerate(model.models_.values()):
        for fold, one in enumerate(some):
            _store_member(f"{number}-{fold}", one, expected)
    if set(arrays) != set(expected):
        raise complain("arrays", f"be {sorted(expected)[:6]} ...", sorted(arrays)[:6])
    expected_medians = model.columns_.n_features(model.n_features_in_)
    if len(model.filling_.medians) != expected_medians:
        raise complain("medians", f"be {expected_medians} numbers", len(model.filling_.medians))
