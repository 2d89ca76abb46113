"""One noise family and link fitted to binned scores, its evidence, and the weights of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from ordinoise._validation import Floats
from ordinoise.estimation.score.curve import BinnedScores, ScoreCurve
from ordinoise.estimation.score.families import noise_family
from ordinoise.estimation.score.links import LINKS
from ordinoise.estimation.score.newton import minimum
from ordinoise.estimation.score.objective import Objective
from ordinoise.estimation.score.rate_prior import RatePrior
from ordinoise.estimation.score.verdicts import Verdicts

NO_NOISE_ODDS = 2.0
"""Prior weight of "no noise" against each of the five noisy families: nearly a third of the whole. A belief."""
SAME_VALUE = 2.0
"""Two minima within this much log-posterior count as equally good: a ratio of e ** 2."""
DIFFERENT_RATE = 0.03
"""... and disagree if their noise rates differ by this much. A round number, chosen by no run."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The data that every family is fitted to: binned scores, shape of the clean model, rate prior, verified labels."""

    bins: BinnedScores
    curve: ScoreCurve
    rate_prior: RatePrior | None = None
    trusted: Verdicts | None = None

    def objective(self, name: str) -> Objective:
        """The objective of the family called `name`."""
        family = noise_family(name, self.curve.n_classes)
        return Objective(self.bins, self.curve, family, self.rate_prior, self.trusted)

    def with_counts(self, counts: Floats) -> Evidence:
        """The evidence with other label counts in the bins."""
        return replace(self, bins=self.bins.with_counts(counts))

    def with_link(self, link: str) -> Evidence:
        """The evidence with another link of the clean model."""
        return replace(self, curve=replace(self.curve, link=LINKS[link]))


@dataclass(frozen=True, eq=False)
class FamilyFit:
    """One family fitted with one link: parameters, evidence, the noise they imply, P(recorded label) in each cell."""

    name: str
    link: str
    parameters: Floats
    information: Floats
    log_likelihood: float
    log_evidence: float
    noise_matrix: Floats
    class_shares: Floats
    noise_rate: float
    noise_rate_sd: float
    recorded: Floats
    converged: bool
    starts_disagree: bool


def fit_family(
    evidence: Evidence, name: str, starts: Sequence[Floats], *, max_steps: int = 100, tolerance: float = 1e-4
) -> FamilyFit:
    """The lowest of the minima reached from all `starts`."""
    objective = evidence.objective(name)
    ends = [minimum(objective, start, max_steps=max_steps, tolerance=tolerance) for start in starts]
    best = min(ends, key=lambda end: end.value)
    rate, slopes = objective.noise_rate(best.parameters)
    rival = [objective.noise_rate(end.parameters)[0] for end in ends if end.value < best.value + SAME_VALUE]
    return FamilyFit(
        name=name,
        link=evidence.curve.link.name,
        parameters=best.parameters,
        information=best.information,
        log_likelihood=objective.log_likelihood(best.parameters),
        log_evidence=_log_evidence(objective, best.value, best.information),
        noise_matrix=objective.family.noise_matrix(objective.split(best.parameters)[1]),
        class_shares=objective.class_shares(best.parameters),
        noise_rate=rate,
        # The delta method: sd of the rate from its slopes and the inverse information.
        noise_rate_sd=float(np.sqrt(slopes @ np.linalg.solve(best.information, slopes))),
        recorded=objective.recorded(best.parameters),
        converged=best.converged,
        starts_disagree=max(rival) - min(rival) > DIFFERENT_RATE,
    )


def cold_starts(evidence: Evidence, name: str, rates: Sequence[float]) -> list[Floats]:
    """A straight clean model with each inverse-decay rate.

    Not the curve fitted without noise: that one has bent to explain the noise away.
    """
    smooth = evidence.curve.start(evidence.bins)
    family = noise_family(name, evidence.curve.n_classes)
    return [np.concatenate([smooth, family.start(rate)]) for rate in (rates if family.n_parameters else rates[:1])]


def evidence_weights(fits: Sequence[FamilyFit], more: Floats | float = 0.0) -> Floats:
    """Posterior probability of each fit; links are equally likely beforehand.

    `more`, of shape (..., n_fits), is added to the logarithms of the evidence.
    """
    odds = [np.log(NO_NOISE_ODDS) if fit.name == "none" else 0.0 for fit in fits]
    return np.asarray(softmax(np.array([fit.log_evidence for fit in fits]) + odds + more, axis=-1))


def _log_evidence(objective: Objective, value: float, information: Floats) -> float:
    """Laplace's approximation of the log probability of the data, up to a constant that all families share.

    ``-value - 1/2 log det(information) + 1/2 log det(prior precision of the family)``. The powers of 2 pi of prior and
    approximation cancel, and the prior of the curve is the same for all families and links.
    """
    prior = np.linalg.slogdet(objective.family.prior.precision)[1]
    return float(-value - 0.5 * np.linalg.slogdet(information)[1] + 0.5 * prior)
