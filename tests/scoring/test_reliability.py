"""Reliability on clean labels, from noisy ones: the exact average over the noise is the oracle."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.noise import adjacent, correction_matrix, corrupt, inverse_decay
from ordinoise.scoring.reliability import Reliability, reliability_curve
from strategies import Floats, Ints, noise_matrices


def _problem(n_classes: int, n_samples: int, seed: int) -> tuple[Floats, Ints]:
    """Probabilities, and true labels drawn from them."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(n_classes, 0.7), n_samples)
    return probabilities, (rng.random((n_samples, 1)) > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)


def _oracle(probabilities: Floats, recorded: Ints, matrix: Floats, n_bins: int) -> dict[int, tuple[float, float, int]]:
    """Mean prediction, corrected frequency and count of each bin, one prediction at a time."""
    inverse, bins = correction_matrix(matrix), dict[int, list[tuple[float, float]]]()
    for row, label in zip(probabilities, recorded, strict=True):
        for j in range(len(row) - 1):
            predicted = min(max(1 - sum(row[: j + 1]), 0.0), 1.0)
            observed = sum(inverse[label, k] for k in range(j + 1, len(row)))
            bins.setdefault(min(int(predicted * n_bins), n_bins - 1), []).append((predicted, observed))
    means = {number: np.mean(pairs, axis=0) for number, pairs in sorted(bins.items())}
    return {number: (float(mean[0]), float(mean[1]), len(bins[number])) for number, mean in means.items()}


@given(matrix=noise_matrices(), seed=st.integers(0, 2**32 - 1), n_bins=st.integers(1, 12))
def test_bins_are_those_of_one_prediction_at_a_time(matrix: Floats, seed: int, n_bins: int) -> None:
    probabilities, true = _problem(len(matrix), 30, seed)
    recorded = corrupt(true, matrix, seed)
    found, expected = (
        reliability_curve(probabilities, recorded, matrix, n_bins),
        _oracle(probabilities, recorded, matrix, n_bins),
    )
    np.testing.assert_allclose(found.predicted, [mean for mean, _, _ in expected.values()], atol=1e-9)
    np.testing.assert_allclose(found.observed, [mean for _, mean, _ in expected.values()], atol=1e-9)
    assert found.counts.tolist() == [count for _, _, count in expected.values()]


@given(matrix=noise_matrices(), seed=st.integers(0, 2**32 - 1))
def test_the_average_over_the_noise_is_what_clean_labels_show(matrix: Floats, seed: int) -> None:
    """Exactly: every record that a single row may get, weighted by its probability."""
    n_classes = len(matrix)
    probabilities, true = _problem(n_classes, 1, seed)
    clean = reliability_curve(probabilities, true, np.eye(n_classes), 5)
    noisy = [reliability_curve(probabilities, [recorded], matrix, 5).observed for recorded in range(n_classes)]
    np.testing.assert_allclose(matrix[true[0]] @ noisy, clean.observed, atol=1e-9)


def _large(matrix: Floats, sharpness: float) -> Reliability:
    probabilities, true = _problem(len(matrix), 40_000, 0)
    sharpened = probabilities**sharpness / (probabilities**sharpness).sum(axis=1, keepdims=True)
    return reliability_curve(sharpened, corrupt(true, matrix, 1), matrix)


def test_right_probabilities_are_found_right_and_sharpened_ones_are_not() -> None:
    matrix = adjacent(4, up=0.3, down=0.05)
    right, sharpened = _large(matrix, 1.0), _large(matrix, 2.0)
    assert (np.abs(right.observed - right.predicted) / right.standard_error).max() < 4
    assert right.expected_calibration_error < 2 * right.error_by_chance
    assert sharpened.expected_calibration_error > 10 * sharpened.error_by_chance


@pytest.mark.parametrize("n_bins", [1, 4])
def test_the_standard_error_is_the_spread_over_repetitions(n_bins: int) -> None:
    """With one bin a row counts once per threshold, and its errors are correlated."""
    matrix = inverse_decay(5, [0.05, 0.1, 0.15, 0.1, 0.2])
    gaps, errors = [], []
    for seed in range(300):
        probabilities, true = _problem(5, 200, seed)
        found = reliability_curve(probabilities, corrupt(true, matrix, seed), matrix, n_bins)
        gaps.append(found.observed - found.predicted)
        errors.append(found.standard_error)
    np.testing.assert_allclose(np.std(gaps, axis=0), np.mean(errors, axis=0), rtol=0.15)


def test_without_correction_the_same_labels_look_miscalibrated() -> None:
    matrix = adjacent(3, up=0.4, down=0.0)
    probabilities, true = _problem(3, 20_000, 3)
    recorded = corrupt(true, matrix, 4)
    taken_as_true = reliability_curve(probabilities, recorded, np.eye(3))
    assert (
        taken_as_true.expected_calibration_error
        > 5 * reliability_curve(probabilities, recorded, matrix).expected_calibration_error
    )


def test_a_bin_of_one_row_has_a_finite_error() -> None:
    found = reliability_curve([[0.9, 0.1], [0.1, 0.9]], [0, 1], adjacent(2, up=0.2, down=0.1))
    assert np.isfinite([found.error_by_chance, *found.standard_error]).all()
    assert (found.standard_error > 0.5).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: reliability_curve([[0.5, 0.6]], [0], np.eye(2)), r"probabilities rows must be non-negative and sum to 1"),
        (lambda: reliability_curve([[0.5, 0.5]], [0], np.eye(3)), r"noise_matrix must be 2 x 2, one row per class"),
        (lambda: reliability_curve([[0.5, 0.5]], [2], np.eye(2)), r"recorded must hold whole numbers from 0 to 1, got 2"),
        (lambda: reliability_curve([[0.5, 0.5]], [0, 1], np.eye(2)), r"recorded must be as long as probabilities \(1\), got 2"),
        (lambda: reliability_curve([[0.5, 0.5]], [0], np.eye(2), 0), r"n_bins must be a whole number of at least 1"),
        (lambda: reliability_curve([[0.5, 0.5]], [0], np.full((2, 2), 0.5)), r"noise_matrix must have rows that differ"),
    ],
    ids=["sums", "columns", "label", "length", "bins", "singular"],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
