"""Slopes and losses of the forward likelihood under both heads, each in one compiled pass over the samples.

For a sample with recorded label y, N the noise matrix ``[true, recorded]`` and P(k) the head's probability of class k,
the loss is ``-log q`` with ``q = sum_k N[k, y] P(k)``, and ``P(k | y) = N[k, y] P(k) / q`` is the posterior of the true
class. By Fisher's identity the derivative of log q is the posterior mean of that of log P(k): every gradient here is
such a mean.

Arrays over samples are (n_samples,) or (n_samples, K); `likelihood` is (n_raters * K, K), row ``rater * K + y`` holding
``N[:, y]``, and `cells` (n_samples,) names the row of each sample. Samples are the outer loop, with scratch arrays of
K numbers that stay in the nearest cache: K is small, and a sample's classes depend on one another.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ordinoise._compiling import compiled_and_kept
from ordinoise._validation import Floats, Ints

Float32s = NDArray[np.float32]

LEAST = 1e-300  # floor of probabilities that underflow: a round number a little above the least normal float64
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

_SOURCE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def entry(function: Any) -> Any:
    """`function`, compiled: cached on disk under a name that changes with this file, without Python's global lock."""
    function.__qualname__ += f"_{_SOURCE}"
    return compiled_and_kept(function, **OPTIONS)


def inlined(function: Any) -> Any:
    """`function`, written into the compiled functions that call it."""
    return njit(**OPTIONS, inline="always")(function)


@inlined
def fill_posterior(probabilities: Floats, likelihood: Floats, out: Floats) -> float:
    """Fill the posterior ``P(k | y)`` of each true class, shape (K,); returns q, the probability of the record."""
    evidence = 0.0
    for k in range(len(out)):
        out[k] = probabilities[k] * likelihood[k]
        evidence += out[k]
    if evidence > LEAST:
        for k in range(len(out)):
            out[k] /= evidence
    else:  # q has underflowed: take the posterior of equal class probabilities, so that slopes lead back to the record
        total = max(likelihood.sum(), LEAST)
        for k in range(len(out)):
            out[k] = likelihood[k] / total
    return max(evidence, LEAST)


@inlined
def fill_softmax(scores: Floats, i: int, offsets: Floats, out: Floats) -> None:
    """Fill the class probabilities of row i, shape (K,): the softmax of scores plus offsets."""
    largest = -np.inf  # subtracted before the exponential, which then cannot overflow
    for k in range(len(out)):
        out[k] = scores[i, k] + offsets[k]
        largest = max(largest, out[k])
    total = 0.0
    for k in range(len(out)):
        out[k] = np.exp(out[k] - largest)
        total += out[k]
    for k in range(len(out)):
        out[k] /= total


@entry
def softmax_slopes(
    scores: Floats,
    offsets: Floats,
    cells: Ints,
    weights: Floats,
    likelihood: Floats,
    gradient: Float32s,
    curvature: Float32s,
) -> None:
    """Fill gradient ``P - posterior`` and curvature ``P (1 - P) K / (K - 1)``, both of shape (n_samples, n_classes).

    Without noise the posterior is one at the recorded label, and both are LightGBM's own.
    """
    n_samples, n_classes = scores.shape
    probabilities, posterior = np.empty(n_classes), np.empty(n_classes)
    factor = n_classes / (n_classes - 1.0)
    for i in range(n_samples):
        fill_softmax(scores, i, offsets, probabilities)
        fill_posterior(probabilities, likelihood[cells[i]], posterior)
        for k in range(n_classes):
            p = probabilities[k]
            gradient[i, k] = weights[i] * (p - posterior[k])
            curvature[i, k] = weights[i] * factor * p * (1.0 - p)


@entry
def softmax_losses(scores: Floats, offsets: Floats, cells: Ints, likelihood: Floats, losses: Floats) -> None:
    """Fill minus the log-likelihood of what was recorded, shape (n_samples,)."""
    probabilities, posterior = np.empty(len(offsets)), np.empty(len(offsets))
    for i in range(len(losses)):
        fill_softmax(scores, i, offsets, probabilities)
        losses[i] = -np.log(fill_posterior(probabilities, likelihood[cells[i]], posterior))


@inlined
def class_widths(thresholds: Floats) -> Floats:
    """``1 - exp(b_k - b_{k-1})`` of the thresholds on both sides of each class, shape (K,); one at the ends."""
    widths = np.ones(len(thresholds) + 1)
    for j in range(1, len(thresholds)):
        widths[j] = -np.expm1(thresholds[j] - thresholds[j - 1])
    return widths


