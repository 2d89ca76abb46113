"""The fitted learners of a blend as JSON settings and named arrays, and back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from ordinoise._validation import Floats, as_count, as_noise_matrix, complain
from ordinoise.classifiers._trees import ensemble_from, ensemble_state
from ordinoise.classifiers.blend.models import Model, NetworkModel, SparseModel, TreesModel
from ordinoise.classifiers.blend.scored import ScoredModel
from ordinoise.classifiers.blend.table import Coding
from ordinoise.classifiers.saving import Arrays
from ordinoise.learners.mlp import Architecture, Network

TREES, RECORDS = "trees", "records"


class Shape(NamedTuple):
    """What the models of a table must fit: its classes, dense columns, sparse ones by block, and categorical ones."""

    n_classes: int
    n_dense: int
    n_counts: list[int]
    categorical: Collection[int]


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


def restored_member(described: dict[str, Any], arrays: Arrays, shape: Shape) -> Model:
    """The model that `store_member` described, checked against the classes and the columns."""
    if "readers" in described:
        readers = tuple(restored_member(reader, arrays, shape) for reader in described["readers"])
        if not readers or not all(isinstance(reader, SparseModel) for reader in readers):
            raise complain("readers", "be linear models of the text", len(readers))
        inner = {name: value for name, value in described.items() if name != "readers"}
        with_score = shape._replace(n_dense=shape.n_dense + 1)
        return ScoredModel(readers, restored_member(inner, arrays, with_score))  # type: ignore[arg-type]
    if TREES in described:
        prefix, records = f"{TREES}-{described[TREES]}.", arrays.get(f"{RECORDS}-{described[TREES]}")
        ensemble = ensemble_from(prefix, described, arrays, shape.n_classes, shape.n_dense, shape.categorical)
        return TreesModel(ensemble, None if records is None else _as_records(records, shape.n_classes))
    key, sizes = described["network"], tuple(described["architecture"]["hidden_layer_sizes"])
    architecture = Architecture(**{**described["architecture"], "hidden_layer_sizes": sizes})
    if architecture.n_classes != shape.n_classes:
        raise complain("the networks", f"be for {shape.n_classes} classes", architecture.n_classes)
    parameters, center, scale = (arrays[f"{part}-{key}"] for part in ("parameters", "center", "scale"))
    if "n_counts" not in described:
        return NetworkModel(Network(architecture, parameters, center, scale))
    weights = tuple(arrays[f"rarity-{key}-{at}"] for at in range(as_count("n_counts", described["n_counts"], 1)))
    _check_weights(weights, shape.n_counts, architecture.n_features - len(center))
    n_sparse = sum(map(len, weights))
    center, scale = np.concatenate([center, np.zeros(n_sparse)]), np.concatenate([scale, np.ones(n_sparse)])
    return SparseModel(Network(architecture, parameters, center, scale), weights)


def _as_records(records: Floats, n_classes: int) -> Floats:
    """Shares of the classes and a noise matrix, as `TreesModel` has them."""
    if records.shape != (n_classes + 1, n_classes) or records.dtype != np.float64 or records[0].min() < 0:
        raise complain("records of trees", f"be {n_classes + 1} x {n_classes} numbers", records.shape)
    return np.vstack([records[:1], as_noise_matrix(records[1:], n_classes)])


def _check_weights(coding: Coding, sizes: list[int], n_sparse: int) -> None:
    """Refuse weights of n-grams that do not fit the n-grams of the table."""
    if [weights.shape for weights in coding] != [(size,) for size in sizes] or sum(sizes) != n_sparse:
        raise complain("weights of n-grams", f"be {sizes} numbers", [weights.shape for weights in coding])
    for weights in coding:
        if weights.dtype != np.float32 or weights.min(initial=0) < 0:
            raise complain("weights of n-grams", "be float32 and not negative", weights.dtype)
