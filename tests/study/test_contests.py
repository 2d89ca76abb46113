from collections import Counter
from typing import Any

import pytest

from ordinoise.jobs import trial_key
from studies.accuracy import CONTESTANTS, CUTS, PRESETS, Contest, missing, plan

OPPONENTS = ("network, trusting", "histogram")


def test_a_plan_has_every_combination_once() -> None:
    contests = plan(datasets=["toy", "california"], contestants=OPPONENTS, noises=["uniform", "none"], splits=3)
    assert len(contests) == len(set(contests)) == (1 + 2) * 2 * 2 * 3
    assert set(Counter(contest.contestant for contest in contests).values()) == {18}
    assert len({trial_key(contest) for contest in contests}) == len(contests)


def test_a_plan_that_is_stopped_has_whole_splits() -> None:
    splits = [contest.split for contest in plan(contestants=OPPONENTS, splits=3)]
    assert splits == sorted(splits)


def test_the_presets_differ_in_splits_rows_and_slow_contestants() -> None:
    whole, quick = plan("default"), plan("quick")
    assert {contest.split for contest in whole} == set(range(10))
    assert {contest.split for contest in quick} == set(range(3))
    assert {contest.max_rows for contest in quick} == {2000}
    slow = {name for name, who in CONTESTANTS.items() if who.is_slow}
    assert slow.isdisjoint(contest.contestant for contest in quick)
    assert slow
    assert slow - missing().keys() <= {contest.contestant for contest in whole}


def test_all_sets_of_the_study_take_part_by_default() -> None:
    assert {contest.dataset for contest in plan(contestants=OPPONENTS)} == set(CUTS)
    assert {contest.cut for contest in plan(contestants=OPPONENTS) if contest.dataset == "california"} == {
        "equal_width",
        "equal_frequency",
    }


def test_contestants_without_their_packages_are_skipped_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "catboost" in missing()["catboost"]
    assert "'bench'" in missing()["catboost"]
    present = {contest.contestant for contest in plan()}
    assert "histogram" in present
    assert present.isdisjoint(missing())


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        ("datasets", ["bosten"], "datasets must be one of .* did you mean 'boston'"),
        ("contestants", ["lightbgm"], "contestants must be one of .* did you mean 'lightgbm'"),
        ("noises", ["uniforn"], "noises must be one of .* did you mean 'uniform'"),
        ("splits", 0, "splits must be a whole number of at least 1"),
        ("max_rows", 0, "max_rows must be a whole number of at least 1"),
    ],
)
def test_a_plan_of_unknown_things_is_refused_in_a_sentence(argument: str, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plan(**{argument: value})


def test_cost_grows_with_rows_up_to_the_most_there_are() -> None:
    costs = [Contest("toy", "standard", "none", "histogram", 0, rows).cost for rows in (100, 200, 240, 1000, None)]
    assert costs[0] < costs[1] < costs[2] == costs[3] == costs[4]


def test_presets_have_names_that_plan_knows() -> None:
    assert all(plan(name, datasets=["toy"], contestants=OPPONENTS) for name in PRESETS)
