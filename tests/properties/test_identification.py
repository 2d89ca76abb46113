"""What records can and cannot tell: perception equals overlap, hidden causes equal noise (docs/theory.md)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri

from ordinoise.estimation.score.estimator import noise_from_probabilities
from ordinoise.noise.items import perceived

CUTS = np.array([-1.1, 0.2, 0.9])


def ordered(score: float, spread: float) -> np.ndarray:
    """Class probabilities of an ordered probit model."""
    below = ndtr((CUTS - score) / spread)
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def test_perception_is_overlap() -> None:
    """A grader who sees z with an error of 0.7 records exactly what overlap of spread sqrt(1 + 0.49) would show."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    for score in (-2.0, -0.3, 0.6, 1.8):
        positions = score + nodes  # z = g(x) + e, e standard normal
        true = np.digitize(positions, CUTS)
        rows = perceived(positions, CUTS, 0.7)[np.arange(len(nodes)), true]
        recorded = weights @ rows / weights.sum()
        assert_allclose(recorded, ordered(score, np.sqrt(1 + 0.7**2)), atol=5e-3)
        assert np.abs(recorded - ordered(score, 1.0)).max() > 0.02  # and not what clean labels show


def test_hidden_causes_are_noise() -> None:
    share, prior = 0.15, np.array([0.5, 0.3, 0.15, 0.05])
    matrix = (1 - share) * np.eye(4) + share * prior
    clean = np.stack([ordered(score, 1.0) for score in np.linspace(-3, 3, 7)])
    assert_allclose((1 - share) * clean + share * prior, clean @ matrix, atol=1e-12)
    assert np.abs(clean @ matrix.T - clean @ matrix).max() > 0.01  # the orientation matters


@pytest.mark.parametrize("spread", [1.0, *(pytest.param(one, marks=pytest.mark.slow) for one in (0.5, 1.5))])
def test_the_range_of_the_rate_holds_where_the_columns_decide_the_grade(spread: float) -> None:
    """All records that differ from the middle one are then wrong: shares of .44, .59 and .66."""
    held = []
    for seed in range(3):
        rng, cuts = np.random.default_rng(seed), ndtri(np.arange(1, 5) / 5)
        score = rng.normal(size=2000)
        below = ndtr((cuts - score[:, None]) / spread)
        chances = np.diff(np.hstack([np.zeros((2000, 1)), below, np.ones((2000, 1))]), axis=1)
        recorded = (rng.random((2000, 1)) > below).sum(axis=1)
        wrong = (recorded != np.digitize(score, cuts)).mean()
        found = noise_from_probabilities(chances, recorded, random_state=seed).rate_range
        assert found is not None
        assert found[1] < wrong + 0.06  # and says something
        held.append(found[0] <= wrong <= found[1])
    assert sum(held) >= 2
