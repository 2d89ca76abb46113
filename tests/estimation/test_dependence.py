"""Raters who depend on each other: groups, copies, one voice for each, and how many votes a panel is worth."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from estimation.made_ratings import Ints, perceived_panel, perceiving, quick, ratings_of, with_copies
from ordinoise.estimation import RepeatedLabels
from ordinoise.estimation.raters.correlations import correlations, sums_of_pairs
from ordinoise.estimation.raters.dependence import Dependence, dependence
from ordinoise.estimation.raters.equality import implied_equality
from ordinoise.estimation.raters.estimator import from_wide
from ordinoise.estimation.raters.members import with_members
from ordinoise.estimation.raters.ratings import Ratings, Votes
from ordinoise.estimation.raters.votes import effective_votes, verified_votes

HONEST = (3, 0.4)


def copied(slips: float, n_copies: int = 6, seed: int = 0) -> tuple[Ints, Ints]:
    """Three sound raters, and one poor rater with copies."""
    truth, grades = perceived_panel(400, (HONEST, (1, 1.5)), seed)
    return truth, with_copies(grades, n_copies, slips, seed)


def fitted(table: Ints, **settings: Any) -> RepeatedLabels:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quick(classes=range(4), **settings).fit(*from_wide(table))


# Correlations and equality ---------------------------------------------------------------------------------


def test_correlations_are_those_of_the_common_items() -> None:
    rng = np.random.default_rng(0)
    grades = rng.integers(4, size=(3, 90)) + np.array([0, 1, 1])[:, None] * rng.normal(size=90)
    grades[0, :30] = grades[1, 60:] = np.nan
    found = correlations(sums_of_pairs(grades))
    both = slice(30, 60)
    assert found[0, 1] == pytest.approx(np.corrcoef(grades[0, both], grades[1, both])[0, 1])
    assert found[0, 2] == pytest.approx(np.corrcoef(grades[0, 30:], grades[2, 30:])[0, 1])
    assert np.isnan(correlations(sums_of_pairs(grades[:, 20:40]))[0, 1])  # ten common items


def test_implied_equality_is_that_of_drawn_perceptions() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=200_000)
    cuts = (np.array([-0.5, 0.2, 1.0]), np.array([-0.9, 0.4, 0.8]))
    one, other = (np.searchsorted(each, 0.8 * score + 0.6 * rng.normal(size=len(score))) for each in cuts)
    shares = [np.bincount(each) / len(each) for each in (one, other)]
    correlation, equal = implied_equality(*shares)
    drawn = np.corrcoef(one, other)[0, 1]
    assert np.interp(drawn, correlation, equal) == pytest.approx((one == other).mean(), abs=0.005)
    assert (np.diff(correlation) > 0).all()
    assert equal[0] == pytest.approx(shares[0] @ shares[1], abs=0.002)  # by chance, where nothing is shared


# Groups ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slips", [0.0, 0.15])
def test_copies_are_one_group_and_named_as_copies(slips: float) -> None:
    found = dependence(ratings_of(copied(slips)[1]))
    assert found.groups == ((0, 1, 2), (3, 4, 5, 6, 7, 8, 9))
    assert found.is_copying == (False, True)
    assert found.collapsed_groups == ((3, 4, 5, 6, 7, 8, 9),)
    assert found.votes < 5


def test_the_few_who_copy_are_named_among_many_who_do_not() -> None:
    _, grades = perceived_panel(400, ((8, 0.4), (1, 1.5)), 3)
    found = dependence(ratings_of(with_copies(grades, 2, 0.15, 3)))
    assert found.collapsed_groups == ((8, 9, 10),)


def test_groups_with_errors_of_their_own_are_found_and_nobody_copies() -> None:
    found = dependence(ratings_of(perceived_panel(500, ((4, 0.4), (5, 0.4)), 4, shared=0.8)[1]))
    assert found.groups == ((0, 1, 2, 3), (4, 5, 6, 7, 8))
    assert found.collapsed_groups == found.groups
    assert not any(found.is_copying)


@pytest.mark.parametrize("seed", range(20, 26))
def test_raters_who_perceive_one_score_are_one_group(seed: int) -> None:
    """However good or bad each is; in 120 panels of the study none was split."""
    table = perceived_panel(300, ((4, 0.3), (4, 0.8), (4, 1.6)), seed)[1]
    ratings = ratings_of(table)
    found = dependence(ratings)
    assert len(found.groups) == 1
    assert found.collapsed(ratings) is ratings


def test_raters_who_share_few_items_are_not_split() -> None:
    items, raters, labels, _ = perceiving(300, 40, 0)[0]
    found = dependence(Ratings(items, raters, labels, (300, 40, 4)))
    assert found.groups == (tuple(range(40)),)


def test_renamed_raters_are_in_the_same_groups() -> None:
    table = copied(0.15)[1]
    order = np.random.default_rng(2).permutation(10)
    one, other = (dependence(ratings_of(each)) for each in (table, table[:, order]))
    assert {frozenset(order[list(group)].tolist()) for group in other.groups} == {frozenset(g) for g in one.groups}
    assert other.votes == pytest.approx(one.votes)


# One voice -------------------------------------------------------------------------------------------------


def test_a_collapsed_group_gives_the_lower_median_of_its_grades() -> None:
    table = np.array([[0, 3, 1, 2], [1, 2, -1, 3], [2, -1, -1, -1], [3, 0, 0, 3]])
    found = Dependence(4, ((0,), (1, 2, 3)), (False, True))
    voices = found.collapsed(ratings_of(table))
    assert voices.shape == (4, 2, 4)
    assert voices.items.tolist() == [0, 0, 1, 1, 2, 3, 3]
    assert voices.raters.tolist() == [0, 1, 0, 1, 0, 0, 1]
    assert voices.grades.tolist() == [0, 2, 1, 2, 2, 3, 0]


def test_copies_have_one_voice_and_matrices_of_their_own() -> None:
    truth, table = copied(0.0)
    model = fitted(table)
    right = (model.consensus_ == truth).mean()
    assert right > 0.75 > (np.sort(table, axis=1)[:, 4] == truth).mean()
    assert model.confidence_.mean() == pytest.approx(right, abs=0.06)
    assert [group.tolist() for group in model.rater_groups_] == [[3, 4, 5, 6, 7, 8, 9]]
    np.testing.assert_allclose(model.noise_.matrices[3:], model.noise_.matrices[3:4].repeat(7, axis=0))
    (doubt,) = [one for one in model.noise_.doubts if one.code == "dependent-raters"]
    assert doubt.sentence.startswith("7 of 10 raters (3, 4, 5, 6 and 3 more) grade as one")
    assert len(model.rater_summaries_) == 10
    assert {one.consistency.value for one in model.rater_summaries_[3:]} == {
        model.rater_summaries_[3].consistency.value
    }


def test_the_interval_of_the_average_matrix_holds_all_raters() -> None:
    model = fitted(copied(0.1)[1], n_bootstrap=5)
    counts = np.asarray(model.noise_.replicates).shape
    assert counts == (5, 4, 4)
    average = model.noise_.matrices.mean(axis=0)
    np.testing.assert_allclose(np.asarray(model.noise_.replicates).mean(axis=0), average, atol=0.1)


def test_without_groups_members_change_nothing() -> None:
    table = perceived_panel(200, ((4, 0.5),), 0)[1]
    average: Any = type("Fit", (), {"guessers": np.zeros(4, dtype=bool)})()
    assert with_members(average, Votes.of(ratings_of(table)), np.arange(4)) is average


# Effective votes -------------------------------------------------------------------------------------------


def test_effective_votes_at_their_limits() -> None:
    assert effective_votes(33, 0.0) == 33
    assert effective_votes(33, 1.0) == 1
    assert effective_votes(33, 0.5) == pytest.approx(33 / 17)
    assert effective_votes(1, 0.7) == 1


def test_verified_grades_tell_the_votes_of_raters_with_a_common_error() -> None:
    """Errors z + e with variances 1 and 1 correlate .5: a mean of seven has the variance of 1.75 independent ones."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=400)
    grades = truth + rng.normal(size=400) + rng.normal(size=(7, 400)) + np.array([0, 1, 2, 0, 0, 3, 1])[:, None]
    found = verified_votes(grades, truth, 0.95, rng)
    assert found is not None
    assert not found.excludes(7 / (1 + 6 * 0.5))
    assert found.half_width < 0.4
    assert verified_votes(grades[:, :10], truth[:10], 0.95, rng) is None


def test_votes_are_at_most_so_many_until_grades_are_verified() -> None:
    truth, table = copied(0.1)
    without = fitted(table).effective_votes_
    assert without.is_range
    assert without.high < 6
    items, raters, labels = from_wide(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quick(classes=range(4)).fit(items, raters, labels, trusted=(np.arange(80), truth[:80]))
    assert 1 < model.effective_votes_.value < 5
    assert "against 80 verified grades all are worth" in model.noise_.doubts[0].sentence
