"""Claim: averaged over the noise, the corrected loss is the clean loss; and it is the plain loss on a table."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from ordinoise.levels import corrected_levels, level_table
from ordinoise.losses import cross_entropy, hinge
from ordinoise.noise import correction_matrix
from strategies import Floats, descending_thresholds, noise_matrices, scores

LOSSES = [(cross_entropy, oracles.l_ce), (hinge, oracles.l_imc)]


@pytest.mark.parametrize(("loss", "oracle"), LOSSES)
@given(data=st.data(), matrix=noise_matrices(), score=scores)
def test_loss_on_corrected_levels_is_the_papers_double_sum(
    loss: Callable[..., Floats], oracle: oracles.Loss, data: st.DataObject, matrix: Floats, score: float
) -> None:
    thresholds = data.draw(descending_thresholds(len(matrix) - 1))
    ours = loss(score + thresholds, corrected_levels(matrix))
    inverse = np.linalg.inv(matrix).astype(np.float64)
    literal = [oracles.unbiased(oracle, score, thresholds, y, inverse) for y in range(1, len(matrix) + 1)]
    np.testing.assert_allclose(ours, literal, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("loss", "oracle"), LOSSES)
@given(data=st.data(), matrix=noise_matrices(), score=scores)
def test_corrected_loss_averages_to_the_clean_loss_for_every_true_label(
    loss: Callable[..., Floats], oracle: oracles.Loss, data: st.DataObject, matrix: Floats, score: float
) -> None:
    thresholds = data.draw(descending_thresholds(len(matrix) - 1))
    corrected = loss(score + thresholds, corrected_levels(matrix))
    clean = [oracle(score, thresholds, y) for y in range(1, len(matrix) + 1)]
    np.testing.assert_allclose(matrix @ corrected, clean, rtol=1e-9, atol=1e-9)


@given(matrix=noise_matrices())
def test_corrected_levels_average_to_the_levels(matrix: Floats) -> None:
    np.testing.assert_allclose(matrix @ corrected_levels(matrix), level_table(len(matrix)), atol=1e-12)


@given(matrix=noise_matrices(min_classes=3))
def test_clipped_corrected_levels_are_the_plain_levels_or_biased(matrix: Floats) -> None:
    """Clipping to [0, 1] undoes the correction: what is left no longer averages to the clean levels."""
    clipped = corrected_levels(matrix).clip(0, 1)
    assert not np.allclose(matrix @ clipped, level_table(len(matrix)))


def test_clipping_gives_back_the_plain_levels_exactly_for_the_papers_noise() -> None:
    from ordinoise.noise import inverse_decay

    np.testing.assert_array_equal(corrected_levels(inverse_decay(4, 0.15)).clip(0, 1), level_table(4))


@given(matrix=noise_matrices(min_classes=3))
def test_the_transposed_matrix_does_not_correct(matrix: Floats) -> None:
    transposed = correction_matrix(matrix).T @ level_table(len(matrix))
    assert not np.allclose(matrix @ transposed, level_table(len(matrix)), atol=1e-6)


@given(matrix=noise_matrices(), score=scores)
def test_corrected_cross_entropy_is_convex_in_the_logits(matrix: Floats, score: float) -> None:
    """The paper says it is not; its second derivative sigma (1 - sigma) does not even contain the levels."""
    table = corrected_levels(matrix)
    points = score + np.linspace(-3, 3, 25)
    losses = np.stack([cross_entropy(np.full_like(table, point), table) for point in points])
    assert (np.diff(losses, n=2, axis=0) >= -1e-9).all()


def test_corrected_losses_are_unbounded_below() -> None:
    table = corrected_levels(np.array([[0.7, 0.3, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]))
    for loss in (cross_entropy, hinge):
        far = [loss(np.array([[-reach, -reach]]), table[[0]])[0] for reach in (1e2, 1e4)]
        assert far[1] < 10 * far[0] < 0


def test_corrected_hinge_is_not_convex() -> None:
    table = corrected_levels(np.array([[0.7, 0.3], [0.1, 0.9]]))[[0]]
    values = [hinge(np.array([[logit]]), table)[0] for logit in (0.0, 1.0, 2.0)]
    assert values[1] > (values[0] + values[2]) / 2
