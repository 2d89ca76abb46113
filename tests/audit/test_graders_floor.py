"""The fewest wrong labels by graders who differ: the programme, the habits it reads, and worlds with known errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ordinoise._validation import Floats, Ints
from ordinoise.audit import issues_from_probabilities
from ordinoise.audit.graders.floor import (
    distances_of,
    fewest_by_graders,
    habits_of,
    least_wrong,
    numbered_graders,
)
from ordinoise.audit.prevalence.count import Table
from ordinoise.audit.prevalence.floor import Floor
from ordinoise.audit.prevalence.sums import Sums, Traits, shape_of
from ordinoise.audit.prevalence.verdicts import Verdicts
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.labels import Verified

CUTS = np.array([-2.0, -0.7, 0.7, 2.0])
SHIFTS = np.array([0.9, 0.3, -0.3, -0.9])


def chances(score: Floats, spread: float = 1.0) -> Floats:
    """Class probabilities of a cumulative logit at these scores."""
    below = 1 / (1 + np.exp((score[:, None] - CUTS) / spread))
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def world(shifts: Floats, seed: int, n_rows: int = 2400, *, by_score: bool = False) -> tuple[Floats, Ints, Ints, float]:
    """Probabilities of the mixture, records, graders, and the share of records that differ from the true grade."""
    rng = np.random.default_rng(seed)
    x, who = rng.normal(size=n_rows) * 1.5, np.arange(n_rows) % len(shifts)
    if by_score:
        who = np.sort(who)[np.argsort(np.argsort(x + rng.normal(size=n_rows)))]
    latent = x + rng.logistic(size=n_rows)
    ranks = np.searchsorted(CUTS, latent + shifts[who])
    table = np.mean([chances(x + shift) for shift in shifts], axis=0)
    return table, ranks, who, float((ranks != np.searchsorted(CUTS, latent)).mean())


def test_the_least_number_satisfies_every_pair_and_no_corner_has_less() -> None:
    n_own, distances = np.array([100, 30, 60]), np.array([[0, 0, 0], [0.2, 0, 0], [0.3, 0.15, 0]])
    grid = np.arange(0, 0.31, 0.025)
    allowed = [
        float(n_own @ each)
        for each in itertools.product(grid, repeat=3)
        if all(each[a] + each[b] >= distances[a, b] - 1e-9 for a, b in ((1, 0), (2, 0), (2, 1)))
    ]
    assert_allclose(least_wrong(n_own, distances), min(allowed), rtol=1e-9)
    assert least_wrong(n_own, np.zeros((3, 3))) == 0


def test_habits_are_found_within_four_standard_errors() -> None:
    rng = np.random.default_rng(1)
    x, who, spreads = rng.normal(size=8000) * 1.5, np.arange(8000) % 2, np.array([1.0, 1.6])
    ranks = np.array([rng.choice(5, p=row) for row in np.where(who[:, None], chances(x + 0.8, 1.6), chances(x - 0.4))])
    cumulative = CUTS - x[:, None]
    habits, errors = habits_of(cumulative, ranks, who, 1.0)
    known = np.column_stack([[-0.4, 0.8], np.log(spreads)])
    assert (np.abs(habits - known) < 4 * errors).all()
    assert (errors < 0.08).all()
    assert_allclose(habits_of(cumulative, ranks, who, 4.0)[1], 2 * errors)


def test_distances_are_total_variations() -> None:
    cumulative = CUTS - np.linspace(-3, 3, 50)[:, None]
    habits = np.array([[0.0, 0.0], [0.5, 0.2]])
    one, other = chances(np.linspace(-3, 3, 50)), chances(np.linspace(-3, 3, 50) + 0.5, np.exp(0.2))
    assert_allclose(distances_of(cumulative, habits)[1, 0], 0.5 * np.abs(one - other).sum(axis=1).mean(), atol=1e-5)


def test_the_floor_holds_and_finds_a_part_of_what_is_wrong() -> None:
    for seed in range(4):
        table, ranks, who, wrong = world(SHIFTS, seed)
        floor = fewest_by_graders(table, ranks, who)
        assert 0.2 * wrong * len(ranks) < floor.n_wrong < wrong * len(ranks)
        assert fewest_by_graders(table, ranks, who, design_effect=9.0).n_wrong < floor.n_wrong


def test_graders_who_agree_have_no_floor() -> None:
    for seed in range(4):
        table, ranks, who, wrong = world(np.zeros(4), seed)
        assert wrong == 0
        assert fewest_by_graders(table, ranks, who).n_wrong <= 0.004 * len(ranks)


def test_rows_that_were_not_given_out_at_random_refute_the_floor() -> None:
    assert fewest_by_graders(*world(SHIFTS, 0, by_score=True)[:3]) == Floor(0, is_refuted=True)


def test_rows_of_nobody_take_no_part() -> None:
    table, ranks, who, _ = world(SHIFTS, 0)
    some = np.where(np.arange(len(who)) < 400, -1, who)
    floor = fewest_by_graders(table, ranks, some)
    assert floor == fewest_by_graders(table[400:], ranks[400:], who[400:])
    assert fewest_by_graders(table, ranks, np.full(len(who), -1)) == Floor(0)
    assert numbered_graders(["b", None, "a", float("nan"), "b"], 5).tolist() == [0, -1, 1, -1, 0]


@pytest.mark.filterwarnings("ignore:the noise matrix is in doubt")
def test_the_range_begins_at_the_larger_floor() -> None:
    table, ranks, who, wrong = world(SHIFTS, 0)
    options: dict[str, Any] = {"noise": "estimate", "classes": range(5), "random_state": 0}
    before = issues_from_probabilities(table, ranks, **options).expected_wrong
    issues = issues_from_probabilities(table, ranks, noise_by=np.array(list("abcd"))[who], **options)
    after = issues.expected_wrong
    assert before is not None
    assert after is not None
    assert after.count is not None
    assert before.low < after.low == fewest_by_graders(table, ranks, who).n_wrong == after.count.by_lot
    assert after.high == before.high
    assert after.low <= wrong * len(ranks)
    assert f"at least {after.count.by_lot:,} of all grades are wrong" in " ".join(issues.finding.sentences)


@pytest.mark.filterwarnings("ignore:the noise matrix is in doubt")
def test_rows_given_out_otherwise_leave_the_range_as_it_is_and_say_so() -> None:
    table, ranks, who, _ = world(SHIFTS, 0, by_score=True)
    found = issues_from_probabilities(table, ranks, noise_by=who, classes=range(5), random_state=0).expected_wrong
    plain = issues_from_probabilities(table, ranks, classes=range(5), random_state=0).expected_wrong
    assert found is not None
    assert found.count is not None
    assert plain is not None
    assert (found.low, found.high) == (plain.low, plain.high)
    assert found.count.by_lot is None
    assert "lot-refuted" in [doubt.code for doubt in found.count.doubts]


@pytest.mark.parametrize(("n_wrong", "slip_rate"), [(0, 0.0), (30, 0.0), (30, 0.2)])
def test_wrong_labels_that_were_found_are_no_longer_among_the_rest(n_wrong: int, slip_rate: float) -> None:
    table, ranks, _, _ = world(SHIFTS, 0)
    cells = ScoreCells.from_sample(table)
    traits = Traits.of(cells, table, ranks, np.random.default_rng(0).random(len(ranks)))
    rows, labels = np.arange(60), ranks[:60].copy()
    labels[:n_wrong] = (labels[:n_wrong] + 1) % 5
    noise = np.tile(np.eye(5) * (1 - slip_rate) + slip_rate / 4 * (1 - np.eye(5)), (60, 1, 1))
    verified = Verified(rows, labels, noise, np.ones(60, dtype=bool), np.full(60, "chosen"))
    verdicts, sums = Verdicts.of(verified, ranks), Sums.of(traits, *shape_of(cells, 5))
    count = Table.of(cells, sums, by_lot=Floor(300)).count(verdicts, traits.among(rows))
    assert count.floor == 300 - n_wrong if slip_rate == 0 else 300 - 60 <= count.floor < 300 - n_wrong
    refuted = Table.of(cells, sums, by_lot=Floor(len(ranks))).count(verdicts, traits.among(rows))
    assert "lot-refuted" in [doubt.code for doubt in refuted.doubts]
    assert refuted.by_lot is None
