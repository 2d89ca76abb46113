"""Graders with one grade per row: a literal oracle of the regression, relations, and worlds with known shifts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ordinoise._validation import Floats, Ints
from ordinoise.audit import GraderEffects, grader_effects
from ordinoise.audit.graders.record import UNSEEN
from ordinoise.audit.graders.regression import SPREADS, Shifts, excess

CUTS = np.array([-2.0, -0.7, 0.7, 2.0])


def chances(score: Floats) -> Floats:
    """Class probabilities of a cumulative logit at these scores."""
    below = 1 / (1 + np.exp(score[:, None] - CUTS))
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


class World:
    """Rows whose score the column tells, graded by people with shifts; the probabilities are those of the mixture."""

    def __init__(self, shifts: list[float], n_rows: int, seed: int, by: float = 0.0) -> None:
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n_rows, 1)) * 1.5
        n_graders, moved = len(shifts), np.array(shifts)
        latent = self.x[:, 0] + rng.logistic(size=n_rows)
        key = by * (latent - latent.mean()) / latent.std() + math.sqrt(1 - by**2) * rng.normal(size=n_rows)
        self.who: Ints = np.empty(n_rows, dtype=np.int64)
        self.who[np.argsort(key)] = np.arange(n_rows) * n_graders // n_rows
        self.y = np.searchsorted(CUTS, latent + moved[self.who])
        each = np.stack([chances(self.x[:, 0] + shift) for shift in shifts])
        self.probabilities = each.mean(axis=0)
        grades = (each @ np.arange(5)).mean(axis=1)
        self.truth = grades - (grades.sum() - grades) / (n_graders - 1)

    def effects(self, **options: Any) -> GraderEffects:
        """What is found in this world."""
        return grader_effects(self.probabilities, self.y, self.who, self.x, **options)


def test_shrunken_shifts_are_the_posterior_of_normal_shifts_with_an_unknown_spread() -> None:
    rng = np.random.default_rng(0)
    n, graders = 60, 4
    left, residuals, weights = rng.normal(size=(n, graders)), rng.normal(size=n), rng.uniform(0.5, 2, n)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    contrast = np.array([[1.0 if h == g else -shares[h] / (1 - shares[g]) for h in range(4)] for g in range(4)])
    logs, means, covariances = [], [], []
    for spread in SPREADS:  # literal: the density of all residuals under each spread, and its posterior
        total = spread**2 * left @ left.T + np.diag(1 / weights)
        logs.append(
            math.log(spread) - 0.5 * (np.linalg.slogdet(total)[1] + residuals @ np.linalg.solve(total, residuals))
        )
        covariance = np.linalg.inv(left.T @ (weights[:, None] * left) + np.eye(graders) / spread**2)
        means.append(contrast @ covariance @ left.T @ (weights * residuals))
        covariances.append(np.diag(contrast @ covariance @ contrast.T))
    chance = np.exp(np.array(logs) - max(logs))
    chance /= chance.sum()
    mean = chance @ np.array(means)
    variance = chance @ (np.array(covariances) + (np.array(means) - mean) ** 2)
    value, error = Shifts.of(residuals, left, weights, shares).shrunken()
    assert_allclose(value, mean, rtol=1e-8)
    assert_allclose(error, np.sqrt(variance), rtol=1e-8)


def test_unshrunken_shifts_are_weighted_least_squares() -> None:
    rng = np.random.default_rng(1)
    left, residuals, weights = rng.normal(size=(50, 3)), rng.normal(size=50), rng.uniform(0.5, 2, 50)
    shares = np.array([0.5, 0.3, 0.2])
    slopes = np.linalg.lstsq(left * np.sqrt(weights)[:, None], residuals * np.sqrt(weights), rcond=None)[0]
    others = np.array([(shares @ slopes - shares[g] * slopes[g]) / (1 - shares[g]) for g in range(3)])
    assert_allclose(Shifts.of(residuals, left, weights, shares).unshrunken()[0], slopes - others, rtol=1e-8)


def test_the_excess_of_a_grader_whom_a_column_names_is_nothing() -> None:
    rng = np.random.default_rng(2)
    who = rng.integers(2, size=4000)
    indicators, folds = np.eye(2)[who], np.arange(4000) % 5
    named = excess((who - who.mean())[:, None] / who.std(), indicators, folds)
    by_lot = excess(rng.normal(size=(4000, 1)), indicators, folds)
    assert np.abs(named).max() < 0.03
    assert_allclose(by_lot.var(axis=0), 0.25, atol=0.01)


def test_shifts_are_found_with_their_sign_within_four_standard_errors() -> None:
    world = World([0.8, 0.0, -0.8], 1800, seed=0)
    found = world.effects()
    assert [effect.grader for effect in found] == [0, 1, 2]
    assert [effect.differs for effect in found] == [True, False, True]
    for effect in found:
        error = (effect.shift.high - effect.shift.low) / (2 * 1.96)
        assert abs(effect.shift.value - world.truth[effect.grader]) < 4 * error
    assert found.is_by_lot


@pytest.mark.slow
def test_intervals_cover_and_nobody_is_named_where_nobody_differs() -> None:
    rng, covered, named = np.random.default_rng(3), [], 0
    for seed in range(40):
        world = World((rng.normal(size=12) * 0.5).tolist(), 1200, seed)
        covered += [each.shift.low <= world.truth[each.grader] <= each.shift.high for each in world.effects()]
        named += sum(each.differs for each in World([0.0] * 12, 1200, 100 + seed).effects())
    assert np.mean(covered) > 0.95 - 3 * math.sqrt(0.05 * 0.95 / len(covered))
    assert named <= 3  # of 480


def test_rows_given_out_by_difficulty_are_noticed_and_widen_the_second_range() -> None:
    world = World([0.0] * 6, 1800, seed=4, by=0.5)
    found = world.effects()
    assert not found.is_by_lot
    for effect in found:
        assert effect.second_range.low <= 0 <= effect.second_range.high
    assert any(effect.differs for effect in found)
    assert any("Rows were not given out at random" in sentence for sentence in found.sentences)
    assert found.sentences[-1] == UNSEEN


def test_reversed_grades_reverse_the_shifts_and_names_and_order_do_not_matter() -> None:
    world = World([0.7, 0.0, -0.4], 900, seed=5)
    found = world.effects()
    back = grader_effects(world.probabilities[:, ::-1], 4 - world.y, world.who, world.x)
    for effect in found:
        assert_allclose(back[effect.grader].shift.value, -effect.shift.value, atol=1e-9)
    named = grader_effects(world.probabilities, world.y, np.array(["ada", "bo", "cy"])[world.who], world.x)
    assert_allclose(named["bo"].shift.value, found[1].shift.value)


def test_a_copied_table_in_groups_is_no_surer_than_the_table() -> None:
    world = World([0.6, 0.0, -0.6], 600, seed=6)
    alone = world.effects()
    twice = [
        np.tile(part, (4,) + (1,) * (part.ndim - 1)) for part in (world.probabilities, world.y, world.who, world.x)
    ]
    copied = grader_effects(*twice, groups=np.tile(np.arange(600), 4))
    naive = grader_effects(*twice)
    width, grouped, wrong = (each[1].shift.high - each[1].shift.low for each in (alone, copied, naive))
    assert wrong < 0.6 * width
    assert_allclose(grouped, width, rtol=0.15)


def test_rows_without_weight_are_ignored_and_equal_weights_change_nothing() -> None:
    world = World([0.6, 0.0, -0.6], 600, seed=7)
    assert_allclose(
        world.effects(sample_weight=np.full(600, 7.0))[0].shift.value, world.effects()[0].shift.value, rtol=1e-10
    )
    weights = np.ones(600)
    weights[world.who == 2] = 0
    assert [effect.grader for effect in world.effects(sample_weight=weights)] == [0, 1]


def test_a_contrast_is_found_beside_the_graders() -> None:
    rng = np.random.default_rng(8)
    found = []
    for seed in range(6):
        world = World([0.4, 0.0, -0.4], 1500, seed)
        own = rng.random(1500) < 0.3
        raised = np.minimum(world.y + (own & (rng.random(1500) < 0.4)), 4)  # .4 grades, less at the top
        size = float((raised - world.y)[own].mean())
        found.append((grader_effects(world.probabilities, raised, world.who, world.x, contrast=own).contrast, size))
    for contrast, size in found:
        assert contrast is not None
        assert contrast.low < size < contrast.high
        assert contrast.low > 0


def test_too_few_rows_are_said_and_have_no_number() -> None:
    world = World([0.5, -0.5], 400, seed=9)
    who = world.who.copy()
    who[:4] = 7
    found = grader_effects(world.probabilities, world.y, who, world.x)
    assert not found[7].is_comparable
    assert math.isnan(found[7].shift.value)
    assert "Too few rows to tell: 7." in found.sentences
    assert found.to_dict()["effects"][-1]["shift"]["value"] is None
    assert len(found.to_frame()) == 3
    assert "too few rows to tell" in found._repr_html_()


def test_text_and_categories_tell_who_graded() -> None:
    rng = np.random.default_rng(10)
    world = World([0.5, -0.5], 600, seed=10)
    words = np.array(["the lease of the old flat was paid late", "a short letter about the broken blue lamp"])
    told = np.where(rng.random(600) < 0.9, world.who, 1 - world.who)
    frame = pd.DataFrame({"x": world.x[:, 0], "text": [f"{words[at]} number {row}" for row, at in enumerate(told)]})
    assert grader_effects(world.probabilities, world.y, world.who, frame)[0].told > 0.4
    assert world.effects()[0].told < 0.05


def test_probabilities_of_the_true_label_are_turned_into_those_of_the_record() -> None:
    from ordinoise import Noise, adjacent

    world = World([0.5, -0.5], 800, seed=11)
    noise = adjacent(5, 0.2, 0.1)
    known = Noise.of(noise, 5)
    one = grader_effects(world.probabilities, world.y, world.who, world.x, noise=known)
    other = grader_effects(world.probabilities @ noise, world.y, world.who, world.x)
    assert_allclose(one[0].shift.value, other[0].shift.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"graders": np.zeros(200)}, "graders must hold at least 2 graders"),
        ({"graders": [None, *["a", "b"] * 99, "a"]}, "graders must name a grader for every row"),
        ({"contrast": np.arange(200)}, "contrast must hold true or false"),
        ({"y": np.full(200, 9)}, "classes must name all 5 columns"),
        ({"graders": ["a"] * 3}, "graders must be as long as y"),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], words: str) -> None:
    world = World([0.5, -0.5], 200, seed=12)
    options: dict[str, Any] = {"y": world.y, "graders": world.who, "features": world.x} | change
    with pytest.raises(ValueError, match=words):
        grader_effects(world.probabilities, **options)
