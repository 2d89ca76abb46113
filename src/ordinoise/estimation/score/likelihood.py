"""Score likelihood: the noise matrix under which out-of-fold scores best explain the recorded labels.

A smooth clean model turns one score a sample into class probabilities (`score_curve`), a family of noise matrices turns
them into probabilities of the recorded label (`families`), and both are fitted together. Families are averaged by
their evidence, so that the answer is as simple as the data allow, and so that doubt about the family stays visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_count,
    as_floats,
    as_labels,
    as_number,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise.estimation.score.curve import BinnedScores, binned_scores, bins_of, score_curve
from ordinoise.estimation.score.doubts import doubts_about
from ordinoise.estimation.score.families import AVERAGED_FAMILIES, FAMILY_NAMES
from ordinoise.estimation.score.fit import Evidence, FamilyFit, cold_starts, evidence_weights, fit_family

MOST_BINS, FEWEST_IN_A_BIN = 60, 8
PRIOR_RATE_SD = 0.25
"""How far a believed noise rate is trusted, on the logit scale: .15 means about .10 to .22."""


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """The estimate of `score_likelihood`.

    Attributes
    ----------
    noise_matrix : (K, K)
        ``[true, recorded]``, averaged over the families by `family_weights`.
    class_prior : (K,)
        Distribution of the true label.
    noise_rate : float
        Share of wrong labels, ``1 - sum_k class_prior_k noise_matrix_kk``.
    noise_rate_sd : float
        Its standard deviation, with the doubt about the family.
    log_likelihood, log_likelihood_without_noise : float
        Of the recorded labels; the first averaged over the families, the second with the identity.
    families : dict
        Every family that took part, fitted.
    family_weights : dict
        Posterior probability of each.
    doubts : tuple of str
        Why the noise may not be identifiable from these scores; empty if all is well.
    """

    noise_matrix: Floats
    class_prior: Floats
    noise_rate: float
    noise_rate_sd: float
    log_likelihood: float
    log_likelihood_without_noise: float
    families: Mapping[str, FamilyFit]
    family_weights: Mapping[str, float]
    doubts: tuple[str, ...]
    evidence: Evidence

    @property
    def is_identifiable(self) -> bool:
        """Whether nothing speaks against believing the estimate."""
        return not self.doubts

    @property
    def converged(self) -> bool:
        """Whether every family that matters reached its optimum."""
        return all(fit.converged for name, fit in self.families.items() if self.family_weights[name] > 0.01)

    @property
    def parameters(self) -> dict[str, Floats]:
        """Parameters of each family: pass them as `warm_start` to fit similar data quickly."""
        return {name: fit.parameters for name, fit in self.families.items()}

    def class_probabilities_at(self, scores: ArrayLike) -> Floats:
        """P(true label | score), (n, K), where a score is the mean recorded label that a model expects."""
        curve = self.evidence.curve
        basis = curve.basis(self.evidence.bins.standardised(as_floats("scores", scores, 1)))
        tables = [
            np.exp(curve.log_probabilities(theta[: curve.n_parameters], basis)) for theta in self.parameters.values()
        ]
        return np.tensordot(list(self.family_weights.values()), tables, 1)


def score_likelihood(
    probabilities: ArrayLike,
    noisy_labels: ArrayLike,
    *,
    family: str | Sequence[str] = "average",
    prior_rate: float | None = None,
    prior_rate_sd: float = PRIOR_RATE_SD,
    trusted: ArrayLike | None = None,
    settled: tuple[ArrayLike, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    n_bins: int | None = None,
    starts: Sequence[float] = (0.06, 0.15),
    warm_start: Mapping[str, Floats] | None = None,
) -> LikelihoodFit:
    """Noise matrix that best explains recorded labels, from out-of-fold probabilities of those labels.

    Parameters
    ----------
    probabilities : (n, K)
        P(recorded label | features) of models that did not see the sample.
    noisy_labels : (n,)
        Recorded labels, 0..K-1.
    family : str or sequence of str
        ``"average"`` weighs `AVERAGED_FAMILIES` by their evidence; one name of `FAMILY_NAMES` takes that family
        alone; several names average those.
    prior_rate : float, optional
        Believed share of wrong labels; `prior_rate_sd` says how firmly, on the logit scale.
    trusted : (K, K), optional
        Counts of verified labels ``[true, recorded]`` of other samples, drawn by chance.
    settled : (rows, labels), optional
        Verified samples among these: row numbers and true labels. What was verified may have been chosen by features
        and recorded label, such as the most suspicious first: the likelihood conditions on both.
    sample_weight : (n,), optional
        Weights of the samples; together they count as their effective number.
    n_bins : int, optional
        Bins of the score; by default 60, but at least 8 samples in each.
    starts : sequence of float
        Inverse-decay rates from which every family is fitted; the best end counts.
    warm_start : mapping, optional
        ``parameters`` of an earlier fit to start from instead.
    """
    table, labels = _as_probabilities(probabilities, noisy_labels)
    bins = _as_bins(table, labels, sample_weight, n_bins)
    counts = _as_trusted(trusted, table.shape[1])
    rate_prior = None if prior_rate is None else _as_rate_prior(prior_rate, prior_rate_sd)
    verified = None if settled is None else _as_settled(settled, table, labels, len(bins.raw))
    evidence = Evidence(bins, score_curve(bins), counts, rate_prior, verified)
    rates = _as_starts(starts)
    fits = {}
    for name in _possible(_as_families(family), evidence):
        warm = None if warm_start is None else warm_start.get(name)
        fits[name] = fit_family(evidence, name, cold_starts(evidence, name, rates) if warm is None else [warm])
    return _averaged(fits, evidence, n_samples=float(bins.counts.sum()))


def _averaged(fits: Mapping[str, FamilyFit], evidence: Evidence, n_samples: float) -> LikelihoodFit:
    weights = evidence_weights(fits)
    shares = np.array([weights[name] for name in fits])
    matrix = np.tensordot(shares, [fit.noise_matrix for fit in fits.values()], 1)
    prior = shares @ [fit.class_prior for fit in fits.values()]
    sd = _spread(shares, fits)
    differs = {name: fit.starts_disagree for name, fit in fits.items()}
    return LikelihoodFit(
        noise_matrix=matrix,
        class_prior=prior,
        noise_rate=float(1 - prior @ np.diag(matrix)),
        noise_rate_sd=sd,
        log_likelihood=float(shares @ [fit.log_likelihood for fit in fits.values()]),
        log_likelihood_without_noise=_without_noise(fits, evidence).log_likelihood,
        families=dict(fits),
        family_weights=weights,
        doubts=doubts_about(matrix, prior, sd, weights, differs, n_samples),
        evidence=evidence,
    )


def _spread(shares: Floats, fits: Mapping[str, FamilyFit]) -> float:
    """Standard deviation of the noise rate, within the families and between them."""
    rates = np.array([fit.noise_rate for fit in fits.values()])
    within = np.array([fit.noise_rate_sd for fit in fits.values()]) ** 2
    return float(np.sqrt(shares @ (within + (rates - shares @ rates) ** 2)))


def _without_noise(fits: Mapping[str, FamilyFit], evidence: Evidence) -> FamilyFit:
    scores = evidence.without_knowledge()
    return fits["none"] if "none" in fits else fit_family(scores, "none", [scores.curve.start(scores.bins)])


def _possible(names: tuple[str, ...], evidence: Evidence) -> tuple[str, ...]:
    """Families that what is known does not rule out: no "none" where noise was seen or is believed in."""
    pairs = evidence.trusted if evidence.settled is None else evidence.trusted + evidence.settled.sum(axis=0)
    seen = (pairs - np.diag(np.diag(pairs))).any()
    if not seen and evidence.rate_prior is None:
        return names
    possible = tuple(name for name in names if name != "none")
    if not possible:
        raise complain("family", "hold noise where trusted labels or prior_rate do", "'none'")
    return possible


def _as_probabilities(probabilities: ArrayLike, noisy_labels: ArrayLike) -> tuple[Floats, Ints]:
    table = as_floats("probabilities", probabilities, 2)
    as_count("n_classes", table.shape[1], 2)
    labels = as_labels("noisy_labels", noisy_labels, table.shape[1])
    as_same_length("noisy_labels", len(labels), "probabilities", len(table))
    if table.min() < 0 or np.abs(table.sum(axis=1) - 1).max() > 1e-3:
        raise complain("probabilities", "be non-negative with rows that sum to 1", f"{table.sum(axis=1).max():.4g}")
    return table, labels


def _as_bins(table: Floats, labels: Ints, sample_weight: ArrayLike | None, n_bins: int | None) -> BinnedScores:
    n_samples, n_classes = table.shape
    most = max(n_samples // FEWEST_IN_A_BIN, 1)
    bins = min(MOST_BINS, most) if n_bins is None else min(as_count("n_bins", n_bins, 2), n_samples)
    if bins < 2:
        raise complain("probabilities", f"have at least {2 * FEWEST_IN_A_BIN} rows", n_samples)
    scores = table @ np.arange(n_classes)
    if np.ptp(scores) < 1e-9:
        raise complain("probabilities", "differ from row to row", "the same score everywhere")
    weights = as_weights(sample_weight, n_samples)
    return binned_scores(scores, labels, weights / (weights**2).sum(), n_classes, bins)


def _as_families(family: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(family, str):
        named = as_choice("family", family, ("average", *FAMILY_NAMES))
        return AVERAGED_FAMILIES if named == "average" else (named,)
    if not family:
        raise complain("family", "name at least one family", "none")
    return tuple(as_choice("family", name, FAMILY_NAMES) for name in dict.fromkeys(family))


def _as_trusted(trusted: ArrayLike | None, n_classes: int) -> Floats:
    if trusted is None:
        return np.zeros((n_classes, n_classes))
    counts = as_floats("trusted", trusted, 2)
    if counts.shape != (n_classes, n_classes) or counts.min() < 0:
        raise complain("trusted", f"hold counts [true, recorded], {n_classes} x {n_classes}", f"shape {counts.shape}")
    return counts


def _as_settled(settled: tuple[ArrayLike, ArrayLike], table: Floats, labels: Ints, n_bins: int) -> Floats:
    """Counts of verified samples, ``[bin, true, recorded]``."""
    rows = as_labels("settled rows", settled[0], len(labels))
    true = as_labels("settled labels", settled[1], table.shape[1])
    as_same_length("settled labels", len(true), "their row numbers", len(rows))
    if len(np.unique(rows)) < len(rows):
        raise complain("settled rows", "name every row once", "some twice")
    counts = np.zeros((n_bins, table.shape[1], table.shape[1]))
    np.add.at(counts, (bins_of(table @ np.arange(table.shape[1]), n_bins)[rows], true, labels[rows]), 1)
    return counts


def _as_starts(starts: Sequence[float]) -> list[float]:
    if len(starts) == 0:
        raise complain("starts", "hold at least one rate", "none")
    return [as_number("starts", rate, 0.0, 1.0, open_low=True) for rate in starts]


def _as_rate_prior(prior_rate: float, prior_rate_sd: float) -> tuple[float, float]:
    rate = as_number("prior_rate", prior_rate, 0.0, 0.99, open_low=True)
    return float(logit(rate)), as_number("prior_rate_sd", prior_rate_sd, 0.0, np.inf, open_low=True)
