from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import OrdinalMLPClassifier, adjacent, corrupt, inverse_decay
from ordinoise.estimation import AnchorPoints
from ordinoise.learners.mlp import DivergedError
from ordinoise.levels import corrected_levels, labels_from_logits
from ordinoise.losses import cross_entropy
from ordinoise.scoring.metrics import scorer

ASYMMETRIC = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])


def _data(n: int = 600, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1, 5, 0.1] + [0, 100, -3]
    score = X[:, 0] + 0.2 * (X[:, 1] - 100) + rng.normal(scale=0.2, size=n)
    return X, np.digitize(score, [-1.2, 0, 1.2])


X, Y = _data()
FAST: dict[str, Any] = {"max_iter": 20, "learning_rate_init": 0.01, "random_state": 0}

LABELS: dict[str, tuple[Any, dict[str, Any], list[Any]]] = {
    "zero-based": (Y, {}, [0, 1, 2, 3]),
    "one-based": (Y + 1, {}, [1, 2, 3, 4]),
    "with gaps": (np.array([-5, 0, 2, 40])[Y], {}, [-5, 0, 2, 40]),
    "floats": (Y.astype(float), {}, [0.0, 1.0, 2.0, 3.0]),
    "text in order": (np.array(["poor", "fair", "good", "best"])[Y], {"classes": ["poor", "fair", "good", "best"]}, ["poor", "fair", "good", "best"]),
    "ordered categorical": (pd.Series(pd.Categorical.from_codes(Y, ["z", "y", "x", "w"], ordered=True)), {}, ["z", "y", "x", "w"]),
    "polars enum": (pl.Series(np.array(["z", "y", "x", "w"])[Y].tolist(), dtype=pl.Enum(["z", "y", "x", "w"])), {}, ["z", "y", "x", "w"]),
}  # fmt: skip


@pytest.mark.parametrize(("y", "settings", "classes"), LABELS.values(), ids=LABELS)
def test_every_kind_of_label_gives_the_same_model(y: Any, settings: dict[str, Any], classes: list[Any]) -> None:
    reference = OrdinalMLPClassifier(**FAST).fit(X, Y)
    model = OrdinalMLPClassifier(**FAST, **settings).fit(X, y)
    assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(model.predict_proba(X), reference.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[reference.predict(X)])


def test_text_without_an_order_is_refused() -> None:
    with pytest.raises(ValueError, match="classes must list the grades from lowest to highest"):
        OrdinalMLPClassifier(**FAST).fit(X, np.array(["a", "b", "c", "d"])[Y])


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda table: pl.DataFrame(table), lambda table: pa.table(table)])
def test_frames_give_the_model_of_the_array_and_remember_their_columns(frame: Any) -> None:
    table = {"size": X[:, 0], "weight": X[:, 1], "age": X[:, 2]}
    model = OrdinalMLPClassifier(**FAST).fit(frame(table), Y)
    assert model.feature_names_in_.tolist() == ["size", "weight", "age"]
    np.testing.assert_array_equal(model.predict(frame(table)), OrdinalMLPClassifier(**FAST).fit(X, Y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"weight": X[:, 1], "size": X[:, 0], "age": X[:, 2]}))


VARIANTS: list[dict[str, Any]] = [
    {},
    {"loss": "hinge"},
    {"noise": ASYMMETRIC},
    {"noise": ASYMMETRIC, "thresholds": "free"},
    {"noise": ASYMMETRIC, "correction": "unbiased"},
    {"noise": ASYMMETRIC, "correction": "unbiased", "loss": "hinge", "thresholds": "free"},
    {"noise": "estimate"},
    {"noise": AnchorPoints(quantile=0.97)},
    {"hidden_layer_sizes": (), "early_stopping": True},
    {"hidden_layer_sizes": (8, 4), "activation": "tanh"},
    {"decision": np.array([[0, 1, 2, 3], [2, 0, 1, 2], [4, 2, 0, 1], [6, 4, 2, 0]])},
]


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_every_variant_learns_and_gives_valid_probabilities(settings: dict[str, Any]) -> None:
    recorded = corrupt(Y, ASYMMETRIC, 0) if settings.get("noise") is not None else Y
    model = OrdinalMLPClassifier(**(FAST | {"max_iter": 60} | settings)).fit(X, recorded)
    probabilities = model.predict_proba(X)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    cumulative = model.predict_cumproba(X)
    assert (np.diff(cumulative, axis=1) >= 0).all()
    assert (cumulative[:, -1] == 1).all()
    assert np.abs(model.predict(X) - Y).mean() < 0.45
    np.testing.assert_allclose(model.noise_matrix_.sum(axis=1), 1)
    assert len(model.loss_curve_) == model.n_iter_


