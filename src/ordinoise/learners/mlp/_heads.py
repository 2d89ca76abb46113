"""Loss and slopes at the head of the network, in float64, for a chunk of n rows.

Symbols: g is the score of a row, b_j a threshold, ``f_j = g + b_j`` a logit (j = 0..K-2), ``s(f) = 1 / (1 + exp(-f))``
the sigmoid, N a noise matrix ``[true, recorded]``, w the weight of a row. A slope is a derivative of the weighted loss.

Scratch arrays are (thresholds or classes, rows): the inner loops then run over contiguous rows without a branch on
the row's label, and become vector instructions. `cells` holds for every row the table row that it reads,
``rater * K + recorded label``. Weights are already divided by the number of rows of the batch, so that sums over rows
are means over the batch. Outputs come and leave in float32, as the layers have them; in between, float64 keeps the
logarithms of small probabilities.
"""

from __future__ import annotations

from math import expm1
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arithmetic import compiled, exp, inlined, log
from ._products import clear
from .layout import Float32s

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FREE, ORDERED, SOFTMAX = 0, 1, 2
CROSS_ENTROPY, HINGE, FORWARD = 0, 1, 2

# Unordered free thresholds give "probabilities" below zero, which have no logarithm. Below the floor, -log is replaced
# by its tangent at the floor, which pulls the thresholds back into order. A round number, chosen by no run.
FLOOR_FREE = 1e-4
# Ordered thresholds give positive probabilities that may underflow. A round number a little above the least normal
# float64 (2.2e-308), since `log` takes normal numbers only.
FLOOR = 1e-300


class Head(NamedTuple):
    """The objective's tables, and memory for a chunk of rows; K classes, C rows per chunk."""

    kind: int
    loss: int
    table: Floats  # (n_raters * K, K-1) levels; for the forward loss (n_raters * K, K), row [rater, y] = N[:, y]
    thresholds: Floats  # (K-1,) b, descending unless free
    gaps: Floats  # (K-1,) 1 - exp(b_j - b_{j-1}); the first is always one
    offset_slopes: Floats  # (n_offsets,) by threshold or bias, summed over the rows of a batch
    weights: Floats  # (C,)
    score_slopes: Floats  # (C,)
    chance: Floats  # (C,) probability of the recorded label, then weight over probability
    lines: Floats  # (K, C) the table row of every row, as a column
    upper: Floats  # (K, C) s(f_j); its last line is always one, as before the first threshold; for softmax scratch
    lower: Floats  # (K, C) s(-f_j)


@compiled
def read_thresholds(offsets: Float32s, head: Head) -> None:
    """Write the thresholds b, and the factors ``1 - exp(b_j - b_{j-1})`` of the classes between them.

    Ordered: ``b_0 = o_0`` and ``b_j = b_{j-1} - softplus(o_j)``; free: ``b_j = o_j``.
    """
    thresholds, gaps = head.thresholds, head.gaps
    thresholds[0] = offsets[0]
    for j in range(1, len(thresholds)):
        offset = np.float64(offsets[j])
        if head.kind == ORDERED:
            # softplus(o) = max(o, 0) + log(1 + exp(-|o|)) does not overflow. The gap 1 - exp(-softplus(o)) is s(o):
            # taken from the offset, it keeps its digits where two thresholds nearly coincide.
            e = exp(-abs(offset))
            thresholds[j] = thresholds[j - 1] - (max(offset, 0.0) + log(1.0 + e))
            gaps[j] = (1.0 if offset > 0 else e) / (1.0 + e)
        else:
            thresholds[j] = offset
            if head.loss == FORWARD:  # the other losses read no gaps
                gaps[j] = -expm1(thresholds[j] - thresholds[j - 1])


