"""Trees as arrays: the same scores as LightGBM's, and no arrays that a walk could get lost in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pytest

from ordinoise._validation import Floats
from ordinoise.learners.boosting import Ensemble, Trees
from ordinoise.learners.boosting.ensemble import LEAST_WORK
from ordinoise.learners.boosting.trees import grown_trees

TINY = float(np.float32(1e-35))
ODD = np.array([
    np.nan, np.inf, -np.inf, 0.0, -0.0, TINY, -TINY, 2 * TINY, -2 * TINY, 5e-324, 1e-300, 1.7e308,
    -1.0, -0.5, 0.7, 31.0, 32.0, 63.5, 64.0, 399.0, 400.0, 1e10, 2.0**31, -(2.0**31), 2.0**32,
])  # fmt: skip


def _grown(n_scores: int = 1, categorical: tuple[int, ...] = (), gaps: float = 0.1, **params: Any) -> Any:
    """A booster of LightGBM's own on numbers, whole numbers and codes, some of them missing."""
    rng = np.random.default_rng(len(categorical) + n_scores)
    X = rng.normal(size=(600, 6))
    X[:, 2] = X[:, 2].round()
    for column in categorical:
        X[:, column] = rng.integers(0, (3, 40, 400)[column % 3], len(X))
    missing = rng.random(X.shape) < gaps
    score = np.sin(2 * X[:, 0]) + X[:, 3] % 3 + X[:, 1] * X[:, 2] + 4 * missing[:, 4]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_scores) / n_scores), score) if n_scores > 1 else score
    X[missing] = np.nan
    settings = {
        "objective": "multiclass" if n_scores > 1 else "regression", "num_class": n_scores, "verbosity": -1,
        "num_threads": 1, "boost_from_average": False, "min_data_in_leaf": 3, "min_data_per_group": 3, **params,
    }  # fmt: skip
    return lightgbm.train(settings, lightgbm.Dataset(X, y, categorical_feature=list(categorical)), 20)


def _rows(trees: Trees) -> Floats:
    """Rows with odd numbers, codes, and numbers on either side of every threshold."""
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((3000, 6)) < 0.3, rng.choice(ODD, (3000, 6)), rng.normal(size=(3000, 6)) * 3)
    rows[1::2] = np.where(rng.random((1500, 6)) < 0.3, rng.integers(0, 420, (1500, 6)), rows[1::2])
    for row, (column, split) in zip(rows, zip(trees.features, trees.thresholds, strict=True), strict=False):
        row[column] = rng.choice([split, np.nextafter(split, 9e307), np.nextafter(split, -9e307)])
    return rows


BOOSTERS: dict[str, dict[str, Any]] = {
    "with gaps": {},  # and with a threshold at infinity, which parts what is missing from all numbers
    "without gaps": {"gaps": 0.0},
    "large trees": {"n_scores": 3, "num_leaves": 200},
    "categories": {"categorical": (1, 3, 5)},
    "categories, three trees per round": {"categorical": (1, 3), "n_scores": 3, "gaps": 0.0},
    "zero is missing": {"zero_as_missing": True, "categorical": (1,)},
    "missing is zero": {"use_missing": False},
    "leaves alone": {"min_gain_to_split": 1e9},
}


@pytest.mark.parametrize("settings", BOOSTERS.values(), ids=BOOSTERS)
def test_scores_are_those_of_lightgbm_bit_for_bit(settings: dict[str, Any]) -> None:
    booster, n_scores = _grown(**settings), settings.get("n_scores", 1)
    trees = grown_trees(booster, 15)
    ensemble = Ensemble("softmax" if n_scores > 1 else "ordered", trees, np.zeros(n_scores), n_jobs=1)
    rows = _rows(trees)
    for features in (rows, rows[:1], rows[:33], np.asfortranarray(rows[:99]), rows[:99].clip(-1e30, 1e30).astype("f4")):
        theirs = booster.predict(features, raw_score=True, num_iteration=15)
        np.testing.assert_array_equal(ensemble.scores(features), theirs.reshape(len(features), -1))
    np.testing.assert_array_equal(trees.gains, booster.feature_importance("gain", iteration=15))


def test_the_booster_kinds_hold_what_their_names_say() -> None:
    of = {name: grown_trees(_grown(**settings), 20) for name, settings in BOOSTERS.items()}
    assert of["categories"].asks_category.any()
    assert of["zero is missing"].zero_is_missing
    assert not of["with gaps"].zero_is_missing
    assert (of["with gaps"].thresholds == np.finfo(float).max).any()
    assert len(of["leaves alone"].features) == 0


