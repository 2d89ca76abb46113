"""Calibration of predicted probabilities by recorded labels that the model has not seen.

Every logit of P(y > j) is multiplied by one factor and moved by one shift. The factor is positive, so the thresholds
stay ordered and no probability becomes negative. Both maximize the forward likelihood: the probability of the recorded
labels, which is that of the true labels times the noise matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import (
    Floats,
    as_floats,
    as_probabilities,
    as_same_length,
    as_weights,
)
from ordinoise._warning import renamed
from ordinoise.levels import class_probabilities, exceedance
from ordinoise.noise import Noise
from ordinoise.scoring._ranks import Labels, ranks_among

__all__ = ["Scaling", "fit_scaling"]

FLOOR = 1e-9  # keeps logits finite
SPREAD = 0.7
"""Prior standard deviation of the logarithm of the factor, and of the shift. Chosen by no run."""


@dataclass(frozen=True)
class Scaling:
    """A factor and a shift of the logits of P(y > j); call it with probabilities to calibrate them.

    Attributes
    ----------
    sharpness : float
        Factor: above 1 if the probabilities were underconfident, below 1 if overconfident.
    shift : float
        Above 0 if the predicted grades were too low.
    """

    sharpness: float
    shift: float

    def __call__(self, probabilities: ArrayLike) -> Floats:
        """The scaled probabilities, shape (n_samples, n_classes)."""
        columns = as_floats("probabilities", probabilities, 2).shape[1]
        logits = _exceedance_logits(as_probabilities("probabilities", probabilities, columns))
        return class_probabilities(self.sharpness * logits + self.shift)


@renamed(noise_matrix="noise")
def fit_scaling(
    probabilities: ArrayLike,
    recorded: ArrayLike,
    noise: Any,
    *,
    classes: Labels = None,
    sample_weight: ArrayLike | None = None,
) -> Scaling:
    """The scaling under which probabilities of the true label explain the recorded labels best.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of each true grade, lowest first, made without looking at `recorded`.
    recorded : column of shape (n_samples,)
        Labels as recorded.
    noise : None, array, mapping, Noise, or fitted estimator or classifier
        Noise of the labels; it needs no inverse. For several raters the average matrix is used.
    classes : sequence, optional
        The grades from lowest to highest; by default labels are ranks 0..n_classes-1.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples.

    Examples
    --------
    >>> from ordinoise.noise import corrupt, inverse_decay
    >>> rng = np.random.default_rng(0)
    >>> exact = rng.dirichlet([1.0, 1.0, 1.0], 2000)
    >>> labels = [rng.choice(3, p=row) for row in exact]
    >>> noise, timid = inverse_decay(3, 0.15), np.sqrt(exact) / np.sqrt(exact).sum(axis=1, keepdims=True)
    >>> bool(fit_scaling(timid, corrupt(labels, noise, rng), noise).sharpness > 1.3)
    True
    """
    from scipy.optimize import minimize

    table = as_probabilities("probabilities", probabilities, classes=classes)
    matrix, logits = Noise.of(noise, table.shape[1]).average.believed.matrix, _exceedance_logits(table)
    labels = ranks_among("recorded", recorded, classes, len(matrix))
    as_same_length("recorded", len(labels), "probabilities", len(logits))
    rows, likelihood = as_weights(sample_weight, len(labels)) * len(labels), matrix[:, labels].T
    gains = np.diff(likelihood, axis=1)

    def loss_and_slope(free: Floats) -> tuple[float, Floats]:
        stretched = np.exp(free[0]) * logits
        above = exceedance(stretched + free[1])
        # sum_k P(k) N[k, r], summed by parts: N[0, r] + sum_j P(y > j) (N[j + 1, r] - N[j, r]).
        evidence = np.maximum(likelihood[:, 0] + (above * gains).sum(axis=1), FLOOR)
        pull = above * (1 - above) * gains * (rows / evidence)[:, None]
        slope = free / SPREAD**2 - np.array([(pull * stretched).sum(), pull.sum()])
        return float(-rows @ np.log(evidence) + 0.5 * (free @ free) / SPREAD**2), slope

    stretch, shift = minimize(loss_and_slope, np.zeros(2), jac=True, method="BFGS").x
    return Scaling(float(np.exp(stretch)), float(shift))


def _exceedance_logits(probabilities: Floats) -> Floats:
    """Logits of P(y > j), shape (n_samples, n_classes - 1), descending and finite."""
    above = probabilities[:, ::-1].cumsum(axis=1)[:, -2::-1].clip(FLOOR, None)
    below = probabilities.cumsum(axis=1)[:, :-1].clip(FLOOR, None)
    return np.asarray(np.log(above) - np.log(below))