@compiled
def write_offset_gradient(offsets: Float32s, head: Head, gradient: Float32s) -> None:
    """Write the gradient by offset, from the slopes by threshold or bias.

    Ordered: o_j moves every threshold from b_j on by ``-s(o_j)``, so its gradient is ``-s(o_j) sum_{i >= j} dL/db_i``;
    o_0 moves all by one. The loop runs from the last threshold down to have that sum as a running total.
    """
    slopes = head.offset_slopes
    if head.kind != ORDERED:
        for j in range(len(slopes)):
            gradient[j] = np.float32(slopes[j])
        return
    tail = 0.0
    for j in range(len(slopes) - 1, 0, -1):
        tail += slopes[j]
        gradient[j] = np.float32(-tail / (1.0 + exp(-np.float64(offsets[j]))))
    gradient[0] = np.float32(tail + slopes[0])


@compiled
def is_unordered(offsets: Float32s, kind: int) -> int:
    """1 if free thresholds do not descend."""
    if kind == FREE:
        for j in range(1, len(offsets)):
            if offsets[j] > offsets[j - 1]:
                return 1
    return 0


@inlined
def chunk_loss(cells: Ints, offsets: Float32s, outputs: Float32s, output_slopes: Float32s, head: Head) -> float:
    """Weighted loss of rows whose outputs are known; slopes by output are written, those by offset added.

    `outputs` and `output_slopes` are flat: one line of C numbers per output.
    """
    n = len(cells)
    # Transposed once here, so that the losses read the levels or noise of one threshold for many rows in a stretch.
    for i in range(n):
        line = head.table[cells[i]]
        for k in range(len(line)):
            head.lines[k, i] = line[k]
    if head.kind == SOFTMAX:
        return softmax_loss(outputs, offsets, head, n, output_slopes)
    loss = forward_loss(outputs[:n], head) if head.loss == FORWARD else level_loss(outputs[:n], head)
    for i in range(n):
        output_slopes[i] = np.float32(head.score_slopes[i])
    return loss


@compiled
def level_loss(score: Float32s, head: Head) -> float:
    """Weighted loss on levels t: the paper's l_CE or l_IMC.

    l_CE is ``sum_j softplus(f_j) - t_j f_j``, with slope ``s(f_j) - t_j``; l_IMC is
    ``sum_j t_j max(1 - f_j, 0) + (1 - t_j) max(1 + f_j, 0)``. Corrected levels may lie outside [0, 1]: both formulas
    hold for any number t.
    """
    # Thresholds outside, rows inside: a logit is needed once only, and the slope of a threshold stays in a register.
    n, total = len(score), 0.0
    weights, score_slopes = head.weights, head.score_slopes
    clear(score_slopes[:n])
    for j in range(len(head.thresholds)):
        b, t, slope = head.thresholds[j], head.lines[j], 0.0
        if head.loss == CROSS_ENTROPY:
            for i in range(n):
                f = score[i] + b
                # One exponential, which cannot overflow, serves both the sigmoid and softplus.
                e = exp(-abs(f))
                large = 1.0 / (1.0 + e)
                d = weights[i] * ((large if f > 0 else e * large) - t[i])
                total += weights[i] * (max(f, 0.0) + log(1.0 + e) - t[i] * f)
                score_slopes[i] += d
                slope += d
        else:
            for i in range(n):
                f = score[i] + b
                one, zero = weights[i] * t[i], weights[i] * (1.0 - t[i])
                d = (zero if f > -1.0 else 0.0) - (one if f < 1.0 else 0.0)
                total += one * max(1.0 - f, 0.0) + zero * max(1.0 + f, 0.0)
                score_slopes[i] += d
                slope += d
        head.offset_slopes[j] += slope
    return total


