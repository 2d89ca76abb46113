import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier

from ordinoise._validation import Floats, Ints
from ordinoise.jobs import ResultStore, run_plan
from studies.accuracy import CONTESTANTS, Contest, Contestant, missing, plan, problem_of, processes, run
from studies.accuracy.contestants.trees import MOST_ROUNDS, StoppedEarly
from studies.accuracy.measurement import _all_columns

CONTEST = Contest("diabetes", "standard", "uniform", "histogram", split=0, max_rows=120)


class Oracle:
    """Knows the test labels, and is sure of them or one grade too high."""

    def __init__(self, truth: Ints, n_classes: int, shift: int = 0) -> None:
        self.probabilities: Floats = np.eye(n_classes)[np.minimum(truth + shift, n_classes - 1)]

    def fit(self, X: Any, y: Ints) -> None:
        assert len(X) == len(y)

    def predict_proba(self, X: Any) -> Floats:
        assert len(X) == len(self.probabilities)
        return self.probabilities

    def predict(self, X: Any) -> Ints:
        return np.asarray(self.predict_proba(X).argmax(axis=1))


class Constant:
    """Gives every row the same label, and no probabilities."""

    def __init__(self, label: int) -> None:
        self.label = label

    def fit(self, X: Any, y: Ints) -> None:
        assert len(X) == len(y)

    def predict(self, X: Any) -> Ints:
        return np.full(len(X), self.label)


