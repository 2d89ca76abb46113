"""Intervals of the score likelihood, at a cost that does not depend on the number of samples."""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats, as_count, as_generator
from ordinoise.estimation.score.fit import Evidence, FamilyFit, evidence_weights, fit_family
from ordinoise.estimation.score.likelihood import LikelihoodFit
from ordinoise.estimation.score.links import FARTHEST

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
    drawn = rng.multinomial(n_samples, shares, as_count("n_draws", n_draws, 2)).astype(np.float64)
    kept = [found for found, weight in zip(fit.fits, fit.weights, strict=True) if weight > SMALLEST_WEIGHT]
    gains = np.column_stack([_evidence_gained(fit.evidence, found, drawn - counts.ravel()) for found in kept])
    numbers = [rng.choice(len(kept), p=weights) for weights in evidence_weights(kept, gains)]
    refits = [
        _refit(fit.evidence.with_counts(table.reshape(counts.shape)), kept[number])
        for number, table in zip(numbers, drawn, strict=True)
    ]
    return np.stack([refit.noise_matrix for refit in refits]), np.array([refit.noise_rate for refit in refits])


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


def _evidence_gained(evidence: Evidence, found: FamilyFit, change: Floats) -> Floats:
    """Gain in log evidence when the counts change by each row of `change`, (n_draws,).

    To second order at the optimum: the counts change the log likelihood by ``change @ log R`` and its gradient, which
    was zero, to ``change @ slopes``; the scoring step from there gains half ``gradient information^-1 gradient``.
    """
    log_recorded, slopes = evidence.with_link(found.link).objective(found.name).recorded_slopes(found.parameters)
    gradient = change @ slopes
    steps = np.linalg.solve(found.information, gradient.T).T
    # A cell that the fit rules out has log R = -inf, and is never drawn as it was never seen: 0 * -inf.
    return np.asarray(change @ np.maximum(log_recorded, -FARTHEST) + 0.5 * (gradient * steps).sum(axis=1))


def _refit(evidence: Evidence, found: FamilyFit) -> FamilyFit:
    start = [found.parameters]
    return fit_family(evidence.with_link(found.link), found.name, start, max_steps=STEPS, tolerance=TOLERANCE)
