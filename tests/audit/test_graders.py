"""Graders with one grade per row: a literal oracle of the regression, relations, and worlds with known shifts."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ordinoise._validation import Floats, Ints
from ordinoise.audit import GraderEffects, grader_effects
from ordinoise.audit.graders.regression import RIDGE, SPREADS, Shifts, excess, excess_column, indicators
from ordinoise.estimate import Estimate
from ordinoise.finding import UNSEEN, as_sentence

CUTS = np.array([-2.0, -0.7, 0.7, 2.0])


def chances(score: Floats) -> Floats:
    """Class probabilities of a cumulative logit at these scores."""
    below = 1 / (1 + np.exp(score[:, None] - CUTS))
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def shift_of(found: GraderEffects, grader: Any) -> Estimate:
    """The shift of a grader of enough rows."""
    shift = found[grader].shift
    assert shift is not None
    return shift


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
    gram, cross = left.T @ (weights[:, None] * left), left.T @ (weights * residuals)
    value, error = Shifts.of(gram, cross, shares).shrunken()
    assert_allclose(value, mean, rtol=1e-8)
    assert_allclose(error, np.sqrt(variance), rtol=1e-8)


def test_unshrunken_shifts_are_weighted_least_squares() -> None:
    rng = np.random.default_rng(1)
    left, residuals, weights = rng.normal(size=(50, 3)), rng.normal(size=50), rng.uniform(0.5, 2, 50)
    shares = np.array([0.5, 0.3, 0.2])
    slopes = np.linalg.lstsq(left * np.sqrt(weights)[:, None], residuals * np.sqrt(weights), rcond=None)[0]
    others = np.array([(shares @ slopes - shares[g] * slopes[g]) / (1 - shares[g]) for g in range(3)])
    gram, cross = left.T @ (weights[:, None] * left), left.T @ (weights * residuals)
    assert_allclose(Shifts.of(gram, cross, shares).unshrunken()[0], slopes - others, rtol=1e-8)


def of_blocks(columns: Floats, who: Ints, folds: Ints, weights: Floats) -> Floats:
    """The excess of every grader, put together from its blocks."""
    left = np.full((len(who), int(who.max()) + 1), np.nan)
    for rows, block in excess(columns, indicators(who, left.shape[1]), folds, weights):
        left[rows] = block
    return left


def test_the_excess_is_a_weighted_ridge_regression_on_the_other_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordinoise.audit.graders.regression.BLOCK", 30)  # several blocks per fold
    rng = np.random.default_rng(13)
    columns, who, folds = rng.normal(size=(90, 4)), rng.integers(3, size=90), rng.integers(3, size=90)
    weights, expected = rng.uniform(0.5, 2, 90), np.empty((90, 3))
    for fold in range(3):
        seen = folds != fold
        w, center = weights[seen, None], np.average(columns[seen], axis=0, weights=weights[seen])
        share = np.average(np.eye(3)[who[seen]], axis=0, weights=weights[seen])
        about = columns[seen] - center
        slopes = np.linalg.solve(
            about.T @ (w * about) + RIDGE * np.eye(4), about.T @ (w * (np.eye(3)[who[seen]] - share))
        )
        expected[~seen] = np.eye(3)[who[~seen]] - share - (columns[~seen] - center) @ slopes
    assert_allclose(of_blocks(columns, who, folds, weights), expected, atol=1e-10)
    assert_allclose(excess_column(columns, np.eye(3)[who][:, 1], folds, weights), expected[:, 1], atol=1e-10)


def test_the_excess_of_a_grader_whom_a_column_names_is_nothing() -> None:
    rng = np.random.default_rng(2)
    who, folds, weights = rng.integers(2, size=4000), np.arange(4000) % 5, np.ones(4000)
    named = of_blocks((who - who.mean())[:, None] / who.std(), who, folds, weights)
    by_lot = of_blocks(rng.normal(size=(4000, 1)), who, folds, weights)
    assert np.abs(named).max() < 0.03
    assert_allclose(by_lot.var(axis=0), 0.25, atol=0.01)


def test_shifts_are_found_with_their_sign_within_four_standard_errors() -> None:
    world = World([0.8, 0.0, -0.8], 1800, seed=0)
    found = world.effects()
    assert [effect.grader for effect in found] == [0, 1, 2]
    assert [effect.differs for effect in found] == [True, False, True]
    for effect in found:
        shift = shift_of(found, effect.grader)
        error = shift.half_width / 1.96
        assert abs(shift.value - world.truth[effect.grader]) < 4 * error
    assert found.is_by_lot


@pytest.mark.slow
def test_intervals_cover_and_nobody_is_named_where_nobody_differs() -> None:
    rng, covered, named = np.random.default_rng(3), [], 0
    for seed in range(40):
        world = World((rng.normal(size=12) * 0.5).tolist(), 1200, seed)
        found = world.effects()
        covered += [shift_of(found, at).low <= world.truth[at] <= shift_of(found, at).high for at in range(12)]
        named += sum(each.differs for each in World([0.0] * 12, 1200, 100 + seed).effects())
    assert np.mean(covered) > 0.95 - 3 * math.sqrt(0.05 * 0.95 / len(covered))
    assert named <= 3  # of 480


def test_sentences_name_the_scale_and_the_direction_and_keep_names() -> None:
    world = World([0.0] * 6, 1800, seed=4, by=0.5)
    names = np.array([f"reader {at}" for at in range(6)])[world.who]
    lowest = grader_effects(world.probabilities, world.y + 1, names, world.x).effects[-1]
    assert lowest.shift is not None
    assert lowest.second_range is not None
    found = grader_effects(world.probabilities, world.y + 1, names, world.x)
    said = found.sentences_of(lowest)
    assert said[0].startswith(f"{lowest.grader} grades {-lowest.shift.value:.1f} lower than the others")
    assert f"are expected at grade {lowest.expected + 1:.1f}, the others' at" in said[1]
    assert said[1].endswith(" lower.")
    words = grader_effects(world.probabilities, np.array(list("abcde"))[world.y], names, world.x, classes=list("abcde"))
    assert f"{lowest.expected + 1:.1f} (the lowest is 1)" in words.sentences_of(words.effects[-1])[1]


def test_weights_of_a_grader_change_neither_the_chances_nor_the_shifts_much() -> None:
    world = World([0.6, 0.0, -0.6], 1500, seed=14)
    once, weights = world.effects(), np.where(world.who == 0, 3.0, 1.0)
    weighted = world.effects(sample_weight=weights)
    one, other = shift_of(once, 0), shift_of(weighted, 0)
    assert abs(one.value - other.value) < one.half_width / 2
    assert other.half_width > one.half_width  # unequal weights are worth fewer rows
    assert weighted[0].told < 0.05


def test_a_fitted_front_door_gives_its_held_out_predictions() -> None:
    from ordinoise import OrdinalClassifier

    world = World([0.8, -0.8], 400, seed=15)
    model = OrdinalClassifier("mlp", noise=None, random_state=0).fit(world.x, world.y)
    found = grader_effects(model, world.y, world.who, world.x)
    assert found[0].differs
    assert found[1].differs
    assert model.out_of_fold_ is not None
    given = grader_effects(model.out_of_fold_, world.y, world.who, world.x)
    one, other = shift_of(found, 0), shift_of(given, 0)
    assert abs(one.value - other.value) < one.half_width / 4  # the columns are read and curved alike, not the same
    with pytest.raises(ValueError, match="must be those of the fitted classifier"):
        grader_effects(model, world.y, world.who, world.x, classes=range(5))


def test_rows_given_out_by_difficulty_are_noticed_and_widen_the_second_range() -> None:
    world = World([0.0] * 6, 1800, seed=4, by=0.5)
    found = world.effects()
    assert not found.is_by_lot
    for effect in found:
        assert effect.second_range is not None
        assert effect.second_range.low <= 0 <= effect.second_range.high
    assert any(effect.differs for effect in found)
    assert any("Rows were not given out at random" in sentence for sentence in found.sentences)
    assert found.sentences[-1] == as_sentence(UNSEEN)


def test_reversed_grades_reverse_the_shifts_and_names_and_order_do_not_matter() -> None:
    world = World([0.7, 0.0, -0.4], 900, seed=5)
    found = world.effects()
    back = grader_effects(world.probabilities[:, ::-1], 4 - world.y, world.who, world.x)
    for effect in found:
        shift = shift_of(found, effect.grader)
        assert_allclose(shift_of(back, effect.grader).value, -shift.value, atol=1e-9)
    named = grader_effects(world.probabilities, world.y, np.array(["ada", "bo", "cy"])[world.who], world.x)
    assert_allclose(shift_of(named, "bo").value, shift_of(found, 1).value)


def test_a_copied_table_in_groups_is_no_surer_than_the_table() -> None:
    world = World([0.6, 0.0, -0.6], 600, seed=6)
    alone = world.effects()
    twice = [
        np.tile(part, (4,) + (1,) * (part.ndim - 1)) for part in (world.probabilities, world.y, world.who, world.x)
    ]
    copied = grader_effects(*twice, groups=np.tile(np.arange(600), 4))
    naive = grader_effects(*twice)
    width, grouped, wrong = (shift_of(each, 1).half_width for each in (alone, copied, naive))
    assert wrong < 0.6 * width
    assert_allclose(grouped, width, rtol=0.15)


def test_rows_without_weight_are_ignored_and_equal_weights_change_nothing() -> None:
    world = World([0.6, 0.0, -0.6], 600, seed=7)
    assert_allclose(
        shift_of(world.effects(sample_weight=np.full(600, 7.0)), 0).value,
        shift_of(world.effects(), 0).value,
        rtol=1e-10,
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
    assert found[7].shift is None
    assert found.unknown == (found[7],)
    assert "Too few rows to tell: 7." in found.sentences
    assert found.to_dict()["effects"][-1]["shift"] is None
    assert GraderEffects.from_dict(json.loads(json.dumps(found.to_dict()))) == found
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
    assert_allclose(shift_of(one, 0).value, shift_of(other, 0).value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"graders": np.zeros(200)}, "graders must hold at least 2 graders"),
        ({"graders": [None, *["a", "b"] * 99, "a"]}, "graders must name a grader for every row"),
        ({"contrast": np.arange(200)}, "contrast must hold true or false"),
        ({"y": np.full(200, 9)}, "classes must name all 5 columns"),
        ({"graders": np.arange(200)}, "graders must hold at most 100 graders, got 200; name a column of fewer"),
        ({"graders": ["a"] * 3}, "graders must be as long as y"),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordinoise.audit.graders.effects.MOST_GRADERS", 100)
    world = World([0.5, -0.5], 200, seed=12)
    options: dict[str, Any] = {"y": world.y, "graders": world.who, "features": world.x} | change
    with pytest.raises(ValueError, match=words):
        grader_effects(world.probabilities, **options)
