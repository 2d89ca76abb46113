"""Raters with few grades: each is one of some types, whose shares are learned."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from estimation.made_ratings import perceiving, quick
from ordinoise.estimation.raters.matrices import Stop
from ordinoise.estimation.raters.perception import GRID, fit_perception
from ordinoise.estimation.raters.ratings import Known, Ratings, Votes
from ordinoise.estimation.raters.types import GUESSES, B, S, Types


def drawn(n_raters: int, n_each: int, seed: int) -> tuple[Ratings, np.ndarray, np.ndarray]:
    """Raters of two types, of whom each grades a few of 300 items: the first half exact, the others high and vague."""
    rng = np.random.default_rng(seed)
    score, cuts = rng.normal(size=300), np.array([-0.9, -0.1, 0.8])
    raters = np.repeat(np.arange(n_raters), n_each)
    items = np.concatenate([rng.choice(300, n_each, replace=False) for _ in range(n_raters)])
    is_vague = raters >= n_raters // 2
    seen = score[items] + np.where(is_vague, 0.7 + 1.4 * rng.normal(size=len(items)), 0.2 * rng.normal(size=len(items)))
    grades = (seen[:, None] > cuts).sum(axis=1)
    order = np.lexsort((grades, raters, items))
    truth = (score[:, None] > cuts).sum(axis=1)
    return Ratings(items[order], raters[order], grades[order], (300, n_raters, 4)), truth, is_vague


def test_the_table_of_a_type_is_its_literal_form() -> None:
    types = Types.of(Votes.of(drawn(20, 30, 0)[0]))
    for at in (0, 17, 48):
        ends = np.concatenate([[-np.inf], types.cuts + B[at], [np.inf]])
        for grade in range(4):
            low, high = (norm.cdf((ends[grade + up] - GRID) / S[at]) for up in (0, 1))
            literal = (1 - GUESSES) * np.maximum(high - low, 1e-9) + GUESSES * types.shares[grade]
            np.testing.assert_allclose(types.type_table[at, grade], literal, rtol=1e-6)


def test_a_grade_says_the_expected_logarithm_over_the_types() -> None:
    types = Types.of(Votes.of(drawn(6, 30, 0)[0]))
    half = np.zeros((6, len(B)))
    half[:, [3, 30]] = 0.25, 0.75
    found = replace(types, of_rater=half)
    table = found.type_table
    np.testing.assert_allclose(np.log(found.message[2]), 0.25 * np.log(table[3]) + 0.75 * np.log(table[30]))
    sure = replace(types, of_rater=np.eye(len(B))[[5] * 6])
    np.testing.assert_allclose(sure.message, sure.table)  # known types say what their table does


def test_many_grades_tell_the_type_and_none_leave_the_shares_of_all() -> None:
    ratings, *_ = drawn(20, 150, 1)
    with_one_more = Ratings(ratings.items, ratings.raters, ratings.grades, (300, 21, 4))
    votes = Votes.of(with_one_more)
    fit = fit_perception(votes, Known.nothing(300), Stop(60, 1e-4), Types.of(votes))
    types = fit.parameters
    sigma, shift = types.of_rater @ np.log(S), types.of_rater @ B
    assert sigma[:10].max() < sigma[10:20].min()
    assert shift[:10].min() > shift[10:20].max()  # cuts lie lower for those who grade higher
    before = types.step(np.zeros((21, 4, len(GRID))), fit.states.sum(axis=0))
    np.testing.assert_allclose(before.of_rater[20], types.of_all, atol=1e-9)


def test_cuts_move_to_where_the_ratings_are_likelier() -> None:
    votes = Votes.of(drawn(100, 6, 2)[0])
    reached = [
        fit_perception(votes, Known.nothing(300), Stop(steps, 0.0), Types.of(votes)).log_likelihood
        for steps in (1, 4, 16, 40)
    ]
    assert reached == sorted(reached)


def test_raters_with_few_grades_are_types() -> None:
    ratings, truth, _ = drawn(150, 6, 3)
    model = quick(classes=range(4)).fit(ratings.items, ratings.raters, ratings.grades)
    assert model.family_weights_["types"] > 0.5
    graded = np.flatnonzero(np.bincount(ratings.items, minlength=300))
    of_item = [np.sort(ratings.grades[ratings.items == at]) for at in graded]
    lower = np.array([each[(len(each) - 1) // 2] for each in of_item])
    mean = np.array([np.floor(each.mean() + 0.5) for each in of_item])
    best = min(np.abs(each - truth[graded]).mean() for each in (lower, mean))
    assert np.abs(model.consensus_ - truth[graded]).mean() < best


@pytest.mark.parametrize("family", ["types", "auto"])
def test_reversed_grades_mirror_the_answer_of_types(family: str) -> None:
    items, raters, labels, _ = perceiving(100, 12, 5)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (
            quick(family=family, shrinkage=4, max_iter=4).fit(items, raters, each) for each in (labels, 3 - labels)
        )
    np.testing.assert_allclose(other.posterior_[:, ::-1], one.posterior_, atol=1e-5)