def test_known_noise_beats_trust_and_the_transposed_matrix() -> None:
    noise = adjacent(4, up=0.45, down=0.0)
    features, labels = _data(3000, seed=1)
    noisy = corrupt(labels, noise, random_state=2)

    def clean_error(matrix: Any) -> float:
        model = OrdinalMLPClassifier(noise=matrix, max_iter=30, learning_rate_init=0.005, random_state=0)
        return float(np.abs(model.fit(features, noisy).predict(features) - labels).mean())

    assert clean_error(noise) < 0.7 * clean_error(None)
    assert clean_error(noise) < 0.7 * clean_error(noise[::-1, ::-1])


def test_identity_noise_is_no_noise_for_the_unbiased_correction_bit_for_bit() -> None:
    plain = OrdinalMLPClassifier(**FAST).fit(X, Y)
    identity = OrdinalMLPClassifier(noise=np.eye(4), correction="unbiased", **FAST).fit(X, Y)
    np.testing.assert_array_equal(plain.network_.parameters, identity.network_.parameters)


def test_the_loss_curve_of_the_unbiased_correction_is_the_loss_on_corrected_levels() -> None:
    """One epoch of one batch: the loss before the only update is the loss at the start."""
    settings = FAST | {"max_iter": 1, "batch_size": len(X), "shuffle": False, "learning_rate_init": 1e-9}
    model = OrdinalMLPClassifier(noise=ASYMMETRIC, correction="unbiased", early_stopping=False, **settings).fit(X, Y)
    logits = model.network_.logits(X)
    expected = cross_entropy(logits, corrected_levels(ASYMMETRIC)[Y]).mean()
    assert model.loss_curve_[0] == pytest.approx(expected, rel=1e-5)


def test_two_classes_are_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    y = (Y > 1).astype(int)
    settings = FAST | {"max_iter": 3000, "weight_decay": 0.0, "learning_rate_init": 0.02, "early_stopping": False}
    model = OrdinalMLPClassifier(hidden_layer_sizes=(), batch_size=len(X), **settings).fit(X, y)
    exact = LogisticRegression(C=1e6, max_iter=1000).fit(StandardScaler().fit_transform(X), y)
    theirs = exact.predict_proba(StandardScaler().fit_transform(X))
    assert np.abs(model.predict_proba(X) - theirs).max() < 0.05
    assert (model.predict(X) == exact.predict(StandardScaler().fit_transform(X))).mean() > 0.98


def test_thresholds_descend_and_cutpoints_cut_the_score() -> None:
    model = OrdinalMLPClassifier(**FAST).fit(X, Y)
    assert (np.diff(model.thresholds_) < 0).all()
    by_cutpoints = (model.predict_score(X)[:, None] > model.cutpoints_).sum(axis=1)
    np.testing.assert_array_equal(model.predict(X), by_cutpoints)
    np.testing.assert_array_equal(model.predict(X), labels_from_logits(model.network_.logits(X)))
    assert model.threshold_inversions_ == 0


