"""Boosting on the workers of a Dask cluster: features stay there, labels and a sample of rows are brought here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_number, complain
from ordinoise.columns.coding import Columns
from ordinoise.decisions import as_decision
from ordinoise.estimation.resolution import needs_data, resolve_noise
from ordinoise.learners.boosting import OBJECTIVES, ForwardObjective, Sample, Training, train
from ordinoise.learners.boosting.cluster import train_on_cluster
from ordinoise.noise.record import implied_shares

if TYPE_CHECKING:
    from ordinoise.classifiers.boosting import OrdinalBoostingClassifier

SAMPLE_ROWS = 20_000
"""To fit the thresholds on, and at most as many to choose the rounds by. A round number, chosen by no run."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Features on the workers, and the labels (as cells of the objective) and weights of the same rows here."""

    features: Any
    cells: Ints
    weights: Floats

    def sample(self, rows: Ints) -> Sample:
        features = np.asarray(self.features[rows].compute(), dtype=np.float64)
        return Sample(features, self.cells[rows], self.weights[rows])

    def in_blocks(self, numbers: Ints | Floats) -> Any:
        """One number per row, in the blocks of the features."""
        import dask.array

        return dask.array.from_array(numbers, chunks=(self.features.chunks[0],))


def is_distributed(X: Any) -> bool:
    """Whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def train_on_workers(
    model: OrdinalBoostingClassifier, X: Any, y: Any, sample_weight: Any, raters: Any, rng: np.random.Generator
) -> Training:
    """The trees, grown on the workers; sets `classes_` and `noise_` of the model."""
    _check_request(model)
    features = _as_blocks(model, X)
    recorded = _local(y)
    model.classes_, ranks = model._checked_labels(recorded, features.shape[0], model.classes)
    as_decision(model.decision, len(model.classes_))
    weights = model._checked_weights(_local(sample_weight), recorded, ranks.astype(np.float64), model.class_weight)
    model.noise_, index = resolve_noise(model.noise, None, ranks, len(model.classes_), _local(raters))
    objective = OBJECTIVES[model.head](model.noise_.matrices)
    rows = _Rows(features, objective.cells(ranks, index), weights)
    recorded_shares = np.bincount(ranks, weights, minlength=len(model.classes_))
    frequencies = implied_shares(model.noise_.matrix, recorded_shares, least=0.5 / len(ranks))
    return _train(model, rows, objective, frequencies, rng)


def _train(
    model: OrdinalBoostingClassifier,
    rows: _Rows,
    objective: ForwardObjective,
    frequencies: Floats,
    rng: np.random.Generator,
) -> Training:
    settings, seed = model._settings(rows.features.shape[1]), int(rng.integers(2**31))
    present = rng.permutation(np.flatnonzero(rows.weights))
    fraction = as_number("validation_fraction", model.validation_fraction, 0.0, 0.9, open_low=True)
    n_held_out = min(max(1, round(fraction * len(present))), SAMPLE_ROWS)
    held_out, others = np.sort(present[:n_held_out]), np.sort(present[n_held_out:][:SAMPLE_ROWS])
    validation, offsets = rows.sample(held_out), objective.first_offsets(frequencies)
    if objective.head == "ordered":  # the workers share thresholds, so these must be known before they start
        pilot = train(
            rows.sample(others), objective, frequencies, settings, n_rounds=model.n_estimators, seed=seed,
            validation=validation, patience=model.n_iter_no_change,
        )  # fmt: skip
        offsets = pilot.ensemble.offsets
    weights = rows.weights.copy()
    if model.early_stopping:
        weights[held_out] = 0.0
    return train_on_cluster(
        rows.features, rows.in_blocks(rows.cells), rows.in_blocks(weights), objective, offsets, settings,
        n_rounds=model.n_estimators, seed=seed, validation=validation if model.early_stopping else None,
    )  # fmt: skip


def _check_request(model: OrdinalBoostingClassifier) -> None:
    from distributed import default_client

    try:
        default_client()
    except ValueError:
        advice = "start distributed.Client() first, or pass local data"
        raise complain("X", "come with an active Dask client if it is a Dask collection", "none", advice) from None
    if needs_data(model.noise):
        advice = "fit once on a sample of rows, then pass its noise_"
        raise complain("noise", "be known for a Dask collection", repr(model.noise), advice)
    if model.categorical_features is not None and str(model.categorical_features) != "auto":
        given = repr(model.categorical_features)
        raise complain("categorical_features", "be 'auto' or None for a Dask collection", given)


def _as_blocks(model: OrdinalBoostingClassifier, X: Any) -> Any:
    """A Dask array of numbers in blocks of whole rows of known length; column names remembered."""
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    if hasattr(X, "columns"):
        odd = next((name for name, kind in X.dtypes.items() if kind.kind not in "biuf"), None)
        if odd is not None:
            raise complain(f"column {odd!r}", "hold numbers in a Dask frame", X.dtypes[odd])
        model.feature_names_in_ = np.asarray(X.columns, dtype=object)
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2:
        raise complain("X", "have 2 dimensions", f"shape {X.shape}")
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    model.n_features_in_, model.columns_ = X.shape[1], Columns({})
    return X.rechunk({1: -1})


def _local(column: Any) -> Any:
    """A column, computed if it is a Dask collection."""
    return column.compute() if is_distributed(column) else column
