import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordinoise import AnchorPoints, adjacent, corrupt, inverse_decay
from ordinoise.classifiers.blend import candidates, lineup, mixture, table
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.lineup import dense_candidates
from ordinoise.classifiers.blend.mixture import blend_weights
from ordinoise.classifiers.blend.plan import BlendPlan
from ordinoise.classifiers.blend.table import Filling, Table
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.estimation import IdentifiabilityWarning
from ordinoise.estimation.score import specification
from ordinoise.labels import Verified, trusted_ranks
from sklearn_failures import TEXT_CHECKS

ASYMMETRIC = adjacent(4, up=0.4, down=0.02)


def _data(n: int = 300, seed: int = 0, scale: float = 0.15) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=scale, size=n), [-1, 0, 1])


X, Y = _data()
NOISY = corrupt(Y, ASYMMETRIC, 0)
FAST: dict[str, Any] = {"n_folds": 2, "n_rounds": 1, "n_jobs": 1, "random_state": 0}
NETWORKS: dict[str, Any] = FAST | {"learner": "mlp"}

FOLDS = "repeating a row moves rows between folds; weighting it does not"


FAILURES = TEXT_CHECKS | {f"check_sample_weight_equivalence_on_{form}_data": FOLDS for form in ("dense", "sparse")}


# The mode, since the checks hold `predict` to the most probable class.
@pytest.mark.slow
@parametrize_with_checks(
    [OrdinalClassifier(noise=None, decision="mode", **NETWORKS)], expected_failed_checks=lambda _: FAILURES
)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@parametrize_with_checks([OrdinalClassifier(decision="mode", **NETWORKS)], expected_failed_checks=lambda _: FAILURES)
def test_scikit_learn_check_of_an_estimated_noise(estimator: Any, check: Any) -> None:
    check(estimator)


@cache
def _fitted(learner: str = "blend") -> OrdinalClassifier:
    return OrdinalClassifier(learner, noise=ASYMMETRIC, **FAST).fit(X, NOISY)


def test_the_blend_is_the_weighted_average_of_its_learners() -> None:
    model = _fitted()
    table = model.predict_proba(X)
    parts = {}
    for name in model.models_:
        alone = clone(model)
        alone.__dict__.update(model.__dict__)
        alone.weights_ = {name: 1.0}
        alone.models_ = {name: model.models_[name]}
        parts[name] = alone.predict_proba(X)
    assert set(parts) == set(model.weights_)
    np.testing.assert_allclose(table, sum(model.weights_[name] * parts[name] for name in parts))
    assert model.learner_ == "blend"
    assert sum(model.weights_.values()) == pytest.approx(1)


def test_the_blend_explains_the_records_better_than_its_average_learner() -> None:
    selection = dict(_fitted().selection_)
    blend = selection.pop("blend")
    assert set(selection) == set(_fitted().weights_)
    assert blend > np.mean(list(selection.values()))


def test_selection_is_the_forward_likelihood_of_rows_left_out() -> None:
    model = _fitted()
    assert model.out_of_fold_ is not None
    recorded = (model.out_of_fold_ @ ASYMMETRIC)[np.arange(len(Y)), NOISY]
    assert model.selection_["blend"] == pytest.approx(np.log(recorded).mean())


def test_automatic_choice_leaves_out_what_has_hardly_any_weight() -> None:
    rng = np.random.default_rng(0)
    good, bad = rng.uniform(0.6, 0.9, size=500), rng.uniform(0.001, 0.002, size=500)
    ones = np.ones(500)
    kept = blend_weights({"good": good, "bad": bad}, ones, drop=False)
    assert 0 < kept["bad"] < 0.05
    assert blend_weights({"good": good, "bad": bad}, ones, drop=True) == {"good": 1.0, "bad": 0.0}
    alike = blend_weights({"one": good, "other": good.copy()}, ones, drop=True)
    assert alike["one"] == pytest.approx(0.5, abs=1e-3)


def test_sample_weights_reach_the_choice() -> None:
    one, other = np.repeat([0.9, 0.1], 50), np.repeat([0.1, 0.9], 50)
    weights = blend_weights({"one": one, "other": other}, np.repeat([5.0, 1.0], 50), drop=False)
    assert weights["one"] > 0.7


