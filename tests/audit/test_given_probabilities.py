"""Wrong labels from probabilities of a model of your own, with the noise estimated from them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ordinoise import Noise, adjacent, corrupt, inverse_decay
from ordinoise.audit import find_label_issues, issues_from_probabilities
from ordinoise.audit.order import explained_by_order
from ordinoise.datasets import OrdinalDataset, synthetic
from ordinoise.estimation.base import IdentifiabilityWarning
from ordinoise.levels import class_probabilities
from ordinoise.scoring import evaluate_probabilities, ranked_probability_score
from strategies import Floats


def ordered_probabilities(score: Floats, spread: float) -> Floats:
    """Four grades that overlap by `spread` along a score."""
    above = expit((score[:, None] - np.array([-1.0, 0.0, 1.0])) / spread)
    return -np.diff(np.column_stack([np.ones(len(score)), above, np.zeros(len(score))]), axis=1)


@pytest.mark.parametrize("seed", [3, 4])
def test_grades_that_overlap_unevenly_are_not_called_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = 1.5 * rng.normal(size=(1500, 2))[:, 0]
    is_wide = rng.random(1500) < 0.4
    true = np.where(is_wide[:, None], ordered_probabilities(score, 1.4), ordered_probabilities(score, 0.35))
    labels = (rng.random(1500)[:, None] > true.cumsum(axis=1)).sum(axis=1)
    issues = issues_from_probabilities(ordered_probabilities(score, 0.6), labels, random_state=0)
    assert not issues.noise.doubts  # only the held-out labels speak against the estimate
    assert issues.noise.answer == "trusting"
    assert "held-out labels" in issues.noise.reason
    assert issues.expected_wrong is not None
    assert issues.expected_wrong.value is None
    assert issues.expected_wrong.low == 0


def test_the_ranking_by_a_model_that_is_too_sure_of_itself_goes_half_way_to_its_calibrated_twin() -> None:
    rng = np.random.default_rng(0)
    right = ordered_probabilities(1.5 * rng.normal(size=800), 0.5)
    labels = (rng.random(800)[:, None] > right.cumsum(axis=1)).sum(axis=1)
    sure = right**3 / (right**3).sum(axis=1, keepdims=True)
    doubted = Noise(np.eye(4), source="estimated", answer="trusting")
    suspicions = [
        issues_from_probabilities(table, labels, doubted, of="recorded").suspicion
        for table in (right, right**2 / (right**2).sum(axis=1, keepdims=True), sure)
    ]
    as_it_is = issues_from_probabilities(sure, labels, doubted, of="recorded", calibrate=False).suspicion
    assert np.abs(suspicions[2] - suspicions[1]).mean() < 0.05 < np.abs(as_it_is - suspicions[0]).mean()
    assert np.abs(suspicions[2] - suspicions[0]).mean() < 0.7 * np.abs(as_it_is - suspicions[0]).mean()


def held_out(data: OrdinalDataset, recorded: np.ndarray, *, shuffled: bool) -> Floats:
    folds = StratifiedKFold(5, shuffle=True, random_state=0) if shuffled else 5
    model = LogisticRegression(max_iter=300)
    return cross_val_predict(model, data.features, recorded, cv=folds, method="predict_proba")


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize("seed", [0, 1])
def test_folds_in_the_order_of_true_grades_do_not_turn_the_ranking_round(seed: int) -> None:
    data = synthetic(400, random_state=seed)  # in the order of the true grades
    recorded = corrupt(data.labels, adjacent(4, 0.2, 0.1), random_state=seed)
    wrong, rows = recorded != data.labels, np.arange(1600)
    in_order, shuffled = (held_out(data, recorded, shuffled=shuffled) for shuffled in (False, True))

    def precision(suspicion: Any) -> float:
        return float(average_precision_score(wrong, suspicion))

    issues = issues_from_probabilities(in_order, recorded, random_state=0)
    assert issues.noise.answer == "trusting"
    assert "ordered-rows" in issues.noise.doubt_codes
    assert "shuffle them" in issues.noise.doubt_text
    assert precision(-issues.rank) > precision(-in_order[rows, recorded]) - 0.01
    assert precision(issues.suspicion) == pytest.approx(precision(-issues.rank), abs=1e-3)
    usual = issues_from_probabilities(shuffled, recorded, random_state=0)
    assert usual.noise.answer == "corrected"  # the doubt about the order does not take the correction away
    assert precision(-usual.rank) > precision(-shuffled[rows, recorded]) + 0.02


def test_a_model_that_folds_made_worse_than_the_class_shares_still_ranks() -> None:
    grades = np.repeat([0, 1, 2], 60)
    recorded = grades.copy()
    recorded[[*range(60, 80), *range(120, 140)]] -= 1  # the first of each grade, all in one fold of their record
    chances = np.full((180, 3), 0.1)
    chances[np.arange(180), grades] = 0.8
    chances[recorded != grades] = 0.001
    chances[recorded != grades, grades[recorded != grades]] = 0.998
    chances[(grades > 0) & (recorded == grades)] = np.full(3, 1 / 3)  # others saw grades 1 and 2 recorded as both
    with pytest.warns(IdentifiabilityWarning):
        issues = issues_from_probabilities(chances, recorded, random_state=0)
    assert issues.noise.answer == "trusting"
    assert "ordered-rows" in issues.noise.doubt_codes
    assert (recorded != grades)[issues.worst[:40]].all()


def test_no_order_is_seen_in_shuffled_rows_or_in_rows_sorted_by_record() -> None:
    data = synthetic(100, random_state=0)
    recorded = corrupt(data.labels, adjacent(4, 0.2, 0.1), random_state=0)
    chances = held_out(data, recorded, shuffled=True)
    assert explained_by_order(chances, recorded) > 0.1
    rng = np.random.default_rng(0)
    for _ in range(20):
        mixed = rng.permutation(400)
        for order in (mixed, mixed[np.argsort(recorded[mixed], kind="stable")]):
            assert explained_by_order(chances[order], recorded[order]) == 0


def test_few_rows_do_not_calibrate_many_grades() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.full(6, 0.5), 60)
    labels = (rng.random(60)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    doubted = Noise(np.eye(6), source="estimated", answer="trusting")
    issues = issues_from_probabilities(chances, labels, doubted, of="recorded")
    own = chances[np.arange(60), labels]
    assert np.abs(issues.suspicion - (1 - own)).max() < 0.1


def test_a_model_of_your_own_is_asked_for_the_noise_of_its_labels() -> None:
    data, noise = synthetic(150, random_state=0), inverse_decay(4, 0.15)
    recorded = corrupt(data.labels, noise, random_state=0)
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    issues = find_label_issues(data.features, recorded, estimator=forest, random_state=0)
    assert issues.noise.answer == "corrected"
    assert "z = " in issues.noise.reason  # held-out labels were asked
    assert (recorded != data.labels)[issues.worst[:50]].mean() > 0.9


def test_the_noise_is_estimated_from_the_probabilities_of_a_model_of_your_own() -> None:
    rng = np.random.default_rng(0)
    place, noise = rng.uniform(-1.5, 1.5, size=(600, 1)), adjacent(3, up=0.2, down=0.1)
    right = class_probabilities(30 * (place - np.array([-0.5, 0.5])))  # a model that knows the truth ...
    truth = (rng.random((600, 1)) > right.cumsum(axis=1)[:, :-1]).sum(axis=1)
    recorded = corrupt(truth, noise, rng)
    issues = issues_from_probabilities(right @ noise, recorded, random_state=0)  # ... but predicts what is recorded
    assert issues.noise.is_estimated
    np.testing.assert_allclose(issues.noise.matrix, noise, atol=0.1)
    assert (recorded != truth)[issues.worst[:50]].mean() > 0.9
    with pytest.raises(
        ValueError, match=r"^of must be 'recorded' where the noise is estimated, got 'true'; pass the noise"
    ):
        issues_from_probabilities(right, recorded, of="true")
    with pytest.raises(
        ValueError, match=r"^noise must be 'estimate', a noise matrix or a fitted estimator, got 'guess'$"
    ):
        issues_from_probabilities(right, recorded, "guess")


def named(frame: str, table: Floats, names: list[str]) -> Any:
    columns = dict(zip(names, table.T, strict=True))
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[frame](columns)


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("prefix", ["", "P_"])
def test_columns_are_read_by_their_names(frame: str, prefix: str) -> None:
    rng = np.random.default_rng(0)
    grades = list("abcd")
    table = ordered_probabilities(1.5 * rng.normal(size=400), 0.5)
    y = np.array(grades)[(rng.random(400)[:, None] > table.cumsum(axis=1)).sum(axis=1)]
    by_position = issues_from_probabilities(table, y, classes=grades, random_state=0)
    reversed_columns = named(frame, table[:, ::-1], [prefix + grade for grade in reversed(grades)])
    by_name = issues_from_probabilities(reversed_columns, y, classes=grades, random_state=0)
    np.testing.assert_array_equal(by_name.suspicion, by_position.suspicion)
    odd = named(frame, table, list("abce"))
    with pytest.raises(
        ValueError, match=r"probabilities columns must be named \['a', 'b', 'c', 'd'\], got \['a', 'b', 'c', 'e'"
    ):
        issues_from_probabilities(odd, y, classes=grades)


def test_columns_that_a_library_numbered_are_in_order() -> None:
    rng = np.random.default_rng(0)
    table = ordered_probabilities(1.5 * rng.normal(size=300), 0.5)
    y = 1 + (rng.random(300)[:, None] > table.cumsum(axis=1)).sum(axis=1)  # stars, and columns 0 to 3
    expected = issues_from_probabilities(table, y, inverse_decay(4, 0.1)).suspicion
    for frame in (pd.DataFrame(table), pl.DataFrame(table), named("pandas", table, ["1.0", "2.0", "3.0", "4.0"])):
        np.testing.assert_array_equal(issues_from_probabilities(frame, y, inverse_decay(4, 0.1)).suspicion, expected)
    with pytest.raises(ValueError, match="columns must be named"):
        issues_from_probabilities(named("pandas", table, ["0", "1", "2", "3"]), y, inverse_decay(4, 0.1))


def test_functions_of_ranks_read_names_too() -> None:
    table, ranks = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]]), np.array([0, 2, 1])
    backwards = named("polars", table[:, ::-1], ["2", "1", "0"])
    assert ranked_probability_score(ranks, backwards) == ranked_probability_score(ranks, table)
    found = evaluate_probabilities(backwards, ranks, None, metrics=["mean_absolute_error"])
    assert found["mean_absolute_error"].observed == 0
    with pytest.raises(ValueError, match=r"probabilities columns must be named \['0', '1', '2'\], got \['low', 'mid'"):
        evaluate_probabilities(named("pandas", table, ["low", "mid", "high"]), ranks, None)


def test_rounded_probabilities_are_told_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"sum of 0\.98 in row 1; if they were rounded, divide every row by its sum"):
        issues_from_probabilities([[0.5, 0.5], [0.49, 0.49]], [0, 1])