@pytest.fixture
def enter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Add a contestant named 'guest'."""

    def enter(**fields: Any) -> Contest:
        monkeypatch.setitem(CONTESTANTS, "guest", Contestant("guest", settings="", **fields))
        monkeypatch.setattr("studies.accuracy.measurement._warm_up", lambda _: None)
        return replace(CONTEST, contestant="guest")

    return enter


def test_who_knows_the_truth_makes_no_error(enter: Any) -> None:
    contest = enter(
        make=lambda problem: Oracle(problem.test_labels, problem.n_classes), decisions=("own", "mode", "median")
    )
    result = run(contest)
    assert result["ranked_probability_score"] == 0
    for errors in result["decisions"].values():
        assert errors == {"mean_absolute_error": 0, "zero_one_loss": 0, "quadratic_weighted_kappa": 1}


def test_who_is_one_grade_off_errs_by_what_the_metrics_say(enter: Any) -> None:
    contest = enter(make=lambda problem: Oracle(problem.test_labels, problem.n_classes, shift=1))
    result = run(contest)
    below_top = (problem_of(contest).test_labels < problem_of(contest).n_classes - 1).mean()
    errors = result["decisions"]["own"]
    assert errors["mean_absolute_error"] == errors["zero_one_loss"] == pytest.approx(below_top)
    assert result["ranked_probability_score"] == pytest.approx(below_top)


def test_who_has_no_probabilities_has_no_probability_score(enter: Any) -> None:
    result = run(enter(make=lambda _: Constant(0)))
    assert "ranked_probability_score" not in result
    truth = problem_of(CONTEST).test_labels
    assert result["decisions"]["own"]["mean_absolute_error"] == pytest.approx(truth.mean())


@pytest.mark.parametrize("is_ours", [False, True])
def test_a_grade_without_rows_is_dropped_for_others_and_kept_for_ours(
    enter: Any, monkeypatch: pytest.MonkeyPatch, is_ours: bool
) -> None:
    whole = problem_of(CONTEST)
    lacking = replace(whole, labels=np.where(whole.labels == 1, 2, whole.labels))
    monkeypatch.setattr("studies.accuracy.measurement.problem_of", lambda *_: lacking)
    seen: list[tuple[int, set[int]]] = []

    def make(problem: Any) -> Any:
        seen.append((problem.n_classes, set(problem.labels.tolist())))
        return Constant(2)

    result = run(enter(make=make, is_ours=is_ours))
    assert seen == ([(5, {0, 2, 3, 4})] if is_ours else [(4, {0, 1, 2, 3})])
    constant = 2 if is_ours else 3
    assert result["decisions"]["own"]["mean_absolute_error"] == pytest.approx(
        np.abs(whole.test_labels - constant).mean()
    )


def test_columns_of_absent_grades_are_zero_and_rows_sum_to_one() -> None:
    complete = _all_columns(np.array([[0.5, 0.5], [0.999999, 0.0]]), np.array([0, 2]), 4)
    np.testing.assert_array_equal(complete, [[0.5, 0, 0.5, 0], [1, 0, 0, 0]])


def test_the_warnings_of_a_learner_are_ignored(enter: Any) -> None:
    class Loud(DummyClassifier):
        def fit(self, X: Any, y: Ints) -> None:
            warnings.warn("not converged", stacklevel=1)
            super().fit(X, y)

    assert run(enter(make=lambda _: Loud()))["fit_seconds"] >= 0


HAS_HELD_OUT = "X_val" in signature(HistGradientBoostingClassifier.fit).parameters


def _each() -> list[Any]:
    """Every contestant; those that take seconds in the slow run."""
    return [pytest.param(name, marks=[pytest.mark.slow] * (who.seconds >= 2)) for name, who in CONTESTANTS.items()]


@pytest.mark.parametrize("name", _each())
def test_every_contestant_learns_something(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in missing():
        pytest.skip(missing()[name])
    if name == "histogram, stopped" and not HAS_HELD_OUT:
        pytest.skip("scikit-learn 1.7")
    # The warm-up only matters for the measured time.
    monkeypatch.setattr("studies.accuracy.measurement._warm_up", lambda _: None)
    contest = replace(CONTEST, contestant=name, noise="none", max_rows=200)
    result = run(contest)
    problem = problem_of(contest)
    guess = np.abs(problem.test_labels - int(np.median(problem.test_labels))).mean()
    assert set(result["decisions"]) == set(CONTESTANTS[name].decisions)
    for errors in result["decisions"].values():
        assert errors["mean_absolute_error"] < guess
        assert errors["quadratic_weighted_kappa"] > 0.2


@pytest.mark.slow
def test_a_plan_runs_in_processes_and_is_resumed(tmp_path: Path) -> None:
    contests = [replace(CONTEST, contestant="rounded regression", split=split) for split in range(3)]
    with ResultStore(tmp_path / "accuracy.sqlite") as store, processes(2) as executor:
        first = run_plan(contests[:1], run, store, executor)
        all_three = run_plan(contests, run, store, executor)
    assert not first.failures
    assert all_three.n_reused == 1
    assert all_three.results[0] == first.results[0]
    for contest, found in zip(contests, all_three.results, strict=True):
        assert found.result["decisions"] == run(contest)["decisions"]


def test_a_contest_and_its_result_pass_through_a_store(tmp_path: Path) -> None:
    contest = replace(CONTEST, contestant="rounded regression")
    with ResultStore(tmp_path / "accuracy.sqlite") as store, ThreadPoolExecutor(1) as executor:
        (found,) = run_plan([contest], run, store, executor).results
    assert Contest(**{name: value for name, value in found.trial.items() if name != "kind"}) == contest
    assert found.result["decisions"] == run(contest)["decisions"]


def test_the_first_fit_of_a_process_is_a_warm_up(enter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    contest = enter(make=lambda _: Constant(0))
    warm: list[str] = []
    monkeypatch.setattr("studies.accuracy.measurement._warm_up", warm.append)
    run(contest)
    assert warm == ["guest"]


def test_an_unknown_contestant_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"contestant must be one of .* did you mean 'histogram'"):
        run(replace(CONTEST, contestant="histogran"))


def test_only_the_oracles_are_given_the_matrix() -> None:
    oracles = {name for name, who in CONTESTANTS.items() if who.is_oracle}
    assert oracles == {"network, known", "boosting, known"}
    assert all(CONTESTANTS[name].is_ours for name in oracles)
    assert {contest.contestant for contest in plan(contestants=sorted(oracles), splits=1)} == oracles


@pytest.mark.skipif(not HAS_HELD_OUT, reason="scikit-learn 1.7")
def test_boosting_that_stops_early_learns_a_grade_with_a_single_row() -> None:
    features = np.random.default_rng(0).normal(size=(120, 2))
    labels = np.where(features[:, 0] > 0, 2, 1)
    labels[0] = 0
    model = StoppedEarly("histogram", seed=0).fit(features, labels)
    assert model.predict_proba(features).shape == (120, 3)
    assert model.model.n_iter_ < MOST_ROUNDS
