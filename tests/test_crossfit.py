import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ordinoise.crossfit import out_of_fold, split_rows, stratified_folds
from ordinoise.decisions import combined
from ordinoise.hashing import hashed_folds, name_keys, places_of, row_keys
from ordinoise.standardize import center_and_scale
from ordinoise.threads import n_workers

Ints = NDArray[np.int64]


@given(st.integers(10, 80), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_every_class_is_spread_evenly(n_samples: int, n_folds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = rng.integers(0, 4, n_samples)
    folds = stratified_folds(ranks, n_folds, rng)
    counts = np.array([np.bincount(folds[ranks == k], minlength=n_folds) for k in range(4)])
    assert np.ptp(counts, axis=1).max() <= 1
    assert np.ptp(counts.sum(axis=0)) <= 1


def _remember(training: Ints, test: Ints, seed: int) -> NDArray[np.float64]:
    """A model that knows the rows it was trained on: it would give itself away."""
    assert not set(training) & set(test)
    return np.column_stack([np.full(len(test), float(len(training))), np.full(len(test), float(seed))])


def test_no_sample_is_predicted_by_a_model_that_saw_it() -> None:
    ranks = np.arange(23) % 2
    predicted = out_of_fold(_remember, ranks, 2, n_folds=5, rng=np.random.default_rng(0))
    assert set(predicted[:, 0]) <= {18.0, 19.0}


def test_the_answer_does_not_depend_on_the_number_of_workers() -> None:
    ranks = np.arange(40) % 3
    one, four = (
        out_of_fold(_remember, ranks, 2, n_folds=4, rng=np.random.default_rng(1), n_jobs=n_jobs) for n_jobs in (1, 4)
    )
    np.testing.assert_array_equal(one, four)


def test_an_error_in_a_fold_reaches_the_caller() -> None:
    def fails(training: Ints, test: Ints, seed: int) -> NDArray[np.float64]:
        raise ArithmeticError("fold")

    with pytest.raises(ArithmeticError, match="fold"):
        out_of_fold(fails, np.zeros(10, dtype=np.int64), 2, n_folds=2, rng=np.random.default_rng(0))


def test_too_many_folds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"n_folds must be at most the number of samples \(3\), got 5"):
        stratified_folds(np.array([0, 1, 1]), 5, np.random.default_rng(0))


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_numbers_whose_squares_are_none_are_scaled_as_others_are(unit: float) -> None:
    X, rows, weights = np.random.default_rng(0).normal(3.0, 2.0, (50, 2)), np.arange(50), np.ones(50)
    center, scale = center_and_scale(X * unit, rows, weights)
    plain = center_and_scale(X, rows, weights)
    np.testing.assert_allclose([center / unit, scale / unit], plain)


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
def test_rows_are_split_without_loss_or_overlap_and_rows_with_zero_weight_ignored(
    n: int, share: float, seed: int
) -> None:
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


@given(st.integers(2, 30), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_a_group_is_in_one_fold_and_no_fold_is_empty(n_groups: int, n_folds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=3 * n_groups)]))
    ranks = rng.integers(0, 4, len(groups))
    folds = stratified_folds(ranks, n_folds, rng, groups)
    assert all(len(set(folds[groups == group])) == 1 for group in range(n_groups))
    assert set(folds) == set(range(min(n_folds, n_groups)))


def test_groups_are_spread_so_that_classes_and_sizes_differ_little() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(200, size=2000)
    ranks = (groups % 5) * (rng.random(2000) < 0.8)  # most rows of a group share a label
    folds = stratified_folds(ranks, 5, rng, groups)
    counts = np.array([np.bincount(folds[ranks == k], minlength=5) for k in range(5)])
    assert np.ptp(np.bincount(folds)) < 0.1 * 400
    assert (np.ptp(counts, axis=1) < 0.25 * counts.mean(axis=1)).all()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75])
def test_a_split_keeps_groups_together_and_about_the_share(share: float) -> None:
    rng = np.random.default_rng(0)
    groups, ranks = rng.integers(100, size=1000), rng.integers(3, size=1000)
    training, validation = split_rows(ranks, np.ones(1000), share, rng, groups)
    assert validation is not None
    assert not set(groups[training]) & set(groups[validation])
    assert abs(len(validation) / 1000 - share) < 0.05
    assert len(training) + len(validation) == 1000


def test_a_single_group_cannot_be_split() -> None:
    one = np.zeros(10, dtype=np.int64)
    with pytest.raises(ValueError, match="groups must hold at least 2 distinct values, to keep one apart, got 1"):
        stratified_folds(one, 5, np.random.default_rng(0), one)


def test_keys_of_rows_do_not_depend_on_the_part_that_they_are_read_in() -> None:
    whole = row_keys(np.arange(1000), seed=3)
    assert np.array_equal(np.concatenate([row_keys(np.arange(400), 3), row_keys(np.arange(400, 1000), 3)]), whole)
    assert not np.array_equal(row_keys(np.arange(1000), seed=4), whole)


def test_equal_names_have_equal_keys() -> None:
    first, second = name_keys(["b", "a", "b"], seed=0), name_keys(["a"], seed=0)
    assert first[0] == first[2] != first[1] == second[0]


def test_hashed_folds_and_draws_are_even_and_independent() -> None:
    keys = row_keys(np.arange(40_000), seed=0)
    folds, places, others = hashed_folds(keys, 4), places_of(keys, 0), places_of(keys, 1)
    assert np.abs(np.bincount(folds) - 10_000).max() < 4 * np.sqrt(7500)
    for part in (places[folds == 2], places[others < 0.5]):
        assert abs(part.mean() - 0.5) < 4 / np.sqrt(12 * len(part))


def test_a_combined_row_does_not_depend_on_its_neighbors() -> None:
    rng = np.random.default_rng(0)
    table, weights = rng.normal(size=(1003, 5)), rng.normal(size=(5, 5))
    whole = combined(table, weights)
    assert np.allclose(whole, table @ weights)
    for rows in (slice(1), slice(3, 10), slice(500, 1003)):
        assert np.array_equal(combined(table[rows], weights), whole[rows])


def test_no_more_threads_than_processors_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3}, raising=False)
    assert n_workers(None, 5) == 1
    assert n_workers(4, 5) == 4
