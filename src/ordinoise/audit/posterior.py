"""The algebra of the audit: what a recorded label and the features together say about the true one.

Arrays in, arrays out; arguments are checked by the callers in this package.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from ordinoise._validation import Floats, Ints

# A class that the model thought impossible may still be the true one: without a floor no noise could revive it.
FLOOR = 1e-9
# Far below this a classifier's probabilities are noise, and their logarithms would rule the calibration.
CALIBRATION_FLOOR = 1e-3
# How far calibration weights stray from "leave as it is", a priori.
CALIBRATION_SPREAD = 0.7


def posterior(probabilities: Floats, recorded: Ints, noise_matrix: Floats) -> Floats:
    """Probability of each true class given the features and the recorded label, shape (n_samples, n_classes).

    Bayes' rule: ``P(j | x) noise_matrix[j, recorded]``, scaled to sum to one.
    """
    joint = (probabilities + FLOOR) * noise_matrix[:, recorded].T
    return joint / joint.sum(axis=1, keepdims=True)


def deconvolved(
    probabilities: Floats, noise_matrix: Floats, *, n_iter: int = 30, start: Floats | None = None
) -> Floats:
    """Probabilities of the true label, from those of the recorded label.

    Solves ``recorded = true @ noise_matrix`` for each sample without leaving the probabilities, as an inverse would:
    expectation-maximisation from `start`. Stopping early keeps the answer near the start, which tames what errors in
    the probabilities would be blown up to.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of the recorded label.
    noise_matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    n_iter : int, default=30
        Steps; the answer is exact in the limit.
    start : array of shape (n_classes,) or (n_samples, n_classes), optional
        First guess; by default the same deconvolution of the average sample, for all.
    """
    if start is None:
        average = probabilities.mean(axis=0, keepdims=True)
        start = deconvolved(average, noise_matrix, n_iter=300, start=np.full(len(noise_matrix), 1 / len(noise_matrix)))
    true = np.broadcast_to(start, probabilities.shape) + FLOOR
    for _ in range(n_iter):
        explained = np.maximum(true @ noise_matrix, FLOOR**2)
        true = true * ((probabilities / explained) @ noise_matrix.T)
    return true / true.sum(axis=1, keepdims=True)


def calibrated(probabilities: Floats, recorded: Ints, noise_matrix: Floats) -> Floats:
    """Probabilities of the true label, corrected so that they explain the recorded labels best.

    A multinomial regression on their logarithms that starts from "leave as it is" and is held near it by a normal
    prior, fitted by the forward likelihood of the recorded labels. It mends classifiers that are too sure or too
    unsure, and class frequencies that the average probability misses. With K (K + 1) numbers to fit it learns
    next to nothing about any one sample.
    """
    n_classes = len(noise_matrix)
    inputs = np.column_stack([np.log(probabilities + CALIBRATION_FLOOR), np.ones(len(recorded))])
    unchanged = np.eye(n_classes + 1, n_classes)
    likelihood = noise_matrix[:, recorded].T

    def loss_and_slope(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(unchanged.shape)
        true = _softmax(inputs @ weights)
        joint = (true + FLOOR) * likelihood
        total = joint.sum(axis=1, keepdims=True)
        pull = (weights - unchanged) / CALIBRATION_SPREAD**2
        loss = -np.log(total).sum() + 0.5 * (pull * (weights - unchanged)).sum()
        return float(loss), (inputs.T @ (true - joint / total) + pull).ravel()

    fitted = minimize(loss_and_slope, unchanged.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return _softmax(inputs @ fitted.x.reshape(unchanged.shape))


def _softmax(logits: Floats) -> Floats:
    likelihood = np.exp(logits - logits.max(axis=1, keepdims=True))
    return likelihood / likelihood.sum(axis=1, keepdims=True)
