"""The objective of the score likelihood: recorded labels under a clean curve and a noise family, with weak priors.

Everything is in logarithms. In the tails of the curve ``P[b, k]`` underflows, and the family without noise has zeros in
``N``; as logarithms both stay usable, and the ratios ``P N / sum P N`` that gradients need never become 0 / 0.

Shapes: bins b (n_bins), true class k and recorded class r (K each), parameters p (curve, then noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ordinoise._validation import Floats
from ordinoise.estimation.score.curve import BinnedScores, ScoreCurve
from ordinoise.estimation.score.families import NoiseFamily
from ordinoise.estimation.score.rate_prior import RatePrior
from ordinoise.estimation.score.verdicts import Verdicts


@dataclass(frozen=True, eq=False)
class Expansion:
    """Value, gradient (n_parameters,) and expected information (n_parameters, n_parameters) at one point."""

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True, eq=False)
class Objective:
    """Penalized negative log likelihood of binned labels; parameters are those of the curve, then of the family.

    With ``P[b, k]`` the clean curve in bin b, ``N`` the noise matrix and ``c[b, r]`` the counts of recorded labels,

        value = - sum_br c[b, r] log sum_k P[b, k] N[k, r]
                - sum_brv d[b, r, v] log sum_k S[b, k, r] M[k, v]
                + half the squared residuals of all priors,

    with ``S[b, k, r] = P[b, k] N[k, r] / sum_j P[b, j] N[j, r]``, the posterior of the true label given bin and record.
    The second line is for the verified samples `trusted`: d counts the verdicts v of a verifier with noise matrix M,
    the identity if verified labels are right. People choose the rows to verify by features and recorded label;
    conditioning on both makes that choice drop out, so verifying the most suspicious rows first does not bias the
    estimate. The recorded labels of verified rows are in the first line already.
    """

    bins: BinnedScores
    curve: ScoreCurve
    family: NoiseFamily
    rate_prior: RatePrior | None = None
    trusted: Verdicts | None = None

    def split(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Parameters of the curve, parameters of the noise."""
        return parameters[: self.curve.n_parameters], parameters[self.curve.n_parameters :]

    def log_likelihood(self, parameters: Floats) -> float:
        """Log likelihood of the recorded labels: the first line alone, with a plus sign."""
        return float((self.bins.counts * _log_recorded(*self._logs(parameters))).sum())

    def recorded(self, parameters: Floats) -> Floats:
        """P(recorded label) in each cell, (n_cells, K)."""
        return np.exp(_log_recorded(*self._logs(parameters)))

    def value(self, parameters: Floats) -> float:
        """The penalized negative log likelihood."""
        log_clean, log_noise = self._logs(parameters)
        return self._value(parameters, log_clean, log_noise, _log_recorded(log_clean, log_noise))

    def expansion(self, parameters: Floats) -> Expansion:
        """Value, gradient and expected information.

        With ``R[b, r] = sum_k P[b, k] N[k, r]``, the probability of the recorded label, the posterior of the true label
        ``S[b, k, r] = P[b, k] N[k, r] / R[b, r]`` turns slopes of the parts into slopes of ``log R``:

            slope[b, r]  = sum_k S[b, k, r] (d log P[b, k] + d log N[k, r])
            gradient     = - sum_br c[b, r] slope[b, r]
            information  = sum_br n_b R[b, r] slope[b, r] slope[b, r]^T

        The information is the curvature with the counts replaced by their expectation ``n_b R``. It needs first
        derivatives only and is positive semi-definite everywhere, which the curvature of a mixture is not.
        """
        log_clean, clean_slopes, log_noise, noise_slopes = self._sloped_logs(parameters)
        log_recorded = _log_recorded(log_clean, log_noise)
        shares = _shares_of_true(log_clean, log_noise, log_recorded)
        slopes = _recorded_slopes(shares, clean_slopes, noise_slopes)
        expected = (np.exp(log_recorded) * self.bins.sizes[:, None]).ravel()
        gradient = -self.bins.counts.ravel() @ slopes
        information = slopes.T @ (slopes * expected[:, None])
        self._add_priors(parameters, gradient, information)
        if self.trusted is not None:
            logs = log_clean, log_noise, log_recorded
            self.trusted.add_slopes(logs, clean_slopes, noise_slopes, gradient, information)
        self._add_rate_prior(parameters, gradient, information)
        return Expansion(self._value(parameters, log_clean, log_noise, log_recorded), gradient, information)

    def recorded_slopes(self, parameters: Floats) -> tuple[Floats, Floats]:
        """``log R`` of every cell and recorded label (n_cells * K,), and its derivatives, a row each."""
        log_clean, clean_slopes, log_noise, noise_slopes = self._sloped_logs(parameters)
        log_recorded = _log_recorded(log_clean, log_noise)
        shares = _shares_of_true(log_clean, log_noise, log_recorded)
        return log_recorded.ravel(), _recorded_slopes(shares, clean_slopes, noise_slopes)

    def noise_rate(self, parameters: Floats) -> tuple[float, Floats]:
        """Share of wrong labels, and its derivatives (n_parameters,).

        ``rate = 1 - sum_bk w_b P[b, k] N[k, k]`` with w_b the share of bin b.
        """
        log_clean, clean_slopes, log_noise, noise_slopes = self._sloped_logs(parameters)
        right = np.exp(log_noise.diagonal())
        clean = np.exp(log_clean) * self._shares[:, None]
        by_curve = np.tensordot(clean * right, clean_slopes, 2)
        by_noise = np.diagonal(noise_slopes, axis1=1, axis2=2) @ (clean.sum(axis=0) * right)
        return self._noise_rate(log_clean, log_noise), -np.concatenate([by_curve, by_noise])

    def class_shares(self, parameters: Floats) -> Floats:
        """Distribution of the true label, ``sum_b w_b P[b, k]``."""
        return np.asarray(self._shares @ np.exp(self._logs(parameters)[0]))

    def _sloped_logs(self, parameters: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """``log P`` and its derivatives, ``log N`` and its derivatives."""
        of_curve, of_noise = self.split(parameters)
        return *self.curve.expansion(of_curve, self._design), *self.family.log_matrix(of_noise)

    def _logs(self, parameters: Floats) -> tuple[Floats, Floats]:
        of_curve, of_noise = self.split(parameters)
        return self.curve.log_probabilities(of_curve, self._design), self.family.log_matrix(of_noise)[0]

    def _value(self, parameters: Floats, log_clean: Floats, log_noise: Floats, log_recorded: Floats) -> float:
        of_curve, of_noise = self.split(parameters)
        total = -(self.bins.counts * log_recorded).sum()
        if self.trusted is not None:
            total -= self.trusted.log_likelihood(log_clean, log_noise, log_recorded)
        for residual in (self.curve.prior.residual(of_curve), self.family.prior.residual(of_noise)):
            total += 0.5 * residual @ residual
        if self.rate_prior is not None:
            total += 0.5 * self.rate_prior.residual(self._noise_rate(log_clean, log_noise)) ** 2
        return float(total)

    def _add_priors(self, parameters: Floats, gradient: Floats, information: Floats) -> None:
        of_curve, of_noise = self.split(parameters)
        first, second = slice(len(of_curve)), slice(len(of_curve), None)
        for part, prior, values in ((first, self.curve.prior, of_curve), (second, self.family.prior, of_noise)):
            gradient[part] += prior.rows.T @ prior.residual(values)
            information[part, part] += prior.precision

    def _add_rate_prior(self, parameters: Floats, gradient: Floats, information: Floats) -> None:
        if self.rate_prior is None:
            return
        rate, slopes = self.noise_rate(parameters)
        row = slopes * self.rate_prior.slope(rate)  # a Gauss-Newton term
        gradient += row * self.rate_prior.residual(rate)
        information += np.outer(row, row)

    def _noise_rate(self, log_clean: Floats, log_noise: Floats) -> float:
        return float(1 - self._shares @ np.exp(log_clean) @ np.exp(log_noise.diagonal()))

    @cached_property
    def _shares(self) -> Floats:
        return self.bins.sizes / self.bins.sizes.sum()

    @cached_property
    def _design(self) -> Floats:
        return self.curve.design(self.bins)


def _log_recorded(log_clean: Floats, log_noise: Floats) -> Floats:
    """``log R[b, r] = log sum_k P[b, k] N[k, r]``, (n_bins, K), by log-sum-exp over the true class."""
    joint = log_clean[:, :, None] + log_noise
    largest = joint.max(axis=1)
    return np.asarray(largest + np.log(np.exp(joint - largest[:, None]).sum(axis=1)))


def _shares_of_true(log_clean: Floats, log_noise: Floats, log_recorded: Floats) -> Floats:
    """``S[b, k, r]``, the posterior of the true class."""
    return np.exp(log_clean[:, :, None] + log_noise - log_recorded[:, None])


def _recorded_slopes(shares: Floats, clean_slopes: Floats, noise_slopes: Floats) -> Floats:
    """Derivatives of ``log R``, one row per cell (b, r), (n_bins * K, n_parameters).

    `shares` are S[b, k, r], `clean_slopes` (n_bins, K, curve parameters), `noise_slopes` (noise parameters, K, K).
    Both sums over k are batched matrix products.
    """
    by_curve = shares.transpose(0, 2, 1) @ clean_slopes  # [b, r, k] [b, k, p]
    # [r, b, k] [r, k, p], then back to [b, r, p]
    by_noise = (shares.transpose(2, 0, 1) @ noise_slopes.transpose(2, 1, 0)).transpose(1, 0, 2)
    slopes = np.concatenate([by_curve, by_noise], axis=2)
    return slopes.reshape(-1, slopes.shape[2])
