"""Groups of rows that are not independent: how much less they say."""

from __future__ import annotations

import numpy as np
import pytest

from ordinoise._validation import Floats, Ints
from ordinoise.clusters import (
    correlation_within,
    design_effect,
    effect_on_records,
    in_errors,
    record_correlation,
    standard_error,
)
from ordinoise.levels import class_probabilities


def shared(n_groups: int, size: int, share: float, seed: int) -> tuple[Floats, Ints]:
    """Normal values of which a share of the variance is the same in all rows of a group."""
    rng, groups = np.random.default_rng(seed), np.repeat(np.arange(n_groups), size)
    common = rng.normal(size=n_groups)[groups]
    return np.sqrt(share) * common + np.sqrt(1 - share) * rng.normal(size=len(groups)), groups


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_correlation_within_groups_is_the_share_of_variance_in_common(share: float) -> None:
    values, groups = shared(2000, 4, share, 0)
    assert correlation_within(values[:, None], groups) == pytest.approx(share, abs=0.03)
    assert correlation_within(values[:, None], None) == 0


def test_the_design_effect_is_the_growth_of_the_variance_of_a_sum() -> None:
    sums = [shared(200, 4, 0.3, seed)[0].sum() for seed in range(2000)]
    effect = design_effect(0.3, np.repeat(np.arange(200), 4))
    assert effect == pytest.approx(1.9)
    assert np.var(sums) / 800 == pytest.approx(effect, rel=0.1)
    assert design_effect(0.3, np.arange(800)) == design_effect(0.3, None) == 1


def test_rows_of_no_weight_do_not_enlarge_a_group() -> None:
    groups, weights = np.array([0, 0, 0, 1, 1, 1]), np.array([1.0, 0, 0, 1, 0, 0])
    assert design_effect(1.0, groups, weights) == 1


def test_a_mean_of_groups_is_as_sure_as_the_mean_of_their_means() -> None:
    values, groups = shared(60, 5, 1.0, 3)
    weights = np.full(300, 1 / 300)
    of_groups = standard_error(values - values.mean(), weights, groups)
    assert of_groups == pytest.approx(values[::5].std(ddof=1) / np.sqrt(60))
    assert standard_error(values - values.mean(), weights) == pytest.approx(values.std(ddof=1) / np.sqrt(300))
    assert in_errors(values, groups) == pytest.approx(in_errors(values[::5]), rel=0.02)


def test_records_of_a_group_that_are_one_record_count_once_and_independent_ones_each() -> None:
    rng = np.random.default_rng(0)
    chances = class_probabilities(2 * rng.uniform(-3, 3, size=(500, 1)) + np.array([2.0, 0.0, -2.0]))
    ranks = (rng.random((500, 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    groups = np.repeat(np.arange(500), 4)
    assert record_correlation(np.repeat(chances, 4, axis=0), np.repeat(ranks, 4), groups) == pytest.approx(1)
    torn = rng.permutation(groups)
    assert record_correlation(np.repeat(chances, 4, axis=0), np.repeat(ranks, 4), torn) < 0.05
    assert record_correlation(chances, ranks, None) == 0


def test_a_sample_that_tears_groups_shows_the_design_effect_of_the_whole() -> None:
    rng = np.random.default_rng(2)
    chances = class_probabilities(2 * rng.uniform(-3, 3, size=(3000, 1)) + np.array([2.0, 0.0, -2.0]))
    ranks = (rng.random((3000, 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    groups = np.repeat(np.arange(3000), 4)
    some = rng.permutation(12_000)[:4000]
    found = effect_on_records(chances[groups[some]], ranks[groups[some]], groups[some], 12_000)
    assert found == pytest.approx(4, abs=0.25)
    assert effect_on_records(chances[groups], ranks[groups], groups, 12_000) == pytest.approx(4)
