"""What the score likelihood minimises: recorded labels given a clean curve and a noise family, with weak priors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logit

from ordinoise._validation import Floats
from ordinoise.estimation.score.curve import BinnedScores, ScoreCurve
from ordinoise.estimation.score.families import NoiseFamily

SMALLEST_RATE = 1e-9


@dataclass(frozen=True, eq=False)
class Expansion:
    """Second-order picture of the penalised negative log likelihood at one point."""

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True, eq=False)
class Objective:
    """Penalised negative log likelihood of binned labels; parameters are those of the curve, then of the family.

    `trusted` counts verified pairs ``[true, recorded]`` of other samples, drawn by chance; `settled` counts verified
    samples of the bins, ``[bin, true, recorded]``, chosen in whatever way by score and recorded label; `rate_prior` is
    the logit of a believed noise rate and its standard deviation on that scale.
    """

    bins: BinnedScores
    curve: ScoreCurve
    family: NoiseFamily
    trusted: Floats
    rate_prior: tuple[float, float] | None = None
    settled: Floats | None = None

    def split(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Parameters of the curve, parameters of the noise."""
        return parameters[: self.curve.n_parameters], parameters[self.curve.n_parameters :]

    def log_likelihood(self, parameters: Floats) -> float:
        """Log likelihood of the recorded labels, without priors and trusted labels."""
        return float((self.bins.counts * _log_recorded(*self._logs(parameters))).sum())

    def value(self, parameters: Floats) -> float:
        """What is minimised."""
        log_clean, log_noise = self._logs(parameters)
        return self._value(parameters, log_clean, log_noise, _log_recorded(log_clean, log_noise))

    def expansion(self, parameters: Floats) -> Expansion:
        """Value, gradient, and expected information (positive semi-definite, unlike the curvature)."""
        of_curve, of_noise = self.split(parameters)
        log_clean, clean_slopes = self.curve.expansion(of_curve, self._basis)
        log_noise, noise_slopes = self.family.log_matrix(of_noise)
        log_recorded = _log_recorded(log_clean, log_noise)
        shares = np.exp(log_clean[:, :, None] + log_noise - log_recorded[:, None])
        slopes = _recorded_slopes(shares, clean_slopes, noise_slopes)
        expected = (np.exp(log_recorded) * self.bins.sizes[:, None]).ravel()
        gradient = -self.bins.counts.ravel() @ slopes
        information = slopes.T @ (slopes * expected[:, None])
        self._add_priors(parameters, gradient, information)
        self._add_trusted(log_noise, noise_slopes, gradient, information)
        self._add_settled(shares, clean_slopes, noise_slopes, gradient, information)
        self._add_rate_prior(parameters, gradient, information)
        return Expansion(self._value(parameters, log_clean, log_noise, log_recorded), gradient, information)

    def noise_rate(self, parameters: Floats) -> tuple[float, Floats]:
        """Share of wrong labels ``1 - sum_k prior_k N_kk``, and its derivatives."""
        of_curve, of_noise = self.split(parameters)
        log_clean, clean_slopes = self.curve.expansion(of_curve, self._basis)
        log_noise, noise_slopes = self.family.log_matrix(of_noise)
        right = np.exp(log_noise.diagonal())
        clean = np.exp(log_clean) * self._shares[:, None]
        by_curve = np.tensordot(clean * right, clean_slopes, 2)
        by_noise = np.diagonal(noise_slopes, axis1=1, axis2=2) @ (clean.sum(axis=0) * right)
        return self._noise_rate(log_clean, log_noise), -np.concatenate([by_curve, by_noise])

    def class_prior(self, parameters: Floats) -> Floats:
        """Distribution of the true label over the bins."""
        return np.asarray(self._shares @ np.exp(self._logs(parameters)[0]))

    def _logs(self, parameters: Floats) -> tuple[Floats, Floats]:
        of_curve, of_noise = self.split(parameters)
        return self.curve.log_probabilities(of_curve, self._basis), self.family.log_matrix(of_noise)[0]

    def _value(self, parameters: Floats, log_clean: Floats, log_noise: Floats, log_recorded: Floats) -> float:
        of_curve, of_noise = self.split(parameters)
        seen = self.trusted > 0
        total = -(self.bins.counts * log_recorded).sum() - self.trusted[seen] @ log_noise[seen]
        if self.settled is not None:
            verified = self.settled > 0
            log_posterior = log_clean[:, :, None] + log_noise - log_recorded[:, None]
            total -= self.settled[verified] @ log_posterior[verified]
        for residual in (self.curve.prior.residual(of_curve), self.family.prior.residual(of_noise)):
            total += 0.5 * residual @ residual
        if self.rate_prior is not None:
            total += 0.5 * self._rate_residual(self._noise_rate(log_clean, log_noise)) ** 2
        return float(total)

    def _add_priors(self, parameters: Floats, gradient: Floats, information: Floats) -> None:
        of_curve, of_noise = self.split(parameters)
        first, second = slice(len(of_curve)), slice(len(of_curve), None)
        for part, prior, values in ((first, self.curve.prior, of_curve), (second, self.family.prior, of_noise)):
            gradient[part] += prior.rows.T @ prior.residual(values)
            information[part, part] += prior.precision

    def _add_trusted(self, log_noise: Floats, slopes: Floats, gradient: Floats, information: Floats) -> None:
        if not self.trusted.any():
            return
        noise = slice(self.curve.n_parameters, None)
        flat = slopes.reshape(len(slopes), self.trusted.size)
        gradient[noise] -= flat @ self.trusted.ravel()
        expected = (np.exp(log_noise) * self.trusted.sum(axis=1, keepdims=True)).ravel()
        information[noise, noise] += (flat * expected) @ flat.T

    def _add_settled(
        self, shares: Floats, clean_slopes: Floats, noise_slopes: Floats, gradient: Floats, information: Floats
    ) -> None:
        """Verified labels given bin and record: that these decided what was verified does not bias the answer."""
        if self.settled is None:
            return
        for place, recorded in np.argwhere(self.settled.sum(axis=1)):
            counts, chances = self.settled[place, :, recorded], shares[place, :, recorded]
            slopes = np.hstack([clean_slopes[place], noise_slopes[:, :, recorded].T])
            slopes -= chances @ slopes
            gradient -= counts @ slopes
            information += counts.sum() * (slopes.T * chances) @ slopes

    def _add_rate_prior(self, parameters: Floats, gradient: Floats, information: Floats) -> None:
        if self.rate_prior is None:
            return
        rate, slopes = self.noise_rate(parameters)
        row = slopes / max(rate * (1 - rate), SMALLEST_RATE) / self.rate_prior[1]
        gradient += row * self._rate_residual(rate)
        information += np.outer(row, row)

    def _rate_residual(self, rate: float) -> float:
        centre, sd = self.rate_prior or (0.0, np.inf)
        return float((logit(np.clip(rate, SMALLEST_RATE, 1 - SMALLEST_RATE)) - centre) / sd)

    def _noise_rate(self, log_clean: Floats, log_noise: Floats) -> float:
        return float(1 - self._shares @ np.exp(log_clean) @ np.exp(log_noise.diagonal()))

    @cached_property
    def _shares(self) -> Floats:
        return self.bins.sizes / self.bins.sizes.sum()

    @cached_property
    def _basis(self) -> Floats:
        return self.curve.basis(self.bins.score)


def _log_recorded(log_clean: Floats, log_noise: Floats) -> Floats:
    """Logarithm of P(recorded label | bin): the noise matrix applied to the clean probabilities."""
    joint = log_clean[:, :, None] + log_noise
    largest = joint.max(axis=1)
    return np.asarray(largest + np.log(np.exp(joint - largest[:, None]).sum(axis=1)))


def _recorded_slopes(shares: Floats, clean_slopes: Floats, noise_slopes: Floats) -> Floats:
    """Derivatives of log P(recorded | bin), (n_bins * K, n_parameters); `shares` are P(true | recorded, bin)."""
    by_curve = shares.transpose(0, 2, 1) @ clean_slopes
    by_noise = (shares.transpose(2, 0, 1) @ noise_slopes.transpose(2, 1, 0)).transpose(1, 0, 2)
    slopes = np.concatenate([by_curve, by_noise], axis=2)
    return slopes.reshape(-1, slopes.shape[2])
