import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ordinoise.crossfit import center_and_scale, split_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_center_and_scale_are_the_weighted_mean_and_deviation(dtype: type) -> None:
    rng = np.random.default_rng(0)
    X: NDArray[np.floating] = (rng.normal(size=(9000, 3)) * [1, 100, 0] + [5, -1e4, 7]).astype(dtype)
    weights, rows = rng.integers(0, 4, 9000).astype(float), np.arange(100, 9000)
    center, scale = center_and_scale(X, rows, weights)
    repeated = X[rows].astype(np.float64).repeat(weights[rows].astype(int), axis=0)
    np.testing.assert_allclose(center, repeated.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(scale, [*repeated.std(axis=0)[:2], 1.0], rtol=1e-5)


@given(st.integers(2, 60), st.floats(0.05, 0.9), st.integers(0, 2**32 - 1))
def test_rows_are_split_without_loss_or_overlap_and_weightless_ones_left_out(n: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, n).astype(float)
    weights[:2] = 1
    training, validation = split_rows(rng.integers(0, 3, n), weights, share, rng)
    assert validation is not None
    np.testing.assert_array_equal(np.sort(np.concatenate([training, validation])), np.flatnonzero(weights))
    assert len(training) > 0
    assert len(validation) > 0


def test_every_class_is_in_both_parts() -> None:
    ranks = np.repeat([0, 1, 2], [10, 80, 10])
    training, validation = split_rows(ranks, np.ones(100), 0.2, np.random.default_rng(0))
    assert validation is not None
    np.testing.assert_array_equal(np.bincount(ranks[validation]), [2, 16, 2])
    np.testing.assert_array_equal(np.bincount(ranks[training]), [8, 64, 8])


def test_no_validation_part_without_a_share() -> None:
    rows, validation = split_rows(np.zeros(4, dtype=np.int64), np.array([1.0, 0, 1, 1]), 0.0, np.random.default_rng(0))
    assert rows.tolist() == [0, 2, 3]
    assert validation is None