def test_known_noise_beats_trust_and_the_mirrored_matrix() -> None:
    features, labels = _data(500, seed=1)
    noisy = corrupt(labels, ASYMMETRIC, 1)

    def clean_error(noise: Any) -> float:
        model = OrdinalClassifier("boosting", noise=noise, **FAST).fit(features, noisy)
        return float(np.abs(model.predict(X) - Y).mean())

    known = clean_error(ASYMMETRIC)
    assert known < 0.75 * clean_error(None)
    assert known < 0.75 * clean_error(ASYMMETRIC[::-1, ::-1])


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_noise_is_estimated_with_an_interval() -> None:
    features, labels = _data(1500, seed=2)
    noise = inverse_decay(4, 0.15)
    model = OrdinalClassifier(**NETWORKS).fit(features, corrupt(labels, noise, 2))
    assert np.abs(model.noise_matrix_ - noise).mean() < 0.05
    assert model.noise_.rate_interval is not None
    assert model.noise_.rate is not None
    low, high = model.noise_.rate_interval
    assert low < model.noise_.rate < high
    assert model.noise_.source == "estimated"
    assert len(model.noise_.replicates) == 500


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_noise_alone_is_what_a_whole_fit_finds() -> None:
    whole = OrdinalClassifier(**NETWORKS).fit(X[:250], NOISY[:250])
    alone = OrdinalClassifier(**NETWORKS).estimate_noise(X[:250], NOISY[:250])
    whole_noise = replace(whole.noise_, answer=alone.answer, reason=alone.reason)  # it waits for the fits that correct
    assert alone.to_dict() == whole_noise.to_dict()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_an_estimate_of_no_noise_is_the_model_that_trusts() -> None:
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, size=(400, 1))
    labels = np.digitize(features[:, 0], [-0.5, 0.0, 0.5])
    model = OrdinalClassifier(**NETWORKS).fit(features, labels)
    assert model.noise_matrix_.diagonal().min() > 0.999
    trusting = OrdinalClassifier(**NETWORKS, noise=None).fit(features, labels)
    np.testing.assert_array_equal(model.predict_proba(features), trusting.predict_proba(features))


def test_few_rows_are_trusted_with_a_warning() -> None:
    with pytest.warns(IdentifiabilityWarning, match="too few rows to tell .* takes 50 rows .* got 40 rows"):
        model = OrdinalClassifier(**NETWORKS).fit(X[:40], Y[:40])
    np.testing.assert_array_equal(model.noise_matrix_, np.eye(4))
    assert model.noise_.source == "too few rows"
    assert model.noise_.rate is None
    assert model.noise_.doubt_codes == ("too-few-rows",)


def test_an_estimator_of_ones_own_is_used() -> None:
    model = OrdinalClassifier(noise=AnchorPoints(n_bootstrap=0), **NETWORKS).fit(X, NOISY)
    assert model.noise_.method == "AnchorPoints"
    np.testing.assert_array_equal(model.noise_matrix_, model.noise_.matrix)


@pytest.mark.parametrize("learner", ["mlp", "boosting"])
def test_raters_with_the_same_matrix_are_one_rater(learner: str) -> None:
    raters = np.arange(len(Y)) % 2
    both = OrdinalClassifier(learner, noise=np.stack([ASYMMETRIC, ASYMMETRIC]), **FAST).fit(X, NOISY, raters=raters)
    np.testing.assert_allclose(both.predict_proba(X), _fitted(learner).predict_proba(X), atol=1e-5)


def test_each_rater_is_read_by_their_own_matrix() -> None:
    raters = np.arange(len(Y)) % 2
    recorded = np.where(raters == 0, Y, corrupt(Y, ASYMMETRIC, 0))

    def error(noise: Any) -> float:
        model = OrdinalClassifier(noise=noise, **NETWORKS).fit(X, recorded, raters=raters)
        return -model.selection_["blend"]

    assert error({0: np.eye(4), 1: ASYMMETRIC}) < error({1: np.eye(4), 0: ASYMMETRIC})


