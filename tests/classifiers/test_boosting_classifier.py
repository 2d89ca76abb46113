import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import adjacent, corrupt, inverse_decay, load_model
from ordinoise.classifiers.boosting import OrdinalBoostingClassifier
from ordinoise.columns.coding import IgnoredColumnsWarning
from ordinoise.estimation import AnchorPoints
from ordinoise.scoring.metrics import scorer

ASYMMETRIC = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])


def _data(n: int = 600, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1, 5, 0.1] + [0, 100, -3]
    score = X[:, 0] + 0.2 * (X[:, 1] - 100) + rng.normal(scale=0.2, size=n)
    return X, np.digitize(score, [-1.2, 0, 1.2])


X, Y = _data()


def _grown(model: Any) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in model.ensemble_.trees.arrays.items()}


FAST: dict[str, Any] = {"n_estimators": 30, "learning_rate": 0.2, "n_jobs": 1, "random_state": 0}

LABELS: dict[str, tuple[Any, dict[str, Any], list[Any]]] = {
    "zero-based": (Y, {}, [0, 1, 2, 3]),
    "with gaps": (np.array([-5, 0, 2, 40])[Y], {}, [-5, 0, 2, 40]),
    "floats": (Y.astype(float), {}, [0.0, 1.0, 2.0, 3.0]),
    "text in order": (np.array(["poor", "fair", "good", "best"])[Y], {"classes": ["poor", "fair", "good", "best"]}, ["poor", "fair", "good", "best"]),
    "ordered categorical": (pd.Series(pd.Categorical.from_codes(Y, ["z", "y", "x", "w"], ordered=True)), {}, ["z", "y", "x", "w"]),
    "polars enum": (pl.Series(np.array(["z", "y", "x", "w"])[Y].tolist(), dtype=pl.Enum(["z", "y", "x", "w"])), {}, ["z", "y", "x", "w"]),
}  # fmt: skip


@pytest.mark.parametrize(("y", "settings", "classes"), LABELS.values(), ids=LABELS)
def test_every_kind_of_label_gives_the_same_model(y: Any, settings: dict[str, Any], classes: list[Any]) -> None:
    reference = OrdinalBoostingClassifier(**FAST).fit(X, Y)
    model = OrdinalBoostingClassifier(**FAST, **settings).fit(X, y)
    assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(model.predict_proba(X), reference.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[reference.predict(X)])


VARIANTS: list[dict[str, Any]] = [
    {},
    {"early_stopping": False},
    {"noise": ASYMMETRIC},
    {"noise": ASYMMETRIC, "refit": False},
    {"noise": "estimate"},
    {"noise": AnchorPoints(quantile=0.97)},
    {"subsample": 0.7, "colsample_bytree": 0.7, "reg_lambda": 1.0, "max_depth": 3},
    {"params": {"extra_trees": True}},
    {"head": "softmax", "noise": ASYMMETRIC},
    {"decision": np.array([[0, 1, 2, 3], [2, 0, 1, 2], [4, 2, 0, 1], [6, 4, 2, 0]])},
    {"monotone_constraints": [1, 1, 0]},
]


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_every_variant_learns_and_gives_valid_probabilities(settings: dict[str, Any]) -> None:
    recorded = corrupt(Y, ASYMMETRIC, 0) if settings.get("noise") is not None else Y
    model = OrdinalBoostingClassifier(**(FAST | settings)).fit(X, recorded)
    probabilities = model.predict_proba(X)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    cumulative = model.predict_cumproba(X)
    assert (np.diff(cumulative, axis=1) >= 0).all()
    assert (cumulative[:, -1] == 1).all()
    assert np.abs(model.predict(X) - Y).mean() < 0.45
    np.testing.assert_allclose(model.noise_matrix_.sum(axis=1), 1)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[2] == model.feature_importances_.min()


def test_known_noise_beats_trust_and_the_transposed_matrix() -> None:
    noise = adjacent(4, up=0.45, down=0.0)
    features, labels = _data(3000, seed=1)
    noisy = corrupt(labels, noise, random_state=2)

    def clean_error(matrix: Any) -> float:
        model = OrdinalBoostingClassifier(noise=matrix, **FAST).fit(features, noisy)
        return float(np.abs(model.predict(features) - labels).mean())

    assert clean_error(noise) < 0.7 * clean_error(None)
    assert clean_error(noise) < 0.7 * clean_error(noise[::-1, ::-1])


