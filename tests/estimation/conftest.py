import numpy as np
import pytest

from estimation.made_ratings import DOWN, SHARP, UP, Ints, graded


@pytest.fixture(scope="module")
def ratings() -> Ints:
    table = graded(400, [UP, DOWN, SHARP, UP, SHARP])[1]
    return np.where(np.random.default_rng(1).random(table.shape) < 0.2, -1, table)