def test_weights_equal_repetition_in_full_batches() -> None:
    times = np.random.default_rng(0).integers(0, 4, len(X))
    settings = FAST | {"batch_size": 10_000, "max_iter": 100, "early_stopping": False}
    weighted = OrdinalMLPClassifier(noise=ASYMMETRIC, **settings).fit(X, Y, sample_weight=times)
    repeated = OrdinalMLPClassifier(noise=ASYMMETRIC, **settings).fit(X.repeat(times, axis=0), Y.repeat(times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)


def test_class_weight_is_a_weight_of_the_recorded_class() -> None:
    weight = {0: 1.0, 1: 3.0, 2: 0.5, 3: 2.0}
    by_class = OrdinalMLPClassifier(class_weight=weight, **FAST).fit(X, Y)
    by_sample = OrdinalMLPClassifier(**FAST).fit(X, Y, sample_weight=np.array(list(weight.values()))[Y])
    np.testing.assert_array_equal(by_class.network_.parameters, by_sample.network_.parameters)


def test_a_class_absent_from_the_data_is_kept_when_it_is_named() -> None:
    model = OrdinalMLPClassifier(classes=[0, 1, 2, 3, 4], noise=inverse_decay(5, 0.1), **FAST).fit(X, Y)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.predict_proba(X).shape == (len(X), 5)
    assert model.predict_proba(X)[:, 4].mean() < 0.1


def test_raters_with_their_own_matrices() -> None:
    """One rater is always right, the other always one too high: together they teach the truth."""
    features, labels = _data(2000, seed=3)
    names = np.where(np.random.default_rng(0).random(2000) < 0.5, "ann", "bob")
    noise = {"ann": np.eye(4), "bob": adjacent(4, up=0.95, down=0.0)}
    recorded = np.where(names == "ann", labels, corrupt(labels, noise["bob"], 1))
    settings: dict[str, Any] = {"max_iter": 30, "learning_rate_init": 0.01, "random_state": 0}
    informed = OrdinalMLPClassifier(noise=noise, **settings).fit(features, recorded, raters=names)
    swapped = OrdinalMLPClassifier(noise=dict(zip(noise, reversed(noise.values()), strict=True)), **settings)
    swapped.fit(features, recorded, raters=names)
    error, swapped_error = (np.abs(model.predict(features) - labels).mean() for model in (informed, swapped))
    assert error < 0.75 * swapped_error
    share = (names == "bob").mean()
    np.testing.assert_allclose(informed.noise_matrix_, (1 - share) * noise["ann"] + share * noise["bob"])


def test_partial_fit_goes_on_and_fit_starts_anew() -> None:
    model = OrdinalMLPClassifier(noise=ASYMMETRIC, **FAST)
    for start in range(0, len(X), 200):
        model.partial_fit(X[start : start + 200], Y[start : start + 200], classes=[0, 1, 2, 3])
    assert model.n_iter_ == len(model.loss_curve_) == 3
    first = clone(model).fit(X, Y).network_.parameters
    np.testing.assert_array_equal(model.fit(X, Y).network_.parameters, first)


def test_whole_epochs_of_partial_fit_are_fit() -> None:
    settings = FAST | {"max_iter": 4}
    whole = OrdinalMLPClassifier(**settings).fit(X, Y)
    parts = OrdinalMLPClassifier(**settings)
    for _ in range(4):
        parts.partial_fit(X, Y)
    np.testing.assert_allclose(parts.loss_curve_[-1], whole.loss_curve_[-1], rtol=0.05)


def test_warm_start_goes_on_from_the_fitted_network() -> None:
    model = OrdinalMLPClassifier(warm_start=True, **FAST).fit(X, Y)
    before = model.loss_curve_[-1]
    model.fit(X, Y)
    assert model.loss_curve_[0] < before + 0.05
    with pytest.raises(ValueError, match=r"y must hold the classes of the earlier fit"):
        model.fit(X, Y + 1)


def test_early_stopping_keeps_the_best_epoch_by_the_corrected_criterion() -> None:
    settings = FAST | {"max_iter": 300, "hidden_layer_sizes": (64,), "early_stopping": True, "n_iter_no_change": 5}
    model = OrdinalMLPClassifier(noise=ASYMMETRIC, **settings).fit(X, corrupt(Y, ASYMMETRIC, 0))
    assert model.n_iter_ < 300
    assert len(model.validation_curve_) == model.n_iter_
    assert np.argmin(model.validation_curve_) < model.n_iter_ - 1


def test_early_stopping_is_the_default_from_200_samples_of_some_weight_on() -> None:
    weights = np.r_[np.ones(199), 0.0, 1.0]
    few = OrdinalMLPClassifier(**FAST).fit(X[:200], Y[:200], sample_weight=weights[:200])
    enough = OrdinalMLPClassifier(**FAST).fit(X[:201], Y[:201], sample_weight=weights)
    assert (len(few.validation_curve_), len(enough.validation_curve_)) == (0, enough.n_iter_)


def test_the_paper_runs_all_epochs_and_keeps_the_last_weights() -> None:
    whole_run, automatic = (
        OrdinalMLPClassifier(early_stopping=stops, **FAST).fit(X[:150], Y[:150]).network_.parameters
        for stops in (False, "auto")
    )
    np.testing.assert_array_equal(whole_run, automatic)
    whole = OrdinalMLPClassifier(early_stopping=False, **FAST).fit(X, Y)
    assert (whole.n_iter_, whole.validation_curve_) == (FAST["max_iter"], [])


@pytest.mark.parametrize(
    ("stops", "n_columns", "settings"),
    [
        (False, 3, {"hidden_layer_sizes": (10,), "learning_rate_init": 0.001, "weight_decay": 0.01}),
        (True, 3, {"hidden_layer_sizes": (50,), "learning_rate_init": 0.002, "weight_decay": 0.03}),
        (True, 120, {"hidden_layer_sizes": (50,), "learning_rate_init": 0.002, "weight_decay": 1.0}),
    ],
)
def test_automatic_settings_are_the_papers_unless_training_stops_early(
    stops: bool, n_columns: int, settings: dict[str, Any]
) -> None:
    features = np.random.default_rng(0).normal(size=(len(X), n_columns)) + X[:, :1]
    common: dict[str, Any] = {"early_stopping": stops, "max_iter": 3, "random_state": 0}
    automatic, given = (OrdinalMLPClassifier(**common, **some).fit(features, Y) for some in ({}, settings))
    np.testing.assert_array_equal(automatic.network_.parameters, given.network_.parameters)


def test_the_defaults_do_not_memorize_labels_that_the_features_do_not_explain() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(400, 40)), rng.integers(4, size=400)
    settings: dict[str, Any] = {
        "hidden_layer_sizes": (50,),
        "learning_rate_init": 0.01,
        "max_iter": 60,
        "random_state": 0,
    }
    right = {
        stops: float((OrdinalMLPClassifier(early_stopping=stops, **settings).fit(features, labels).predict(features) == labels).mean())
        for stops in (False, "auto")
    }  # fmt: skip
    assert right[False] > 0.9
    assert right["auto"] < 0.6


