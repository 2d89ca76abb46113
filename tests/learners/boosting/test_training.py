import weakref
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.learners.boosting import BoosterSettings, Sample, train
from ordinoise.learners.boosting.objective import ForwardOrdered


def test_the_numbers_of_a_table_are_free_while_trees_grow_on_its_bins() -> None:
    rng = np.random.default_rng(0)
    kept, are_free = [], []

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