def test_a_settled_label_speaks_for_one_grade_and_the_others_for_what_the_noise_allows() -> None:
    table = Table(X, Filling.of(X, []))
    data = Recorded(table, NOISY, np.ones(len(Y)), ASYMMETRIC[None])
    rows = np.array([3, 40])
    settled = data.with_trusted(trusted_ranks((rows, Y[rows]), np.arange(4), len(Y)))
    expected = data.likelihood.copy()
    expected[rows] = np.eye(4)[Y[rows]]
    np.testing.assert_array_equal(settled.likelihood, expected)
    np.testing.assert_array_equal(data.ranks, NOISY)


def test_a_verifier_who_errs_counts_beside_the_record_and_alone_without_one() -> None:
    table, errs = Table(X, Filling.of(X, [])), adjacent(4, up=0.1, down=0.3)
    data = Recorded(table, NOISY, np.ones(len(Y)), ASYMMETRIC[None])
    rows = np.array([3, 40, 41])
    said = np.array([NOISY[3], NOISY[40], 3])
    verified = Verified(rows, said, noise=errs, is_recorded=[True, True, False])
    settled = data.with_trusted(trusted_ranks(verified, np.arange(4), len(Y)))
    expected = errs[:, said].T * ASYMMETRIC[:, NOISY[rows]].T
    expected[2] = errs[:, 3]
    np.testing.assert_allclose(settled.likelihood[rows], expected / expected.max(axis=1, keepdims=True))
    np.testing.assert_allclose(settled.matrices.sum(axis=2), 1)


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_trusted_labels_train_the_models_and_inform_the_noise_estimate() -> None:
    """Grades overlap so much that it looks like noise between neighbors, until the worst 200 labels are verified."""
    features, true = _data(1200, seed=7, scale=0.5)
    noisy = corrupt(true, ASYMMETRIC, 3)
    alone = OrdinalClassifier(**NETWORKS).fit(features, noisy)
    assert alone.out_of_fold_ is not None
    after = alone.out_of_fold_ * alone.noise_matrix_[:, noisy].T
    worst = np.argsort(after[np.arange(1200), noisy] / after.sum(axis=1))[:200]
    helped = OrdinalClassifier(**NETWORKS).fit(features, noisy, trusted=(worst, true[worst]))
    X_new, y_new = _data(3000, seed=8, scale=0.5)
    distance = [np.abs(model.noise_matrix_ - ASYMMETRIC).mean() for model in (alone, helped)]
    width = [np.ptp(np.array(model.noise_.rate_interval)) for model in (alone, helped)]
    errors = [np.abs(model.predict(X_new) - y_new).mean() for model in (alone, helped)]
    assert distance[1] < 0.5 * distance[0]
    assert width[1] < 0.7 * width[0]
    assert errors[1] < errors[0]


def test_trusted_rows_without_weight_are_not_there() -> None:
    weights = np.ones(len(Y))
    weights[:20] = 0
    rows = np.arange(15, 30)
    weighted = OrdinalClassifier(noise=ASYMMETRIC, **NETWORKS).fit(X, NOISY, weights, trusted=(rows, Y[rows]))
    later = np.arange(20, 30)
    shorter = OrdinalClassifier(noise=ASYMMETRIC, **NETWORKS).fit(X[20:], NOISY[20:], trusted=(later - 20, Y[later]))
    np.testing.assert_array_equal(weighted.predict_proba(X), shorter.predict_proba(X))


def test_a_row_cannot_be_trusted_twice() -> None:
    with pytest.raises(ValueError, match="trusted rows must name every row once, got some twice"):
        OrdinalClassifier(noise=ASYMMETRIC, **NETWORKS).fit(X, NOISY, trusted=([1, 1], [0, 2]))


def test_every_model_that_stops_by_the_rows_left_out_keeps_its_curve() -> None:
    curves = _fitted().curves_
    networks = {"linear network", "stopped linear network", "small network", "large network"}
    assert set(curves) == {*networks, "softmax trees", "ordered trees"}
    assert all(len(curve) > 5 for name in curves if name != "linear network" for curve in curves[name])
    assert all(len(curve) == 0 for curve in curves["linear network"])


