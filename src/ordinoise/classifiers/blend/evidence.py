"""What is made of an estimated noise: corrected, cautious or trusting, by the evidence of held-out records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.decisions import combined, costs_of, decide
from ordinoise.noise import Noise

Models = TypeVar("Models")

FLOOR = 1e-12  # a record of predicted probability 0 then costs 28 in log-likelihood instead of infinity

NEGLIGIBLE = 1e-3
"""Below this noise rate in every class there is nothing to correct: one row in a thousand, by no run."""
LEAST_GAIN = 2.0
"""Standard errors by which held-out records must be more likely under the correction. Chosen on seeds 100 and 101 of
the settings of `studies.harm` and on four real sets of one rating per item: 1 and 1.5 gave the same choices at 2000
rows, and 0 did harm on LIDC."""
LEAST_GAIN_OF_FEW, IMPRECISE = 0.0, {"few-samples", "flat-likelihood"}
"""With few rows two standard errors are out of reach of any noise, and doubts that only speak of few rows always hold.
So the gain must be positive there, and no other doubt may be raised. At 200 rows of the settings of `studies.harm`,
seeds 100 to 102, this keeps 97 % of the gain of always correcting and is at worst .001 behind trusting; limits of .5
to 1 keep 88 %, 2 keeps 77 %; with a flat likelihood as a serious doubt 85 % are kept."""
REFUTING = {"moved-grade", "verified-disagree"}
"""Doubts that speak against the estimate itself: it is never corrected for."""
BY_VERIFIED = "verified labels are among the rows"

CHEAPER, LIKELIER = 1.0, 2.0
"""Standard errors by which held-out decisions must be cheaper, or held-out records likelier, than by the class shares
alone. On 105 rows of eight sets, seeds 100 to 105, four pairs of these limits changed a mean error by more than .002
only where the columns say nothing: there the error fell from .672 to .667, that of the class shares."""
NOTHING_LEARNED = "the columns do not predict the grade better than the class shares, which are the prediction"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What held-out rows gain by other predictions: sums over groups of rows, which add up over parts of a table.

    Attributes
    ----------
    sizes : array of shape (n_groups,)
        Weight of the rows of each group; rows of different groups are independent.
    likelier : array of shape (n_groups,)
        Sums of the gains in the log-likelihood of the records.
    cheaper : array of shape (n_groups,) or None
        Sums of what decisions cost less.
    """

    sizes: Floats
    likelier: Floats
    cheaper: Floats | None = None

    @classmethod
    def of(
        cls, likelier: Floats, cheaper: Floats | None = None, *, weights: Floats | None = None,
        groups: Ints | None = None, n_groups: int = 0,
    ) -> Self:  # fmt: skip
        """The sums of the gains of rows; without `groups` every row is one."""
        rows = np.ones(len(likelier)) if weights is None else weights

        def summed(gains: Floats) -> Floats:
            return gains if groups is None else np.asarray(np.bincount(groups, gains, n_groups), dtype=np.float64)

        return cls(summed(rows), summed(rows * likelier), None if cheaper is None else summed(rows * cheaper))

    def __add__(self, other: Evidence) -> Evidence:
        cheaper = None if self.cheaper is None or other.cheaper is None else self.cheaper + other.cheaper
        return Evidence(self.sizes + other.sizes, self.likelier + other.likelier, cheaper)

    @property
    def gain(self) -> float:
        """Standard errors by which the records are more likely."""
        return self._standard_errors(self.likelier)

    @property
    def has_learned(self) -> bool:
        """Whether rows are decided more cheaply, or records are likelier, than by what they are compared with."""
        is_cheaper = self.cheaper is not None and self._standard_errors(self.cheaper) >= CHEAPER
        return is_cheaper or self.gain >= LIKELIER

    def _standard_errors(self, sums: Floats) -> float:
        """The mean gain in units of its standard error."""
        total = self.sizes.sum()
        mean = float(sums.sum() / total)
        surplus = (sums - mean * self.sizes) / total
        return mean / max(float(np.sqrt(surplus @ surplus)), FLOOR)


def logs(probabilities: Floats) -> Floats:
    """Logarithms that are finite."""
    return np.asarray(np.log(np.maximum(probabilities, FLOOR)))


def gains_over_shares(probabilities: Floats, ranks: Ints, shares: Floats, decision: Any) -> tuple[Floats, Floats]:
    """How much likelier each record is, and how much cheaper its decision, than by the shares of the classes alone."""
    rows = np.arange(len(ranks))
    costs = costs_of(decision, len(shares))[ranks]
    cheaper = costs[:, decide(shares[None], decision)[0]] - costs[rows, decide(probabilities, decision)]
    return logs(probabilities[rows, ranks]) - logs(shares[ranks]), cheaper


