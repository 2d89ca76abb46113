"""Statistics over sets, and results that are kept as text."""

import doctest
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import studies.paired
from ordinoise.jobs import ResultStore, StoredResult
from studies.paired import by_set, compared
from studies.results import kept, read, write
from study_results import stored


def test_the_example_in_the_module_runs() -> None:
    assert doctest.testmod(studies.paired).failed == 0


def test_differences_of_one_set_are_averaged_first() -> None:
    assert by_set(["b", "a", "b", "b"], [1.0, 5.0, 2.0, 6.0]).tolist() == [5.0, 3.0]


def test_who_is_better_is_turned_round_by_the_sign() -> None:
    differences = np.array([0.03, 0.01, -0.02, 0.05, 0.02, 0.04])
    one, other = compared(differences, 0.005), compared(-differences, 0.005)
    assert (one.mean, one.low) == pytest.approx((-other.mean, -other.high), abs=1e-3)
    assert (one.better, one.worse) == pytest.approx((other.worse, other.better), abs=0.02)
    assert one.better > 0.8 > 0.2 > one.worse


def test_differences_within_the_margin_are_equal_and_few_sets_prove_little() -> None:
    assert compared(np.full(12, 0.004), 0.005).equal == 1.0
    assert compared(np.full(12, 0.006), 0.005).better > 0.99
    assert compared(np.array([0.1, -0.1]), 0.005).better < 0.7


def test_results_come_back_from_a_table_as_they_were(tmp_path: Path) -> None:
    results = [stored("lightgbm", (0.25, 0.5), split=1, score=0.125), stored("mord", 0.75, max_rows=2000)]
    write(results, tmp_path / "table.csv")
    back = sorted(read(tmp_path / "table.csv"), key=lambda one: one.key)
    assert back == sorted(results, key=lambda one: one.key)


def test_a_store_continues_from_the_table_and_adds_to_it(tmp_path: Path) -> None:
    first, second = stored("mord", 0.75), stored("mord", 0.5, split=1)
    write([first], tmp_path / "table.csv")
    with kept(tmp_path / "table.csv", tmp_path / "working.sqlite", "now") as store:
        assert store.keys() == {first.key}
        store.add(second.key, second.trial, second.result, second.seconds)
    assert {one.key for one in read(tmp_path / "table.csv")} == {first.key, second.key}
    with ResultStore(tmp_path / "working.sqlite") as store:
        assert store.keys() == {first.key, second.key}


def _measured_on(package: str, one: StoredResult) -> StoredResult:
    return replace(one, result={**one.result, "package": package})


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("place", ["table", "killed run"])
def test_our_results_of_another_state_of_the_package_are_measured_anew_only_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: bool, place: str
) -> None:
    table, working = tmp_path / "table.csv", tmp_path / "working.sqlite"
    old = _measured_on("120000000000", stored("ordinoise", 0.5))
    new, other = _measured_on("340000000000", stored("ordinoise", 0.5, split=1)), stored("mord", 0.75)
    if place == "table":
        write([old, new, other], table)
    else:
        with ResultStore(working) as store:
            for one in (old, new, other):
                store.add(one.key, one.trial, one.result, one.seconds)
    if anew:
        monkeypatch.setenv("ORDINOISE_ANEW", "1")
    with kept(table, working, "340000000000", lambda trial: trial["contestant"] == "ordinoise") as store:
        assert store.keys() == {new.key, other.key} | (set() if anew else {old.key})
    assert {one.key: one.result.get("package") for one in read(table)}[new.key] == "340000000000"
