"""A fitted blend as JSON settings and named arrays, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ordinoise._validation import Floats, as_choice, as_count, as_flag, as_noise_matrix, as_number, complain
from ordinoise.classifiers._trees import ensemble_from, ensemble_state
from ordinoise.classifiers.blend.candidates import CLASS_SHARES
from ordinoise.classifiers.blend.models import Model, NetworkModel, SparseModel, TreesModel
from ordinoise.classifiers.blend.scored import ScoredModel
from ordinoise.classifiers.blend.table import Coding, Filling, Reading
from ordinoise.classifiers.saving import Arrays, as_json, columns_from, columns_state, from_json
from ordinoise.columns.summaries import Summaries
from ordinoise.columns.texts import LENGTHS, Grams
from ordinoise.learners.mlp import Architecture, Network

if TYPE_CHECKING:
    from ordinoise.classifiers.ordinal import OrdinalClassifier

OWN = ("medians", "flagged")
TREES, RECORDS = "trees", "records"
SUMMARY_PARTS = ("hashes", "holding", "center", "scale")


def state_of(model: OrdinalClassifier) -> tuple[dict[str, Any], Arrays]:
    """The settings of the fitted model for JSON, and its arrays."""
    arrays: Arrays = {
        "medians": model.filling_.medians,
        "flagged": model.filling_.flagged,
        **_summary_arrays(model.reading_.summaries),
    }
    members: dict[str, list[Any]] = {}
    for number, (name, some) in enumerate(model.models_.items()):
        members[name] = [store_member(f"{number}-{fold}", one, arrays) for fold, one in enumerate(some)]
    settings = {
        "columns": columns_state(model.columns_),
        "codes": as_json("codes", {j: codes.tolist() for j, codes in model.filling_.codes.items()}),
        "grams": [as_json("grams", asdict(grams)) for grams in model.reading_.grams],
        "n_texts": [one.n_texts for one in model.reading_.summaries],
        "reads_sparse": model.reads_sparse_,
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
    model.reads_sparse_ = as_flag("reads_sparse", settings["reads_sparse"])
    model.reading_ = _restored_reading(settings, arrays, len(model.columns_.texts))
    model.models_ = {
        name: tuple(restored_member(described, arrays, model) for described in some)
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


def _summary_arrays(summaries: Sequence[Summaries]) -> Arrays:
    return {f"{part}-text{one.column}": getattr(one, part) for one in summaries for part in SUMMARY_PARTS}


def _restored_reading(settings: dict[str, Any], arrays: Arrays, n_texts: int) -> Reading:
    grams = tuple(Grams(**from_json(grams)) for grams in settings["grams"])
    if [one.column for one in grams] != [at for at in range(n_texts) for _ in LENGTHS]:
        raise complain("grams", f"be those of {n_texts} text columns", len(grams))
    if len(settings["n_texts"]) != n_texts:
        raise complain("n_texts", f"be {n_texts} numbers", len(settings["n_texts"]))
    summaries = [
        Summaries(at, learned, **{part: arrays[f"{part}-text{at}"] for part in SUMMARY_PARTS})
        for at, learned in enumerate(settings["n_texts"])
    ]
    return Reading(grams, tuple(summaries))


def store_member(key: str, model: Model, arrays: Arrays) -> dict[str, Any]:
    """Add a model's arrays under `key`, and return its description for JSON."""
    if isinstance(model, ScoredModel):
        readers = [store_member(f"{key}-reader{at}", reader, arrays) for at, reader in enumerate(model.readers)]
        return {"readers": readers, **store_member(key, model.model, arrays)}
    if isinstance(model, TreesModel):
        settings, own = ensemble_state(f"{TREES}-{key}.", model.ensemble)
        arrays |= own if model.records is None else own | {f"{RECORDS}-{key}": model.records}
        return {TREES: key, **settings}
    assert isinstance(model, (NetworkModel, SparseModel))
    network = model.network
    sizes = list(network.architecture.hidden_layer_sizes)
    described: dict[str, Any] = {
        "network": key,
        "architecture": {**asdict(network.architecture), "hidden_layer_sizes": sizes},
    }
    n_shifted = network.architecture.n_features
    if isinstance(model, SparseModel):
        # Sparse columns are neither shifted nor scaled.
        n_shifted -= sum(len(weights) for weights in model.coding)
        arrays |= {f"rarity-{key}-{at}": weights for at, weights in enumerate(model.coding)}
        described["n_counts"] = len(model.coding)
    shifts = {f"center-{key}": network.center[:n_shifted], f"scale-{key}": network.scale[:n_shifted]}
    arrays |= shifts | {f"parameters-{key}": network.parameters}
    return described


