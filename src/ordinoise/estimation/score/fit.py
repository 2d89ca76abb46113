"""One noise family fitted to binned scores, its evidence, and the weights of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from ordinoise._validation import Floats
from ordinoise.estimation.score.curve import BinnedScores, ScoreCurve
from ordinoise.estimation.score.families import noise_family
from ordinoise.estimation.score.newton import minimum
from ordinoise.estimation.score.objective import Objective

NO_NOISE_ODDS = 2.0
"""Prior weight of "no noise" against each noisy family: a third of the whole, since clean labels are common."""
SAME_VALUE = 2.0
DIFFERENT_RATE = 0.03


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known whatever the family: binned scores, shape of the clean model, verified labels, a believed rate."""

    bins: BinnedScores
    curve: ScoreCurve
    trusted: Floats
    rate_prior: tuple[float, float] | None = None
    settled: Floats | None = None

    def objective(self, name: str) -> Objective:
        """What the family called `name` minimises."""
        family = noise_family(name, self.curve.n_classes)
        return Objective(self.bins, self.curve, family, self.trusted, self.rate_prior, self.settled)

    def without_knowledge(self) -> Evidence:
        """The scores alone."""
        return Evidence(self.bins, self.curve, np.zeros_like(self.trusted))

    def with_counts(self, counts: Floats) -> Evidence:
        """The same, had the bins held other labels."""
        return replace(self, bins=self.bins.with_counts(counts))


@dataclass(frozen=True, eq=False)
class FamilyFit:
    """One family at its best: parameters, evidence and what they say of the noise."""

    name: str
    parameters: Floats
    information: Floats
    log_likelihood: float
    log_evidence: float
    noise_matrix: Floats
    class_prior: Floats
    noise_rate: float
    noise_rate_sd: float
    converged: bool
    starts_disagree: bool


def fit_family(
    evidence: Evidence, name: str, starts: Sequence[Floats], *, max_steps: int = 100, tolerance: float = 1e-4
) -> FamilyFit:
    """The best end of descents from all `starts`."""
    objective = evidence.objective(name)
    ends = [minimum(objective, start, max_steps=max_steps, tolerance=tolerance) for start in starts]
    best = min(ends, key=lambda end: end.value)
    rate, slopes = objective.noise_rate(best.parameters)
    rival = [objective.noise_rate(end.parameters)[0] for end in ends if end.value < best.value + SAME_VALUE]
    return FamilyFit(
        name=name,
        parameters=best.parameters,
        information=best.information,
        log_likelihood=objective.log_likelihood(best.parameters),
        log_evidence=_log_evidence(objective, best.value, best.information),
        noise_matrix=objective.family.noise_matrix(objective.split(best.parameters)[1]),
        class_prior=objective.class_prior(best.parameters),
        noise_rate=rate,
        noise_rate_sd=float(np.sqrt(slopes @ np.linalg.solve(best.information, slopes))),
        converged=best.converged,
        starts_disagree=max(rival) - min(rival) > DIFFERENT_RATE,
    )


def cold_starts(evidence: Evidence, name: str, rates: Sequence[float]) -> list[Floats]:
    """A straight clean model with each inverse-decay rate: not a fitted one, which has explained the noise away."""
    smooth = evidence.curve.start(evidence.bins)
    family = noise_family(name, evidence.curve.n_classes)
    return [np.concatenate([smooth, family.start(rate)]) for rate in (rates if family.n_parameters else rates[:1])]


def evidence_weights(fits: Mapping[str, FamilyFit]) -> dict[str, float]:
    """Posterior probability of each family."""
    scores = [fit.log_evidence + (np.log(NO_NOISE_ODDS) if name == "none" else 0.0) for name, fit in fits.items()]
    return dict(zip(fits, softmax(scores).tolist(), strict=True))


def _log_evidence(objective: Objective, value: float, information: Floats) -> float:
    """Laplace's approximation of the probability of the data, up to what all families of one curve share."""
    prior = np.linalg.slogdet(objective.family.prior.precision)[1]
    return float(-value - 0.5 * np.linalg.slogdet(information)[1] + 0.5 * prior)
