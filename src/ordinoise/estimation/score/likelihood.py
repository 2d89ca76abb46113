"""Score likelihood: the noise matrix under which out-of-fold scores best explain the recorded labels.

A smooth clean model turns one score per sample into class probabilities (`curve`), a family of noise matrices turns
them into probabilities of the recorded label (`families`), and both are fitted together. Families are averaged by
their evidence: the result is as simple as the data allow, and doubt about the family is part of its uncertainty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_labels,
    as_probabilities,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise.clusters import design_effect, record_correlation
from ordinoise.decisions import decide
from ordinoise.estimation.score.cells import FEWEST_IN_A_BIN, MOST_BINS, binned_scores
from ordinoise.estimation.score.curve import BinnedScores, score_curve
from ordinoise.estimation.score.doubts import MAY_BE_OVERLAP, doubts_about
from ordinoise.estimation.score.families import AVERAGED_FAMILIES, FAMILY_NAMES
from ordinoise.estimation.score.fit import Evidence, FamilyFit, cold_starts, evidence_weights, fit_family
from ordinoise.estimation.score.links import LINKS
from ordinoise.estimation.score.rate_prior import as_rate_prior
from ordinoise.estimation.score.verdicts import Verdicts, verdicts_of
from ordinoise.labels import trusted_ranks
from ordinoise.noise import Doubt, Noise
from ordinoise.noise.record import estimated_noise

MODEL_ERROR = 0.1
"""Part of the rate that may be an error of the clean model, which more rows do not mend. At 50,000 rows of settings of
`studies.harm` the 95 % interval missed the rate in 1 of 20 estimates without a doubt (seeds 100 and 101) and in 2 of
those of seed 0; the lower ends of these three were too high by 1 to 7 %."""
START_RATES = (0.06, 0.15)
"""Inverse-decay rates from which every family is fitted: clean labels and the paper's rate."""


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """The families and links fitted by `score_likelihood`, and their average.

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
    fits : tuple of FamilyFit
        Every family with every link, fitted.
    weights : (n_fits,)
        Posterior probability of each.
    doubts : tuple of Doubt
        Signs that the noise is unidentifiable from these scores; empty if there are none.
    evidence : Evidence
        The data that the families were fitted to.
    cells : (n,)
        Cell of `evidence` that each sample lies in.
    """

    noise_matrix: Floats
    class_shares: Floats
    noise_rate_sd: float
    log_likelihood: float
    log_likelihood_without_noise: float
    fits: tuple[FamilyFit, ...]
    weights: Floats
    doubts: tuple[Doubt, ...]
    evidence: Evidence
    cells: Ints

    def noise(self, draws: tuple[Floats, Floats], confidence: float = 0.95, more_doubts: Sequence[Doubt] = ()) -> Noise:
        """The record of this estimate, with draws of matrices and rates for its intervals."""
        doubts = (*self.doubts, *more_doubts)
        found = estimated_noise(
            self.noise_matrix, self.class_shares, replicates=draws[0], rates=draws[1], confidence=confidence,
            method="ScoreLikelihood", doubts=doubts,
        )  # fmt: skip
        if found.rate_interval is None:
            return found
        codes, (low, high) = {doubt.code for doubt in doubts}, found.rate_interval
        low = 0.0 if codes & MAY_BE_OVERLAP else (1 - MODEL_ERROR) * low
        most = self.most_overlap(confidence)
        high = most if "moved-grade" in codes else max(high, most)
        return replace(found, rate_range=(low, high))

    @property
    def family_weights(self) -> dict[str, float]:
        """Posterior probability of each family, over all links."""
        return self._summed("name")

    @property
    def link_weights(self) -> dict[str, float]:
        """Posterior probability of each link, over all families."""
        return self._summed("link")

    def _summed(self, attribute: str) -> dict[str, float]:
        total: dict[str, float] = {}
        for fit, weight in zip(self.fits, self.weights.tolist(), strict=True):
            total[getattr(fit, attribute)] = total.get(getattr(fit, attribute), 0.0) + weight
        return total

    @cached_property
    def recorded(self) -> Floats:
        """P(recorded label) of each cell under the average of all fits, (n_cells, K)."""
        return np.tensordot(self.weights, [fit.recorded for fit in self.fits], 1)

    @property
    def overlap(self) -> float:
        """Share of labels other than the middle one at their score.

        That many are wrong if the score decides the true label and the middle record is right: the most that slips can
        hide as overlap of grades. No other record leaves more, as the middle one is at most as frequent as the
        likeliest one.
        """
        sizes, rows = self.evidence.bins.sizes, np.arange(len(self.recorded))
        middle = decide(self.recorded, "median")
        return float(1 - sizes @ self.recorded[rows, middle] / sizes.sum())

    def most_overlap(self, confidence: float) -> float:
        """Upper limit of `overlap` by Clopper and Pearson, as the labels are a sample."""
        n_samples, share = float(self.evidence.bins.sizes.sum()), min(self.overlap, 1.0)
        return (
            float(beta.ppf((1 + confidence) / 2, n_samples * share + 1, n_samples * (1 - share))) if share < 1 else 1.0
        )

    @property
    def likelihood_ratio(self) -> float:
        """Twice the gain in log-likelihood over no noise."""
        return 2 * (self.log_likelihood - self.log_likelihood_without_noise)