def test_the_same_seed_gives_the_same_model_and_another_seed_another() -> None:
    one, two, other = (
        OrdinalMLPClassifier(**(FAST | {"random_state": seed})).fit(X, Y).network_.parameters for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_pipeline_grid_search_and_cross_validation() -> None:
    noise = inverse_decay(4, 0.1)
    noisy = corrupt(Y, noise, 0)
    pipeline = make_pipeline(StandardScaler(), OrdinalMLPClassifier(noise=noise, **FAST))
    search = GridSearchCV(
        pipeline, {"ordinalmlpclassifier__max_iter": [1, 30]}, scoring=scorer("mean_absolute_error", noise=noise)
    ).fit(X, noisy)
    assert search.best_params_ == {"ordinalmlpclassifier__max_iter": 30}
    out_of_fold = cross_val_predict(OrdinalMLPClassifier(**FAST), X, noisy, method="predict_proba")
    assert out_of_fold.shape == (len(X), 4)


def test_metadata_routing_carries_weights_and_raters() -> None:
    noise, names = {"a": np.eye(4), "b": ASYMMETRIC}, np.array(["a", "b"])[np.arange(len(X)) % 2]
    with sklearn.config_context(enable_metadata_routing=True):
        model = OrdinalMLPClassifier(noise=noise, **FAST).set_fit_request(raters=True, sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, Y, raters=names, sample_weight=np.ones(len(X)))
    direct = OrdinalMLPClassifier(noise=noise, **FAST).fit(StandardScaler().fit_transform(X), Y, raters=names)
    np.testing.assert_array_equal(pipeline[-1].network_.parameters, direct.network_.parameters)


def test_inputs_are_left_as_they_were() -> None:
    features, labels, weights = X.copy(), Y.copy(), np.ones(len(X))
    OrdinalMLPClassifier(noise=ASYMMETRIC, **FAST).fit(features, labels, weights)
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(labels, Y)
    np.testing.assert_array_equal(weights, 1)


def test_verbose_shows_a_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    OrdinalMLPClassifier(verbose=True, **FAST).fit(X, Y)
    assert "20/20" in capsys.readouterr().out


def test_divergence_is_a_sentence() -> None:
    settings = FAST | {"learning_rate_init": 1e30, "standardize": False}
    with pytest.raises(DivergedError, match="the training loss must stay finite"):
        OrdinalMLPClassifier(**settings).fit(X * 1e30, Y)


@pytest.mark.filterwarnings("ignore:the noise matrix is in doubt")
def test_hard_noise_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="correction='unbiased' with 100 samples often does worse"):
        OrdinalMLPClassifier(noise=ASYMMETRIC, correction="unbiased", **FAST).fit(X[:100], Y[:100])
    not_dominant = np.array([[0.45, 0.55, 0, 0], [0.1, 0.9, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    with pytest.warns(UserWarning, match=r"records some class wrong with probability 0\.55"):
        OrdinalMLPClassifier(noise=not_dominant, correction="unbiased", **FAST).fit(X, Y)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"noise": np.eye(3)}, r"noise_matrix must be 4 x 4, one row per class, got shape \(3, 3\)"),
    ({"noise": "guess"}, r"noise must be None, a noise matrix, 'estimate' or an estimator, got 'guess'"),
    ({"noise": {"a": np.eye(4)}}, r"raters must name the rater of each sample when noise holds one matrix per rater, got None"),
    ({"correction": "backward"}, r"correction must be one of \['forward', 'unbiased'\], got 'backward'"),
    ({"loss": "cross"}, r"loss must be one of .*, got 'cross'; did you mean 'cross_entropy'\?"),
    ({"noise": ASYMMETRIC, "loss": "hinge"}, r"loss must be 'cross_entropy' for the forward correction, got 'hinge'"),
    ({"thresholds": "sorted"}, r"thresholds must be one of \['ordered', 'free'\], got 'sorted'"),
    ({"decision": "best"}, r"decision must be one of"),
    ({"hidden_layer_sizes": (0,)}, r"hidden_layer_sizes must be a whole number of at least 1, got 0"),
    ({"activation": "relus"}, r"activation must be one of .*did you mean 'relu'\?"),
    ({"learning_rate_init": 0}, r"learning_rate_init must be above 0, got 0"),
    ({"batch_size": 0}, r"batch_size must be a whole number of at least 1, got 0"),
    ({"max_iter": 0}, r"max_iter must be a whole number of at least 1, got 0"),
    ({"classes": [0, 1, 2]}, r"y must hold only the labels \[0, 1, 2\], got 3"),
    ({"early_stopping": True, "validation_fraction": 1.5}, r"validation_fraction must be above 0 and at most 0.9, got 1.5"),
    ({"weight_decay": "much"}, r"weight_decay must be one of \['auto'\], got 'much'"),
    ({"early_stopping": "yes"}, r"early_stopping must be one of \['auto'\], got 'yes'"),
    ({"random_state": "seed"}, r"random_state must be a non-negative seed, a generator or None, got 'seed'"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[str(list(settings)) for settings, _ in BAD])
def test_bad_settings_get_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        OrdinalMLPClassifier(**(FAST | settings)).fit(X, Y)


def test_an_estimate_cannot_be_made_in_parts() -> None:
    with pytest.raises(ValueError, match=r"noise must be known in partial_fit, got 'estimate'"):
        OrdinalMLPClassifier(noise="estimate").partial_fit(X, Y)
