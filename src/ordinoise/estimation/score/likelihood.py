"""Score likelihood: the noise matrix under which out-of-fold scores best explain the recorded labels.

A smooth clean model turns one score per sample into class probabilities (`curve`), a family of noise matrices turns
them into probabilities of the recorded label (`families`), and both are fitted together. Families are averaged by
their evidence: the result is as simple as the data allow, and doubt about the family is part of its uncertainty.
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
    as_labels,
    as_number,
    as_probabilities,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise.estimation.score.curve import BinnedScores, binned_scores, bins_of, score_curve
from ordinoise.estimation.score.doubts import doubts_about
from ordinoise.estimation.score.families import AVERAGED_FAMILIES, FAMILY_NAMES
from ordinoise.estimation.score.fit import Evidence, FamilyFit, cold_starts, evidence_weights, fit_family
from ordinoise.noise import Doubt, Noise
from ordinoise.noise.record import estimated_noise

MOST_BINS, FEWEST_IN_A_BIN = 60, 8
"""Bins of the score, and samples per bin; after binning the cost does not depend on n. Chosen by no run."""
PRIOR_RATE_SD = 0.25
"""Standard deviation of `prior_rate` on the logit scale: .15 means about .10 to .22. A convention."""
START_RATES = (0.06, 0.15)
"""Inverse-decay rates from which every family is fitted: clean labels and the paper's rate."""


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """The families fitted by `score_likelihood`, and their average.

    Attributes
    ----------
    noise_matrix : (K, K)
        ``[true, recorded]``, averaged over the families by `family_weights`.
    class_shares : (K,)
        Distribution of the true label.
    noise_rate_sd : float
        Standard deviation of the share of wrong labels, including doubt about the family.
    log_likelihood, log_likelihood_without_noise : float
        Of the recorded labels; the first averaged over the families, the second with the identity.
    families : dict
        Every family, fitted.
    family_weights : dict
        Posterior probability of each.
    doubts : tuple of Doubt
        Signs that the noise is unidentifiable from these scores; empty if there are none.
    evidence : Evidence
        The data that the families were fitted to.
    """

    noise_matrix: Floats
    class_shares: Floats
    noise_rate_sd: float
    log_likelihood: float
    log_likelihood_without_noise: float
    families: Mapping[str, FamilyFit]
    family_weights: Mapping[str, float]
    doubts: tuple[Doubt, ...]
    evidence: Evidence

    def noise(self, draws: tuple[Floats, Floats], confidence: float = 0.95) -> Noise:
        """The record of this estimate, with draws of matrices and rates for its intervals."""
        return estimated_noise(
            self.noise_matrix, self.class_shares, replicates=draws[0], rates=draws[1], confidence=confidence,
            method="ScoreLikelihood", doubts=self.doubts,
        )  # fmt: skip

    @property
    def likelihood_ratio(self) -> float:
        """Twice the gain in log-likelihood over no noise."""
        return 2 * (self.log_likelihood - self.log_likelihood_without_noise)