def test_identity_noise_is_no_noise_bit_for_bit() -> None:
    plain = OrdinalBoostingClassifier(**FAST).fit(X, Y)
    identity = OrdinalBoostingClassifier(noise=np.eye(4), **FAST).fit(X, Y)
    assert _grown(plain) == _grown(identity)


def test_the_start_is_the_frequency_of_the_true_classes() -> None:
    """Where no split is allowed, only the start is left: the noise taken out of what was recorded."""
    features, labels = _data(4000, seed=1)
    noisy = corrupt(labels, ASYMMETRIC, random_state=2)
    model = OrdinalBoostingClassifier(noise=ASYMMETRIC, **(FAST | {"min_child_samples": 4000})).fit(features, noisy)
    expected = np.bincount(labels) / len(labels)
    np.testing.assert_allclose(model.predict_proba(features[:1])[0], expected, atol=0.03)


# Weights, classes, raters ------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["ordered", "softmax"])
def test_weights_equal_repetition_where_nothing_counts_rows(head: str) -> None:
    times = np.random.default_rng(0).integers(0, 4, len(X))
    coarse = (10 * (X - X.mean(axis=0)) / X.std(axis=0)).round()  # the same bins, whatever the number of rows
    fixed = {
        "early_stopping": False,
        "min_child_samples": 0,
        "num_leaves": 4,
        "subsample": 1.0,
        "head": head,
        "params": {"min_data_in_bin": 1},
    }
    model = OrdinalBoostingClassifier(noise=ASYMMETRIC, **(FAST | fixed))
    weighted = clone(model).fit(coarse, Y, sample_weight=times)
    repeated = clone(model).fit(coarse.repeat(times, axis=0), Y.repeat(times))
    np.testing.assert_allclose(weighted.predict_proba(coarse), repeated.predict_proba(coarse), atol=1e-6)


@pytest.mark.parametrize("noise", [ASYMMETRIC, AnchorPoints(quantile=0.97)], ids=["known", "estimated"])
def test_a_sample_of_no_weight_is_not_there(noise: Any) -> None:
    there = np.random.default_rng(0).random(len(X)) < 0.7
    odd = np.where(there, Y, 3 - Y)
    weighted = OrdinalBoostingClassifier(noise=noise, **FAST).fit(X, odd, sample_weight=there.astype(float))
    absent = OrdinalBoostingClassifier(noise=noise, **FAST).fit(X[there], Y[there])
    np.testing.assert_array_equal(weighted.predict_proba(X), absent.predict_proba(X))


def test_class_weight_is_a_weight_of_the_recorded_class() -> None:
    weight = {0: 1.0, 1: 3.0, 2: 0.5, 3: 2.0}
    by_class = OrdinalBoostingClassifier(class_weight=weight, **FAST).fit(X, Y)
    by_sample = OrdinalBoostingClassifier(**FAST).fit(X, Y, sample_weight=np.array(list(weight.values()))[Y])
    assert _grown(by_class) == _grown(by_sample)


def test_a_class_absent_from_the_data_is_kept_when_it_is_named() -> None:
    model = OrdinalBoostingClassifier(classes=[0, 1, 2, 3, 4], noise=inverse_decay(5, 0.1), **FAST).fit(X, Y)
    assert model.predict_proba(X).shape == (len(X), 5)
    assert model.predict_proba(X)[:, 4].mean() < 0.1


def test_raters_with_their_own_matrices() -> None:
    """One rater is always right, the other always one too high: together they teach the truth."""
    features, labels = _data(2000, seed=3)
    names = np.where(np.random.default_rng(0).random(2000) < 0.5, "ann", "bob")
    noise = {"ann": np.eye(4), "bob": adjacent(4, up=0.95, down=0.0)}
    recorded = np.where(names == "ann", labels, corrupt(labels, noise["bob"], 1))
    informed = OrdinalBoostingClassifier(noise=noise, **FAST).fit(features, recorded, raters=names)
    swapped = OrdinalBoostingClassifier(noise=dict(zip(noise, reversed(noise.values()), strict=True)), **FAST)
    swapped.fit(features, recorded, raters=names)
    error, swapped_error = (np.abs(model.predict(features) - labels).mean() for model in (informed, swapped))
    assert error < 0.75 * swapped_error
    share = (names == "bob").mean()
    np.testing.assert_allclose(informed.noise_matrix_, (1 - share) * noise["ann"] + share * noise["bob"])


