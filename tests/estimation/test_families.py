"""Noise families: derivatives, what contains what, and on which side of the diagonal a parameter acts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ordinoise._validation import Floats
from ordinoise.estimation.score.families import (
    DIRECTION_SD,
    FAMILY_NAMES,
    LEVEL_SPREAD,
    LinearEnergies,
    NoiseFamily,
    PowerDecay,
    noise_family,
)
from ordinoise.noise import adjacent, inverse_decay

NOISY = [name for name in FAMILY_NAMES if name != "none"]


def random_parameters(family: NoiseFamily, seed: int = 0) -> Floats:
    return family.start(0.1) + np.random.default_rng(seed).normal(scale=0.3, size=family.n_parameters)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 8])
@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_rows_of_every_family_are_distributions(name: str, n_classes: int) -> None:
    family = noise_family(name, n_classes)
    matrix = family.noise_matrix(random_parameters(family))
    assert matrix.min() >= 0
    assert_allclose(matrix.sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [2, 4, 5])
@pytest.mark.parametrize("name", NOISY)
def test_derivatives_equal_finite_differences(name: str, n_classes: int) -> None:
    family, step = noise_family(name, n_classes), 1e-6
    parameters = random_parameters(family)
    differences = [
        (family.log_matrix(parameters + step * axis)[0] - family.log_matrix(parameters - step * axis)[0]) / (2 * step)
        for axis in np.eye(family.n_parameters)
    ]
    assert_allclose(family.log_matrix(parameters)[1], differences, atol=1e-7)


@pytest.mark.parametrize("name", NOISY)
def test_priors_are_proper_so_that_evidence_exists(name: str) -> None:
    assert np.linalg.eigvalsh(noise_family(name, 5).prior.precision).min() > 1e-3


@pytest.mark.parametrize("name", ["inverse_decay", "class_inverse_decay", "power_decay", "unimodal", "free"])
@pytest.mark.parametrize("rate", [0.03, 0.15])
def test_starts_are_the_papers_matrix_exactly(name: str, rate: float) -> None:
    family = noise_family(name, 5)
    assert_allclose(family.noise_matrix(family.start(rate)), inverse_decay(5, rate=rate), atol=1e-12)


def test_no_noise_is_the_identity() -> None:
    family = noise_family("none", 4)
    assert_allclose(family.noise_matrix(family.start(0.3)), np.eye(4))


def test_power_decay_with_power_one_and_equal_directions_is_class_inverse_decay() -> None:
    by_class, power = noise_family("class_inverse_decay", 4), noise_family("power_decay", 4)
    levels = np.array([2.0, 1.0, 1.5, 3.0])
    both_ways = np.append(np.concatenate([levels[:-1], levels[1:]]), 0.0)
    assert_allclose(power.noise_matrix(both_ways), by_class.noise_matrix(levels))
    matrix = by_class.noise_matrix(levels)
    assert_allclose(matrix, inverse_decay(4, rate=matrix[range(4), [1, 2, 3, 2]]))


def test_upward_levels_act_above_the_diagonal_of_their_row_only() -> None:
    family = noise_family("power_decay", 4)
    assert isinstance(family, PowerDecay)
    here = family.start(0.1)
    more = here.copy()
    more[1] -= 1  # the upward level of class 1
    ratio = family.noise_matrix(more) / family.noise_matrix(here)
    assert (ratio[1, 2:] > 1.5).all()
    assert (ratio[1, :2] < 1).all()
    assert_allclose(ratio[[0, 2, 3]], 1)


def test_a_difference_between_up_and_down_costs_what_its_prior_says() -> None:
    family, tilt = noise_family("adjacent", 4), 0.8
    level = family.start(0.1).mean() * np.ones(6)
    up_rarer = level + tilt / 2 * np.array([1, 1, 1, -1, -1, -1])
    costs = [np.sum(family.prior.residual(each) ** 2) for each in (level, up_rarer)]
    assert costs[1] - costs[0] == pytest.approx(6 * (tilt / 2 / LEVEL_SPREAD) ** 2 + (tilt / DIRECTION_SD) ** 2)


def test_adjacent_family_holds_asymmetric_adjacent_noise_and_not_its_transpose() -> None:
    target, family = adjacent(4, up=0.25, down=0.08), noise_family("adjacent", 4)
    up = [np.log(target[k, k] / target[k, k + 1]) for k in range(3)]
    down = [np.log(target[k, k] / target[k, k - 1]) for k in range(1, 4)]
    matrix = family.noise_matrix(np.array(up + down))
    assert np.abs(matrix - target).max() < 0.005
    assert np.abs(matrix.T - target).max() > 0.1


def test_free_family_holds_any_positive_matrix() -> None:
    target = np.random.default_rng(1).dirichlet(np.ones(4), size=4)
    family = noise_family("free", 4)
    assert isinstance(family, LinearEnergies)
    energies = np.log(target.diagonal()[:, None] / target) - family.offset
    assert_allclose(family.noise_matrix(energies[~np.eye(4, dtype=bool)]), target)


@pytest.mark.parametrize("seed", range(5))
def test_unimodal_rows_fall_away_from_the_diagonal(seed: int) -> None:
    family = noise_family("unimodal", 6)
    matrix = family.noise_matrix(np.random.default_rng(seed).normal(size=family.n_parameters))
    for row, values in enumerate(matrix):
        assert (np.diff(values[row:]) < 0).all()
        assert (np.diff(values[: row + 1]) > 0).all()


@pytest.mark.parametrize("name", NOISY)
def test_reversing_the_classes_reverses_prior_and_matrix(name: str) -> None:
    family = noise_family(name, 4)
    parameters = random_parameters(family)
    mirrored = _fitted_to(family, family.noise_matrix(parameters)[::-1, ::-1], parameters)
    assert_allclose(family.noise_matrix(mirrored), family.noise_matrix(parameters)[::-1, ::-1], atol=1e-6)
    penalties = [np.sum(family.prior.residual(each) ** 2) for each in (parameters, mirrored)]
    assert penalties[0] == pytest.approx(penalties[1], rel=1e-4)


def _fitted_to(family: NoiseFamily, target: Floats, start: Floats) -> Floats:
    """Parameters whose matrix is `target`, by Gauss-Newton on the logarithms."""
    here = family.start(0.1)
    for _ in range(50):
        log_matrix, slopes = family.log_matrix(here)
        miss = (np.log(target) - log_matrix).ravel()
        here = here + np.linalg.lstsq(slopes.reshape(len(start), -1).T, miss)[0]
    return here


def test_a_wrong_name_is_answered_with_the_nearest_right_one() -> None:
    with pytest.raises(ValueError, match=r"family must be one of .* did you mean 'power_decay'"):
        noise_family("power_decline", 4)