def test_progress_is_shown_on_standard_error_only(capsys: pytest.CaptureFixture[str]) -> None:
    OrdinalClassifier(noise=ASYMMETRIC, **NETWORKS, verbose=True).fit(X[:60], NOISY[:60])
    assert capsys.readouterr().out == ""


def test_many_rows_are_left_to_one_head_of_trees_one_network_and_fewer_folds() -> None:
    assert "softmax trees" not in dense_candidates("boosting", 100_001, ())
    assert "softmax trees" in dense_candidates("boosting", 100_000, ())
    networks = {
        n: [name for name in dense_candidates("auto", n, ()) if "network" in name] for n in (7999, 8000, 32_001)
    }
    assert networks[7999] == ["linear network", "small network", "large network"]
    assert networks[8000] == ["linear network", "large network"]
    assert networks[32_001] == ["linear network", "small network"]
    rng = np.random.default_rng(0)
    for n_rows, n_folds in ((800_001, 2), (800_000, 3), (100_000, 4), (32_000, 5)):
        assert BlendPlan().folds(np.zeros(n_rows, dtype=np.int64), None, rng).max() == n_folds - 1


def test_neither_threads_nor_a_second_fit_change_the_model() -> None:
    again = OrdinalClassifier("blend", noise=ASYMMETRIC, **(FAST | {"n_jobs": 2})).fit(X, NOISY)
    np.testing.assert_array_equal(again.predict_proba(X), _fitted().predict_proba(X))


def test_a_row_without_weight_is_not_there() -> None:
    weights = np.ones(len(Y))
    weights[-20:] = 0
    weighted = OrdinalClassifier(noise=ASYMMETRIC, **NETWORKS).fit(X, NOISY, sample_weight=weights)
    shorter = OrdinalClassifier(noise=ASYMMETRIC, **NETWORKS).fit(X[:-20], NOISY[:-20])
    np.testing.assert_array_equal(weighted.predict_proba(X), shorter.predict_proba(X))


def test_class_weights_are_weights_of_recorded_labels() -> None:
    weight = {0: 3.0, 1: 1.0, 2: 1.0, 3: 1.0}
    by_class = OrdinalClassifier(noise=ASYMMETRIC, class_weight=weight, **NETWORKS).fit(X, NOISY)
    by_row = OrdinalClassifier(noise=ASYMMETRIC, **NETWORKS).fit(X, NOISY, sample_weight=np.where(NOISY == 0, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))


def _frame(n: int = 300) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    kind = rng.choice(["low", "mid", "high"], size=n)
    size = rng.normal(size=n)
    labels = np.digitize(size + 2.0 * (kind == "high") - 2.0 * (kind == "low"), [-1, 1])
    frame = pd.DataFrame({"size": np.where(rng.random(n) < 0.1, np.nan, size), "kind": pd.Categorical(kind)})
    return frame, labels


@pytest.mark.parametrize("learner", ["mlp", "boosting"])
def test_gaps_and_categories_are_learned_from(learner: str) -> None:
    frame, labels = _frame()
    model = OrdinalClassifier(learner, noise=None, **FAST).fit(frame, labels)
    assert model.score(frame, labels) > 0.75
    unknown = frame.assign(kind=pd.Categorical(["never seen"] * len(frame)))
    assert np.isfinite(model.predict_proba(unknown)).all()


def test_networks_get_medians_flags_and_one_column_a_category() -> None:
    nan = np.nan
    filling = Filling.of(np.array([[1.0, 0.0], [3.0, 1.0], [nan, 1.0], [5.0, nan]]), [1])
    dense = filling.dense(np.array([[nan, 1.0], [2.0, 7.0]]))
    np.testing.assert_array_equal(dense, [[3, 1, 0, 1], [2, 0, 0, 0]])
    assert filling.n_columns(2) == dense.shape[1]


