"""One fold's trees on two workers, by three engines with the same objective: the choice of decision 0025.

``python -m studies.partitions engines [--rows 1000000]``; XGBoost is of the group bench.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ordinoise.learners.boosting import OBJECTIVES, BoosterSettings, Ensemble, Sample, train
from ordinoise.learners.boosting.trees import grown_trees
from studies.million import N_CLASSES, NOISE, table

N_ROUNDS, N_TEST, N_FOLDS = 100, 50_000, 4
SETTINGS = BoosterSettings(num_leaves=63, subsample=1.0, reg_lambda=1.0, n_jobs=1)


def numbers(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (categories as numbers), recorded and true grades."""
    frame, true = table(n_rows, seed)
    columns = [
        column.str.extract(r"(\d+)").cast(pl.Float64) if column.dtype == pl.String else column
        for column in frame.drop("grade").get_columns()
    ]
    features = np.column_stack([column.to_numpy() for column in columns]).astype(np.float64)
    return features, frame["grade"].to_numpy().astype(np.int64), true


def compare(n_rows: int) -> None:
    """Seconds for the models of four folds on two workers, and the error on true grades."""
    from distributed import Client, LocalCluster

    features, recorded, true = numbers(n_rows + N_TEST, 100)
    test, shares = slice(n_rows, None), np.bincount(true, minlength=N_CLASSES) / len(true)
    objective = OBJECTIVES["ordered"](NOISE[None])
    sample = Sample(features[:n_rows], recorded[:n_rows], np.ones(n_rows))

    start = time.monotonic()
    ours = train(sample, objective, shares, SETTINGS, n_rounds=N_ROUNDS, seed=0)
    alone = time.monotonic() - start
    offsets = ours.ensemble.offsets
    _show("one task per fold", alone * N_FOLDS / 2, ours.ensemble.scores(features[test]), offsets, true[test])

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        start = time.monotonic()
        theirs = _by_lightgbm(sample, objective, offsets)
        seconds = time.monotonic() - start
        _show("LightGBM on Dask", seconds * N_FOLDS, theirs.scores(features[test]), offsets, true[test])
        start = time.monotonic()
        booster = _by_xgboost(client, sample, objective, offsets)
        seconds = time.monotonic() - start
        import xgboost

        scores = booster.predict(xgboost.DMatrix(features[test]), output_margin=True)
        _show("XGBoost on Dask", seconds * N_FOLDS, scores[:, None], offsets, true[test])


def _show(name: str, seconds: float, scores: np.ndarray, offsets: np.ndarray, true: np.ndarray) -> None:
    probabilities = np.exp(OBJECTIVES["ordered"].log_probabilities(scores.astype(np.float64), offsets))
    predicted = (1 - probabilities.cumsum(axis=1)[:, :-1] > 0.5).sum(axis=1)
    error = np.abs(predicted - true).mean()
    print(f"{name:<18} {seconds:6.0f} s for {N_FOLDS} folds of {N_ROUNDS} rounds, error {error:.4f}", flush=True)


def _blocks(sample: Sample) -> tuple[Any, Any]:
    import dask.array

    size = -(-len(sample.cells) // 2)
    return (
        dask.array.from_array(sample.features, chunks=(size, -1)).persist(),
        dask.array.from_array(sample.cells, chunks=size).persist(),
    )


def _by_lightgbm(sample: Sample, objective: Any, offsets: np.ndarray) -> Ensemble:
    import lightgbm

    features, cells = _blocks(sample)
    params = SETTINGS.for_lightgbm(objective.n_scores, 0)
    params["random_state"] = params.pop("seed")
    del params["num_threads"]  # each worker uses its own number of threads
    slopes: Any = partial(_slopes, objective, offsets)
    trees = lightgbm.DaskLGBMRegressor(objective=slopes, n_estimators=N_ROUNDS, **params)
    with warnings.catch_warnings():  # about n_jobs, which every estimator of LightGBM has
        warnings.filterwarnings("ignore", message="Parameter .* will be ignored", category=UserWarning)
        trees.fit(features, cells)
    return Ensemble(objective.head, grown_trees(trees.booster_, N_ROUNDS), offsets)


def _by_xgboost(client: Any, sample: Sample, objective: Any, offsets: np.ndarray) -> Any:
    from xgboost import dask as dxgb

    features, cells = _blocks(sample)
    data = dxgb.DaskQuantileDMatrix(client, features, cells, max_bin=255)
    params = {"max_leaves": 63, "grow_policy": "lossguide", "max_depth": 0, "eta": 0.1, "lambda": 1.0, "nthread": 1,
              "tree_method": "hist", "max_bin": 255, "base_score": 0.0, "disable_default_eval_metric": 1}  # fmt: skip
    slopes = partial(_xgboost_slopes, objective, offsets)
    return dxgb.train(client, params, data, num_boost_round=N_ROUNDS, obj=slopes)["booster"]


def _slopes(objective: Any, offsets: np.ndarray, cells: Any, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and curvature of fixed offsets, which the workers cannot learn together."""
    columns, rows = scores.reshape(len(cells), -1, order="F").astype(np.float64), np.asarray(cells).astype(np.int64)
    gradient, curvature, _ = objective.slopes(columns, offsets, rows, np.ones(len(cells)))
    return gradient, curvature


def _xgboost_slopes(
    objective: Any, offsets: np.ndarray, scores: np.ndarray, data: Any
) -> tuple[np.ndarray, np.ndarray]:
    return _slopes(objective, offsets, data.get_label(), scores)
