from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.datasets import synthetic
from ordinoise.noise import (
    Noise,
    adjacent,
    correction_matrix,
    corrupt,
    exponential_decay,
    from_cleanlab,
    inverse_decay,
    noise_properties,
    power_decay,
    safe_noise_matrix,
    uniform,
)
from strategies import Floats, noise_matrices

ASYMMETRIC = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])


def test_power_one_is_inverse_decay_and_power_zero_is_uniform() -> None:
    rates = [0.1, 0.2, 0.05, 0.15]
    np.testing.assert_array_equal(power_decay(4, rates, 1.0), inverse_decay(4, rates))
    np.testing.assert_allclose(power_decay(4, 0.1, 0.0), uniform(4, 0.3))


def test_a_huge_power_and_a_zero_factor_leave_slips_to_neighbors() -> None:
    neighbors = adjacent(5, up=0.1, down=0.1)
    np.testing.assert_allclose(power_decay(5, 0.1, 200.0), neighbors, atol=1e-12)
    np.testing.assert_array_equal(exponential_decay(5, 0.1, 0.0), neighbors)


def test_exponential_decay_shrinks_by_its_factor_with_each_grade() -> None:
    row = exponential_decay(5, 0.2, 0.5)[0]
    np.testing.assert_allclose(row[1:], [0.2, 0.1, 0.05, 0.025])


def test_adjacent_up_lies_above_the_diagonal() -> None:
    matrix = adjacent(4, up=0.25, down=0.08)
    np.testing.assert_allclose(np.diagonal(matrix, 1), 0.25)
    np.testing.assert_allclose(np.diagonal(matrix, -1), 0.08)
    assert matrix[3, 3] == pytest.approx(0.92)


@given(noise_matrices(max_classes=5), st.integers(0, 2**32 - 1))
def test_corrupt_draws_every_label_from_its_row(matrix: Floats, seed: int) -> None:
    n = 4000
    true = np.repeat(np.arange(len(matrix)), n)
    recorded = corrupt(true, matrix, seed).reshape(len(matrix), n)
    frequencies = np.stack([np.bincount(row, minlength=len(matrix)) for row in recorded]) / n
    standard_errors = np.sqrt(matrix * (1 - matrix) / n)
    assert (np.abs(frequencies - matrix) <= 5 * standard_errors).all()


def test_corrupt_never_draws_an_impossible_label() -> None:
    recorded = corrupt(np.repeat([0, 1, 2, 3], 5000), ASYMMETRIC, random_state=1).reshape(4, -1)
    assert not np.isin(recorded[0], 3).any()
    assert not np.isin(recorded[1], 0).any()
    assert not np.isin(recorded[2], 3).any()


def test_corrupt_is_reproducible_and_leaves_its_input_alone() -> None:
    labels = np.array([0, 1, 2, 3] * 50)
    before = labels.copy()
    first, second = corrupt(labels, ASYMMETRIC, 7), corrupt(labels, ASYMMETRIC, np.int64(7))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(labels, before)
    assert (first != labels).any()


def test_no_noise_changes_no_label() -> None:
    labels = np.arange(6)
    np.testing.assert_array_equal(corrupt(labels, np.eye(6), 0), labels)
    np.testing.assert_array_equal(correction_matrix(np.eye(6)), np.eye(6))


def test_properties_of_an_asymmetric_matrix() -> None:
    frequencies = np.array([0.1, 0.2, 0.3, 0.4])
    properties = noise_properties(ASYMMETRIC, frequencies)
    assert properties.noise_rate == pytest.approx(0.1 * 0.3 + 0.2 * 0.2 + 0.3 * 0.22 + 0.4 * 0.3)
    by_hand = sum(frequencies[i] * ASYMMETRIC[i, j] * abs(i - j) for i in range(4) for j in range(4))
    assert properties.expected_distance == pytest.approx(by_hand)
    assert not properties.is_symmetric
    assert properties.m == pytest.approx(np.abs(np.linalg.inv(ASYMMETRIC)).sum(axis=1).max())


def test_no_noise_has_unit_constants_and_endless_limits() -> None:
    properties = noise_properties(np.eye(3))
    assert (properties.m, properties.lipschitz_cross_entropy, properties.lipschitz_hinge) == (1, 1, 1)
    assert properties.dominance_limit == properties.invertibility_limit == np.inf


@given(noise_matrices())
def test_tight_constants_never_exceed_m(matrix: Floats) -> None:
    properties = noise_properties(matrix)
    assert 1 <= properties.lipschitz_cross_entropy <= properties.lipschitz_hinge <= properties.m + 1e-9


def test_a_singular_matrix_has_properties_but_no_correction() -> None:
    singular = np.full((3, 3), 1 / 3)
    assert noise_properties(singular).m == np.inf
    with pytest.raises(ValueError, match="noise_matrix must be invertible, got a condition number of"):
        correction_matrix(singular)


@pytest.mark.parametrize("matrix", [np.full((3, 3), 1 / 3), inverse_decay(10, [0.17] * 9 + [0.16])])
def test_a_nearly_singular_matrix_is_mixed_with_the_identity_and_says_so(matrix: Floats) -> None:
    with pytest.warns(UserWarning, match="mixed with .* of the identity"):
        safe = safe_noise_matrix(matrix, largest_m=6)
    assert noise_properties(safe).m == pytest.approx(6, rel=1e-3)
    mixed_in = (np.diagonal(safe) - np.diagonal(matrix)) / (1 - np.diagonal(matrix))
    np.testing.assert_allclose(mixed_in, mixed_in[0])


def test_a_harmless_matrix_is_safe_as_it_is() -> None:
    np.testing.assert_array_equal(safe_noise_matrix(ASYMMETRIC), ASYMMETRIC)


