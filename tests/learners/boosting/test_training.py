import weakref
from typing import Any

import numpy as np
import pytest

from ordinoise._validation import Floats, Ints
from ordinoise.learners.boosting import BoosterSettings, Sample, train
from ordinoise.learners.boosting.objective import ForwardObjective, ForwardOrdered, ForwardSoftmax


def test_the_numbers_of_a_table_are_free_while_trees_grow_on_its_bins() -> None:
    rng = np.random.default_rng(0)
    kept: list[weakref.ref[Any]] = []
    are_free: list[bool] = []

    class Watching(ForwardOrdered):
        def slopes(self, scores: Floats, offsets: Floats, cells: Ints, weights: Floats) -> Any:
            are_free.append(all(features() is None for features in kept))
            return super().slopes(scores, offsets, cells, weights)

    def sample(n_rows: int) -> Sample:
        features = rng.normal(size=(n_rows, 2))
        kept.append(weakref.ref(features))
        return Sample(features, (features[:, 0] > 0).astype(np.int64), np.ones(n_rows))

    settings = BoosterSettings(n_jobs=1)
    train(sample(200), Watching(np.eye(2)[None]), np.ones(2) / 2, settings, n_rounds=3, seed=0, validation=sample(80))
    assert are_free == [True] * 3


@pytest.mark.parametrize("objective", [ForwardOrdered(np.eye(3)[None]), ForwardSoftmax(np.eye(3)[None])])
def test_the_scores_of_the_validation_part_are_those_of_the_trees_to_the_last_bit(objective: ForwardObjective) -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(size=(900, 2)), rng.integers(6, size=900)])
    features[rng.random(features.shape) < 0.1] = np.nan
    features[-50:, 2] = 9.0  # a category that no training row has
    cells = np.digitize(np.nan_to_num(features[:, 0]) + np.nan_to_num(features[:, 2]) % 2, [0, 1])
    whole = Sample(features, cells, np.ones(900))
    training = train(
        whole.rows(np.arange(600)), objective, np.ones(3) / 3, BoosterSettings(categorical=(2,), n_jobs=1),
        n_rounds=60, seed=0, validation=whole.rows(np.arange(600, 900)), patience=5,
    )  # fmt: skip
    assert 1 < training.n_rounds < 55
    np.testing.assert_array_equal(training.validation_scores, training.ensemble.scores(features[600:]))
