"""Many mini-batch steps in one compiled call: forward, loss, backward, AdamW."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arithmetic import compiled, entry, inlined
from ._heads import SOFTMAX, Floats, Head, Ints, chunk_loss, is_unordered, read_thresholds, write_offset_gradient
from ._layers import Layers, carry_backward, carry_forward
from ._products import absolute_sum, clear
from .layout import TILE_ROWS, Float32s


class Block(NamedTuple):
    """Rows to learn from: standardised features (flat), lines of the tables, weights."""

    features: Float32s
    cells: Ints
    weights: Floats


class Adam(NamedTuple):
    """AdamW's moments and numbers."""

    first: Float32s
    second: Float32s
    step: Ints
    learning_rate: float
    beta_1: float
    beta_2: float
    epsilon: float
    decay: float
    offset_decay: float


@entry
def fill_features(
    features: NDArray[np.floating], rows: Ints, center: Floats, factor: Floats, n_columns: int, out: Float32s
) -> None:
    """Copy `rows` of the features into flat `out`, standardised."""
    for i in range(len(rows)):
        source, target = features[rows[i]], out[i * n_columns : (i + 1) * n_columns]
        for f in range(len(center)):
            target[f] = (source[f] - center[f]) * factor[f]


@entry
def run_block(
    cells: Ints, weights: Floats, rows: Ints, block: Block, layers: Layers, head: Head, adam: Adam, batch_rows: int
) -> tuple[float, int]:
    """Learn from the rows in the block, batch by batch.

    Returns the loss summed over rows and the number of updates that left free thresholds unordered. With `batch_rows`
    zero nothing is learnt: the loss is only summed up, class by class in ``head.risks`` if the risk is non-negative.
    """
    n_rows, learn, is_risk = len(rows), batch_rows > 0, len(head.correction) > 0
    for i in range(n_rows):
        block.cells[i] = cells[rows[i]]
        block.weights[i] = weights[rows[i]]
    offsets = layers.parameters[layers.n_weights :]
    total, inversions = 0.0, 0
    for start in range(0, n_rows, batch_rows if learn else n_rows):
        stop = min(start + batch_rows, n_rows) if learn else n_rows
        if learn:
            clear(head.offset_slopes)
        if learn and is_risk:
            clear(head.risks)
        loss, scale = 0.0, 1.0 / (stop - start) if learn else 1.0
        # The sign of each class's risk must be known before its slope, which takes a pass of its own.
        for learns_now in range(0 if is_risk or not learn else 1, 2 if learn else 1):
            loss = pass_rows(block, start, stop, scale, layers, head, learns_now)
        if not learn:
            return loss, 0
        if is_risk:
            loss = absolute_sum(head.risks)
        write_offset_gradient(offsets, head, layers.gradient[layers.n_weights :])
        step(layers, adam)
        inversions += is_unordered(offsets, head.kind)
        total += loss * (stop - start)
    return total if np.isfinite(absolute_sum(layers.parameters)) else np.nan, inversions


@inlined
def pass_rows(block: Block, start: int, stop: int, scale: float, layers: Layers, head: Head, learns_now: int) -> float:
    """Weighted loss of rows start..stop of the block, a chunk at a time; their gradient is added if wanted."""
    offsets = layers.parameters[layers.n_weights :]
    if head.kind != SOFTMAX:
        read_thresholds(offsets, head)
    loss = 0.0
    for low in range(start, stop, layers.chunk_rows):
        n = min(layers.chunk_rows, stop - low)
        n_padded = (n + TILE_ROWS - 1) // TILE_ROWS * TILE_ROWS
        for i in range(n):
            head.weights[i] = scale * block.weights[low + i]
        first = low * layers.widths[0]
        carry_forward(block.features, first, n_padded, layers)
        loss += chunk_loss(block.cells[low : low + n], offsets, layers.outputs, layers.output_slopes, head, learns_now)
        if learns_now:
            for o in range(layers.n_outputs):
                clear(layers.output_slopes[o * layers.chunk_rows + n : o * layers.chunk_rows + n_padded])
            carry_backward(block.features, first, n_padded, layers, low == start)
    return loss


@compiled
def step(layers: Layers, adam: Adam) -> None:
    """One update by AdamW."""
    adam.step[0] += 1
    step_size = np.float32(adam.learning_rate / (1.0 - adam.beta_1 ** adam.step[0]))
    root = np.float32(1.0 / np.sqrt(1.0 - adam.beta_2 ** adam.step[0]))
    beta_1, beta_2, epsilon = np.float32(adam.beta_1), np.float32(adam.beta_2), np.float32(adam.epsilon)
    rest_1, rest_2 = np.float32(1.0 - adam.beta_1), np.float32(1.0 - adam.beta_2)
    parameters, gradient, first, second = layers.parameters, layers.gradient, adam.first, adam.second
    keep = np.float32(1.0 - adam.learning_rate * adam.decay)
    offset_keep = np.float32(1.0 - adam.learning_rate * adam.offset_decay)
    for i in range(len(parameters)):
        g = gradient[i]
        first[i] = beta_1 * first[i] + rest_1 * g
        second[i] = beta_2 * second[i] + rest_2 * (g * g)
        kept = (keep if i < layers.n_weights else offset_keep) * parameters[i]
        parameters[i] = kept - step_size * first[i] / (np.sqrt(second[i]) * root + epsilon)
