"""Theorems 1-3 of the paper: when the thresholds keep their order, and a counterexample where they do not."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.levels import corrected_levels
from ordinoise.losses import cross_entropy, hinge
from strategies import Floats, descending_thresholds, noise_matrices, scores


def _threshold_slopes(name: str, logits: Floats, table: Floats) -> Floats:
    """Derivative of the loss by each threshold, a row for each recorded label."""
    if name == "cross_entropy":
        return 1 / (1 + np.exp(-logits)) - table
    return -table * (logits < 1) + (1 - table) * (logits > -1)


def _expected_gaps(
    name: str, score: float, thresholds: Floats, probabilities: Floats, matrix: Floats, step: float
) -> Floats:
    """b_i - b_{i+1} after one step of plain gradient descent, averaged over true and recorded label."""
    slopes = _threshold_slopes(name, score + thresholds, corrected_levels(matrix))
    return -np.diff(thresholds - step * (probabilities @ matrix @ slopes))


@st.composite
def probabilities(draw: st.DrawFn, n_classes: int) -> Floats:
    weights = np.array(draw(st.lists(st.floats(0.01, 1), min_size=n_classes, max_size=n_classes)))
    return weights / weights.sum()


@given(st.data(), noise_matrices(min_classes=3), scores, st.floats(0.001, 4.0))
def test_theorem_2_expected_gaps_stay_ordered_for_cross_entropy_up_to_a_step_of_four(
    data: st.DataObject, matrix: Floats, score: float, step: float
) -> None:
    thresholds = data.draw(descending_thresholds(len(matrix) - 1))
    gaps = _expected_gaps("cross_entropy", score, thresholds, data.draw(probabilities(len(matrix))), matrix, step)
    assert gaps.min() >= -1e-9


def test_theorem_2_fails_beyond_a_step_of_four() -> None:
    thresholds, few_in_the_middle = np.array([0.05, -0.05]), np.array([0.5, 0.0, 0.5])
    matrix = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.02, 0.08, 0.9]])
    assert _expected_gaps("cross_entropy", 0.0, thresholds, few_in_the_middle, matrix, 3.9)[0] > 0
    assert _expected_gaps("cross_entropy", 0.0, thresholds, few_in_the_middle, matrix, 4.1)[0] < 0


def test_theorem_3_is_false_as_stated() -> None:
    thresholds, likely = np.array([-0.99, -1.01, -3.0]), np.array([0.9, 0.05, 0.03, 0.02])
    matrix = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])
    gaps = _expected_gaps("hinge", 0.0, thresholds, likely, matrix, 0.1)
    np.testing.assert_allclose(gaps[0], -0.065, atol=1e-12)


@given(st.data(), noise_matrices(min_classes=3), scores, st.floats(0.001, 2.0))
def test_hinge_gaps_shrink_by_at_most_one_step_in_expectation(
    data: st.DataObject, matrix: Floats, score: float, step: float
) -> None:
    thresholds = data.draw(descending_thresholds(len(matrix) - 1))
    gaps = _expected_gaps("hinge", score, thresholds, data.draw(probabilities(len(matrix))), matrix, step)
    assert (gaps >= -np.diff(thresholds) - step - 1e-9).all()


@given(st.data(), noise_matrices(min_classes=3), st.floats(0.001, 2.0), st.sampled_from([-3.0, 0.0, 3.0]))
def test_hinge_gaps_do_not_shrink_within_one_piece(
    data: st.DataObject, matrix: Floats, step: float, piece: float
) -> None:
    thresholds = data.draw(descending_thresholds(len(matrix) - 1)) / 8
    gaps = _expected_gaps("hinge", piece, thresholds, data.draw(probabilities(len(matrix))), matrix, step)
    assert (gaps >= -np.diff(thresholds) - 1e-9).all()


@given(st.data(), noise_matrices(min_classes=3), scores)
def test_theorem_1_swapping_unordered_thresholds_never_raises_the_expected_corrected_loss(
    data: st.DataObject, matrix: Floats, score: float
) -> None:
    """In expectation over the noise; every true class has some chance."""
    thresholds = data.draw(descending_thresholds(len(matrix) - 1))[::-1]
    sorted_thresholds = np.sort(thresholds)[::-1]
    likely = data.draw(probabilities(len(matrix))) @ matrix
    for loss in (cross_entropy, hinge):
        unordered = likely @ loss(score + thresholds, corrected_levels(matrix))
        ordered = likely @ loss(score + sorted_thresholds, corrected_levels(matrix))
        assert ordered <= unordered + 1e-9
