"""Claims of docs/theory.md that go beyond the paper's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.levels import class_probabilities, corrected_levels, level_table
from ordinoise.losses import cross_entropy, forward, hinge
from ordinoise.noise import adjacent, correction_matrix, inverse_decay, noise_properties
from ordinoise.scoring.bounds import steepness
from strategies import Floats, descending_thresholds, noise_matrices, scores


@given(noise_matrices())
def test_dominance_bounds_m(matrix: Floats) -> None:
    assert noise_properties(matrix).m <= 1 / (2 * matrix.diagonal().min() - 1) + 1e-9


@given(noise_matrices(min_classes=3), st.data())
def test_a_class_that_is_never_mislabelled_has_a_row_without_negative_entries(
    matrix: Floats, data: st.DataObject
) -> None:
    certain = data.draw(st.integers(0, len(matrix) - 1))
    matrix[certain] = np.eye(len(matrix))[certain]
    rows_without = correction_matrix(matrix).min(axis=1) >= -1e-12
    np.testing.assert_array_equal(rows_without, np.arange(len(matrix)) == certain)


@pytest.mark.parametrize(("n_classes", "positive"), [(16, True), (17, False)])
def test_the_papers_rate_has_positive_eigenvalues_up_to_sixteen_classes(n_classes: int, positive: bool) -> None:
    assert (np.linalg.eigvalsh(inverse_decay(n_classes, 0.15)).min() > 0) == positive


@given(noise_matrices(min_classes=2, max_classes=4), noise_matrices(min_classes=2, max_classes=4))
def test_corrected_levels_stay_within_the_unit_interval_only_where_no_label_crosses(low: Floats, high: Floats) -> None:
    """Two blocks of grades that are confused within each, never between them."""
    k = len(low)
    blocks = np.block([[low, np.zeros((k, len(high)))], [np.zeros((len(high), k)), high]])
    table = corrected_levels(blocks)
    within = ((table >= -1e-9) & (table <= 1 + 1e-9)).all(axis=0)
    np.testing.assert_array_equal(within, np.arange(len(blocks) - 1) == k - 1)
    np.testing.assert_allclose(table[:, k - 1], level_table(len(blocks))[:, k - 1], atol=1e-9)


def test_clipping_does_not_always_give_back_the_plain_levels() -> None:
    clipped = corrected_levels(adjacent(3, up=0.4, down=0)).clip(0, 1)
    assert 0.1 < np.abs(clipped - level_table(3)).max() < 0.9


@given(st.data(), noise_matrices(), scores)
def test_forward_likelihood_is_a_table_and_an_average_of_a_column(
    data: st.DataObject, matrix: Floats, score: float
) -> None:
    logits = score + data.draw(descending_thresholds(len(matrix) - 1))
    likelihood = np.exp(-forward(np.tile(logits, (len(matrix), 1)), np.arange(len(matrix)), matrix))
    table = matrix[0] + np.diff(matrix, axis=0).T @ (1 / (1 + np.exp(-logits)))
    np.testing.assert_allclose(likelihood, table, rtol=1e-9)
    assert (likelihood >= matrix.min(axis=0) - 1e-12).all()
    assert (likelihood <= matrix.max(axis=0) + 1e-12).all()


@given(noise_matrices(min_classes=3), st.integers(0, 2**32 - 1), st.data())
def test_swapping_thresholds_changes_the_empirical_loss_by_the_gap_times_the_corrected_frequency(
    matrix: Floats, seed: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    recorded, score = rng.integers(0, len(matrix), 20), rng.normal(size=(20, 1))
    thresholds = rng.normal(size=len(matrix) - 1)
    j = data.draw(st.integers(0, len(matrix) - 3))
    swapped = thresholds.copy()
    swapped[[j, j + 1]] = thresholds[[j + 1, j]]
    levels = corrected_levels(matrix)[recorded]
    change = (cross_entropy(score + swapped, levels) - cross_entropy(score + thresholds, levels)).mean()
    frequency = correction_matrix(matrix)[recorded, j + 1].mean()
    assert change == pytest.approx(-(thresholds[j + 1] - thresholds[j]) * frequency, abs=1e-9)


@given(st.data(), noise_matrices(min_classes=3), scores, st.floats(0.001, 2.0))
def test_hinge_gaps_shrink_by_at_most_the_chance_of_the_other_classes(
    data: st.DataObject, matrix: Floats, score: float, step: float
) -> None:
    thresholds = data.draw(descending_thresholds(len(matrix) - 1))
    probabilities = np.random.default_rng(data.draw(st.integers(0, 999))).dirichlet(np.ones(len(matrix)))
    table, logits = corrected_levels(matrix), score + thresholds
    slopes = probabilities @ matrix @ (-table * (logits < 1) + (1 - table) * (logits > -1))
    shrinkage = np.diff(thresholds - step * slopes) - np.diff(thresholds)
    assert (shrinkage <= step * (1 - probabilities[1:-1]) + 1e-9).all()


@given(noise_matrices())
def test_the_constant_of_the_hinge_follows_from_that_of_the_cross_entropy(matrix: Floats) -> None:
    tight, hinges = steepness(matrix), steepness(matrix, loss="hinge")
    assert hinges == pytest.approx(2 * tight - 1)
    assert 1 <= tight <= (1 + steepness(matrix, constant="paper")) / 2 + 1e-9


@given(st.floats(-5, 5))
def test_at_logit_zero_no_loss_depends_on_the_level(level: float) -> None:
    for loss, value in ((cross_entropy, np.log(2)), (hinge, 1.0)):
        assert loss(np.zeros((1, 1)), np.array([[level]]))[0] == pytest.approx(value)


@given(st.data(), noise_matrices(), scores)
def test_the_forward_likelihood_is_the_denominator_of_the_posterior(
    data: st.DataObject, matrix: Floats, score: float
) -> None:
    logits = (score + data.draw(descending_thresholds(len(matrix) - 1)))[None]
    for recorded in range(len(matrix)):
        likelihood = np.exp(-forward(logits, np.array([recorded]), matrix)[0])
        posterior = class_probabilities(logits)[0] * matrix[:, recorded] / likelihood
        assert posterior.sum() == pytest.approx(1)
