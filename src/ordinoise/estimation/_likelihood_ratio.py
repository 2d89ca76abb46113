"""How much better recorded labels are explained with a given noise matrix than without noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score.curve import binned_scores, score_curve
from ordinoise.estimation.score.families import NoiseFamily, Prior
from ordinoise.estimation.score.newton import minimum
from ordinoise.estimation.score.objective import Objective

SMALLEST_CHANCE = 1e-6  # an entry of zero would forbid labels that a smooth model cannot exclude


@dataclass(frozen=True, eq=False)
class _Fixed(NoiseFamily):
    """One known matrix: no parameters."""

    matrix: Floats

    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        return -np.log(self.matrix), np.zeros((len(parameters), *self.matrix.shape))

    def start(self, rate: float) -> Floats:
        """Nothing to start."""
        return np.full(0, rate)


def likelihood_ratio(probabilities: Floats, ranks: Ints, noise_matrix: Floats) -> float:
    """Twice the gain in log-likelihood of the recorded labels over no noise, a smooth clean model fitted to each."""
    n_samples, n_classes = probabilities.shape
    scores = probabilities @ np.arange(n_classes)
    n_bins = min(100, n_samples // 8)
    if n_bins < 2 or np.ptp(scores) < 1e-9:
        return float("nan")
    bins = binned_scores(scores, ranks, np.ones(n_samples), n_classes, n_bins)
    curve = score_curve(bins)
    no_prior = Prior(np.zeros((0, 0)), np.zeros(0))

    def best(matrix: Floats) -> float:
        family = _Fixed(n_classes, no_prior, np.maximum(matrix, SMALLEST_CHANCE))
        objective = Objective(bins, curve, family, np.zeros_like(matrix))
        return objective.log_likelihood(minimum(objective, curve.start(bins)).parameters)

    return 2 * (best(noise_matrix) - best(np.eye(n_classes)))
