"""What noise costs in samples: the paper's generalization bound, as printed and as it can be proved.

Theorem 4 of the paper bounds the excess risk of a loss corrected by the inverse noise matrix. As printed it
leaves out the range of the loss and the union over thresholds; ``constant="tight"`` puts both back, and uses
the true steepness of the corrected loss instead of the paper's looser M.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import as_choice, as_count, as_noise_matrix, as_number, complain
from ordinoise.noise import noise_properties

LOSSES = ("cross_entropy", "hinge")
CONSTANTS = ("tight", "paper")

__all__ = ["excess_risk_bound", "noisy_labels_per_clean_label", "samples_needed", "steepness"]


def steepness(noise_matrix: ArrayLike, *, loss: str = "cross_entropy", constant: str = "tight") -> float:
    """Lipschitz constant of the corrected loss relative to the plain one: the paper's M, or the tight constant."""
    properties = noise_properties(noise_matrix)
    as_choice("loss", loss, LOSSES)
    if as_choice("constant", constant, CONSTANTS) == "paper":
        return properties.m
    return properties.lipschitz_hinge if loss == "hinge" else properties.lipschitz_cross_entropy


def noisy_labels_per_clean_label(
    noise_matrix: ArrayLike, *, loss: str = "cross_entropy", constant: str = "tight"
) -> float:
    """Noisy labels that the bound needs in place of one clean label: the steepness squared.

    It is a worst case for the unbiased correction; the forward correction usually needs fewer.

    Examples
    --------
    >>> from ordinoise.noise import inverse_decay
    >>> round(noisy_labels_per_clean_label(inverse_decay(4, 0.15)), 1)
    2.1
    >>> round(noisy_labels_per_clean_label(inverse_decay(4, 0.15), constant="paper"), 1)
    6.5
    """
    return steepness(noise_matrix, loss=loss, constant=constant) ** 2


def excess_risk_bound(
    n_samples: int,
    noise_matrix: ArrayLike,
    complexity: float,
    *,
    loss: str = "cross_entropy",
    constant: str = "tight",
    delta: float = 0.05,
    score_bound: float = 1.0,
) -> float:
    """Bound on the clean risk of the learned model above that of the best one, with probability 1 - delta.

    ``2 (K-1) (2 M L R + sqrt(log(1/delta) / (2 n)))`` with R = complexity / sqrt(n) the Rademacher complexity
    and L = 1 the steepness of both losses (``constant="paper"``). With ``constant="tight"`` M becomes the true
    steepness, the second term carries the range of the corrected loss for logits within +-`score_bound`,
    and delta is shared among the K-1 thresholds and both sides.

    Parameters
    ----------
    n_samples : int
        Number of noisy labels.
    noise_matrix : array of shape (n_classes, n_classes)
        ``noise_matrix[true, recorded]``.
    complexity : float
        sqrt(n) times the Rademacher complexity of the logits; for a linear score, the bound on the norm of the weights
        times that on the norm of the features, plus the bound on the thresholds.
    """
    n_samples = as_count("n_samples", n_samples, 1)
    coefficient = _coefficient(noise_matrix, complexity, loss, constant, delta, score_bound)
    return float(coefficient / np.sqrt(n_samples))


def samples_needed(
    excess_risk: float,
    noise_matrix: ArrayLike,
    complexity: float,
    *,
    loss: str = "cross_entropy",
    constant: str = "tight",
    delta: float = 0.05,
    score_bound: float = 1.0,
) -> int:
    """Number of noisy labels at which :func:`excess_risk_bound` reaches `excess_risk`."""
    excess_risk = as_number("excess_risk", excess_risk, 0.0, np.inf, open_low=True)
    coefficient = _coefficient(noise_matrix, complexity, loss, constant, delta, score_bound)
    needed = (coefficient / excess_risk) ** 2
    if not needed < 2**62:
        raise complain("excess_risk", "be large enough for a finite number of samples", excess_risk)
    return max(1, int(np.ceil(needed)))


def _coefficient(
    noise_matrix: ArrayLike, complexity: float, loss: str, constant: str, delta: float, score_bound: float
) -> float:
    """sqrt(n) times the bound, which does not depend on n."""
    n_thresholds = len(as_noise_matrix(noise_matrix)) - 1
    complexity = as_number("complexity", complexity, 0.0, np.inf)
    delta = as_number("delta", delta, 0.0, 1.0, open_low=True)
    score_bound = as_number("score_bound", score_bound, 0.0, np.inf, open_low=True)
    slope = steepness(noise_matrix, loss=loss, constant=constant)
    if constant == "paper":
        deviation = np.sqrt(np.log(1 / delta) / 2)
    else:
        # A loss of steepness s over logits in [-b, b] ranges over at most 2 b s.
        deviation = 2 * score_bound * slope * np.sqrt(np.log(2 * n_thresholds / delta) / 2)
    return float(2 * n_thresholds * (2 * slope * complexity + deviation))
