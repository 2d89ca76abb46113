"""Reasons not to believe a noise matrix estimated from features alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from ordinoise._validation import Floats, Ints
from ordinoise.clusters import effect_on_mean, in_errors
from ordinoise.decisions import decide
from ordinoise.estimation.score.specification import MOST_ROWS, predictable_surprise
from ordinoise.noise import Doubt

if TYPE_CHECKING:
    from ordinoise.estimation.score.likelihood import LikelihoodFit

# These limits were chosen on development seeds of the sets in docs/knowing-the-noise.md; no run is kept.
FEW_SAMPLES = 500
FLAT_SD = 0.09
"""Standard deviation of the noise rate above which the likelihood counts as flat. It was .06 with one link; under its
own model the links of seeds 100 and 101 of `studies.harm` raised the largest from .06 to .07."""
ADJACENT_SD, FAR_SHARE = 0.02, 0.1
"""Noise of which less than `FAR_SHARE` goes beyond a neighbor is doubted, unless its rate is known this well."""
UNDECIDED = 0.05
"""Weight above which a family, or the absence of noise, is a serious possibility."""
PREDICTED, NOTABLE = 3.0, 0.04
"""t value of predicted surprises above which the fit is doubted, and their correlation with the surprises, t over the
root of the rows. Three standard errors are a convention. On seeds 100 and 101 of settings like those of `studies.harm`
the values lay between -3.3 and 2.1 where the model of the fit holds, and between 2.2 and 10.4 where rows differ in
overlap or noise. With many rows no model of one score holds so exactly: at 16,000 rows correlations of .02 to .035 had
t values of 3 to 4.5, and the correction gained .012 to .035 (decision 0016)."""
NO_BETTER = 2.0
"""Standard errors that held-out predictions must gain over the class shares alone. A convention."""
LITTLE = 0.1
"""Share of the error of always predicting the middle grade that held-out predictions must save: where they save less,
whatever the columns do not show looks like noise. On seeds 100 to 102 of `studies.harm`, 200 rows, they saved .05 where
the score cannot follow the grades (checkerboard), and .28 or more elsewhere, noisy labels included."""
MAY_BE_OVERLAP = {"moved-grade", "only-neighbors", "predicted-surprise", "no-signal", "weak-columns"}
"""Doubts under which all of the noise found may be overlap: the rate may be zero."""


def doubts_about(
    noise_matrix: Floats,
    class_shares: Floats,
    noise_rate_sd: float,
    clean: float,
    disagree: float,
    n_samples: float,
) -> tuple[Doubt, ...]:
    """One doubt per reason; empty if there is no sign that the noise is unidentifiable.

    `clean` and `disagree` are the posterior probabilities of no noise, and of fits whose starts disagree.
    """
    adjacent = noise_rate_sd > ADJACENT_SD and _is_adjacent(noise_matrix, class_shares)
    moved = np.flatnonzero(noise_matrix.argmax(axis=1) != np.arange(len(noise_matrix)))
    reasons = [
        (len(moved) > 0, "moved-grade",
         f"{len(moved)} of {len(noise_matrix)} grades would be recorded as another one more often than as themselves, "
         "which no grader does"),
        (n_samples < FEW_SAMPLES, "few-samples",
         f"only {n_samples:.0f} samples: below {FEW_SAMPLES} the estimate leans on its priors"),
        (noise_rate_sd > FLAT_SD, "flat-likelihood",
         f"the likelihood is nearly flat: the noise rate is known to a standard deviation of {noise_rate_sd:.2f} only"),
        (disagree > UNDECIDED, "starts-disagree",
         "two starts end at different noise rates with nearly the same likelihood"),
        (adjacent, "only-neighbors",
         "nearly all noise is between neighbors, which looks just like classes that overlap"),
        (UNDECIDED < clean < 1 - UNDECIDED, "maybe-clean",
         f"the labels may also be free of noise (probability {clean:.2f})"),
    ]  # fmt: skip
    return tuple(Doubt(code, sentence) for holds, code, sentence in reasons if holds)


def doubts_about_columns(
    features: Any, fit: LikelihoodFit, probabilities: Floats, ranks: Ints, seed: int, groups: Ints | None = None
) -> list[Doubt]:
    """What the columns have to say against the fit: nothing at all, or where it is surprised."""
    gained = max(gain_over_shares(probabilities, ranks, groups), order_found(probabilities, ranks, groups))
    if gained < NO_BETTER:
        sentence = f"the columns say next to nothing about the label (z = {gained:.1f} over the class shares alone)"
        return [Doubt("no-signal", sentence)]
    weak, saved = [], saved_error(probabilities, ranks)
    if saved < LITTLE:
        sentence = f"the columns explain little (predictions save {max(saved, 0):.0%} of the middle grade's error), "
        weak = [Doubt("weak-columns", sentence + "so that whatever they do not show looks like noise")]
    if fit.family_weights.get("none", 0.0) > 1 - UNDECIDED or not _are_numbers(features):
        return weak
    value = predictable_surprise(features, fit.recorded[fit.cells], ranks, seed, groups)
    if value < max(PREDICTED, NOTABLE * np.sqrt(min(len(ranks), MOST_ROWS))):
        return weak
    sentence = f"the columns predict where the fit is surprised (t = {value:.1f}): noise or overlap depends on the row"
    return [*weak, Doubt("predicted-surprise", sentence)]


def saved_error(probabilities: Floats, ranks: Ints) -> float:
    """Share of the absolute error of always predicting the middle grade that the median predictions save."""
    middle = np.abs(np.sort(ranks)[(len(ranks) - 1) // 2] - ranks).sum()
    return float(1 - np.abs(decide(probabilities, "median") - ranks).sum() / middle) if middle else 0.0


def gain_over_shares(probabilities: Floats, ranks: Ints, groups: Ints | None = None) -> float:
    """Standard errors by which held-out records are more likely than by the class shares alone."""
    shares = np.bincount(ranks, minlength=probabilities.shape[1]) / len(ranks)
    found = np.maximum(probabilities[np.arange(len(ranks)), ranks], 1e-12)
    more = np.log(found) - np.log(shares[ranks])
    return in_errors(more, groups)


def order_found(probabilities: Floats, ranks: Ints, groups: Ints | None = None) -> float:
    """Rank correlation of expected and recorded labels, in standard errors: high also for a learner that is too sure of
    itself, whose records are less likely than by the class shares.
    """
    expected, recorded = (rankdata(values) for values in (probabilities @ np.arange(probabilities.shape[1]), ranks))
    expected, recorded = expected - expected.mean(), recorded - recorded.mean()
    spread = expected.std() * recorded.std()
    product = expected * recorded
    correlation = product.mean() / spread if spread > 0 else 0.0
    return float(correlation * np.sqrt((len(ranks) - 1) / effect_on_mean(product, groups)))


def _are_numbers(features: Any) -> bool:
    is_table = isinstance(features, np.ndarray) and features.ndim == 2 and features.dtype.kind in "fiub"
    return is_table or callable(features)


def _is_adjacent(noise_matrix: Floats, class_shares: Floats) -> bool:
    """Whether slips of two grades or more are a small part of the noise, of which there must be some (1 %)."""
    grades = np.arange(len(noise_matrix))
    distance = np.abs(grades[:, None] - grades)
    joint = class_shares[:, None] * noise_matrix
    wrong, far = joint[distance > 0].sum(), joint[distance > 1].sum()
    return bool(len(noise_matrix) > 2 and wrong > 0.01 and far < FAR_SHARE * wrong)