# Rounds ------------------------------------------------------------------------------------------------


def test_early_stopping_keeps_the_best_rounds_by_the_forward_likelihood() -> None:
    settings = FAST | {"n_estimators": 500, "n_iter_no_change": 5}
    model = OrdinalBoostingClassifier(noise=ASYMMETRIC, **settings).fit(X, corrupt(Y, ASYMMETRIC, 0))
    assert model.n_iter_ == np.argmin(model.validation_curve_) + 1 < 500
    assert model.ensemble_.n_rounds == model.n_iter_
    assert len(model.validation_curve_) == model.n_iter_ + 5


def test_refit_grows_the_chosen_rounds_on_all_rows() -> None:
    noisy = corrupt(Y, ASYMMETRIC, 0)
    chosen = OrdinalBoostingClassifier(noise=ASYMMETRIC, **FAST).fit(X, noisy)
    fixed = FAST | {"early_stopping": False, "n_estimators": chosen.n_iter_}
    assert _grown(chosen) == _grown(OrdinalBoostingClassifier(noise=ASYMMETRIC, **fixed).fit(X, noisy))


@pytest.mark.slow
def test_the_model_depends_on_the_seed_and_not_on_the_threads() -> None:
    one, two, other = (
        _grown(OrdinalBoostingClassifier(**(FAST | settings)).fit(X, Y))
        for settings in ({"random_state": 3}, {"random_state": 3, "n_jobs": 2}, {"random_state": 4})
    )
    assert one == two
    assert one != other


def test_thresholds_descend_and_cutpoints_cut_the_score() -> None:
    model = OrdinalBoostingClassifier(noise=ASYMMETRIC, **FAST).fit(X, corrupt(Y, ASYMMETRIC, 0))
    assert (np.diff(model.thresholds_) < 0).all()
    by_cutpoints = (model.predict_score(X)[:, None] > model.cutpoints_).sum(axis=1)
    np.testing.assert_array_equal(model.predict(X), by_cutpoints)
    softmax = OrdinalBoostingClassifier(head="softmax", **FAST).fit(X, Y)
    with pytest.raises(AttributeError, match="has thresholds only when it is fitted with head='ordered'"):
        softmax.predict_score(X)


# Missing values and categories -------------------------------------------------------------------------

KINDS = np.array(["brick", "clay", "wood", "straw"])
WHICH = np.random.default_rng(5).integers(0, 4, 800)
SIZE = np.random.default_rng(6).normal(size=800)
GRADE = np.digitize(np.array([3.0, -3.0, 1.0, -1.0])[WHICH] + 0.3 * SIZE, [-2, 0, 2])
HOLES = np.random.default_rng(7).random(800) < 0.1


def _text() -> list[str | None]:
    return [None if hole else str(kind) for kind, hole in zip(KINDS[WHICH], HOLES, strict=True)]


FRAMES: dict[str, Any] = {
    "pandas categorical": lambda: pd.DataFrame({"kind": pd.Categorical(_text()), "size": SIZE}),
    "pandas ordered": lambda: pd.DataFrame({"kind": pd.Categorical(_text(), sorted(KINDS), ordered=True), "size": SIZE}),
    "pandas text": lambda: pd.DataFrame({"kind": _text(), "size": SIZE}),
    "polars categorical": lambda: pl.DataFrame({"kind": pl.Series(_text(), dtype=pl.Categorical), "size": SIZE}),
    "polars enum": lambda: pl.DataFrame({"kind": pl.Series(_text(), dtype=pl.Enum(sorted(KINDS))), "size": SIZE}),
    "polars text": lambda: pl.DataFrame({"kind": _text(), "size": SIZE}),
    "pyarrow text": lambda: pa.table({"kind": _text(), "size": SIZE}),
}  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_categories_of_every_frame_give_the_same_model(frame: Any) -> None:
    codes = np.where(HOLES, np.nan, np.searchsorted(np.sort(KINDS), KINDS[WHICH]))
    reference = OrdinalBoostingClassifier(categorical_features=[0], **FAST).fit(np.column_stack([codes, SIZE]), GRADE)
    model = OrdinalBoostingClassifier(**FAST).fit(frame(), GRADE)
    assert model.feature_names_in_.tolist() == ["kind", "size"]
    expected = reference.predict_proba(np.column_stack([codes, SIZE]))
    np.testing.assert_allclose(model.predict_proba(frame()), expected, atol=1e-12)
    assert (model.predict(frame())[~HOLES] == GRADE[~HOLES]).mean() > 0.95


