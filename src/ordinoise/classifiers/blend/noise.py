"""The noise estimate that costs next to nothing once out-of-fold probabilities are there."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.estimation import IdentifiabilityWarning, ScoreLikelihood
from ordinoise.estimation.base import Estimate
from ordinoise.estimation.resolution import ResolvedNoise
from ordinoise.estimation.score.bootstrap import posterior_draws
from ordinoise.estimation.score.likelihood import score_likelihood

FEWEST_ROWS = 50
"""Below this the noise is not estimated: the priors alone would speak."""
SMALLEST_SPREAD = 1e-6
N_DRAWS = 500


Settled = tuple[Ints, Ints]
"""Row numbers and true ranks of verified samples."""


def estimated_noise(
    probabilities: Floats, ranks: Ints, weights: Floats, seed: int, settled: Settled | None = None
) -> ScoreLikelihood:
    """The default noise estimator, fitted to probabilities of the recorded labels that are already there.

    Its intervals come from the normal approximation of the posterior, without refits.
    """
    n_classes = probabilities.shape[1]
    fit = score_likelihood(probabilities, ranks, sample_weight=weights, settled=settled)
    draws = posterior_draws(fit, n_draws=N_DRAWS, random_state=seed)
    estimator = ScoreLikelihood(n_bootstrap=0, classes=np.arange(n_classes), random_state=seed)
    estimator.classes_ = np.arange(n_classes)
    estimator.probabilities_, estimator.fit_ = probabilities, fit
    found = Estimate(
        noise_matrix=fit.noise_matrix,
        class_prior=fit.class_prior,
        matrices=draws.noise_matrices,
        noise_rates=draws.noise_rates,
        likelihood_ratio=2 * (fit.log_likelihood - fit.log_likelihood_without_noise),
        doubts=fit.doubts,
    )
    estimator._keep(found, estimator.confidence)
    return estimator


def noise_or_trust(
    probabilities: Floats, ranks: Ints, weights: Floats, seed: int, settled: Settled | None = None
) -> ResolvedNoise:
    """The estimate, or no noise and a warning where there are too few rows, or no score that tells them apart."""
    scores: NDArray[np.float64] = probabilities @ np.arange(probabilities.shape[1])
    if len(ranks) >= FEWEST_ROWS and np.ptp(scores) > SMALLEST_SPREAD:
        estimator = estimated_noise(probabilities, ranks, weights, seed, settled)
        return ResolvedNoise(estimator.noise_matrix_[None], None, estimator)
    warnings.warn(
        f"the labels are trusted: to estimate their noise takes {FEWEST_ROWS} rows and features that tell them apart, "
        f"got {len(ranks)} rows",
        IdentifiabilityWarning,
        stacklevel=4,
    )
    return ResolvedNoise(np.eye(probabilities.shape[1])[None], None)
