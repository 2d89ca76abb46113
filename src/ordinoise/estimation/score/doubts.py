"""Reasons not to believe an estimated noise matrix, in words: what features alone cannot tell is said, not hidden."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ordinoise._validation import Floats

FEW_SAMPLES = 500
FLAT_SD = 0.06
"""Standard deviation of the noise rate above which the likelihood counts as flat."""
ADJACENT_SD, FAR_SHARE = 0.02, 0.1
"""Noise between neighbours is doubted unless its rate is known this well all the same."""
UNDECIDED = 0.05


def doubts_about(
    noise_matrix: Floats,
    class_prior: Floats,
    noise_rate_sd: float,
    weights: Mapping[str, float],
    disagreeing: Mapping[str, bool],
    n_samples: float,
) -> tuple[str, ...]:
    """One sentence a reason, none where the noise is identifiable."""
    clean = weights.get("none", 0.0)
    reasons = {
        f"only {n_samples:.0f} samples: below {FEW_SAMPLES} the estimate leans on its priors": n_samples < FEW_SAMPLES,
        f"the likelihood is nearly flat: the noise rate is known to a standard deviation of {noise_rate_sd:.2f} only":
            noise_rate_sd > FLAT_SD,
        "two starts end at different noise rates with nearly the same likelihood":
            any(weights[name] > UNDECIDED for name, differs in disagreeing.items() if differs),
        "nearly all noise is between neighbours, which looks just like classes that overlap":
            noise_rate_sd > ADJACENT_SD and _is_adjacent(noise_matrix, class_prior),
        f"the labels may also be free of noise (probability {clean:.2f})": UNDECIDED < clean < 1 - UNDECIDED,
    }  # fmt: skip
    return tuple(reason for reason, holds in reasons.items() if holds)


def _is_adjacent(noise_matrix: Floats, class_prior: Floats) -> bool:
    """Whether slips of two grades and more are a small part of noise that is there."""
    grades = np.arange(len(noise_matrix))
    distance = np.abs(grades[:, None] - grades)
    joint = class_prior[:, None] * noise_matrix
    wrong, far = joint[distance > 0].sum(), joint[distance > 1].sum()
    return bool(len(noise_matrix) > 2 and wrong > 0.01 and far < FAR_SHARE * wrong)