def test_codes_are_remembered_and_unknown_categories_are_missing() -> None:
    model = OrdinalBoostingClassifier(**FAST).fit(FRAMES["pandas categorical"](), GRADE)
    few = pd.DataFrame({"kind": pd.Categorical(["wood", "straw"], ["wood", "straw"]), "size": [0.0, 0.0]})
    many = pd.DataFrame({"kind": ["brick", "clay", "wood", "straw"], "size": [0.0] * 4})
    np.testing.assert_array_equal(model.predict_proba(few), model.predict_proba(many)[2:])
    odd = pd.DataFrame({"kind": ["glass", None], "size": [0.0, 0.0]})
    unknown, missing = model.predict_proba(odd)
    np.testing.assert_array_equal(unknown, missing)
    assert all(not np.allclose(unknown, known) for known in model.predict_proba(many))


def test_missing_numbers_carry_what_they_say() -> None:
    features = X.copy()
    features[Y > 1, 0] = np.nan
    model = OrdinalBoostingClassifier(**FAST).fit(features, (Y > 1).astype(int))
    assert (model.predict(features) == (Y > 1)).all()
    nullable = pl.DataFrame(features, schema=["a", "b", "c"]).with_columns(pl.col("a").fill_nan(None))
    named = OrdinalBoostingClassifier(**FAST).fit(nullable, (Y > 1).astype(int))
    np.testing.assert_array_equal(named.predict_proba(nullable), model.predict_proba(features))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_noise_can_be_estimated_through_missing_values_and_categories() -> None:
    noisy = corrupt(GRADE, inverse_decay(4, 0.1), 0)
    model = OrdinalBoostingClassifier(noise="estimate", **FAST).fit(FRAMES["pandas categorical"](), noisy)
    assert model.noise_.method == "ScoreLikelihood"
    assert np.abs(model.noise_matrix_ - inverse_decay(4, 0.1)).mean() < 0.05
    assert len(model.noise_.replicates) == 100


# Constraints -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_a_constrained_feature_moves_every_cumulative_probability_one_way(sign: int) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(800, 2))
    labels = np.digitize(sign * features[:, 0] + np.sin(3 * features[:, 0]) + features[:, 1], [-1.5, 0, 1.5])
    noisy = corrupt(labels, ASYMMETRIC, 0)
    grid = np.column_stack([np.linspace(-3, 3, 200), np.zeros(200)])

    def steps(constraints: Any) -> Any:
        model = OrdinalBoostingClassifier(noise=ASYMMETRIC, monotone_constraints=constraints, **FAST)
        return -sign * np.diff(model.fit(features, noisy).predict_cumproba(grid), axis=0)

    assert steps([sign, 0]).min() >= -1e-12
    assert steps(None).min() < -1e-3


def test_constraints_may_be_named() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = OrdinalBoostingClassifier(monotone_constraints={"b": 1}, **FAST).fit(frame, Y)
    listed = OrdinalBoostingClassifier(monotone_constraints=[0, 1, 0], **FAST).fit(frame, Y)
    assert _grown(named) == _grown(listed)


# In company --------------------------------------------------------------------------------------------


def test_pipeline_grid_search_and_cross_validation() -> None:
    noise = inverse_decay(4, 0.1)
    noisy = corrupt(Y, noise, 0)
    pipeline = make_pipeline(StandardScaler(), OrdinalBoostingClassifier(noise=noise, **FAST))
    search = GridSearchCV(
        pipeline,
        {"ordinalboostingclassifier__n_estimators": [1, 30]},
        scoring=scorer("mean_absolute_error", noise=noise),
    ).fit(X, noisy)
    assert search.best_params_ == {"ordinalboostingclassifier__n_estimators": 30}
    assert cross_val_predict(OrdinalBoostingClassifier(**FAST), X, noisy, method="predict_proba").shape == (len(X), 4)


