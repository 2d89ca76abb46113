"""Numbers printed in the paper. Its inverses are truncated, not rounded: hence the tolerance."""

import numpy as np
import pytest

from ordinoise.noise import correction_matrix, inverse_decay, noise_properties


def test_example_1() -> None:
    matrix = inverse_decay(4, 0.15)
    printed = [[0.725, 0.15, 0.075, 0.05], [0.15, 0.625, 0.15, 0.075]]
    np.testing.assert_allclose(matrix, [*printed, *[row[::-1] for row in printed[::-1]]])
    rows = [[1.45, -0.32, -0.08, -0.05], [-0.32, 1.77, -0.36, -0.09]]
    np.testing.assert_allclose(correction_matrix(matrix), [*rows, *[row[::-1] for row in rows[::-1]]], atol=0.01)


def test_the_sample_estimate_in_the_supplement_is_refused_until_its_rows_are_renormalized() -> None:
    printed = np.array(
        [
            [0.80, 0.14, 0.03, 0.02],
            [0.1, 0.64, 0.15, 0.06],
            [0.03, 0.11, 0.63, 0.23],
            [0.02, 0.11, 0.18, 0.69],
        ]
    )
    with pytest.raises(ValueError, match=r"rows must sum to 1 .* got 0\.95 in row 1"):
        noise_properties(printed)
    assert noise_properties(printed / printed.sum(axis=1, keepdims=True)).is_dominant
