"""The algebra of the audit: the true label given the recorded label and the features.

Arrays in, arrays out; arguments are checked by the callers in this package.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from ordinoise._validation import Floats, Ints
from ordinoise.decisions import combined
from ordinoise.labels import Verified
from ordinoise.noise.deconvolution import FLOOR

CALIBRATION_FLOOR, CALIBRATION_SPREAD = 1e-3, 0.7
"""Added to probabilities before the logarithm, as those far below are arbitrary; prior standard deviation of the
calibration weights. Chosen together on the three sets of `python -m studies.audit`."""
MOST_CALIBRATION_STEPS = 200  # of L-BFGS; a round number, chosen by no run
MOST_CALIBRATION_ROWS = 10_000  # drawn at random where there are more; a round number, chosen by no run


def posterior(probabilities: Floats, recorded: Ints, noise_matrix: Floats, verified: Verified | None = None) -> Floats:
    """Probability of each true class given the features and the recorded label, shape (n_samples, n_classes).

    Bayes' rule: ``P(j | x) noise_matrix[j, recorded]``, scaled to sum to one; of verified rows given the verdict too.
    """
    joint = (probabilities + FLOOR) * likelihood_of(recorded, noise_matrix, verified)
    return joint / joint.sum(axis=1, keepdims=True)


def credit_in_doubt(n_classes: int) -> Floats:
    """Weights that stand for a noise matrix where none is believed, ``[true, recorded]``.

    One on the diagonal and ``1 / sqrt(distance)`` off it: the record gets no more credit than its own chance and that
    of its neighbors, and near grades count more than far ones, since slips are mostly small. Chosen among ten
    rankings on draws 100 to 102 of the real sets of `studies.real`.
    """
    grades = np.arange(n_classes)
    return np.maximum(np.abs(grades[:, None] - grades), 1) ** -0.5


def likelihood_of(recorded: Ints, noise_matrix: Floats, verified: Verified | None = None) -> Floats:
    """Probability of each record under every true class, shape (n_samples, n_classes), up to a factor per sample.

    Of a verified row it is the probability of record and verdict together, or of the verdict alone if the noise rules
    out the record beside it.
    """
    likelihood = np.array(noise_matrix[:, recorded].T)
    if verified is not None:
        verdict = verified.likelihood
        both = verdict * likelihood[verified.rows]
        likelihood[verified.rows] = np.where(both.max(axis=1, keepdims=True) > 0, both, verdict)
    return likelihood


def calibrated(probabilities: Floats, likelihood: Floats) -> Floats:
    """Probabilities of the true label, calibrated by the likelihood of the recorded labels."""
    return recalibrated(probabilities, calibration_weights(probabilities, likelihood))


def calibration_weights(probabilities: Floats, likelihood: Floats) -> Floats:
    """The weights W of the calibration, shape (K + 1, K).

    A multinomial regression ``softmax([log P, 1] @ W)``, which maximizes ``sum_i log sum_k P_i(k) likelihood_ik`` under
    a normal prior about the identity, the W that changes nothing. It corrects over- and underconfident classifiers and
    class frequencies. With only K (K + 1) weights the calibration learns next to nothing about any one sample, so it
    may be fitted to the labels that are then judged, and at most `MOST_CALIBRATION_ROWS` of them are enough.
    """
    if len(likelihood) > MOST_CALIBRATION_ROWS:
        some = np.random.default_rng(0).choice(len(likelihood), MOST_CALIBRATION_ROWS, replace=False)
        probabilities, likelihood = probabilities[some], likelihood[some]
    n_samples, n_classes = likelihood.shape
    inputs = np.column_stack([np.log(probabilities + CALIBRATION_FLOOR), np.ones(n_samples)])
    unchanged = np.eye(n_classes + 1, n_classes)

    def loss_and_slope(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(unchanged.shape)
        true = softmax(inputs @ weights, axis=1)
        joint = (true + FLOOR) * likelihood
        total = joint.sum(axis=1, keepdims=True)
        # The slope of -log sum_k true_k likelihood_k in the logits is true - posterior, up to FLOOR.
        pull = (weights - unchanged) / CALIBRATION_SPREAD**2
        loss = -np.log(total).sum() + 0.5 * (pull * (weights - unchanged)).sum()
        return float(loss), (inputs.T @ (true - joint / total) + pull).ravel()

    fitted = minimize(
        loss_and_slope, unchanged.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": MOST_CALIBRATION_STEPS}
    )
    return np.asarray(fitted.x.reshape(unchanged.shape))


def recalibrated(probabilities: Floats, weights: Floats) -> Floats:
    """Probabilities of the true label after a calibration: ``softmax([log P, 1] @ W)``."""
    logits = combined(np.log(probabilities + CALIBRATION_FLOOR), weights[:-1]) + weights[-1]
    return np.asarray(softmax(logits, axis=1))
