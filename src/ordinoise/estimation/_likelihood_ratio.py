"""How much better recorded labels are explained with a given noise matrix than without noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score.cells import binned_scores
from ordinoise.estimation.score.curve import score_curve
from ordinoise.estimation.score.families import NoiseFamily, Prior
from ordinoise.estimation.score.newton import minimum
from ordinoise.estimation.score.objective import Objective

MOST_BINS, FEWEST_IN_A_BIN = 100, 8  # round numbers, chosen by no run
SMALLEST_PROBABILITY = 1e-6  # a zero would make recorded labels impossible that a smooth curve always predicts


@dataclass(frozen=True, eq=False)
class _Fixed(NoiseFamily):
    """One known matrix: no parameters."""

    matrix: Floats

    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        return -np.log(self.matrix), np.zeros((len(parameters), *self.matrix.shape))

    def start(self, rate: float) -> Floats:
        """No parameters."""
        return np.full(0, rate)


def likelihood_ratio(probabilities: Floats, ranks: Ints, noise_matrix: Floats) -> float:
    """Twice the gain in log-likelihood of the recorded labels under a noise matrix over no noise.

    The smooth clean model of `score.curve` is fitted under each of the two; NaN for too few or constant scores.
    """
    n_samples, n_classes = probabilities.shape
    n_bins = min(MOST_BINS, n_samples // FEWEST_IN_A_BIN)
    if n_bins < 2 or np.ptp(probabilities @ np.arange(n_classes)) < 1e-9:
        return float("nan")
    bins, _ = binned_scores(probabilities, ranks, np.ones(n_samples), n_bins)
    curve = score_curve(bins)
    no_prior = Prior(np.zeros((0, 0)), np.zeros(0))

    def best(matrix: Floats) -> float:
        family = _Fixed(n_classes, no_prior, np.maximum(matrix, SMALLEST_PROBABILITY))
        objective = Objective(bins, curve, family)
        return objective.log_likelihood(minimum(objective, curve.start(bins)).parameters)

    return 2 * (best(noise_matrix) - best(np.eye(n_classes)))