def test_cleanlabs_matrix_is_ours_transposed() -> None:
    np.testing.assert_array_equal(from_cleanlab(ASYMMETRIC.T), ASYMMETRIC)


BAD_MATRICES = [
    (np.ones((2, 3)) / 3, r"noise_matrix must be square, got shape \(2, 3\)"),
    ([[1.2, -0.2], [0.1, 0.9]], r"noise_matrix must have no negative entry, got -0.2 in row 0, column 1"),
    ([[0.8, 0.3], [0.1, 0.9]], r"noise_matrix rows must sum to 1 \(row = true label\), got 1.1 in row 0"),
    ([[0.8, 0.3], [0.2, 0.7]], r"got 1.1 in row 0; .* indexed \[recorded, true\]: pass its transpose"),
    ([[np.nan, 1], [0, 1]], r"noise_matrix must be finite, got nan at \(0, 0\)"),
    ([[1.0]], r"noise_matrix must have at least 2 classes, got shape \(1, 1\)"),
    ([], r"noise_matrix must have 2 dimension\(s\), got shape \(0,\)"),
    (np.zeros((0, 0)), r"noise_matrix must not be empty, got shape \(0, 0\)"),
    ("high", r"noise_matrix must be an array of numbers, got str|noise must be known here.*got 'high'"),
]


@pytest.mark.parametrize(("matrix", "sentence"), BAD_MATRICES)
@pytest.mark.parametrize("use", [Noise.of, correction_matrix, noise_properties, safe_noise_matrix])
def test_a_bad_matrix_gets_one_sentence(use: Callable[[Any], object], matrix: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        use(matrix)
    assert "\n" not in str(caught.value)


def test_a_matrix_for_another_number_of_classes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"noise_matrix must be 5 x 5, one row per class, got shape \(4, 4\)"):
        Noise.of(ASYMMETRIC, n_classes=5)


BAD_RATES = [
    (lambda: inverse_decay(10, 0.25), r"rate must be at most 0.229 for class 4 of 10, got 0.25"),
    (lambda: inverse_decay(4, -0.1), r"rate must be at least 0, got -0.1"),
    (
        lambda: inverse_decay(4, [0.1, 0.2]),
        r"rate must be one number or one for each of the 4 classes, got 2 numbers",
    ),
    (lambda: inverse_decay(1, 0.1), r"n_classes must be a whole number of at least 2, got 1"),
    (lambda: inverse_decay(4.5, 0.1), r"n_classes must be a whole number of at least 2, got 4.5"),  # type: ignore[arg-type]
    (lambda: inverse_decay(4, np.nan), r"rate must be finite, got nan at 0"),
    (
        lambda: adjacent(4, up=0.7, down=0.4),
        r"up \+ down must be at most 1 in every class, got 1.1 in class 1",
    ),
    (lambda: uniform(4, 1.5), r"rate must be at least 0 and at most 1, got 1.5"),
    (lambda: exponential_decay(4, 0.1, 2.0), r"factor must be at least 0 and at most 1, got 2.0"),
    (lambda: power_decay(4, 0.1, -1.0), r"power must be at least 0, got -1.0"),
    (lambda: corrupt([0, 1, 4], ASYMMETRIC), r"labels must hold whole numbers from 0 to 3, got 4 at 2"),
    (lambda: corrupt([0, 1.5], ASYMMETRIC), r"labels must hold whole numbers from 0 to 3, got 1.5 at 1"),
    (lambda: corrupt([], ASYMMETRIC), r"labels must not be empty, got shape \(0,\)"),
    (
        lambda: noise_properties(ASYMMETRIC, [1, 2]),
        r"class_frequencies must be as long as the noise matrix \(4\), got 2",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), BAD_RATES)
def test_a_bad_argument_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


UNIFORM = np.random.Generator.uniform
NORMAL = np.random.Generator.normal


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("draw", [UNIFORM, NORMAL])
def test_the_seed_of_the_data_gives_noise_that_does_not_depend_on_the_data(draw: Callable[..., Any], seed: int) -> None:
    """Within four standard errors; the same stream gave a share of 0 wrong and a correlation of -.5."""
    position = draw(np.random.default_rng(seed), size=4000)
    true = np.searchsorted(np.quantile(position, [0.25, 0.5, 0.75]), position)
    noise = inverse_decay(4, 0.15)
    is_wrong = corrupt(true, noise, random_state=seed) != true
    assert abs(is_wrong.mean() - (1 - noise.diagonal()[true]).mean()) < 4 * np.sqrt(0.25 / 4000)
    for grade in range(4):
        of_grade = true == grade
        assert abs(np.corrcoef(position[of_grade], is_wrong[of_grade])[0, 1]) < 4 / np.sqrt(of_grade.sum())


@pytest.mark.parametrize("seed", range(4))
def test_noise_with_the_seed_of_a_synthetic_set_does_not_depend_on_its_features(seed: int) -> None:
    data = synthetic(2000, random_state=seed)
    is_wrong = corrupt(data.labels, inverse_decay(4, 0.15), random_state=seed) != data.labels
    for column in data.features.T:
        for grade in range(4):
            of_grade = data.labels == grade
            assert abs(np.corrcoef(column[of_grade], is_wrong[of_grade])[0, 1]) < 4 / np.sqrt(of_grade.sum())


def test_a_generator_and_numpys_whole_numbers_are_seeds_as_ever() -> None:
    true, noise = np.arange(100) % 4, inverse_decay(4, 0.15)
    np.testing.assert_array_equal(corrupt(true, noise, np.int64(3)), corrupt(true, noise, 3))
    first, second = (corrupt(true, noise, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (first != corrupt(true, noise, 3)).any()
    with pytest.raises(ValueError, match="random_state must be a non-negative seed"):
        corrupt(true, noise, -1)
