"""Planted near-duplicates, outliers and noisy groups are found, and nothing is found where nothing was planted."""

import numpy as np
import pytest

from ordinoise.audit.neighbors import nearest_rows, similar_rows
from ordinoise.audit.oddities import conflicting_pairs, suspicious_groups, unlike_all_others, wrong_rates
from ordinoise.classifiers.blend.table import Filling, Table


@pytest.fixture(scope="module")
def features() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 4))


def _table(features: np.ndarray) -> Table:
    return Table(features, Filling.of(features, ()))


def test_the_nearest_row_is_the_first_of_the_similar_ones(features: np.ndarray) -> None:
    nearest, distances = nearest_rows(_table(features))
    np.testing.assert_array_equal(nearest, similar_rows(_table(features), np.arange(400), 1)[:, 0])
    assert (distances > 0).all()


def test_planted_pairs_are_found_if_their_grades_differ(features: np.ndarray) -> None:
    planted = features.copy()
    planted[[10, 20, 30]] = planted[[100, 200, 300]] + 1e-4
    recorded = np.random.default_rng(1).integers(0, 4, 400)
    recorded[[100, 200, 300]] = 1
    recorded[[10, 20, 30]] = 2, 2, 1  # the third pair agrees
    nearest, distances = nearest_rows(_table(planted))
    assert sorted(conflicting_pairs(nearest, distances, recorded)) == [(10, 100), (20, 200)]
    assert conflicting_pairs(*nearest_rows(_table(features)), recorded) == []


def test_planted_outliers_are_found_and_normal_rows_are_not(features: np.ndarray) -> None:
    planted = features.copy()
    planted[7], planted[9] = 30.0, -25.0
    assert unlike_all_others(nearest_rows(_table(planted))[1]).tolist() == [7, 9]
    assert len(unlike_all_others(nearest_rows(_table(features))[1])) <= 1


def test_a_careless_group_is_named_and_equal_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    names = rng.choice(["ann", "ben", "cid", "few"], p=[0.33, 0.33, 0.32, 0.02], size=600).astype(object)
    even = rng.beta(0.5, 4, size=600)
    assert suspicious_groups(even, names, 3) == []
    uneven = np.where(names == "ben", rng.beta(2, 4, size=600), even)
    found = suspicious_groups(uneven, names, 3)
    assert found[0].name == "ben"
    assert found[0].share > 2 * found[0].elsewhere
    assert "few" not in {one.name for one in found}
    assert suspicious_groups(np.where(names == "few", 0.9, even), names, 3) == []  # too few rows to judge


def test_of_two_groups_one_is_named() -> None:
    rng = np.random.default_rng(0)
    names = rng.choice(["north", "south"], size=600).astype(object)
    suspicion = np.where(names == "south", rng.beta(2, 4, size=600), rng.beta(0.5, 4, size=600))
    assert [one.name for one in suspicious_groups(suspicion, names, 2)] == ["south"]


def test_rates_by_random_rows_name_what_differs_and_nothing_by_chance() -> None:
    rng = np.random.default_rng(0)
    places = np.array(["north", "south"], dtype=object)[rng.integers(2, size=200)]
    is_wrong = rng.random(200) < np.where(places == "south", 0.3, 0.05)
    (found,) = wrong_rates(is_wrong, places, ["north", "south"], 2, 0.95)
    assert found.name == "south"
    assert found.own == (int((places == "south").sum()), int(is_wrong[places == "south"].sum()))
    assert found.share.low < 0.3 < found.share.high
    assert found.elsewhere.low < 0.05 < found.elsewhere.high
    months = [str(month) for month in range(24)]
    named = sum(
        bool(wrong_rates(rng.random(200) < 0.1, rng.choice(months, 200).astype(object), months, 24, 0.95))
        for _ in range(200)
    )
    assert named <= 10  # one in twenty at most


def test_intervals_of_many_groups_hold_together() -> None:
    rng, held = np.random.default_rng(1), 0
    rates = np.array([0.02] * 9 + [0.7])
    for _ in range(200):
        at = rng.integers(10, size=300)
        found = wrong_rates(rng.random(300) < rates[at], at.astype(str).astype(object), list("0123456789"), 10, 0.95)
        assert [one.name for one in found] == ["9"]
        held += found[0].share.low <= 0.7 <= found[0].share.high and found[0].elsewhere.low <= 0.02
    assert held >= 194