def test_threads_change_nothing() -> None:
    trees = grown_trees(_grown(), 20)
    rows = np.tile(_rows(trees), (4, 1))
    assert len(rows) * trees.n_trees > 2 * LEAST_WORK
    one, two = (Ensemble("ordered", trees, np.zeros(1), n_jobs).scores(rows) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_features_of_another_table_are_refused_with_a_sentence() -> None:
    ensemble = Ensemble("ordered", grown_trees(_grown(), 20), np.zeros(1))
    with pytest.raises(ValueError, match=r"^features must have 6 columns, got shape \(2, 5\)$"):
        ensemble.scores(np.zeros((2, 5)))


def _with(values: Any, place: Any, value: Any) -> Any:
    changed = values.copy()
    changed[place] = value
    return changed


BAD: dict[str, tuple[Any, str]] = {
    "a cycle": (lambda t: {"children": _with(t.children, (1, 0), 0)}, "children must have higher numbers than their"),
    "itself": (lambda t: {"children": _with(t.children, (3, 1), 3)}, "children must have higher numbers than their"),
    "two parents": (lambda t: {"children": _with(t.children, (0, 0), t.children[0, 1])}, "refer to every node and"),
    "no such leaf": (lambda t: {"children": _with(t.children, t.children < 0, -(2**31))}, "refer to every node and"),
    "no such node": (lambda t: {"roots": _with(t.roots, 0, 2**31 - 1)}, "refer to every node and every leaf once"),
    "a root too many": (lambda t: {"roots": np.append(t.roots, t.roots[:1])}, "refer to every node and every leaf"),
    "no such column": (lambda t: {"features": _with(t.features, 2, 6)}, "features must be columns below 6"),
    "a negative column": (lambda t: {"features": _with(t.features, 2, -1)}, "features must be columns below 6"),
    "no such kind": (lambda t: {"kinds": _with(t.kinds, 0, 5)}, "kinds must be at most 4, got 5"),
    "no such set": (lambda t: {"thresholds": _with(t.thresholds, t.asks_category, 1e9)}, "be numbers of"),
    "half a set": (lambda t: {"thresholds": _with(t.thresholds, t.asks_category, 0.5)}, "be numbers of"),
    "sets that descend": (lambda t: {"set_starts": _with(t.set_starts, 1, 10**6)}, "set_starts must ascend from 0"),
    "sets too long": (lambda t: {"set_starts": _with(t.set_starts, -1, 10**6)}, "set_starts must ascend from 0"),
    "no sets at all": (lambda t: {"set_starts": t.set_starts[:0]}, "set_starts must ascend from 0"),
    "words too few": (lambda t: {"set_words": t.set_words[:-1]}, "set_starts must ascend from 0"),
    "a threshold that is none": (lambda t: {"thresholds": _with(t.thresholds, 0, np.nan)}, "thresholds must be finite"),
    "an infinite leaf": (lambda t: {"leaves": _with(t.leaves, 0, np.inf)}, "leaves must be finite"),
    "a negative gain": (lambda t: {"gains": _with(t.gains, 0, -1.0)}, "gains must be finite, at least 0"),
    "a huge leaf": (lambda t: {"leaves": _with(t.leaves, 0, 1e308)}, "leaves must be finite, at least -1e.100"),
    "wide numbers": (lambda t: {"features": t.features.astype("i8")}, "features must be int32 numbers, got int64"),
    "narrow numbers": (lambda t: {"leaves": t.leaves.astype("f4")}, "leaves must be float64 numbers, got float32"),
    "other bytes": (lambda t: {"leaves": t.leaves.astype(">f8")}, "leaves must be float64 numbers, got >f8"),
    "too short": (lambda t: {"thresholds": t.thresholds[:-1]}, "thresholds must have shape"),
    "one child each": (lambda t: {"children": t.children[:, :1]}, "children must have shape"),
    "flat children": (lambda t: {"children": t.children.ravel()}, "children must have shape"),
    "leaves in a table": (lambda t: {"leaves": t.leaves[None]}, "leaves must have one dimension"),
    "one number": (lambda t: {"features": t.features[0]}, "features must have shape"),
}


@pytest.mark.parametrize(("changes", "sentence"), BAD.values(), ids=BAD)
def test_arrays_that_are_no_trees_are_refused_with_a_sentence(changes: Any, sentence: str) -> None:
    trees = grown_trees(_grown(categorical=(1, 3)), 3)
    with pytest.raises(ValueError, match=sentence) as caught:
        replace(trees, **changes(trees))
    assert "\n" not in str(caught.value)


def test_checked_arrays_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        grown_trees(_grown(), 2).children[0, 0] = 0
