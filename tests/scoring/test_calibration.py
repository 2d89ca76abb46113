"""A stretch and a shift of the exceedance logits, found behind the noise."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import forward
from ordinoise.levels import class_probabilities
from ordinoise.noise import adjacent, corrupt
from ordinoise.scoring.calibration import Scaling, fit_scaling
from ordinoise.scoring.reliability import reliability_curve
from strategies import Floats, Ints

UP = adjacent(4, up=0.3, down=0.05)
CUTS = np.array([1.5, 0.0, -1.5])


def _problem(n_samples: int, seed: int) -> tuple[Floats, Floats, Ints]:
    """Scores, right probabilities, and true labels drawn from them."""
    rng = np.random.default_rng(seed)
    score = rng.normal(scale=1.5, size=(n_samples, 1))
    probabilities = class_probabilities(score + CUTS)
    return score, probabilities, (rng.random((n_samples, 1)) > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)


@given(sharpness=st.floats(0.2, 5), shift=st.floats(-2, 2), seed=st.integers(0, 2**32 - 1))
def test_scaling_stretches_and_shifts_the_logits(sharpness: float, shift: float, seed: int) -> None:
    score, probabilities, _ = _problem(20, seed)
    expected = class_probabilities(sharpness * (score + CUTS) + shift)
    np.testing.assert_allclose(Scaling(sharpness, shift)(probabilities), expected, atol=1e-6)


def test_certain_predictions_stay_finite_and_right() -> None:
    scaled = Scaling(1.5, 0.1)(np.eye(4))
    assert np.isfinite(scaled).all()
    assert scaled.argmax(axis=1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("sharpness", "shift"), [(0.5, 0.4), (1.0, 0.0), (2.0, -0.6)])
def test_what_was_done_to_the_probabilities_is_undone_although_the_labels_are_noisy(
    sharpness: float, shift: float
) -> None:
    _, probabilities, true = _problem(15_000, 0)
    spoilt = Scaling(sharpness, shift)(probabilities)
    scaling = fit_scaling(spoilt, corrupt(true, UP, 1), UP)
    assert scaling.sharpness == pytest.approx(1 / sharpness, rel=0.06)
    assert scaling.shift == pytest.approx(-shift / sharpness, abs=0.06 / sharpness)
    identity = np.eye(4)
    after = reliability_curve(scaling(spoilt), true, identity).expected_calibration_error
    assert after < 0.02
    assert sharpness == 1 or after < reliability_curve(spoilt, true, identity).expected_calibration_error / 3


def test_the_fit_is_where_the_forward_likelihood_is_greatest() -> None:
    score, probabilities, true = _problem(300, 2)
    recorded = corrupt(true, UP, 3)
    found = fit_scaling(probabilities, recorded, UP)

    def lack(sharpness: float, shift: float) -> float:
        prior = 0.5 * (np.log(sharpness) ** 2 + shift**2) / 0.7**2
        pairs = zip(score[:, 0].tolist(), recorded.tolist(), strict=True)
        cuts = sharpness * CUTS + shift
        return sum(forward(sharpness * g, cuts, r + 1, UP) for g, r in pairs) + float(prior)

    best = lack(found.sharpness, found.shift)
    for step in (-0.02, 0.02):
        assert lack(found.sharpness + step, found.shift) > best
        assert lack(found.sharpness, found.shift + step) > best


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    _, probabilities, true = _problem(200, 4)
    weights = np.r_[np.full(100, 2.0), np.ones(100)]
    rows = np.r_[np.arange(100), np.arange(100), np.arange(100, 200)]
    weighted = fit_scaling(probabilities, true, UP, sample_weight=weights * 1.5)
    repeated = fit_scaling(probabilities[rows], true[rows], UP)
    # Weights are scaled to one row each, so the prior counts a little more than among repeated rows.
    assert weighted.sharpness == pytest.approx(repeated.sharpness, rel=0.01)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fit_scaling([[0.5, 0.6]], [0], np.eye(2)), r"probabilities rows must be non-negative and sum to 1"),
        (lambda: fit_scaling([[0.5, 0.5]], [2], np.eye(2)), r"recorded must hold whole numbers from 0 to 1, got 2"),
        (lambda: fit_scaling([[0.5, 0.5]], [0, 1], np.eye(2)), r"recorded must be as long as probabilities \(1\), got 2"),
        (lambda: Scaling(1.0, 0.0)([0.5, 0.5]), r"probabilities must have 2 dimension"),
    ],
    ids=["sums", "label", "length", "dimensions"],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
