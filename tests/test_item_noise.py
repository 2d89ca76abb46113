"""Noise that depends on the item: matrices per row against simulation, limits, mirror images."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise import Noise, OrdinalMLPClassifier
from ordinoise.noise import adjacent, corrupt
from ordinoise.noise.items import in_region, near_cuts, perceived

CUTS = np.array([-1.0, 0.3, 1.1])
SEEDS = st.integers(0, 10_000)


def _positions(seed: int, n: int = 20) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed).normal(scale=1.5, size=n)


@given(seed=SEEDS, spread=st.floats(0, 3))
def test_rows_are_distributions_over_the_recorded_grade(seed: int, spread: float) -> None:
    places = _positions(seed)
    for matrices in (perceived(places, CUTS, spread), near_cuts(places, CUTS, 0.4, spread + 0.1)):
        assert matrices.shape == (20, 4, 4)
        assert matrices.min() >= 0
        np.testing.assert_allclose(matrices.sum(axis=2), 1)


def test_the_row_of_the_true_grade_is_what_a_grader_records() -> None:
    """40,000 draws: four standard errors of a share are .01."""
    rng = np.random.default_rng(0)
    places, spread = np.array([-1.4, -0.9, 0.29, 0.31, 2.0]), np.array([0.2, 0.7, 0.5, 0.5, 1.5])
    matrices, true = perceived(places, CUTS, spread), np.digitize(places, CUTS)
    seen = np.digitize(places[:, None] + spread[:, None] * rng.normal(size=(5, 40_000)), CUTS)
    shares = np.stack([(seen == grade).mean(axis=1) for grade in range(4)], axis=1)
    np.testing.assert_allclose(matrices[np.arange(5), true], shares, atol=0.01)
    assert np.abs(matrices[np.arange(5), :, true] - shares).max() > 0.1  # the transpose would not do


def test_a_grader_without_error_records_the_truth_also_on_a_cut() -> None:
    places = np.append(_positions(1), CUTS)
    np.testing.assert_array_equal(perceived(places, CUTS, 0.0), np.broadcast_to(np.eye(4), (23, 4, 4)))
    np.testing.assert_array_equal(np.digitize(CUTS, CUTS), [1, 2, 3])  # a cut belongs to the grade above it


@given(seed=SEEDS)
def test_the_mirror_image_of_a_scale_has_the_mirrored_noise(seed: int) -> None:
    places = _positions(seed)
    straight, mirrored = perceived(places, CUTS, 0.6), perceived(-places, -CUTS[::-1], 0.6)
    np.testing.assert_allclose(mirrored[:, ::-1, ::-1], straight, atol=1e-12)


def test_errors_grow_with_the_spread_and_towards_the_cuts() -> None:
    wrong = [1 - perceived([-0.4], CUTS, spread)[0, 1, 1] for spread in (0.1, 0.3, 0.9)]
    assert wrong == sorted(wrong)
    for matrices in (perceived([-0.9, -0.35], CUTS, 0.3), near_cuts([-0.9, -0.35], CUTS, 0.4, 0.3)):
        assert matrices[0, 1, 1] < matrices[1, 1, 1]
        assert matrices[0, 1, 0] > matrices[0, 1, 2]


def test_slips_near_cuts_reach_neighbors_only_with_the_rate_on_the_cut() -> None:
    matrices = near_cuts([0.3], CUTS, rate=0.3, width=0.2)[0]
    assert matrices[2, 1] == pytest.approx(0.3)
    assert matrices[1, 2] == pytest.approx(0.3)
    grades = np.arange(4)
    assert (matrices[np.abs(grades[:, None] - grades) > 1] == 0).all()


def test_a_region_has_its_own_matrix() -> None:
    low = adjacent(3, up=0.0, down=1.0)
    found = in_region(np.array([True, False, True]), low)
    np.testing.assert_array_equal(found[0], low)
    np.testing.assert_array_equal(found[1], np.eye(3))
    np.testing.assert_array_equal(in_region([False], low, outside=low.T[::-1, ::-1].T)[0], low[::-1, ::-1])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: perceived([0.0], [1.0, 0.0], 1.0), r"cuts must ascend, got \[1.0, 0.0\]"),
        (lambda: perceived([0.0], CUTS, -1.0), "spread must be at least 0, got -1"),
        (lambda: perceived([0.0, 1.0, 2.0], CUTS, [1.0, 1.0]), r"spread must be as long as positions \(3\), got 2"),
        (lambda: perceived([np.nan], CUTS, 1.0), "positions must"),
        (lambda: near_cuts([0.0], CUTS, 0.6, 1.0), "rate must be at least 0 and at most 0.5, got 0.6"),
        (lambda: near_cuts([0.0], CUTS, 0.3, 0.0), "width must be above 0"),
        (lambda: in_region([0, 1], np.eye(2)), "is_inside must be one column of True and False"),
        (lambda: in_region([True], np.eye(2), np.eye(3)), "noise_matrix must be 2 x 2"),
    ],
)
def test_bad_input_gets_one_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_labels_are_drawn_from_the_matrix_of_their_own_row() -> None:
    """Every grade at three positions, 20,000 draws each: four standard errors of a share are .014."""
    rng = np.random.default_rng(3)
    places = np.repeat([-1.2, -0.2, 0.5, 1.3, 1.0], 20_000)
    true, matrices = np.digitize(places, CUTS), perceived(places, CUTS, 0.5)
    recorded = corrupt(true, matrices, rng)
    for start in range(0, len(places), 20_000):
        shares = np.bincount(recorded[start : start + 20_000], minlength=4) / 20_000
        np.testing.assert_allclose(shares, matrices[start, true[start]], atol=0.014)
    same = corrupt(true, np.broadcast_to(matrices[0], matrices.shape), random_state=1)
    np.testing.assert_array_equal(same, corrupt(true, matrices[0], random_state=1))
    with pytest.raises(ValueError, match=r"noise must be as long as labels \(2\), got 3"):
        corrupt([0, 1], matrices[:3])


def test_matrices_per_row_are_a_noise_that_a_classifier_learns_under() -> None:
    """Whoever knows the noise of every item learns more than from the average of its matrices."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, size=(1500, 2))
    y = np.digitize(X[:, 0], [-0.4, 0.0, 0.4])
    matrices = in_region(X[:, 1] > 0, adjacent(4, up=0.6, down=0.0))
    recorded = corrupt(y, matrices, rng)
    settings: dict[str, Any] = {"hidden_layer_sizes": (), "learning_rate_init": 0.02, "max_iter": 60, "random_state": 0}
    errors = [
        np.abs(OrdinalMLPClassifier(noise=noise, **settings).fit(X, recorded).predict(X) - y).mean()
        for noise in (Noise(matrices, per="row"), matrices.mean(axis=0), None)
    ]
    assert errors[0] < 0.5 * errors[1]
    assert errors[0] < 0.5 * errors[2]
