"""Slow, literal transcriptions of the paper's formulas: labels 1..K, sums written out, nothing shared with the package."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = Sequence[float] | Floats
Loss = Callable[[float, Numbers, int], float]


def inverse_decay(n_classes: int, rho: Sequence[float]) -> Floats:
    N = np.zeros((n_classes, n_classes))
    for i in range(1, n_classes + 1):
        for j in range(1, n_classes + 1):
            if i != j:
                N[i - 1, j - 1] = rho[i - 1] / abs(i - j)
        N[i - 1, i - 1] = 1 - sum(N[i - 1, j - 1] for j in range(1, n_classes + 1) if j != i)
    return N


def label(g: float, b: Numbers) -> int:
    """1 + number of positive g + b_k."""
    return 1 + sum(1 for b_k in b if g + b_k > 0)


def l_ce(g: float, b: Numbers, y: int) -> float:
    total = 0.0
    for j in range(1, len(b) + 1):
        h = 1 / (1 + math.exp(-(g + b[j - 1])))
        z = 1 if j < y else 0
        total -= z * math.log(h) + (1 - z) * math.log(1 - h)
    return total


def l_imc(g: float, b: Numbers, y: int) -> float:
    above = sum(max(0.0, 1 - g - b[i - 1]) for i in range(1, y))
    below = sum(max(0.0, 1 + g + b[i - 1]) for i in range(y, len(b) + 1))
    return above + below


def l_mae(g: float, b: Numbers, y: int) -> int:
    above = sum(1 for i in range(1, y) if g + b[i - 1] < 0)
    below = sum(1 for i in range(y, len(b) + 1) if g + b[i - 1] >= 0)
    return above + below


def unbiased(loss: Loss, g: float, b: Numbers, noisy_y: int, inverse: Floats) -> float:
    """sum_k inverse(N)[noisy_y, k] loss(g, b, k)."""
    return sum(float(inverse[noisy_y - 1, k - 1]) * loss(g, b, k) for k in range(1, len(inverse) + 1))


def forward(g: float, b: Numbers, noisy_y: int, N: Floats) -> float:
    """-log sum_k N[k, noisy_y] P(y = k), with P as differences of exceedances."""
    h = [1.0, *(1 / (1 + math.exp(-(g + b_k))) for b_k in b), 0.0]
    return -math.log(sum(float(N[k - 1, noisy_y - 1]) * (h[k - 1] - h[k]) for k in range(1, len(N) + 1)))


def expected_over_noise(of_label: Callable[[int], float], y: int, N: Floats) -> float:
    """E over the recorded label, given the true one: sum_k N[y, k] of_label(k)."""
    return sum(float(N[y - 1, k - 1]) * of_label(k) for k in range(1, len(N) + 1))
