"""Slopes and losses of the forward likelihood under both heads, each in one compiled pass over the samples.

For a sample with recorded label y, N the noise matrix ``[true, recorded]`` and P(k) the head's probability of class k,
the loss is ``-log q`` with ``q = sum_k N[k, y] P(k)``, and ``P(k | y) = N[k, y] P(k) / q`` is the posterior of the true
class. By Fisher's identity the derivative of log q is the posterior mean of that of log P(k): every gradient here is
such a mean.

Arrays over samples are (n_samples,) or (n_samples, K); `likelihood` is (n_raters * K, K), row ``rater * K + y`` holding
``N[:, y]``, and `cells` (n_samples,) names the row of each sample. Both heads take blocks of samples, class by class:
inner loops without a branch, and nearly all without a call.
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
MOST_LOGIT = 300.0  # where scores are cut: a round number whose double the exponential still holds
BLOCK = 64  # rows at a time: (K, BLOCK) arrays stay in the nearest cache; a round number
# The compiler may fuse and reorder sums, so that loops over a block become vector instructions.
LIBERTIES = {"contract", "reassoc", "nsz"}
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

_SOURCE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def entry(function: Any) -> Any:
    """`function`, compiled: cached on disk under a name that changes with this file, without Python's global lock."""
    function.__qualname__ += f"_{_SOURCE}"
    return compiled_and_kept(function, **OPTIONS, fastmath=LIBERTIES)


def inlined(function: Any) -> Any:
    """`function`, written into the compiled functions that call it."""
    return njit(**OPTIONS, inline="always")(function)


@inlined
def fill_softmax(
    scores: Floats,
    offsets: Floats,
    cells: Ints,
    likelihood: Floats,
    low: int,
    n: int,
    out: Floats,
    record: Floats,
    evidence: Floats,
) -> None:
    """Fill class probabilities and `record` of the n rows from `low` on, shape (K, BLOCK), and q, shape (BLOCK,).

    The probabilities are the softmax of scores plus offsets; `record` is the row of `likelihood` that a sample reads.
    """
    n_classes, largest, total = len(out), np.empty(BLOCK), np.zeros(BLOCK)
    largest[:], evidence[:] = -np.inf, 0.0  # the largest is subtracted before the exponential, which cannot overflow
    for k in range(n_classes):
        for i in range(n):
            out[k, i] = scores[low + i, k] + offsets[k]
            largest[i] = max(largest[i], out[k, i])
            record[k, i] = likelihood[cells[low + i], k]
    for k in range(n_classes):
        for i in range(n):
            out[k, i] = np.exp(out[k, i] - largest[i])
            total[i] += out[k, i]
    for i in range(n):
        total[i] = 1.0 / total[i]
    for k in range(n_classes):
        for i in range(n):
            out[k, i] *= total[i]
            evidence[i] += out[k, i] * record[k, i]


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
    probabilities, record = np.empty((n_classes, BLOCK)), np.empty((n_classes, BLOCK))
    joint, evidence = np.empty((n_classes, BLOCK)), np.empty(BLOCK)
    factor = n_classes / (n_classes - 1.0)
    for low in range(0, n_samples, BLOCK):
        n = min(BLOCK, n_samples - low)
        fill_softmax(scores, offsets, cells, likelihood, low, n, probabilities, record, evidence)
        for k in range(n_classes):
            for i in range(n):
                joint[k, i] = probabilities[k, i] * record[k, i]
        for i in range(n):
            if evidence[i] <= LEAST:  # take the posterior of equal class probabilities, which leads back to the record
                joint[:, i], evidence[i] = record[:, i], max(record[:, i].sum(), LEAST)
            evidence[i] = 1.0 / evidence[i]
        for k in range(n_classes):
            for i in range(n):
                p = probabilities[k, i]
                gradient[low + i, k] = weights[low + i] * (p - joint[k, i] * evidence[i])
                curvature[low + i, k] = weights[low + i] * factor * p * (1.0 - p)


@entry
def softmax_losses(scores: Floats, offsets: Floats, cells: Ints, likelihood: Floats, losses: Floats) -> None:
    """Fill minus the log-likelihood of what was recorded, shape (n_samples,)."""
    n_samples, n_classes = scores.shape
    probabilities, record, evidence = np.empty((n_classes, BLOCK)), np.empty((n_classes, BLOCK)), np.empty(BLOCK)
    for low in range(0, n_samples, BLOCK):
        n = min(BLOCK, n_samples - low)
        fill_softmax(scores, offsets, cells, likelihood, low, n, probabilities, record, evidence)
        for i in range(n):
            losses[low + i] = -np.log(max(evidence[i], LEAST))


@inlined
def class_widths(thresholds: Floats) -> Floats:
    """``1 - exp(b_k - b_{k-1})`` of the thresholds on both sides of each class, shape (K,); one at the ends."""
    widths = np.ones(len(thresholds) + 1)
    for j in range(1, len(thresholds)):
        widths[j] = -np.expm1(thresholds[j] - thresholds[j - 1])
    return widths