def test_metadata_routing_carries_weights_and_raters() -> None:
    noise, names = {"a": np.eye(4), "b": ASYMMETRIC}, np.array(["a", "b"])[np.arange(len(X)) % 2]
    with sklearn.config_context(enable_metadata_routing=True):
        model = OrdinalBoostingClassifier(noise=noise, **FAST).set_fit_request(raters=True, sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, Y, raters=names, sample_weight=np.ones(len(X)))
    direct = OrdinalBoostingClassifier(noise=noise, **FAST).fit(StandardScaler().fit_transform(X), Y, raters=names)
    assert _grown(pipeline[-1]) == _grown(direct)


def test_inputs_are_left_as_they_were() -> None:
    features, labels, weights = X.copy(), Y.copy(), np.ones(len(X))
    OrdinalBoostingClassifier(noise=ASYMMETRIC, **FAST).fit(features, labels, weights)
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(labels, Y)
    np.testing.assert_array_equal(weights, 1)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"noise": np.eye(3)}, r"noise_matrix must be 4 x 4, one row per class, got shape \(3, 3\)"),
    ({"noise": "guess"}, r"noise must be None, a noise matrix, 'estimate' or an estimator, got 'guess'"),
    ({"noise": {"a": np.eye(4)}}, r"raters must name the rater of each sample when noise holds one matrix per rater"),
    ({"decision": "middle"}, r"decision must be one of"),
    ({"n_estimators": 0}, r"n_estimators must be a whole number of at least 1, got 0"),
    ({"n_iter_no_change": 0}, r"n_iter_no_change must be a whole number of at least 1, got 0"),
    ({"validation_fraction": 0}, r"validation_fraction must be above 0 and at most 0\.9, got 0"),
    ({"learning_rate": 0}, r"learning_rate must be above 0, got 0"),
    ({"n_jobs": 0}, r"n_jobs must be a whole number of at least 1, got 0"),
    ({"params": ["extra_trees"]}, r"params must be a mapping of LightGBM's names to values, got list"),
    ({"params": {"num_leaf": 3}}, r"params must leave out what has a parameter of its own, got 'num_leaf'; set num_leaves="),
    ({"categorical_features": [3]}, r"categorical_features must hold column numbers below 3, got 3"),
    ({"head": "ordred"}, r"head must be one of \['ordered', 'softmax'\], got 'ordred'; did you mean 'ordered'\?"),
    ({"head": "softmax", "monotone_constraints": [1, 0, 0]}, r"monotone_constraints must be None unless head='ordered'"),
    ({"categorical_features": "all"}, r"categorical_features must be 'auto' or a list of columns, got 'all'"),
    ({"monotone_constraints": [1, 0]}, r"monotone_constraints must hold one of -1, 0, 1 for each of 3 columns, got \[1, 0\]"),
    ({"monotone_constraints": [1, 0, 2]}, r"monotone_constraints must hold one of -1, 0, 1 for each of 3 columns"),
    ({"monotone_constraints": {"a": 1}}, r"monotone_constraints must name columns of X, got 'a'"),
    ({"monotone_constraints": [1, 0, 0], "categorical_features": [0]}, r"monotone_constraints must be 0 for categorical columns, got 1 for column 0"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_what_cannot_be_is_refused_with_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        OrdinalBoostingClassifier(**(FAST | settings)).fit(X, Y)
    assert "\n" not in str(caught.value)


def test_dates_are_days_however_they_are_stored() -> None:
    days = np.random.default_rng(0).permutation(len(X))
    dates = pd.to_datetime("2020-01-01") + pd.to_timedelta(days, unit="D")
    as_numbers = OrdinalBoostingClassifier(**FAST).fit(pd.DataFrame({"day": days, "size": X[:, 0]}), Y)
    for column in (dates, dates.strftime("%Y-%m-%d")):
        frame = pd.DataFrame({"day": column, "size": X[:, 0]})
        model = OrdinalBoostingClassifier(**FAST).fit(frame, Y)
        expected = as_numbers.predict_proba(pd.DataFrame({"day": days, "size": X[:, 0]}))
        np.testing.assert_allclose(model.predict_proba(frame), expected)


def test_columns_that_are_no_features_are_ignored_with_a_warning_and_stay_ignored(tmp_path: Path) -> None:
    n = len(X)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "size": X[:, 0],
            "remark": [f"a remark of its own, number {row}" for row in range(n)],
            "depth": X[:, 1],
            "tags": [[row] for row in range(n)],
        }
    )
    with pytest.warns(IgnoredColumnsWarning, match=r"'id' is ignored: it counts the rows; .*'remark'.*; .*'tags'"):
        model = OrdinalBoostingClassifier(**FAST).fit(frame, Y)
    bare = OrdinalBoostingClassifier(**FAST).fit(frame[["size", "depth"]], Y)
    np.testing.assert_array_equal(model.predict_proba(frame), bare.predict_proba(frame[["size", "depth"]]))
    np.testing.assert_array_equal(model.feature_importances_ > 0, [False, True, False, True, False])
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(frame), model.predict_proba(frame))