@compiled
def forward_loss(score: Float32s, head: Head) -> float:
    """Weighted ``-log q`` of the probability of the recorded label y, ``q = sum_k N[k, y] P(k)``.

    ``P(k) = s(f_{k-1}) s(-f_k) gap_k`` is the difference of two sigmoids without its cancellation; the first class has
    no sigmoid before it, the last none after it.
    """
    # Two sweeps over the thresholds: the slopes divide by q, which is known only after the first one. It keeps both
    # sigmoids of every logit, so that the second needs no exponentials.
    n, last, total = len(score), len(head.thresholds), 0.0
    weights, score_slopes, chance = head.weights, head.score_slopes, head.chance
    floor = FLOOR_FREE if head.kind == FREE else FLOOR
    clear(chance[:n])
    for j in range(last):
        b, gap, noise, before = head.thresholds[j], head.gaps[j], head.lines[j], head.upper[j - 1 if j > 0 else last]
        upper, lower = head.upper[j], head.lower[j]
        for i in range(n):
            f = score[i] + b
            e = exp(-abs(f))
            large = 1.0 / (1.0 + e)
            upper[i] = large if f > 0 else e * large
            lower[i] = e * large if f > 0 else large
        for i in range(n):
            chance[i] += noise[i] * (before[i] * lower[i] * gap)
    noise, upper = head.lines[last], head.upper[last - 1]
    for i in range(n):
        # Above the floor -log q; below it the tangent -log(floor) + (floor - q) / floor. Both have slope -1 / bounded.
        q = chance[i] + noise[i] * upper[i]
        bounded = max(q, floor)
        total += weights[i] * ((bounded - q) / bounded - log(bounded))
        chance[i] = weights[i] / bounded
    clear(score_slopes[:n])
    for j in range(last):
        noise, after, upper, lower, slope = head.lines[j], head.lines[j + 1], head.upper[j], head.lower[j], 0.0
        for i in range(n):
            # q = N[0, y] + sum_j (N[j+1, y] - N[j, y]) s(f_j), whose derivative by f_j needs no gap.
            d = (noise[i] - after[i]) * (upper[i] * lower[i]) * chance[i]
            score_slopes[i] += d
            slope += d
        head.offset_slopes[j] += slope
    return total


@compiled
def softmax_loss(outputs: Float32s, biases: Float32s, head: Head, n: int, output_slopes: Float32s) -> float:
    """As `forward_loss`, for class probabilities from K outputs: P is the softmax of ``f_k = output_k + bias_k``.

    The loss is ``log sum_k exp(f_k) - log sum_k N[k, y] exp(f_k)`` and its slope ``P(k) - P(k | y)``: the probability
    of a class given the features, minus that given the features and the recorded label.
    """
    # Rows outside, since a row must know its largest logits before its first exponential. The two sums are shifted by
    # a maximum each: the second runs over the classes that the record allows, which may all be far below the largest.
    # `upper` is scratch for f_k, then exp(f_k - top); `lines` is overwritten by N[k, y] exp(f_k - shift).
    total, n_classes, row = 0.0, len(biases), len(head.weights)
    noise, chances = head.lines, head.upper
    for i in range(n):
        top, recorded_top = -np.inf, -np.inf
        for k in range(n_classes):
            f = np.float64(outputs[k * row + i]) + biases[k]
            chances[k, i] = f
            top = max(top, f)
            recorded_top = max(recorded_top, f) if noise[k, i] > 0 else recorded_top
        everything, recorded = 0.0, FLOOR
        for k in range(n_classes):
            # Not further than 700 below the top: the exponential of a class that the record excludes must stay
            # finite, or its product with a noise of zero would be NaN.
            noise[k, i] *= exp(chances[k, i] - max(recorded_top, top - 700.0))
            chances[k, i] = exp(chances[k, i] - top)
            everything += chances[k, i]
            recorded += noise[k, i]
        total += head.weights[i] * (top + log(everything) - max(recorded_top, top - 700.0) - log(recorded))
        for k in range(n_classes):
            d = head.weights[i] * (chances[k, i] / everything - noise[k, i] / recorded)
            head.offset_slopes[k] += d
            output_slopes[k * row + i] = np.float32(d)
    return total
