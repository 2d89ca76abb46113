"""What is said of a rater: higher or lower than the others, carelessness first, and nothing where nothing is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from estimation.made_ratings import quick
from ordinoise.estimate import Estimate
from ordinoise.estimation import RepeatedLabels
from ordinoise.estimation.raters.estimator import from_wide
from ordinoise.estimation.raters.summary import RaterSummary, height_words, is_relevant, known_words


@pytest.fixture(scope="module")
def readers() -> RepeatedLabels:
    """Three sound readers, one who grades half a grade higher, one careless; a sixth saw a single case."""
    rng = np.random.default_rng(4)
    score, cuts = rng.normal(size=250), np.array([-0.9, -0.1, 0.8])
    seen = score[:, None] + 0.35 * rng.normal(size=(250, 4)) + np.array([0.0, 0.0, 0.0, 0.45])
    grades = (seen[:, :, None] > cuts).sum(axis=2)
    careless = np.where(rng.random(250) < 0.9, rng.integers(4, size=250), grades[:, 0])
    once = np.full(250, -1)
    once[7] = 2
    return quick(classes=range(4)).fit(*from_wide(np.column_stack([grades, careless, once])))


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_overcaller_the_careless_and_the_sound_readers_are_named_rightly(readers: RepeatedLabels) -> None:
    sentences = [one.sentence for one in readers.rater_summaries_]
    for sound in sentences[:3]:
        assert "higher than the others" not in sound
        assert sound.startswith(f"Rater {sentences.index(sound)} (250 grades): grades as high as the others")
    assert sentences[3].startswith("Rater 3 (250 grades): grades 0.")
    assert "higher than the others on the same items" in sentences[3]
    assert sentences[4].startswith("Rater 4 (250 grades): careless: ")
    unknown = "whether the rater grades higher or lower than the others is unknown"
    assert unknown in sentences[5]
    assert sentences[5].endswith("consistency unknown; how often the rater guesses is unknown.")


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_a_rater_is_compared_with_the_others_and_none_of_them_moves_it_far(readers: RepeatedLabels) -> None:
    found = [one.severity.value for one in readers.rater_summaries_]
    assert readers.rater_table()["severity"].tolist() == found
    assert found[3] == pytest.approx(-0.45, abs=0.1)  # as drawn, not the three quarters that a mean of all would leave
    assert max(map(abs, found[:3])) < 0.12


def test_a_difference_that_does_not_matter_is_none() -> None:
    small, large = Estimate(-0.05, -0.06, -0.04), Estimate(-0.28, -0.34, -0.22)
    assert not is_relevant(small)
    assert height_words(small) == "grades as high as the others on the same items (difference +0.04 to +0.06)"
    assert height_words(large) == "grades 0.28 higher than the others on the same items (0.22 to 0.34)"
    assert height_words(large.times(-1)) == "grades 0.28 lower than the others on the same items (0.22 to 0.34)"


def test_a_share_that_may_be_anything_is_unknown() -> None:
    assert known_words(Estimate(0.0, 0.0, 0.96), ".0%") == "unknown"
    assert known_words(Estimate(0.02, 0.0, 0.14), ".0%") == "2% (0% to 14%)"
    nothing = Estimate(math.nan, math.nan, math.nan)
    assert known_words(nothing, ".0%") == "unknown"
    summary = RaterSummary(None, 3, large := Estimate(0.0, -1.0, 1.0), large, Estimate(0.5, 0.1, 0.9), nothing)
    assert summary.sentence == (
        "The typical rater (3 grades): consistency unknown; how often the rater guesses is unknown."
    )
