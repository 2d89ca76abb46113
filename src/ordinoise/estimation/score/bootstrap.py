"""Intervals of the score likelihood, at a cost that does not depend on the number of samples."""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats, as_count, as_generator
from ordinoise.estimation.score.fit import Evidence, FamilyFit, evidence_weights, fit_family
from ordinoise.estimation.score.likelihood import LikelihoodFit

SMALLEST_WEIGHT = 0.01
"""Fits with less weight are skipped: one draw in a hundred does not move a 95 % interval."""
STEPS, TOLERANCE = 3, 0.05
"""Scoring steps of a refit, from the optimum of the whole sample: further ones change it by less than its spread."""


Draws = tuple[Floats, Floats]
"""Plausible noise matrices (n_draws, K, K), and the noise rate of each (n_draws,)."""


def bootstrap(fit: LikelihoodFit, *, n_draws: int = 200, random_state: object = None) -> Draws:
    """Refits to label counts drawn from the observed cells, each of a family and link drawn by their weight.

    Drawing them, instead of averaging, makes doubt about them widen the interval.
    """
    rng, counts = as_generator(random_state), fit.evidence.bins.counts
    n_samples, shares = round(counts.sum()), counts.ravel() / counts.sum()
    draws = []
    for _ in range(as_count("n_draws", n_draws, 2)):
        drawn = rng.multinomial(n_samples, shares).reshape(counts.shape).astype(np.float64)
        refits = _refits(fit, fit.evidence.with_counts(drawn))
        draws.append(refits[rng.choice(len(refits), p=evidence_weights(refits))])
    return np.stack([draw.noise_matrix for draw in draws]), np.array([draw.noise_rate for draw in draws])


def posterior_draws(fit: LikelihoodFit, *, n_draws: int = 500, random_state: object = None) -> Draws:
    """Draws from the normal approximation of the posterior, fits by their weight; much faster than refits.

    Only the parameters of the noise are drawn. Those of the clean curve hardly move the class shares, and as they are
    logarithms, normal draws of them would exaggerate the little they do.
    """
    rng = as_generator(random_state)
    numbers = rng.choice(len(fit.fits), p=fit.weights, size=as_count("n_draws", n_draws, 2))
    matrices, rates = [], []
    for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
        found = fit.fits[number]
        drawn = _drawn_matrices(fit.evidence, found, int(count), rng)
        matrices.append(drawn)
        rates.append(1 - drawn.diagonal(axis1=1, axis2=2) @ found.class_shares)
    return np.concatenate(matrices), np.concatenate(rates)


def _drawn_matrices(evidence: Evidence, found: FamilyFit, count: int, rng: np.random.Generator) -> Floats:
    family = evidence.objective(found.name).family
    noise = slice(evidence.curve.n_parameters, None)
    covariance = np.linalg.inv(found.information)[noise, noise]
    # By Cholesky, as rng.multivariate_normal refuses the family without parameters. The block of the inverse of the
    # whole information is the covariance of the noise with the curve integrated out.
    normal = rng.standard_normal((count, len(covariance)))
    drawn = found.parameters[noise] + normal @ np.linalg.cholesky(covariance).T
    return np.stack([family.noise_matrix(parameters) for parameters in drawn])


def _refits(fit: LikelihoodFit, evidence: Evidence) -> list[FamilyFit]:
    return [
        fit_family(evidence.with_link(kept.link), kept.name, [kept.parameters], max_steps=STEPS, tolerance=TOLERANCE)
        for kept, weight in zip(fit.fits, fit.weights, strict=True)
        if weight > SMALLEST_WEIGHT
    ]