def test_a_frame_without_any_feature_is_refused() -> None:
    frame = pd.DataFrame({"id": np.arange(len(X))})
    with pytest.raises(ValueError, match="X must have a column to learn from, got column 'id' is ignored"):
        OrdinalBoostingClassifier(**FAST).fit(frame, Y)


# On disk -----------------------------------------------------------------------------------------------

SAVED: list[tuple[dict[str, Any], Any, Any]] = [
    ({}, X, Y),
    ({"noise": ASYMMETRIC, "decision": "mode", "params": {"extra_trees": True}}, pd.DataFrame(X, columns=["a", "b", "c"]), Y),
    ({"classes": ["poor", "fair", "good", "best"]}, FRAMES["pandas categorical"](), np.array(["poor", "fair", "good", "best"])[GRADE]),
    ({"monotone_constraints": [1, 1, 0]}, X, Y),
    ({"min_child_samples": 1000}, X, Y),
    ({"head": "softmax"}, X, Y),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "features", "y"), SAVED, ids=[str(list(settings)) for settings, _, _ in SAVED])
def test_a_saved_model_comes_back_exactly(settings: dict[str, Any], features: Any, y: Any, tmp_path: Path) -> None:
    model = OrdinalBoostingClassifier(**(FAST | settings)).fit(features, y)
    model.save(tmp_path / "model")
    back = OrdinalBoostingClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_proba(features), model.predict_proba(features))
    np.testing.assert_array_equal(back.predict(features), model.predict(features))
    np.testing.assert_array_equal(back.feature_importances_, model.feature_importances_)
    assert back.n_iter_ == model.n_iter_
    assert back.validation_curve_ == model.validation_curve_
    assert str(back.get_params()) == str(model.get_params())
    assert _grown(clone(back).fit(features, y)) == _grown(model)


def _edit_settings(folder: Path, **changes: Any) -> None:
    header = json.loads((folder / "model.json").read_text())
    header["settings"].update(changes)
    (folder / "model.json").write_text(json.dumps(header))


def _edit_arrays(folder: Path, **changes: Any) -> None:
    arrays = load_file(folder / "arrays.safetensors") | {f"trees.{name}": array for name, array in changes.items()}
    save_file({name: array for name, array in arrays.items() if array is not None}, folder / "arrays.safetensors")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


DAMAGE: list[tuple[Any, str]] = [
    (lambda folder: shutil.rmtree(folder), "path must be a model folder"),
    (lambda folder: _edit_settings(folder, head="softmax"), "path must hold a whole model"),
    (lambda folder: _edit_settings(folder, n_jobs=-3), "n_jobs must be a whole number of at least 0, got -3"),
    (lambda folder: _edit_arrays(folder, roots=None), "path must hold a whole model"),
    (lambda folder: _edit_arrays(folder, more=np.zeros(3)), "arrays must be those of the trees"),
    (lambda folder: _edit_arrays(folder, gains=np.ones(7)), "the trees must be grown on 3 columns, got 7"),
    (lambda folder: _edit_arrays(folder, offsets=np.zeros(2)), "the trees must be grown for 4 classes, got 3"),
    (lambda folder: _cut(folder / "arrays.safetensors"), "path must hold arrays in arrays.safetensors"),
    (lambda folder: _edit_settings(folder, n_features=7), "path must hold a whole model"),
    (lambda folder: _edit_settings(folder, classes={"list": [1, 2]}), "path must hold a whole model"),
    (lambda folder: (folder / "arrays.safetensors").unlink(), "path must hold arrays in arrays.safetensors"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "sentence"), DAMAGE)
def test_a_damaged_folder_is_refused_with_a_sentence(damage: Any, sentence: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    OrdinalBoostingClassifier(**FAST).fit(X, Y).save(folder)
    damage(folder)
    with pytest.raises(ValueError, match=sentence) as caught:
        OrdinalBoostingClassifier.load(folder)
    assert "\n" not in str(caught.value)
