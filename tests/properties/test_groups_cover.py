"""Intervals cover as promised where rows of one group share their record, if the groups are named."""

from __future__ import annotations

import numpy as np
import pytest

from ordinoise._validation import Floats, Ints
from ordinoise.audit.count import wrong_count
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.estimation.score.estimator import noise_from_counts, noise_from_probabilities
from ordinoise.levels import class_probabilities
from ordinoise.noise import Noise, inverse_decay
from ordinoise.scoring.evaluation import evaluate_probabilities
from ordinoise.scoring.sets import calibrate_sets

NOISE, CUTS = inverse_decay(4, 0.15), np.array([-1.4, 0.1, 1.2])


def repeated(n_groups: int, noise_matrix: Floats, seed: int, size: int = 4) -> tuple[Floats, Ints, Ints, Ints]:
    """Groups of rows with the same columns and one record: exact probabilities, true and recorded grades, groups."""
    rng = np.random.default_rng(seed)
    clean = class_probabilities(3 * (rng.uniform(-3, 3, size=(n_groups, 1)) - CUTS))
    true = (rng.random((n_groups, 1)) > clean.cumsum(axis=1)[:, :-1]).sum(axis=1)
    recorded = (rng.random((n_groups, 1)) > noise_matrix[true].cumsum(axis=1)[:, :-1]).sum(axis=1)
    groups = np.repeat(np.arange(n_groups), size)
    return clean[groups], true[groups], recorded[groups], groups


def test_scores_and_counts_of_groups_cover_and_those_of_torn_groups_do_not() -> None:
    """At 250 groups of four rows two thirds of the intervals cover without groups."""
    rng = np.random.default_rng(0)
    many = class_probabilities(3 * (rng.uniform(-3, 3, size=(100_000, 1)) - CUTS))
    grades = np.arange(4)
    expected = (many * np.abs(grades - (many.cumsum(axis=1) >= 0.5).argmax(axis=1)[:, None])).sum(axis=1).mean()
    held = np.zeros((2, 2))
    for seed in range(100):
        chances, true, recorded, groups = repeated(250, NOISE, seed)
        for at, named in enumerate((None, groups)):
            scores = evaluate_probabilities(chances, recorded, NOISE, metrics=["mean_absolute_error"], groups=named)
            error, count = scores["mean_absolute_error"], wrong_count(chances, recorded, Noise.of(NOISE), groups=named)
            held[at, 0] += error.low <= expected <= error.high
            held[at, 1] += count.low <= (true != recorded).sum() <= count.high
    assert (held[0] < 80).all()
    assert (held[1] >= 88).all()


def test_four_equal_rows_count_as_one() -> None:
    chances, _, recorded, groups = repeated(250, NOISE, 1)
    fourfold = evaluate_probabilities(chances, recorded, NOISE, groups=groups)
    single = evaluate_probabilities(chances[::4], recorded[::4], NOISE)
    for name, score in single.scores.items():
        assert fourfold[name].standard_error == pytest.approx(score.standard_error, nan_ok=True), name
    sets = calibrate_sets(chances, recorded, NOISE, groups=groups)
    assert np.array_equal(sets.thresholds, calibrate_sets(chances[::4], recorded[::4], NOISE).thresholds)
    bare, named = (noise_from_probabilities(chances, recorded, random_state=0, groups=g) for g in (None, groups))
    alone = noise_from_probabilities(chances[::4], recorded[::4], random_state=0)
    width = [np.ptp(one.rate_interval or (0, 0)) for one in (bare, named, alone)]
    assert width[1] == pytest.approx(width[2], rel=0.1)
    assert width[1] > 1.3 * width[0]
    assert named.doubt_codes == alone.doubt_codes
    cells = ScoreCells.from_sample(chances)
    counts = cells.counts(chances, recorded)
    by_counts = noise_from_counts(cells, counts, chances, recorded, groups=groups, random_state=0)
    assert np.ptp(by_counts.rate_interval or (0, 0)) == pytest.approx(width[1], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("noise_matrix", [NOISE, np.eye(4)], ids=["slips", "clean"])
def test_the_range_of_the_rate_covers_where_groups_share_their_record(noise_matrix: Floats) -> None:
    """Of 30 tables of 500 groups of four rows; without groups the interval of the rate covers in 19 and 20."""
    held, in_range = 0, 0
    for seed in range(30):
        chances, _, recorded, groups = repeated(500, noise_matrix, seed)
        found = noise_from_probabilities(chances @ noise_matrix, recorded, random_state=0, groups=groups)
        assert found.rate_interval is not None
        assert found.rate_range is not None
        rate = float(chances.mean(axis=0) @ (1 - noise_matrix.diagonal()))
        held += found.rate_interval[0] <= rate <= found.rate_interval[1]
        in_range += found.rate_range[0] <= rate <= found.rate_range[1]
    assert held >= 25
    assert in_range >= 27
