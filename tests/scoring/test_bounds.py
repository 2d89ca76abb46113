from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.levels import corrected_levels
from ordinoise.losses import cross_entropy, hinge
from ordinoise.noise import inverse_decay
from ordinoise.scoring.bounds import excess_risk_bound, noisy_labels_per_clean_label, samples_needed, steepness
from strategies import Floats, noise_matrices

ASYMMETRIC = np.array([[0.7, 0.2, 0.1], [0.05, 0.85, 0.1], [0.1, 0.25, 0.65]])


@pytest.mark.parametrize(("name", "loss"), [("cross_entropy", cross_entropy), ("hinge", hinge)])
@given(matrix=noise_matrices())
def test_the_tight_constant_is_the_steepest_slope_of_the_corrected_loss(
    name: str, loss: Callable[..., Floats], matrix: Floats
) -> None:
    table = corrected_levels(matrix).reshape(-1, 1)
    logits = np.arange(-30, 30, 0.25)
    losses = np.stack([loss(np.full_like(table, logit), table) for logit in logits])
    steepest = np.abs(np.diff(losses, axis=0) / 0.25).max()
    assert steepest == pytest.approx(steepness(matrix, loss=name), rel=1e-3)
    assert steepest <= steepness(matrix, loss=name, constant="paper") + 1e-6


def test_the_papers_bound_is_theorem_4_as_printed() -> None:
    n, complexity, delta = 5000, 3.0, 0.1
    m = np.abs(np.linalg.inv(ASYMMETRIC)).sum(axis=1).max()
    printed = 2 * 2 * (2 * m * 1 * (complexity / np.sqrt(n)) + np.sqrt(np.log(1 / delta) / (2 * n)))
    assert excess_risk_bound(n, ASYMMETRIC, complexity, constant="paper", delta=delta) == pytest.approx(printed)


@given(noise_matrices(), st.floats(0.01, 5), st.sampled_from(["paper", "tight"]))
def test_samples_needed_inverts_the_bound(matrix: Floats, excess: float, constant: str) -> None:
    needed = samples_needed(excess, matrix, 2.0, constant=constant)
    assert excess_risk_bound(needed, matrix, 2.0, constant=constant) <= excess * (1 + 1e-9)
    if needed > 1:
        assert excess_risk_bound(needed - 1, matrix, 2.0, constant=constant) > excess * (1 - 1e-9)


@pytest.mark.parametrize("constant", ["paper", "tight"])
def test_more_noise_needs_more_samples(constant: str) -> None:
    factors = [noisy_labels_per_clean_label(inverse_decay(4, rate), constant=constant) for rate in (0, 0.05, 0.1, 0.15)]
    assert factors[0] == pytest.approx(1)
    assert (np.diff(factors) > 0).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: samples_needed(0, ASYMMETRIC, 1.0), r"excess_risk must be above 0, got 0"),
        (lambda: samples_needed(1, np.full((3, 3), 1 / 3), 1.0), r"excess_risk must be large enough for a finite number of samples"),
        (lambda: excess_risk_bound(0, ASYMMETRIC, 1.0), r"n_samples must be a whole number of at least 1, got 0"),
        (lambda: excess_risk_bound(9, ASYMMETRIC, 1.0, delta=2), r"delta must be above 0 and at most 1, got 2"),
        (lambda: steepness(ASYMMETRIC, loss="hinges"), r"loss must be one of \['cross_entropy', 'hinge'\], got 'hinges'; did you mean 'hinge'\?"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
