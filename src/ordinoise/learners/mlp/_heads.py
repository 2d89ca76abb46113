"""Loss and slopes at the head of the network, in float64, for a chunk of rows.

Scratch arrays are (thresholds, rows), so that inner loops run over rows. `cells` holds for every row the line of the
tables that it reads (rater and recorded label). Weights already carry the division by the rows of the batch.
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

# Unordered free thresholds give "probabilities" below zero, whose logarithm does not exist; below the floor -log is
# continued by its tangent, which pulls the thresholds back into order. Ordered ones need a floor only for underflow.
FLOOR_FREE, FLOOR = 1e-4, 1e-300


class Head(NamedTuple):
    """The objective's tables, one line for each rater and recorded label, and memory for a chunk of rows."""

    kind: int
    loss: int
    table: Floats
    correction: Floats  # without lines unless the risk is non-negative
    thresholds: Floats
    gaps: Floats
    offset_slopes: Floats
    risks: Floats
    weights: Floats
    score_slopes: Floats
    chance: Floats
    lines: Floats
    upper: Floats  # sigmoid of each logit; its last line is always one, the exceedance before the first threshold
    lower: Floats


@compiled
def read_thresholds(offsets: Float32s, head: Head) -> None:
    """Write the thresholds b, and the factors ``1 - exp(b_j - b_{j-1})`` of the classes between them."""
    thresholds, gaps = head.thresholds, head.gaps
    thresholds[0] = offsets[0]
    for j in range(1, len(thresholds)):
        offset = np.float64(offsets[j])
        if head.kind == ORDERED:
            e = exp(-abs(offset))
            thresholds[j] = thresholds[j - 1] - (max(offset, 0.0) + log(1.0 + e))
            gaps[j] = (1.0 if offset > 0 else e) / (1.0 + e)
        else:
            thresholds[j] = offset
            if head.loss == FORWARD:
                gaps[j] = -expm1(thresholds[j] - thresholds[j - 1])


@compiled
def write_offset_gradient(offsets: Float32s, head: Head, gradient: Float32s) -> None:
    """Write the gradient of the offsets, from the slopes of the thresholds or biases."""
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
def chunk_loss(
    cells: Ints, offsets: Float32s, outputs: Float32s, output_slopes: Float32s, head: Head, learn: int
) -> float:
    """Weighted loss of rows whose outputs are known; slopes by output are written, those by offset added."""
    n = len(cells)
    if len(head.correction) > 0:
        if learn:
            signed_slopes(cells, outputs[:n], head, output_slopes)
        else:
            add_class_risks(cells, outputs[:n], head)
        return 0.0
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
    """Weighted loss on levels: the paper's l_CE or l_IMC."""
    n, total = len(score), 0.0
    weights, score_slopes = head.weights, head.score_slopes
    clear(score_slopes[:n])
    for j in range(len(head.thresholds)):
        b, t, slope = head.thresholds[j], head.lines[j], 0.0
        if head.loss == CROSS_ENTROPY:
            for i in range(n):
                f = score[i] + b
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
    """Weighted ``-log`` of the chance of the recorded labels.

    ``P(k) = sigmoid(f_{k-1}) sigmoid(-f_k) gap_k`` is the difference of two sigmoids without its cancellation.
    """
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
        q = chance[i] + noise[i] * upper[i]
        bounded = max(q, floor)
        total += weights[i] * ((bounded - q) / bounded - log(bounded))
        chance[i] = weights[i] / bounded
    clear(score_slopes[:n])
    for j in range(last):
        noise, after, upper, lower, slope = head.lines[j], head.lines[j + 1], head.upper[j], head.lower[j], 0.0
        for i in range(n):
            d = (noise[i] - after[i]) * (upper[i] * lower[i]) * chance[i]
            score_slopes[i] += d
            slope += d
        head.offset_slopes[j] += slope
    return total


@compiled
def softmax_loss(outputs: Float32s, biases: Float32s, head: Head, n: int, output_slopes: Float32s) -> float:
    """As `forward_loss`, for class probabilities from K outputs."""
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


@compiled
def add_class_risks(cells: Ints, score: Float32s, head: Head) -> None:
    """Add every row's corrected loss to the risk of each class."""
    n_classes = len(head.risks)
    for i in range(len(cells)):
        first = cells[i] - cells[i] % n_classes  # the line of label 0 in the tables of this row's rater
        for j in range(len(head.thresholds)):
            upper, lower = costs(head.loss, score[i] + head.thresholds[j])
            for k in range(n_classes):
                t = head.table[first + k, j]
                head.risks[k] += head.weights[i] * head.correction[cells[i], k] * (t * upper + (1.0 - t) * lower)


@compiled
def signed_slopes(cells: Ints, score: Float32s, head: Head, output_slopes: Float32s) -> None:
    """Slopes of the sum of absolute class risks."""
    n_classes = len(head.risks)
    for i in range(len(cells)):
        first, total = cells[i] - cells[i] % n_classes, 0.0
        for j in range(len(head.thresholds)):
            upper, lower = cost_slopes(head.loss, score[i] + head.thresholds[j])
            d = 0.0
            for k in range(n_classes):
                t = head.table[first + k, j]
                d += np.sign(head.risks[k]) * head.correction[cells[i], k] * (t * upper + (1.0 - t) * lower)
            head.offset_slopes[j] += head.weights[i] * d
            total += head.weights[i] * d
        output_slopes[i] = np.float32(total)


@compiled
def costs(loss: int, f: float) -> tuple[float, float]:
    """Cost of a logit whose level is one, and of one whose level is zero."""
    if loss == HINGE:
        return max(1.0 - f, 0.0), max(1.0 + f, 0.0)
    rest = log(1.0 + exp(-abs(f)))
    return max(-f, 0.0) + rest, max(f, 0.0) + rest


@compiled
def cost_slopes(loss: int, f: float) -> tuple[float, float]:
    """Slopes of the two costs."""
    if loss == HINGE:
        return (-1.0 if f < 1.0 else 0.0), (1.0 if f > -1.0 else 0.0)
    upper = 1.0 / (1.0 + exp(-f))
    return upper - 1.0, upper