def score_likelihood(
    probabilities: ArrayLike,
    noisy_labels: ArrayLike,
    *,
    family: str | Sequence[str] = "average",
    prior_rate: float | tuple[float, float] | None = None,
    trusted: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: Ints | None = None,
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
    prior_rate : float or (float, float), optional
        Expected share of wrong labels, alone or with its standard deviation; alone .15 means about .10 to .22.
    trusted : (rows, labels) or Verified, optional
        Verified samples: row numbers and true labels. They may have been chosen by features and recorded label, such
        as the most suspicious first: the likelihood conditions on both.
    sample_weight : (n,), optional
        Weights of the samples, scaled to sum to their effective number, ``(sum w)^2 / sum w^2``.
    groups : int array of shape (n,), optional
        Numbers from 0. Samples of one group are not independent: counts are divided by the design effect that follows
        from the correlation, within groups, of what records show beyond their predictions.
    """
    table, labels = _as_probabilities(probabilities, noisy_labels)
    weights = as_weights(sample_weight, len(labels))
    correlation = record_correlation(table, labels, groups)
    bins, cells = _as_bins(table, labels, weights / (weights**2).sum() / design_effect(correlation, groups, weights))
    verified = None
    if trusted is not None:
        known = trusted_ranks(trusted, np.arange(table.shape[1]), len(labels))
        effect = design_effect(correlation, None if groups is None else groups[known.rows])
        verified = verdicts_of(known, labels, cells, 1 / effect)
    return binned_likelihood(bins, cells, family=family, prior_rate=prior_rate, verified=verified)


def binned_likelihood(
    bins: BinnedScores,
    cells: Ints,
    *,
    family: str | Sequence[str] = "average",
    prior_rate: float | tuple[float, float] | None = None,
    verified: Verdicts | None = None,
) -> LikelihoodFit:
    """The fit of `score_likelihood` from label counts by cells of the score; `cells` belong to later samples."""
    evidence = Evidence(bins, score_curve(bins), as_rate_prior(prior_rate), verified)
    fits = _all_fits(evidence, _possible_families(_as_families(family), evidence))
    without = [fit for fit in fits if fit.name == "none"] or _all_fits(Evidence(bins, evidence.curve), ("none",))
    return _average(fits, without, evidence, cells)


def _all_fits(evidence: Evidence, families: Sequence[str]) -> list[FamilyFit]:
    """Every family with every link. The first link starts from scratch, the others from where the first ended."""
    fits = []
    for name in families:
        first, *others = (evidence.with_link(link) for link in LINKS)
        fits.append(fit_family(first, name, cold_starts(first, name, START_RATES)))
        fits += [fit_family(other, name, [fits[-1].parameters]) for other in others]
    return fits


def _average(fits: Sequence[FamilyFit], without: Sequence[FamilyFit], evidence: Evidence, cells: Ints) -> LikelihoodFit:
    weights = evidence_weights(fits)
    matrix = np.tensordot(weights, [fit.noise_matrix for fit in fits], 1)
    shares = weights @ [fit.class_shares for fit in fits]
    sd = _spread(weights, fits)
    clean = float(weights @ [fit.name == "none" for fit in fits])
    disagree = float(weights @ [fit.starts_disagree for fit in fits])
    return LikelihoodFit(
        noise_matrix=matrix,
        class_shares=shares,
        noise_rate_sd=sd,
        log_likelihood=float(weights @ [fit.log_likelihood for fit in fits]),
        log_likelihood_without_noise=float(evidence_weights(without) @ [fit.log_likelihood for fit in without]),
        fits=tuple(fits),
        weights=weights,
        doubts=doubts_about(matrix, shares, sd, clean, disagree, float(evidence.bins.counts.sum())),
        evidence=evidence,
        cells=cells,
    )


def _spread(weights: Floats, fits: Sequence[FamilyFit]) -> float:
    """Standard deviation of the noise rate: variance within the fits plus variance between them."""
    rates = np.array([fit.noise_rate for fit in fits])
    within = np.array([fit.noise_rate_sd for fit in fits]) ** 2
    return float(np.sqrt(weights @ (within + (rates - weights @ rates) ** 2)))


def _possible_families(names: tuple[str, ...], evidence: Evidence) -> tuple[str, ...]:
    """Families that the data do not rule out: not "none" if a verified label was wrong or a rate is expected."""
    is_refuted = evidence.trusted is not None and evidence.trusted.refute_clean
    if not is_refuted and not (evidence.rate_prior is not None and evidence.rate_prior.rules_out_zero):
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


def _as_bins(table: Floats, labels: Ints, weights: Floats) -> tuple[BinnedScores, Ints]:
    n_samples, n_classes = table.shape
    n_bins = min(MOST_BINS, n_samples // FEWEST_IN_A_BIN)
    if n_bins < 2:
        raise complain("probabilities", f"have at least {2 * FEWEST_IN_A_BIN} rows", n_samples)
    if np.ptp(table @ np.arange(n_classes)) < 1e-9:
        raise complain("probabilities", "differ from row to row", "the same score everywhere")
    return binned_scores(table, labels, weights, n_bins)


def _as_families(family: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(family, str):
        named = as_choice("family", family, ("average", *FAMILY_NAMES))
        return AVERAGED_FAMILIES if named == "average" else (named,)
    if not isinstance(family, Iterable):
        advice = "a matrix of your own goes into noise= as it is; only these families are estimated"
        raise complain("family", f"be among {['average', *FAMILY_NAMES]}", f"a {type(family).__name__}", advice)
    if not family:
        raise complain("family", "name at least one family", "none")
    return tuple(as_choice("family", name, FAMILY_NAMES) for name in dict.fromkeys(family))