@inlined
def fill_ordered(score: float, thresholds: Floats, widths: Floats, above: Floats, below: Floats, out: Floats) -> None:
    """Fill the class probabilities of one score, ``P(k) = above[k] below[k] widths[k]``, all of shape (K,).

    ``above[k] = sigmoid(f_{k-1})`` is the probability of exceeding the threshold below class k and
    ``below[k] = sigmoid(-f_k)`` that of not exceeding the one above it, with ``f_j = score + b_j``. The product equals
    ``sigmoid(f_{k-1}) - sigmoid(f_k)`` but keeps its digits where that difference would cancel.
    """
    n_classes = len(out)
    above[0], below[n_classes - 1] = 1.0, 1.0
    for j in range(n_classes - 1):
        # Both sigmoids of a logit from one exponential that cannot overflow.
        logit = score + thresholds[j]
        tail = np.exp(-abs(logit))
        large, small = 1.0 / (1.0 + tail), tail / (1.0 + tail)
        above[j + 1], below[j] = (large, small) if logit > 0 else (small, large)
    for k in range(n_classes):
        out[k] = max(above[k] * below[k] * widths[k], LEAST)


@entry
def ordered_slopes(
    scores: Floats,
    thresholds: Floats,
    cells: Ints,
    weights: Floats,
    likelihood: Floats,
    gradient: Float32s,
    curvature: Float32s,
    threshold_slopes: Floats,
    information: Floats,
) -> None:
    """Fill gradient and curvature by score, shape (n_samples,), and what a step of Fisher scoring needs.

    That is `threshold_slopes`, the gradient of the log-likelihood by threshold, shape (K-1,), and `information`, shape
    (K-1, K-1), of which only the diagonal and the line below it are filled: a threshold shares a class with its
    neighbours only.

    Curvatures are those of ``-log P(k)``, averaged over the posterior. The exact curvature of ``-log q`` is less, by
    the posterior variance of the slopes, and may be negative; this one never is.
    """
    n_classes = likelihood.shape[1]
    probabilities, posterior = np.empty(n_classes), np.empty(n_classes)
    above, below = np.empty(n_classes), np.empty(n_classes)
    widths = class_widths(thresholds)
    threshold_slopes[:], information[:] = 0.0, 0.0
    for i in range(len(gradient)):
        fill_ordered(scores[i], thresholds, widths, above, below, probabilities)
        fill_posterior(probabilities, likelihood[cells[i]], posterior)
        slope, bend = 0.0, 0.0
        for k in range(n_classes):
            # d log P(k) / d score = (1 - above) - (1 - below); widths do not depend on the score.
            rising, falling = 1.0 - above[k], 1.0 - below[k]
            slope += posterior[k] * (rising - falling)
            bend += posterior[k] * (above[k] * rising + below[k] * falling)
        gradient[i] = -weights[i] * slope
        curvature[i] = weights[i] * bend
        # Threshold j moves probability from class j to class j+1: dP(j+1) / db_j = -dP(j) / db_j = s_j, with
        # s_j = sigmoid(f_j) sigmoid(-f_j). The information is that of observing the true class,
        # sum_k (dP(k) / db_i) (dP(k) / db_j) / P(k): it is s_j^2 (1 / P(j) + 1 / P(j+1)) on the diagonal and
        # -s_j s_{j-1} / P(j) below it.
        for j in range(n_classes - 1):
            p, p_next = probabilities[j], probabilities[j + 1]
            density = weights[i] * above[j + 1] * below[j]
            threshold_slopes[j] += density * (posterior[j + 1] / p_next - posterior[j] / p)
            information[j, j] += density * above[j + 1] * below[j] * (1.0 / p + 1.0 / p_next)
            if j > 0:
                information[j, j - 1] -= density * above[j] * below[j - 1] / p


@entry
def ordered_losses(scores: Floats, thresholds: Floats, cells: Ints, likelihood: Floats, losses: Floats) -> None:
    """Fill minus the log-likelihood of what was recorded, shape (n_samples,)."""
    n_classes = likelihood.shape[1]
    probabilities, posterior = np.empty(n_classes), np.empty(n_classes)
    above, below = np.empty(n_classes), np.empty(n_classes)
    widths = class_widths(thresholds)
    for i in range(len(losses)):
        fill_ordered(scores[i], thresholds, widths, above, below, probabilities)
        losses[i] = -np.log(fill_posterior(probabilities, likelihood[cells[i]], posterior))