def restored_member(described: dict[str, Any], arrays: Arrays, whole: OrdinalClassifier) -> Model:
    """The model that `store_member` described."""
    if "readers" in described:
        readers = tuple(restored_member(reader, arrays, whole) for reader in described["readers"])
        if not readers or not all(isinstance(reader, SparseModel) for reader in readers):
            raise complain("readers", "be linear models of the text", len(readers))
        inner = {name: value for name, value in described.items() if name != "readers"}
        return ScoredModel(readers, _restored_inner(inner, arrays, whole, 1))  # type: ignore[arg-type]
    return _restored_inner(described, arrays, whole, 0)


def _restored_inner(described: dict[str, Any], arrays: Arrays, whole: OrdinalClassifier, n_more: int) -> Model:
    """A model that reads the table itself, with `n_more` columns of scores."""
    if TREES in described:
        ensemble = ensemble_from(f"{TREES}-{described[TREES]}.", described, arrays, whole, n_more)
        records = arrays.get(f"{RECORDS}-{described[TREES]}")
        return TreesModel(ensemble, None if records is None else _as_records(records, len(whole.classes_)))
    key, sizes = described["network"], tuple(described["architecture"]["hidden_layer_sizes"])
    architecture = Architecture(**{**described["architecture"], "hidden_layer_sizes": sizes})
    n_classes = len(whole.classes_)
    if architecture.n_classes != n_classes:
        raise complain("the networks", f"be for {n_classes} classes", architecture.n_classes)
    parameters, center, scale = (arrays[f"{part}-{key}"] for part in ("parameters", "center", "scale"))
    if "n_counts" not in described:
        return NetworkModel(Network(architecture, parameters, center, scale))
    coding = tuple(arrays[f"rarity-{key}-{at}"] for at in range(as_count("n_counts", described["n_counts"], 1)))
    _check_coding(coding, whole, architecture.n_features - len(center))
    n_sparse = sum(map(len, coding))
    center, scale = np.concatenate([center, np.zeros(n_sparse)]), np.concatenate([scale, np.ones(n_sparse)])
    return SparseModel(Network(architecture, parameters, center, scale), coding)


def _as_records(records: Floats, n_classes: int) -> Floats:
    """Shares of the classes and a noise matrix, as `TreesModel` has them."""
    if records.shape != (n_classes + 1, n_classes) or records.dtype != np.float64 or records[0].min() < 0:
        raise complain("records of trees", f"be {n_classes + 1} x {n_classes} numbers", records.shape)
    return np.vstack([records[:1], as_noise_matrix(records[1:], n_classes)])


def _check_coding(coding: Coding, whole: OrdinalClassifier, n_sparse: int) -> None:
    """Refuse weights of n-grams that do not fit the n-grams of the model."""
    sizes = [whole.n_features_in_] if whole.reads_sparse_ else [one.n_columns for one in whole.reading_.blocks]
    if [weights.shape for weights in coding] != [(size,) for size in sizes] or sum(sizes) != n_sparse:
        raise complain("weights of n-grams", f"be {sizes} numbers", [weights.shape for weights in coding])
    for weights in coding:
        if weights.dtype != np.float32 or weights.min(initial=0) < 0:
            raise complain("weights of n-grams", "be float32 and not negative", weights.dtype)


def _check_whole(model: OrdinalClassifier, arrays: Arrays) -> None:
    expected: dict[str, Any] = dict.fromkeys(OWN) | _summary_arrays(model.reading_.summaries)
    for number, some in enumerate(model.models_.values()):
        for fold, one in enumerate(some):
            store_member(f"{number}-{fold}", one, expected)
    if set(arrays) != set(expected):
        raise complain("arrays", f"be {sorted(expected)[:6]} ...", sorted(arrays)[:6])
    expected_medians = 0 if model.reads_sparse_ else model.columns_.n_features(model.n_features_in_)
    if len(model.filling_.medians) != expected_medians:
        raise complain("medians", f"be {expected_medians} numbers", len(model.filling_.medians))
