"""Reasons not to believe a noise matrix estimated from features alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ordinoise._validation import Floats
from ordinoise.noise import Doubt

# These limits were chosen on development seeds of the sets in docs/knowing-the-noise.md; no run is kept.
FEW_SAMPLES = 500
FLAT_SD = 0.06
"""Standard deviation of the noise rate above which the likelihood counts as flat."""
ADJACENT_SD, FAR_SHARE = 0.02, 0.1
"""Noise of which less than `FAR_SHARE` goes beyond a neighbour is doubted, unless its rate is known this well."""
UNDECIDED = 0.05
"""Weight above which a family, or the absence of noise, is a serious possibility."""


def doubts_about(
    noise_matrix: Floats,
    class_shares: Floats,
    noise_rate_sd: float,
    weights: Mapping[str, float],
    disagreeing: Mapping[str, bool],
    n_samples: float,
) -> tuple[Doubt, ...]:
    """One doubt per reason; empty if there is no sign that the noise is unidentifiable."""
    clean = weights.get("none", 0.0)
    adjacent = noise_rate_sd > ADJACENT_SD and _is_adjacent(noise_matrix, class_shares)
    disagree = any(weights[name] > UNDECIDED for name, differs in disagreeing.items() if differs)
    reasons = [
        (n_samples < FEW_SAMPLES, "few-samples",
         f"only {n_samples:.0f} samples: below {FEW_SAMPLES} the estimate leans on its priors"),
        (noise_rate_sd > FLAT_SD, "flat-likelihood",
         f"the likelihood is nearly flat: the noise rate is known to a standard deviation of {noise_rate_sd:.2f} only"),
        (disagree, "starts-disagree", "two starts end at different noise rates with nearly the same likelihood"),
        (adjacent, "only-neighbors",
         "nearly all noise is between neighbours, which looks just like classes that overlap"),
        (UNDECIDED < clean < 1 - UNDECIDED, "maybe-clean",
         f"the labels may also be free of noise (probability {clean:.2f})"),
    ]  # fmt: skip
    return tuple(Doubt(code, sentence) for holds, code, sentence in reasons if holds)


def _is_adjacent(noise_matrix: Floats, class_shares: Floats) -> bool:
    """Whether slips of two grades or more are a small part of the noise, of which there must be some (1 %)."""
    grades = np.arange(len(noise_matrix))
    distance = np.abs(grades[:, None] - grades)
    joint = class_shares[:, None] * noise_matrix
    wrong, far = joint[distance > 0].sum(), joint[distance > 1].sum()
    return bool(len(noise_matrix) > 2 and wrong > 0.01 and far < FAR_SHARE * wrong)
