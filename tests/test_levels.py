from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from ordinoise.levels import (
    class_probabilities,
    corrected_levels,
    exceedance,
    labels_from_logits,
    level_table,
    levels,
    log_class_probabilities,
)
from ordinoise.losses import cross_entropy, forward, hinge
from strategies import Floats, descending_thresholds, noise_matrices, scores


def test_levels_count_back_to_the_label() -> None:
    labels = np.array([3, 0, 2, 1])
    np.testing.assert_array_equal(levels(labels, 4).sum(axis=1), labels)
    np.testing.assert_array_equal(levels(labels, 4)[0], [1, 1, 1])


def test_identity_noise_gives_plain_levels_bit_for_bit() -> None:
    np.testing.assert_array_equal(corrected_levels(np.eye(5)), level_table(5))


@given(st.data(), st.integers(2, 6), scores)
def test_labels_and_errors_are_the_papers(data: st.DataObject, n_classes: int, score: float) -> None:
    thresholds = data.draw(descending_thresholds(n_classes - 1))
    label = int(labels_from_logits([score + thresholds])[0])
    assert label + 1 == oracles.label(score, thresholds)
    for y in range(1, n_classes + 1):
        if (score + thresholds != 0).all():
            assert oracles.l_mae(score, thresholds, y) == abs(y - 1 - label)


@given(st.data(), noise_matrices(), scores)
def test_losses_equal_their_transcriptions(data: st.DataObject, matrix: Floats, score: float) -> None:
    thresholds = data.draw(descending_thresholds(len(matrix) - 1)) - np.arange(len(matrix) - 1)
    logits = np.tile(score + thresholds, (len(matrix), 1))
    labels = np.arange(len(matrix))
    plain = level_table(len(matrix))
    literal = [
        (
            oracles.l_ce(score, thresholds, y),
            oracles.l_imc(score, thresholds, y),
            oracles.forward(score, thresholds, y, matrix),
        )
        for y in range(1, len(matrix) + 1)
    ]
    ours = np.stack([cross_entropy(logits, plain), hinge(logits, plain), forward(logits, labels, matrix)], axis=1)
    np.testing.assert_allclose(ours, literal, rtol=1e-7, atol=1e-9)


@given(st.data(), st.integers(2, 6), st.floats(-700, 700))
def test_class_probabilities_are_valid_at_any_score(data: st.DataObject, n_classes: int, score: float) -> None:
    thresholds = data.draw(descending_thresholds(n_classes - 1))
    probabilities = class_probabilities([score + thresholds])
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(), 1)


@given(st.data(), st.integers(2, 6), scores)
def test_class_probabilities_are_differences_of_exceedances(data: st.DataObject, n_classes: int, score: float) -> None:
    logits = np.array([score + data.draw(descending_thresholds(n_classes - 1))])
    edges = np.hstack([np.ones((1, 1)), exceedance(logits), np.zeros((1, 1))])
    np.testing.assert_allclose(class_probabilities(logits), -np.diff(edges, axis=1), atol=1e-12)


def test_log_probabilities_stay_exact_where_probabilities_underflow() -> None:
    logs = log_class_probabilities([[700.0, 699.0], [-699.0, -700.0]])
    gap = np.log(-np.expm1(-1.0))
    np.testing.assert_allclose(logs, [[-700, -699 + gap, 0], [0, -699 + gap, -700]], atol=1e-9)
    assert np.isfinite(logs).all()


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=5))
def test_unordered_logits_give_the_probabilities_of_the_ordered_ones(logits: list[float]) -> None:
    np.testing.assert_array_equal(class_probabilities([logits]), class_probabilities([sorted(logits, reverse=True)]))
    assert labels_from_logits([logits]) == labels_from_logits([sorted(logits)])


@given(st.data(), st.integers(2, 6), scores)
def test_the_label_is_the_median_of_the_class_probabilities(data: st.DataObject, n_classes: int, score: float) -> None:
    logits = np.array([score + data.draw(descending_thresholds(n_classes - 1))])
    assume(np.abs(logits).min() > 1e-9)  # at a tie the two differ by rounding
    median = int((exceedance(logits) > 0.5).sum())
    assert median == labels_from_logits(logits)[0]


@pytest.mark.parametrize("matrix", [np.array([[0.6, 0.3, 0.1], [0.05, 0.9, 0.05], [0.3, 0.2, 0.5]])])
def test_forward_with_the_transposed_matrix_is_another_loss(matrix: Floats) -> None:
    logits, labels = np.array([[2.0, -1.0]] * 3), np.arange(3)
    assert not np.allclose(forward(logits, labels, matrix), forward(logits, labels, matrix.T))


def test_forward_without_noise_is_the_ordinal_likelihood() -> None:
    logits, labels = np.array([[2.0, -1.0], [0.5, -0.5], [900.0, -900.0]]), np.array([0, 2, 1])
    picked = log_class_probabilities(logits)[np.arange(3), labels]
    np.testing.assert_allclose(forward(logits, labels, np.eye(3)), -picked)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: levels([0, 3], 3), r"labels must hold whole numbers from 0 to 2, got 3 at 1"),
        (lambda: level_table(1), r"n_classes must be a whole number of at least 2, got 1"),
        (lambda: labels_from_logits([1.0, 2.0]), r"logits must have 2 dimension\(s\), got shape \(2,\)"),
        (lambda: class_probabilities([[np.nan, 0.0]]), r"logits must be finite, got nan at \(0, 0\)"),
        (lambda: corrected_levels(np.full((3, 3), 1 / 3)), r"noise_matrix must be invertible"),
    ],
)
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
