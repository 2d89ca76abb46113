"""Claims of section 3.2 of the paper about N and its inverse: which hold, and for which family."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from ordinoise.noise import (
    correction_matrix,
    inverse_decay,
    noise_properties,
)
from ordinoise.noise.properties import largest_dominant_rate, largest_invertible_rate
from strategies import Floats, class_conditional_decay, noise_matrices


@given(st.integers(2, 8), st.floats(0.0, 1.0))
def test_one_rate_is_symmetric_and_doubly_stochastic(n_classes: int, share: float) -> None:
    matrix = inverse_decay(n_classes, share * 0.999 * largest_dominant_rate(n_classes))
    inverse = correction_matrix(matrix)
    np.testing.assert_allclose(matrix, matrix.T)
    for table in (matrix, inverse):
        np.testing.assert_allclose(table.sum(axis=0), 1)
        np.testing.assert_allclose(table.sum(axis=1), 1)


@given(class_conditional_decay())
def test_one_rate_a_class_keeps_row_sums_but_not_column_sums(matrix: Floats) -> None:
    inverse = correction_matrix(matrix)
    np.testing.assert_allclose(inverse.sum(axis=1), 1)
    assert not np.allclose(matrix.sum(axis=0), 1, atol=1e-4)
    assert not np.allclose(inverse.sum(axis=0), 1, atol=1e-4)


@given(class_conditional_decay(), st.data())
def test_inverse_decay_is_the_papers_formula(matrix: Floats, data: st.DataObject) -> None:
    rates = data.draw(st.lists(st.floats(0, 0.2), min_size=len(matrix), max_size=len(matrix)))
    np.testing.assert_allclose(inverse_decay(len(matrix), rates), oracles.inverse_decay(len(matrix), rates))


@given(noise_matrices())
def test_a_dominant_matrix_is_invertible(matrix: Floats) -> None:
    assert noise_properties(matrix).is_dominant
    np.testing.assert_allclose(matrix @ correction_matrix(matrix), np.eye(len(matrix)), atol=1e-9)


@given(noise_matrices())
def test_every_row_and_column_of_the_inverse_holds_a_negative_number(matrix: Floats) -> None:
    inverse = correction_matrix(matrix)
    assert (inverse.min(axis=0) < 0).all()
    assert (inverse.min(axis=1) < 0).all()


@pytest.mark.parametrize("n_classes", range(2, 13))
def test_eigenvalues_of_one_rate_are_one_minus_twice_the_rate_times_harmonic_numbers(n_classes: int) -> None:
    rate = 0.9 * largest_dominant_rate(n_classes)
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, n_classes))])
    np.testing.assert_allclose(
        np.linalg.eigvalsh(inverse_decay(n_classes, rate)), np.sort(1 - 2 * rate * harmonic), atol=1e-12
    )


@pytest.mark.parametrize("n_classes", range(3, 11))
def test_closed_forms_agree_with_the_limits_of_any_one_rate_matrix(n_classes: int) -> None:
    rate = 0.3 * largest_dominant_rate(n_classes)
    properties = noise_properties(inverse_decay(n_classes, rate))
    assert properties.dominance_limit * rate == pytest.approx(largest_dominant_rate(n_classes))
    assert properties.invertibility_limit * rate == pytest.approx(largest_invertible_rate(n_classes))


def test_the_papers_rate_breaks_dominance_from_six_classes_on_yet_keeps_the_inverse() -> None:
    dominant = [noise_properties(inverse_decay(n_classes, 0.15)).is_dominant for n_classes in range(2, 11)]
    assert dominant == [True] * 4 + [False] * 5
    for n_classes in range(2, 11):
        correction_matrix(inverse_decay(n_classes, 0.15))


@given(noise_matrices())
def test_invertibility_limit_is_where_the_scaled_matrix_turns_singular(matrix: Floats) -> None:
    limit = noise_properties(matrix).invertibility_limit
    assume(np.isfinite(limit))  # complex eigenvalues never reach zero
    identity = np.eye(len(matrix))
    at_limit = identity - limit * (identity - matrix)
    before = identity - 0.5 * limit * (identity - matrix)
    assert abs(np.linalg.det(at_limit)) < 1e-6 < abs(np.linalg.det(before))