@pytest.mark.slow
def test_of_many_rows_only_a_part_is_made_dense_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, labels = _frame(600)
    whole = OrdinalClassifier("mlp", noise=None, **FAST).fit(frame, labels)
    expected = whole.predict_proba(frame)
    n_rows: list[int] = []
    made = Filling.dense

    def counted(rule: Filling, rows: Any) -> Any:
        n_rows.append(len(rows))
        return made(rule, rows)

    monkeypatch.setattr(Filling, "dense", counted)
    for module in (candidates, lineup, mixture):
        monkeypatch.setattr(module, "MANY_ROWS", 100)
    for module in (table, mixture):
        monkeypatch.setattr(module, "DENSE_ROWS", 120)
    monkeypatch.setattr(specification, "MOST_ROWS", 80)
    np.testing.assert_allclose(whole.predict_proba(frame), expected, rtol=1e-12)
    assert max(n_rows) == 120
    recorded = corrupt(labels, inverse_decay(3, 0.2), 0)
    for learner in ("auto", "boosting"):
        n_rows.clear()
        OrdinalClassifier(learner, answer="corrected", **FAST).fit(frame, recorded)
        assert 0 < max(n_rows) <= 125  # 100 rows to learn from and 25 held out


BAD: list[tuple[dict[str, Any], str]] = [
    ({"learner": "boost"}, "learner must be one of .* did you mean 'boosting'"),
    ({"noise": "guess"}, "noise must be None, a noise matrix, 'estimate' or an estimator, got 'guess'"),
    ({"noise": np.eye(3)}, "noise_matrix must be 4 x 4"),
    ({"decision": "middle"}, "decision must be one of"),
    ({"n_folds": 1}, "n_folds must be a whole number of at least 2, got 1"),
    ({"n_rounds": 0}, "n_rounds must be a whole number of at least 1, got 0"),
    ({"n_jobs": 0}, "n_jobs must be a whole number of at least 1, got 0"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[str(list(settings)) for settings, _ in BAD])
def test_bad_settings_get_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        OrdinalClassifier(**(NETWORKS | {"noise": None} | settings)).fit(X, Y)


def test_raters_do_not_go_with_an_estimate() -> None:
    with pytest.raises(ValueError, match="noise must hold one matrix per rater when raters are given"):
        OrdinalClassifier(**NETWORKS).fit(X, Y, raters=Y)


def test_raters_are_as_many_as_labels() -> None:
    with pytest.raises(ValueError, match="raters must be as long as y"):
        OrdinalClassifier(**NETWORKS, noise={0: ASYMMETRIC}).fit(X, Y, raters=[0, 0])


def test_a_saved_model_comes_back_exactly(tmp_path: Path) -> None:
    frame, labels = _frame()
    grades = np.array(["poor", "fair", "best"])
    model = OrdinalClassifier("blend", noise=inverse_decay(3, 0.1), classes=grades, **FAST).fit(frame, grades[labels])
    model.save(tmp_path / "model")
    back = OrdinalClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(back.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(back.noise_matrix_, model.noise_matrix_)
    assert (back.weights_, back.selection_, back.learner_) == (model.weights_, model.selection_, model.learner_)
    assert back.feature_names_in_.tolist() == ["size", "kind"]


def _without(folder: Path, name: str) -> None:
    arrays = load_file(folder / "arrays.safetensors")
    save_file({key: array for key, array in arrays.items() if key != name}, folder / "arrays.safetensors")


def _with_classes(folder: Path, classes: list[int]) -> None:
    header = json.loads((folder / "model.json").read_text())
    header["settings"]["classes"] |= {"array": classes, "shape": [len(classes)]}
    (folder / "model.json").write_text(json.dumps(header))


DAMAGE: list[tuple[Any, str]] = [
    (lambda folder: _without(folder, "center-0-1"), "path must hold a whole model"),
    (lambda folder: _without(folder, "medians"), "path must hold a whole model"),
    (lambda folder: _with_classes(folder, [0, 1, 2]), "path must hold a whole model"),
    (lambda folder: _without(folder, "trees-4-0.leaves"), "path must hold a whole model"),
]


@pytest.mark.parametrize(("damage", "sentence"), DAMAGE)
def test_a_damaged_folder_is_refused_with_a_sentence(damage: Any, sentence: str, tmp_path: Path) -> None:
    _fitted().save(tmp_path / "model")
    damage(tmp_path / "model")
    with pytest.raises(ValueError, match=sentence):
        OrdinalClassifier.load(tmp_path / "model")
