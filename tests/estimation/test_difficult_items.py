"""Items that are graded without regard to them: found, left out of what describes the raters, and not believed."""

from __future__ import annotations

import numpy as np
import pytest

from estimation.made_ratings import Ints, perceived_panel, quick, ratings_of
from ordinoise.estimation.raters.average import FAMILIES, Average, fit_average
from ordinoise.estimation.raters.difficulty import difficult_items, with_difficult_items
from ordinoise.estimation.raters.estimator import from_wide
from ordinoise.estimation.raters.matrices import Stop
from ordinoise.estimation.raters.ratings import Known, Votes


def panel(share: float, seed: int = 0) -> tuple[Ints, Ints, np.ndarray]:
    truth, grades = perceived_panel(300, ((7, 0.4),), seed)
    rng = np.random.default_rng(seed)
    is_random = rng.random(300) < share
    return truth, np.where(is_random[:, None], rng.integers(4, size=grades.shape), grades), is_random


def fitted(table: Ints, known: Known) -> tuple[Average, Votes]:
    ratings = ratings_of(table)
    rng = np.random.default_rng(0)
    return fit_average(ratings, known, FAMILIES, 4.0, Stop(60), rng, lambda: None), Votes.of(ratings)


def test_the_probability_is_the_literal_odds_and_verified_items_are_not_difficult() -> None:
    _, table, is_random = panel(0.25)
    known = Known.nothing(300)
    average, votes = fitted(table, known)
    found = difficult_items(average, votes, known)
    assert found[is_random].mean() > 0.2 > 0.05 > found[~is_random].mean()
    usage, shares = votes.own_usage(), average.posterior.mean(axis=0)
    odds = []
    for at in range(2):
        by_habit = np.prod([usage[rater, grade] for rater, grade in enumerate(table[at])])
        of_class = [
            np.prod([average.matrices[rater, c, grade] for rater, grade in enumerate(table[at])]) for c in range(4)
        ]
        odds.append(np.log(by_habit / (shares @ of_class)))
    expected = odds[0] - odds[1]  # the share drops out
    logit = np.log(found[:2] / (1 - found[:2]))
    assert logit[0] - logit[1] == pytest.approx(expected, abs=1e-6)
    verified = Known(np.where(is_random, 1, -1), np.ones(300))
    assert not difficult_items(average, votes, verified)[is_random].any()


def test_where_no_item_is_difficult_nothing_changes() -> None:
    known = Known.nothing(300)
    average, votes = fitted(panel(0.0)[1], known)
    assert with_difficult_items(average, votes, known, FAMILIES, Stop(60)) is average


def test_what_is_claimed_falls_to_what_is_right() -> None:
    truth, table, is_random = panel(0.25, seed=1)
    known = Known.nothing(300)
    average, _ = fitted(table, known)
    before = average.posterior.max(axis=1).mean()
    model = quick(classes=range(4)).fit(*from_wide(table))
    right = (model.consensus_ == truth).mean()
    assert right < model.confidence_.mean() < before - 0.02
    assert model.confidence_.mean() == pytest.approx(right, abs=0.09)
    assert model.confidence_[is_random].mean() < model.confidence_[~is_random].mean() - 0.2


def test_raters_with_few_grades_each_are_left_as_they_are() -> None:
    _, table, _ = panel(0.3)
    known = Known.nothing(40)
    average, votes = fitted(table[:40], known)
    assert with_difficult_items(average, votes, known, FAMILIES, Stop(60)) is average
