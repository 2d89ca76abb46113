"""Links: distributions of what lies between a score and the cuts of the scale.

Each is a distribution function F, with ``P(true label >= j | score) = F(logit_j)``. The shape of F decides how far
overlap reaches: what its tails cannot explain is called noise. No link is right by itself, so several are averaged by
their evidence. They are the usual ones of ordered regression: logistic, normal, both skewed ones (complementary
log-log and its mirror), and heavy tails, by Student's t with 2 degrees of freedom, which has a closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, log_expit, log_ndtr, stdtr

from ordinoise._validation import Floats

FARTHEST = 300.0
"""Arguments of the links are cut here: far beyond any probability that matters, before exp overflows twice."""
SMALLEST_DIFFERENCE = 1e-15  # of two logarithms of tail areas: keeps the logarithm of their difference finite


@dataclass(frozen=True)
class Link:
    """Logarithms of a distribution function, of its upper tail and of its density; exact in both tails."""

    name: str
    log_cdf: Callable[[Floats], Floats]
    log_tail: Callable[[Floats], Floats]
    log_density: Callable[[Floats], Floats]

    def log_between(self, low: Floats, high: Floats) -> Floats:
        """``log(F(high) - F(low))``, by the tails on the side where they do not cancel."""
        upper = low + high > 0
        larger = np.where(upper, self.log_tail(low), self.log_cdf(high))
        smaller = np.where(upper, self.log_tail(high), self.log_cdf(low))
        return larger + np.log(-np.expm1(-np.maximum(larger - smaller, SMALLEST_DIFFERENCE)))


def _log_logistic_density(x: Floats) -> Floats:
    return np.asarray(log_expit(x) + log_expit(-x))


def _log_normal_density(x: Floats) -> Floats:
    return -0.5 * x**2 - 0.5 * np.log(2 * np.pi)


def _log_gumbel_tail(x: Floats) -> Floats:
    return -np.exp(x)


def _log_gumbel_cdf(x: Floats) -> Floats:
    return np.asarray(np.log(-np.expm1(-np.exp(x))))


def _log_gumbel_density(x: Floats) -> Floats:
    return x - np.exp(x)


def _log_heavy_tail(x: Floats) -> Floats:
    # With s = sqrt(2 + x^2) the tail (1 - x / s) / 2 is 1 / (s (s + x)), which does not cancel for large x.
    size = np.sqrt(2 + x**2)
    beyond = 1 / (size * (size + np.abs(x)))
    return np.where(x > 0, np.log(beyond), np.log1p(-beyond))


def _log_heavy_density(x: Floats) -> Floats:
    return np.asarray(-1.5 * np.log(2 + x**2))


def _mirrored(function: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    return lambda x: function(-x)


LINKS = {
    link.name: link
    for link in (
        Link("logit", log_expit, _mirrored(log_expit), _log_logistic_density),
        Link("probit", log_ndtr, _mirrored(log_ndtr), _log_normal_density),
        Link("cloglog", _log_gumbel_cdf, _log_gumbel_tail, _log_gumbel_density),
        Link("loglog", _mirrored(_log_gumbel_tail), _mirrored(_log_gumbel_cdf), _mirrored(_log_gumbel_density)),
        Link("heavy", _mirrored(_log_heavy_tail), _log_heavy_tail, _log_heavy_density),
    )
}


def _log_t3_cdf(x: Floats) -> Floats:
    beyond = stdtr(3, -np.abs(x))
    return np.where(x > 0, np.log1p(-beyond), np.log(beyond))


def _log_t3_density(x: Floats) -> Floats:
    return np.asarray(gammaln(2) - gammaln(1.5) - 0.5 * np.log(3 * np.pi) - 2 * np.log1p(x**2 / 3))


STUDENT_T3 = Link("t3", _log_t3_cdf, _mirrored(_log_t3_cdf), _log_t3_density)
"""Tails of Student's t with 3 degrees of freedom, the heaviest that count as overlap where wrong labels are counted
(`ordinoise.audit.prevalence`). It is not averaged with the others: the estimate of the noise has its own heavy link."""