def gains_of_correction(trusting: Floats, corrected: Floats, noise_matrix: Floats, ranks: Ints) -> Floats:
    """How much likelier each record is under the correction than if records are trusted."""
    rows = np.arange(len(ranks))
    return logs(combined(corrected, noise_matrix)[rows, ranks]) - logs(trusting[rows, ranks])


@dataclass(frozen=True, eq=False)
class Trusting(Generic[Models]):
    """The first pass: models that trust the records, the noise estimated from them, and what they gain over shares."""

    models: Models
    estimate: Noise
    evidence: Evidence


def course(
    asked: str, trusting: Trusting[Models], correct: Callable[[Noise], tuple[Models, Evidence]]
) -> tuple[Noise, Models | None]:
    """The noise with its answer, and the models that it calls for; None for the class shares.

    Everybody who estimates the noise takes this course: in memory, in parts, and from given probabilities.

    Parameters
    ----------
    asked : {"auto", "corrected", "cautious", "trusting"}
    trusting : Trusting
    correct : callable
        Makes the corrected models, and what they gain over the trusting ones; called if it matters.
    """
    estimate, gain, corrected = trusting.estimate, None, None
    if asked == "auto" and not trusting.evidence.has_learned:
        return replace(estimate, answer="trusting", reason=NOTHING_LEARNED), None
    if asked != "trusting" and (asked != "auto" or may_correct(estimate)):
        corrected, evidence = correct(estimate)
        gain = evidence.gain
    noise = answered(asked, estimate, gain)
    return noise, trusting.models if corrected is None or noise.answer == "trusting" else corrected


def may_correct(noise: Noise) -> bool:
    """Whether the correction is worth a second pass: there is noise, of a kind that a grader can make."""
    slips = 1 - noise.matrix.diagonal().min()
    return noise.source == "estimated" and slips >= NEGLIGIBLE and REFUTING.isdisjoint(noise.doubt_codes)


def chosen_answer(wanted: str, noise: Noise, gain: float | None) -> tuple[str, str]:
    """The answer and its reason in words; `gain` is None if no correction was fitted."""
    if noise.source == "too few rows":
        return "trusting", noise.doubt_text
    if wanted != "auto":
        return wanted, "asked for"
    if not REFUTING.isdisjoint(noise.doubt_codes):
        return "trusting", noise.doubt_text
    if gain is None:
        return "trusting", "no slips were found beyond what overlapping grades explain"
    seen = f"held-out labels are {'better' if gain > 0 else 'worse'} explained with the correction (z = {gain:.1f})"
    if "few-samples" in noise.doubt_codes and IMPRECISE.issuperset(noise.doubt_codes) and gain >= LEAST_GAIN_OF_FEW:
        return "corrected", f"{seen}, and only the number of rows speaks against the estimate"
    if gain < LEAST_GAIN:
        return "trusting", f"{seen}, which is not enough" if gain > 0 else seen
    if noise.is_in_doubt:
        return "cautious", f"{seen}, but the estimate is in doubt: {noise.doubt_text}"
    return "corrected", f"{seen}, and nothing speaks against the estimate"


def answered(wanted: str, noise: Noise, gain: float | None) -> Noise:
    """The noise with its answer, as `chosen_answer` has it."""
    answer, reason = chosen_answer(wanted, noise, gain)
    return replace(noise, answer=answer, reason=reason)


NO_NAMES = "without the names of raters none can be weighed, so the vote on each item is learned"


def as_answered(probabilities: Floats, noise: Noise) -> Floats:
    """What a model predicts, as the answer has it: a cautious one is of the recorded label."""
    return combined(probabilities, noise.matrix) if noise.answer == "cautious" else probabilities


def rated_answer(noise: Noise, gain: float | None, *, verified: bool) -> tuple[str, str]:
    """The answer for several ratings per item, and its reason in words; `gain` is None without names of raters.

    `verified` is true if labels are verified or the noise is known.
    """
    if verified:
        return "corrected", BY_VERIFIED if noise.is_estimated else ""
    if gain is None:
        return "trusting", NO_NAMES
    seen = f"held-out ratings are {'better' if gain > 0 else 'worse'} explained if all ratings of an item are learned "
    seen += f"together, each rater weighed (z = {gain:.1f})"
    if gain <= 0:
        return "trusting", f"{seen}, so the vote on each item is learned"
    if "few-triples" in noise.doubt_codes:
        return "cautious", f"{seen}, but the estimate is in doubt: {noise.doubt_text}"
    return "corrected", seen


def with_first_answer(noise: Noise) -> Noise:
    """The noise with the answer before any correction was fitted: what doubts alone say."""
    if not may_correct(noise):
        return answered("auto", noise, None)
    if noise.is_in_doubt:
        answer, reason = "cautious", f"the estimate is in doubt: {noise.doubt_text}"
    else:
        answer, reason = "corrected", "nothing speaks against the estimate; a fit also asks the held-out labels"
    return replace(noise, answer=answer, reason=reason)
