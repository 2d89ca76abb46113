"""The same trees grown by several machines, through LightGBM's own Dask interface."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordinoise._validation import Floats, as_count

from ._kernels import Float32s
from .ensemble import Ensemble
from .objective import ForwardObjective
from .settings import BoosterSettings, threads
from .training import Sample, Training
from .trees import grown_trees


@dataclass(frozen=True, eq=False)
class FixedOffsets:
    """The slopes of an objective with fixed offsets: no machine needs to know another's rows."""

    objective: ForwardObjective
    offsets: Floats

    def __call__(self, cells: Floats, scores: Floats, weights: Floats | None) -> tuple[Float32s, Float32s]:
        """Gradient and curvature as LightGBM's scikit-learn interface takes them; what it calls labels are the cells.

        It passes None for weights that are all one.
        """
        columns = scores.reshape(len(cells), -1, order="F")
        shares = np.ones(len(cells)) if weights is None else np.asarray(weights, dtype=np.float64)
        lines = np.asarray(cells).astype(np.int64)
        gradient, curvature, _ = self.objective.slopes(columns, self.offsets, lines, shares)
        return gradient, curvature


def train_on_cluster(
    features: Any,
    cells: Any,
    weights: Any,
    objective: ForwardObjective,
    offsets: Floats,
    settings: BoosterSettings,
    *,
    n_rounds: int,
    seed: int,
    validation: Sample | None = None,
) -> Training:
    """Grow `n_rounds` on the workers of the active Dask client, then keep those up to the least validation loss.

    Parameters
    ----------
    features, cells, weights : dask arrays
        As in :class:`Sample`, in the same blocks of rows.
    offsets : array
        Offsets of the head; they are not changed.
    """
    params = settings.for_lightgbm(objective.n_scores, seed)
    params["random_state"] = params.pop("seed")
    del params["num_threads"]  # each worker uses its own number of threads
    slopes: Any = FixedOffsets(objective, offsets)
    n_rounds = as_count("n_rounds", n_rounds, 1)
    import lightgbm

    trees = lightgbm.DaskLGBMRegressor(objective=slopes, n_estimators=n_rounds, **params)
    with warnings.catch_warnings():  # about n_jobs, which every estimator of LightGBM has
        warnings.filterwarnings("ignore", message="Parameter .* will be ignored", category=UserWarning)
        trees.fit(features, cells, sample_weight=weights, categorical_feature=list(settings.categorical))
    booster = trees.booster_
    curve = [] if validation is None else _staged_losses(booster, objective, offsets, validation)
    kept = int(np.argmin(curve)) + 1 if curve else booster.current_iteration()
    ensemble = Ensemble(objective.head, grown_trees(booster, kept), offsets, threads(settings.n_jobs))
    return Training(ensemble, kept, curve)


def _staged_losses(booster: Any, objective: ForwardObjective, offsets: Floats, sample: Sample) -> list[float]:
    """Mean loss after each round."""
    scores, curve = np.zeros((len(sample.cells), objective.n_scores)), []
    for round_ in range(booster.current_iteration()):
        step = booster.predict(sample.features, raw_score=True, start_iteration=round_, num_iteration=1)
        scores += step.reshape(scores.shape)
        losses = objective.losses(scores, offsets, sample.cells)
        curve.append(float(np.average(losses, weights=sample.weights)))
    return curve
