"""Trees grown from a stream of blocks are those grown from the whole table."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from ordinoise.learners.boosting import OBJECTIVES, BoosterSettings, FeatureStream, Sample, Training, train
from ordinoise.noise import adjacent

NOISE = adjacent(4, up=0.2, down=0.1)


def _rows(n_rows: int = 900) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_rows, 4))
    features[rng.random(n_rows) < 0.1, 1] = np.nan
    features[:, 3] = rng.integers(5, size=n_rows)
    grades = np.digitize(features[:, 0] + (features[:, 3] > 2), [-1, 0, 1])
    return features, grades.astype(np.int64)


def _trained(features: np.ndarray | FeatureStream, grades: np.ndarray) -> Training:
    objective = OBJECTIVES["ordered"](NOISE[None])
    settings = BoosterSettings(categorical=(3,), n_jobs=1, subsample=0.8)
    sample = Sample(features, objective.cells(grades), np.ones(len(grades)))
    return train(sample, objective, np.full(4, 0.25), settings, n_rounds=10, seed=0)


@pytest.mark.parametrize("n_blocks", [1, 8])
def test_a_stream_in_blocks_grows_the_trees_of_the_whole_table(n_blocks: int) -> None:
    features, grades = _rows()
    blocks = [(len(part), partial(np.asarray, part)) for part in np.array_split(features, n_blocks)]
    streamed, whole = _trained(FeatureStream(blocks, features), grades), _trained(features, grades)
    assert np.array_equal(streamed.ensemble.scores(features), whole.ensemble.scores(features))


def test_bins_come_from_the_pattern_alone() -> None:
    features, grades = _rows()
    block = [(len(features), lambda: features)]
    some, other = (_trained(FeatureStream(block, features[part]), grades) for part in (slice(300), slice(600, None)))
    assert not np.array_equal(some.ensemble.scores(features), other.ensemble.scores(features))
