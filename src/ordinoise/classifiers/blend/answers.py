"""What is made of an estimated noise: corrected, cautious or trusting, by the evidence of held-out records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.mixture import FLOOR, Blend
from ordinoise.decisions import as_decision, decide
from ordinoise.noise import Noise

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
ENOUGH_VERIFIED = 20
"""Verified rows from which on the estimate is believed whatever else is in doubt. A round number, chosen by no run."""
BY_VERIFIED = "verified labels are among the rows"

CHEAPER, LIKELIER = 1.0, 2.0
"""Standard errors by which held-out decisions must be cheaper, or held-out records likelier, than by the class shares
alone. On 105 rows of eight sets, seeds 100 to 105, four pairs of these limits changed a mean error by more than .002
only where the columns say nothing: there the error fell from .672 to .667, that of the class shares."""
NOTHING_LEARNED = "the columns do not predict the grade better than the class shares, which are the prediction"


def may_correct(noise: Noise) -> bool:
    """Whether the correction is worth a second pass: there is noise, of a kind that a grader can make."""
    slips = 1 - noise.matrix.diagonal().min()
    return noise.source == "estimated" and slips >= NEGLIGIBLE and "moved-grade" not in noise.doubt_codes


def gain_of(trusting: Blend, corrected: Blend, noise: Noise, data: Recorded) -> float:
    """Standard errors by which the held-out records are more likely under the correction than under trust."""
    rows = np.arange(len(data.ranks))
    under = (corrected.out_of_fold @ noise.matrix)[rows, data.ranks]
    return gain_in_likelihood(trusting.out_of_fold[rows, data.ranks], under, data.weights, data.groups)


def gain_in_likelihood(
    before: Floats, after: Floats, weights: Floats | None = None, groups: Ints | None = None
) -> float:
    """Standard errors by which held-out records are more likely, from their probabilities before and after."""
    return _standard_errors(_logs(after) - _logs(before), np.ones(len(before)) if weights is None else weights, groups)


def has_learned(trusting: Blend, data: Recorded, decision: Any) -> bool:
    """Whether the held-out rows are decided more cheaply, or are likelier, than by the class shares alone."""
    rows, n_classes = np.arange(len(data.ranks)), data.n_classes
    shares = np.bincount(data.ranks, data.weights, minlength=n_classes) / data.weights.sum()
    likelier = _logs(trusting.out_of_fold[rows, data.ranks]) - _logs(shares[data.ranks])
    costs = _costs(decision, n_classes)[data.ranks]
    cheaper = costs[:, decide(shares[None], decision)[0]] - costs[rows, decide(trusting.out_of_fold, decision)]
    return (
        _standard_errors(cheaper, data.weights, data.groups) >= CHEAPER
        or _standard_errors(likelier, data.weights, data.groups) >= LIKELIER
    )


def _costs(decision: Any, n_classes: int) -> Floats:
    """What each decision costs, ``[recorded, decided]``: the cost that the rule of this name minimizes."""
    rule = as_decision(decision, n_classes)
    if isinstance(rule, np.ndarray):
        return rule
    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))).astype(np.float64)
    return {"median": distance, "mode": np.minimum(distance, 1), "mean": distance**2}[rule]


def _logs(probabilities: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(probabilities, FLOOR)))


def _standard_errors(gains: Floats, weights: Floats, groups: Ints | None) -> float:
    """The weighted mean in units of its standard error."""
    shares = weights / weights.sum()
    mean = float(shares @ gains)
    surplus = shares * (gains - mean)
    if groups is not None:  # rows of one group are not independent
        surplus = np.asarray(np.bincount(groups, surplus), dtype=np.float64)
    return mean / max(float(np.sqrt(surplus @ surplus)), FLOOR)


def chosen_answer(wanted: str, noise: Noise, gain: float | None, *, verified: bool) -> tuple[str, str]:
    """The answer and its reason in words. `gain` is None if no correction was fitted, `verified` if enough rows are."""
    if noise.source == "too few rows":
        return "trusting", noise.doubt_text
    if wanted != "auto":
        return wanted, "asked for"
    if verified:
        return "corrected", BY_VERIFIED
    if "moved-grade" in noise.doubt_codes:
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


def answered(wanted: str, noise: Noise, gain: float | None, *, verified: bool = False) -> Noise:
    """The same with its answer, as `chosen_answer` has it."""
    answer, reason = chosen_answer(wanted, noise, gain, verified=verified)
    return replace(noise, answer=answer, reason=reason)


NO_NAMES = "without the names of raters none can be weighed, so the vote on each item is learned"


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


def with_first_answer(noise: Noise, *, verified: bool = False) -> Noise:
    """The same with the answer before any correction was fitted: what doubts, or enough verified rows, alone say."""
    if verified or not may_correct(noise):
        return answered("auto", noise, None, verified=verified)
    if noise.is_in_doubt:
        answer, reason = "cautious", f"the estimate is in doubt: {noise.doubt_text}"
    else:
        answer, reason = "corrected", "nothing speaks against the estimate; a fit also asks the held-out labels"
    return replace(noise, answer=answer, reason=reason)
