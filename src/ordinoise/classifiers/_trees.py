"""Fitted trees as settings for JSON and named arrays, and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ordinoise._validation import complain
from ordinoise.classifiers.saving import Arrays
from ordinoise.learners.boosting import Ensemble, Trees

OFFSETS = "offsets"


def ensemble_state(prefix: str, ensemble: Ensemble) -> tuple[dict[str, Any], Arrays]:
    """Settings for JSON, and arrays whose names begin with `prefix`."""
    arrays = {f"{prefix}{name}": values for name, values in ensemble.trees.arrays.items()}
    return {"head": ensemble.head, "n_jobs": ensemble.n_jobs}, arrays | {f"{prefix}{OFFSETS}": ensemble.offsets}


def ensemble_from(
    prefix: str,
    settings: Mapping[str, Any],
    arrays: Arrays,
    n_classes: int,
    n_columns: int,
    categorical: Collection[int],
) -> Ensemble:
    """The ensemble that `ensemble_state` described, checked against the classes and columns of its model."""
    own = {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
    trees = Trees(**{name: own[name] for name in Trees.__dataclass_fields__})
    ensemble = Ensemble(settings["head"], trees, own[OFFSETS], settings["n_jobs"])
    if ensemble.n_classes != n_classes:
        raise complain("the trees", f"be grown for {n_classes} classes", ensemble.n_classes)
    if trees.n_features != n_columns:
        raise complain("the trees", f"be grown on {n_columns} columns", trees.n_features)
    asked = np.unique(trees.features[trees.asks_category]).tolist()
    if not set(asked) <= set(categorical):
        raise complain("the trees", "ask for categories of categorical columns only", asked)
    return ensemble