@inlined
def fill_block(
    scores: Floats,
    factors: Floats,
    widths: Floats,
    cells: Ints,
    likelihood: Floats,
    low: int,
    n: int,
    odds: Floats,
    above: Floats,
    below: Floats,
    out: Floats,
    record: Floats,
    evidence: Floats,
) -> None:
    """Fill what the n rows from `low` on need, all of shape (K, BLOCK) but the evidence q, which is (BLOCK,).

    `odds` are those against exceeding threshold j, ``exp(-score) exp(-b_j)``: one exponential per row, cut where none
    of the products can overflow. ``above[k] = sigmoid(f_{k-1})`` is the probability of exceeding the threshold below
    class k and ``below[k] = sigmoid(-f_k)`` that of not exceeding the one above it, with ``f_j = score + b_j``. The
    probability of class k, ``out[k] = above[k] below[k] widths[k]``, equals ``sigmoid(f_{k-1}) - sigmoid(f_k)`` but
    keeps its digits where that difference would cancel. `record` is the row of `likelihood` that a sample reads.
    """
    n_classes = len(out)
    for i in range(n):
        odds[n_classes - 1, i] = np.exp(-min(max(scores[low + i], -MOST_LOGIT), MOST_LOGIT))
        evidence[i] = 0.0
        for k in range(n_classes):
            record[k, i] = likelihood[cells[low + i], k]
    for j in range(n_classes - 1):
        for i in range(n):
            odds[j, i] = odds[n_classes - 1, i] * factors[j]
            above[j + 1, i] = 1.0 / (1.0 + odds[j, i])
            below[j, i] = odds[j, i] * above[j + 1, i]
    for k in range(n_classes):
        for i in range(n):
            out[k, i] = above[k, i] * below[k, i] * widths[k]
            evidence[i] += record[k, i] * out[k, i]


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
    neighbors only.

    Curvatures are those of ``-log P(k)``, averaged over the posterior. The exact curvature of ``-log q`` is less, by
    the posterior variance of the slopes, and may be negative; this one never is.
    """
    n_samples, n_classes = len(gradient), likelihood.shape[1]
    odds, joint, record = np.empty((n_classes, BLOCK)), np.empty((n_classes, BLOCK)), np.empty((n_classes, BLOCK))
    above, below = np.ones((n_classes, BLOCK)), np.ones((n_classes, BLOCK))
    evidence, slope, bend = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    widths, factors = class_widths(thresholds), np.exp(-np.clip(thresholds, -MOST_LOGIT, MOST_LOGIT))
    threshold_slopes[:], information[:] = 0.0, 0.0
    for low in range(0, n_samples, BLOCK):
        n = min(BLOCK, n_samples - low)
        # Sums are vector instructions only where no arrays overlap. That check takes ``weights[low + i]`` for a place
        # that may be counted from the end, and so depends on what lies behind the array; a slice has no such places.
        own = weights[low : low + n]
        fill_block(scores, factors, widths, cells, likelihood, low, n, odds, above, below, joint, record, evidence)
        for i in range(n):
            slope[i], bend[i] = 0.0, 0.0
            if evidence[i] < LEAST:  # take the posterior of equal class probabilities, which leads back to the record
                joint[:, i], evidence[i] = 1.0, max(record[:, i].sum(), LEAST)
        for k in range(n_classes):
            for i in range(n):
                joint[k, i] *= record[k, i]
        # d log P(k) / d score = (1 - above) - (1 - below), where 1 - above[k] = below[k-1]; widths do not depend on the
        # score. With s_j = sigmoid(f_j) sigmoid(-f_j) the curvature of -log P(k) is s_{k-1} + s_k.
        # Threshold j moves probability from class j to class j+1: dP(j+1) / db_j = -dP(j) / db_j = s_j. The information
        # is that of observing the true class, sum_k (dP(k) / db_i) (dP(k) / db_j) / P(k): it is
        # s_j^2 (1 / P(j) + 1 / P(j+1)) on the diagonal and -s_j s_{j-1} / P(j) below it, here with P written out:
        # 1 / above[j] = 1 + odds[j-1], and 1 / below[j+1] = 1 + 1 / odds[j+1].
        for j in range(n_classes - 1):
            total, diagonal, beside = 0.0, 0.0, 0.0
            for i in range(n):
                up, down = above[j + 1, i], below[j, i]
                density, weight = up * down, own[i]
                slope[i] += joint[j + 1, i] * down - joint[j, i] * up
                bend[i] += density * (joint[j, i] + joint[j + 1, i])
                total += weight / evidence[i] * density * (record[j + 1, i] - record[j, i])
                from_below = up if j == 0 else up * (1.0 + odds[j - 1, i]) / widths[j]
                from_above = down if j == n_classes - 2 else down * (1.0 + 1.0 / odds[j + 1, i]) / widths[j + 1]
                diagonal += weight * density * (from_below + from_above)
                beside += 0.0 if j == 0 else weight * up * below[j - 1, i]
            threshold_slopes[j] += total
            information[j, j] += diagonal
            if j > 0:
                information[j, j - 1] -= beside / widths[j]
        for i in range(n):
            weight = own[i] / evidence[i]
            gradient[low + i] = -weight * slope[i]
            curvature[low + i] = weight * bend[i]


@entry
def ordered_losses(scores: Floats, thresholds: Floats, cells: Ints, likelihood: Floats, losses: Floats) -> None:
    """Fill minus the log-likelihood of what was recorded, shape (n_samples,)."""
    n_samples, n_classes = len(losses), likelihood.shape[1]
    odds, joint, record = np.empty((n_classes, BLOCK)), np.empty((n_classes, BLOCK)), np.empty((n_classes, BLOCK))
    above, below = np.ones((n_classes, BLOCK)), np.ones((n_classes, BLOCK))
    evidence = np.empty(BLOCK)
    widths, factors = class_widths(thresholds), np.exp(-np.clip(thresholds, -MOST_LOGIT, MOST_LOGIT))
    for low in range(0, n_samples, BLOCK):
        n = min(BLOCK, n_samples - low)
        fill_block(scores, factors, widths, cells, likelihood, low, n, odds, above, below, joint, record, evidence)
        for i in range(n):
            losses[low + i] = -np.log(max(evidence[i], LEAST))
