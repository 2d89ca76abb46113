"""Planted near-duplicates, outliers and noisy groups are found, and nothing is found where nothing was planted."""

import numpy as np
import pytest

from ordinoise.audit.neighbors import nearest_rows, similar_rows
from ordinoise.audit.oddities import conflicting_pairs, noisy_groups, unlike_all_others
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
    assert noisy_groups(even, names) == []
    uneven = np.where(names == "ben", rng.beta(2, 4, size=600), even)
    found = noisy_groups(uneven, names)
    assert found[0].name == "ben"
    assert found[0].share > 2 * found[0].elsewhere
    assert "few" not in {one.name for one in found}
    assert noisy_groups(np.where(names == "few", 0.9, even), names) == []  # too few rows to judge
