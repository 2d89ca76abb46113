"""Intervals of the score likelihood, at a cost that does not depend on the number of samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats, as_count, as_generator, as_number
from ordinoise.estimation.score.fit import Evidence, FamilyFit, evidence_weights, fit_family
from ordinoise.estimation.score.likelihood import LikelihoodFit

SMALLEST_WEIGHT = 0.01
"""Families of less weight are left out: they would not move an interval."""
STEPS, TOLERANCE = 3, 0.05
"""A few scoring steps from the optimum of the whole sample: further ones change a refit by less than its spread."""


@dataclass(frozen=True, eq=False)
class NoiseDraws:
    """Plausible noise matrices (n_draws, K, K) and noise rates (n_draws,), and the intervals that they give."""

    noise_matrices: Floats
    noise_rates: Floats

    def noise_matrix_interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper end of every entry, each (K, K)."""
        low, high = np.quantile(self.noise_matrices, _tails(confidence), axis=0)
        return low, high

    def noise_rate_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Lower and upper end of the share of wrong labels."""
        low, high = np.quantile(self.noise_rates, _tails(confidence))
        return float(low), float(high)


def bootstrap(fit: LikelihoodFit, *, n_draws: int = 200, random_state: object = None) -> NoiseDraws:
    """Refits to label counts drawn anew from the bins, each in a family drawn by its weight there.

    A family is drawn rather than averaged over, so that doubt about the family widens the interval.
    """
    rng, counts = as_generator(random_state), fit.evidence.bins.counts
    n_samples, shares = round(counts.sum()), counts.ravel() / counts.sum()
    draws = []
    for _ in range(as_count("n_draws", n_draws, 2)):
        drawn = rng.multinomial(n_samples, shares).reshape(counts.shape).astype(np.float64)
        refits = _refits(fit, fit.evidence.with_counts(drawn))
        weights = evidence_weights(refits)
        draws.append(refits[rng.choice(list(weights), p=list(weights.values()))])
    return NoiseDraws(np.stack([draw.noise_matrix for draw in draws]), np.array([draw.noise_rate for draw in draws]))


def posterior_draws(fit: LikelihoodFit, *, n_draws: int = 500, random_state: object = None) -> NoiseDraws:
    """Draws from the normal approximation of the posterior, families by their weight: no refits, so much faster.

    Only the parameters of the noise are drawn. Those of the clean curve hardly move the class prior, but are
    logarithms whose normal draws would exaggerate what they do.
    """
    rng = as_generator(random_state)
    names = rng.choice(list(fit.families), p=list(fit.family_weights.values()), size=as_count("n_draws", n_draws, 2))
    matrices, rates = [], []
    for name, count in zip(*np.unique(names, return_counts=True), strict=True):
        drawn = _drawn_matrices(fit, str(name), int(count), rng)
        matrices.append(drawn)
        rates.append(1 - drawn.diagonal(axis1=1, axis2=2) @ fit.families[str(name)].class_prior)
    return NoiseDraws(np.concatenate(matrices), np.concatenate(rates))


def _drawn_matrices(fit: LikelihoodFit, name: str, count: int, rng: np.random.Generator) -> Floats:
    family, found = fit.evidence.objective(name).family, fit.families[name]
    noise = slice(fit.evidence.curve.n_parameters, None)
    covariance = np.linalg.inv(found.information)[noise, noise]
    # Not rng.multivariate_normal, which refuses the family without parameters.
    normal = rng.standard_normal((count, len(covariance)))
    drawn = found.parameters[noise] + normal @ np.linalg.cholesky(covariance).T
    return np.stack([family.noise_matrix(parameters) for parameters in drawn])


def _refits(fit: LikelihoodFit, evidence: Evidence) -> dict[str, FamilyFit]:
    kept = [name for name, weight in fit.family_weights.items() if weight > SMALLEST_WEIGHT]
    return {
        name: fit_family(evidence, name, [fit.families[name].parameters], max_steps=STEPS, tolerance=TOLERANCE)
        for name in kept
    }


def _tails(confidence: float) -> tuple[float, float]:
    level = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    return (1 - level) / 2, (1 + level) / 2
