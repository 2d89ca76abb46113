"""From probabilities of the recorded label to those of the true one."""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats

FLOOR = 1e-9
"""Added to every probability: a class of predicted probability 0 may still be the true one."""


def deconvolved(
    probabilities: Floats, noise_matrix: Floats, *, n_iter: int = 30, start: Floats | None = None
) -> Floats:
    """Probabilities of the true label, from those of the recorded label.

    Solves ``recorded = true @ N`` for each sample by expectation-maximization from `start`,

        true_k <- true_k sum_r N[k, r] recorded_r / (true @ N)_r,

    which keeps probabilities non-negative and their sum at one, unlike the inverse of N. It raises
    ``sum_r recorded_r log (true @ N)_r`` in every step. Stopping early keeps the result near the start, which limits
    how far errors in the probabilities are amplified.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of the recorded label.
    noise_matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    n_iter : int, default=30
        Number of steps; the result is exact in the limit.
    start : array of shape (n_classes,) or (n_samples, n_classes), optional
        First guess; by default the deconvolved average of all samples.
    """
    if start is None:
        average = probabilities.mean(axis=0, keepdims=True)
        start = deconvolved(average, noise_matrix, n_iter=300, start=np.full(len(noise_matrix), 1 / len(noise_matrix)))
    true = np.broadcast_to(start, probabilities.shape) + FLOOR
    for _ in range(n_iter):
        explained = np.maximum(true @ noise_matrix, FLOOR**2)
        true = true * ((probabilities / explained) @ noise_matrix.T)
    return true / true.sum(axis=1, keepdims=True)