def score_likelihood(
    probabilities: ArrayLike,
    noisy_labels: ArrayLike,
    *,
    family: str | Sequence[str] = "average",
    prior_rate: float | None = None,
    trusted: tuple[ArrayLike, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
) -> LikelihoodFit:
    """Noise matrix that best explains recorded labels, from out-of-fold probabilities of those labels.

    Parameters
    ----------
    probabilities : (n, K)
        P(recorded label | features) of models that did not see the sample.
    noisy_labels : (n,)
        Recorded labels, 0..K-1.
    family : str or sequence of str
        ``"average"`` weights `AVERAGED_FAMILIES` by their evidence; one name of `FAMILY_NAMES` takes that family
        alone; several names average those.
    prior_rate : float, optional
        Expected share of wrong labels.
    trusted : (rows, labels), optional
        Verified samples: row numbers and true labels. They may have been chosen by features and recorded label, such
        as the most suspicious first: the likelihood conditions on both.
    sample_weight : (n,), optional
        Weights of the samples, scaled to sum to their effective number, ``(sum w)^2 / sum w^2``.
    """
    table, labels = _as_probabilities(probabilities, noisy_labels)
    bins = _as_bins(table, labels, sample_weight)
    rate_prior = None
    if prior_rate is not None:
        rate_prior = float(logit(as_number("prior_rate", prior_rate, 0.0, 0.99, open_low=True))), PRIOR_RATE_SD
    verified = None if trusted is None else _as_trusted(trusted, table, labels, len(bins.score))
    evidence = Evidence(bins, score_curve(bins), rate_prior, verified)
    fits = {
        name: fit_family(evidence, name, cold_starts(evidence, name, START_RATES))
        for name in _possible_families(_as_families(family), evidence)
    }
    return _average(fits, evidence)


def _average(fits: Mapping[str, FamilyFit], evidence: Evidence) -> LikelihoodFit:
    weights = evidence_weights(fits)
    family_shares = np.array([weights[name] for name in fits])
    matrix = np.tensordot(family_shares, [fit.noise_matrix for fit in fits.values()], 1)
    shares = family_shares @ [fit.class_shares for fit in fits.values()]
    sd = _spread(family_shares, fits)
    differs = {name: fit.starts_disagree for name, fit in fits.items()}
    return LikelihoodFit(
        noise_matrix=matrix,
        class_shares=shares,
        noise_rate_sd=sd,
        log_likelihood=float(family_shares @ [fit.log_likelihood for fit in fits.values()]),
        log_likelihood_without_noise=_without_noise(fits, evidence).log_likelihood,
        families=dict(fits),
        family_weights=weights,
        doubts=doubts_about(matrix, shares, sd, weights, differs, float(evidence.bins.counts.sum())),
        evidence=evidence,
    )


def _spread(family_shares: Floats, fits: Mapping[str, FamilyFit]) -> float:
    """Standard deviation of the noise rate: variance within the families plus variance between them."""
    rates = np.array([fit.noise_rate for fit in fits.values()])
    within = np.array([fit.noise_rate_sd for fit in fits.values()]) ** 2
    return float(np.sqrt(family_shares @ (within + (rates - family_shares @ rates) ** 2)))


def _without_noise(fits: Mapping[str, FamilyFit], evidence: Evidence) -> FamilyFit:
    scores = Evidence(evidence.bins, evidence.curve)
    return fits["none"] if "none" in fits else fit_family(scores, "none", [scores.curve.start(scores.bins)])


def _possible_families(names: tuple[str, ...], evidence: Evidence) -> tuple[str, ...]:
    """Families that the data do not rule out: not "none" if a verified label was wrong or a rate is expected."""
    pairs = np.zeros((1, 1)) if evidence.trusted is None else evidence.trusted.sum(axis=0)
    if not (pairs - np.diag(np.diag(pairs))).any() and evidence.rate_prior is None:
        return names
    possible = tuple(name for name in names if name != "none")
    if not possible:
        raise complain("family", "allow noise if trusted labels or prior_rate show noise", "'none'")
    return possible


def _as_probabilities(probabilities: ArrayLike, noisy_labels: ArrayLike) -> tuple[Floats, Ints]:
    table = as_probabilities("probabilities", probabilities)
    if table.shape[1] < 2:
        raise complain("probabilities", "have at least 2 columns", table.shape[1])
    labels = as_labels("noisy_labels", noisy_labels, table.shape[1])
    as_same_length("noisy_labels", len(labels), "probabilities", len(table))
    return table, labels


def _as_bins(table: Floats, labels: Ints, sample_weight: ArrayLike | None) -> BinnedScores:
    n_samples, n_classes = table.shape
    n_bins = min(MOST_BINS, n_samples // FEWEST_IN_A_BIN)
    if n_bins < 2:
        raise complain("probabilities", f"have at least {2 * FEWEST_IN_A_BIN} rows", n_samples)
    scores = table @ np.arange(n_classes)
    if np.ptp(scores) < 1e-9:
        raise complain("probabilities", "differ from row to row", "the same score everywhere")
    weights = as_weights(sample_weight, n_samples)
    return binned_scores(scores, labels, weights / (weights**2).sum(), n_classes, n_bins)


def _as_families(family: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(family, str):
        named = as_choice("family", family, ("average", *FAMILY_NAMES))
        return AVERAGED_FAMILIES if named == "average" else (named,)
    if not family:
        raise complain("family", "name at least one family", "none")
    return tuple(as_choice("family", name, FAMILY_NAMES) for name in dict.fromkeys(family))


def _as_trusted(trusted: tuple[ArrayLike, ArrayLike], table: Floats, labels: Ints, n_bins: int) -> Floats:
    """Counts of verified samples, ``[bin, true, recorded]``."""
    rows = as_labels("trusted rows", trusted[0], len(labels))
    true = as_labels("trusted labels", trusted[1], table.shape[1])
    as_same_length("trusted labels", len(true), "their row numbers", len(rows))
    if len(np.unique(rows)) < len(rows):
        raise complain("trusted rows", "name every row once", "some twice")
    counts = np.zeros((n_bins, table.shape[1], table.shape[1]))
    np.add.at(counts, (bins_of(table @ np.arange(table.shape[1]), n_bins)[rows], true, labels[rows]), 1)
    return counts
