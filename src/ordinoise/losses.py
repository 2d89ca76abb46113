"""The losses that the learners minimize, one value per sample, in plain numpy.

Each takes logits of shape (n_samples, n_classes - 1) and one table row per sample. Plain and corrected levels go
through the same function: the correction is in the numbers.
"""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.levels import log_class_probabilities

__all__ = ["cross_entropy", "forward", "hinge"]


def cross_entropy(logits: Floats, levels: Floats) -> Floats:
    """Loss of each sample: binary cross-entropy summed over thresholds (the paper's l_CE)."""
    return (np.logaddexp(0.0, logits) - levels * logits).sum(axis=-1)


def hinge(logits: Floats, levels: Floats) -> Floats:
    """Loss of each sample: hinge summed over thresholds (the paper's l_IMC)."""
    above, below = np.maximum(1 - logits, 0), np.maximum(1 + logits, 0)
    return (levels * above + (1 - levels) * below).sum(axis=-1)


def forward(logits: Floats, noisy_labels: Ints, noise_matrix: Floats) -> Floats:
    """Loss of each sample: minus the log-likelihood of the recorded label, ``-log sum_k N[k, recorded] P(k)``."""
    with np.errstate(divide="ignore"):
        log_noise = np.log(noise_matrix.T)[noisy_labels]
    return -np.logaddexp.reduce(log_noise + log_class_probabilities(logits), axis=1)
