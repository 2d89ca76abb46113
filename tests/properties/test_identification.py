"""What records can and cannot tell: perception equals overlap, hidden causes equal noise (docs/theory.md)."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import ndtr

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
