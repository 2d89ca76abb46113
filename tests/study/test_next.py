import numpy as np
import pytest

from studies.next import labels_needed, shares

VERIFIED = np.array([0, 30, 60, 600])


def test_the_labels_needed_lie_on_the_line_between_two_steps() -> None:
    assert labels_needed(np.array([0.4, 0.3, 0.2, 0.1]), VERIFIED, 0.25) == pytest.approx(45)
    assert labels_needed(np.array([0.4, 0.3, 0.2, 0.1]), VERIFIED, 0.15) == pytest.approx(330)
    assert labels_needed(np.array([0.4, 0.3, 0.2, 0.1]), VERIFIED, 0.4) == 0


def test_a_dip_below_the_target_does_not_count_alone() -> None:
    """The error after 30 labels is below .25 by chance; the monotone fit has .3 at both of these steps."""
    assert labels_needed(np.array([0.4, 0.2, 0.4, 0.1]), VERIFIED, 0.25) == pytest.approx(60 + 540 / 4)


@pytest.mark.slow
def test_a_rule_that_is_twice_as_fast_needs_half_of_the_labels_on_every_draw() -> None:
    fast, slow = np.array([0.5, 0.3, 0.1, 0.1]), np.array([0.5, 0.4, 0.3, 0.1])
    draws = np.stack([[fast + shift, fast + shift, slow + shift] for shift in (0.0, 0.1, 0.2)])
    share, ends = shares([draws, draws], [VERIFIED, VERIFIED], 0.25)
    np.testing.assert_allclose(share, [1, 1, 0.5])
    np.testing.assert_allclose(ends, [[1, 1, 0.5]] * 2)
