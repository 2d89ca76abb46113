"""Many mini-batch steps in one compiled call: forward, loss, backward, AdamW.

At the paper's sizes an update takes a few microseconds, less than a call from Python does: so the loop over batches is
compiled too, and Python makes one call per block of a few thousand rows. Rows go through the network in chunks, whose
units stay in the cache between the forward and the backward pass; the gradient of a batch is the sum over its chunks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arithmetic import compiled, entry, inlined
from ._heads import SOFTMAX, Floats, Head, Ints, chunk_loss, is_unordered, read_thresholds, write_offset_gradient
from ._layers import Layers, carry_backward, carry_forward
from ._products import absolute_sum, clear
from ._sparse import SparseRows
from .layout import TILE_ROWS, Float32s


class Block(NamedTuple):
    """The rows of one call, gathered in the order of training."""

    features: Float32s  # flat (rows + TILE_ROWS, padded columns), standardized; the padding stays zero
    cells: Ints  # (rows,) table row that each reads
    weights: Floats  # (rows,)
    sparse: SparseRows  # the features of sparse rows, for which `features` is empty


class Adam(NamedTuple):
    """AdamW's moments and settings."""

    first: Float32s  # like the padded parameters, as is `second`
    second: Float32s
    step: Ints  # (1,) updates so far: an array, for compiled code to count in
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
    """Copy `rows` of the features into flat `out`, standardized: ``(x - center) * factor``, in float64 until stored.

    Only the first ``len(center)`` of `n_columns` columns are written.
    """
    for i in range(len(rows)):
        source, target = features[rows[i]], out[i * n_columns : (i + 1) * n_columns]
        for f in range(len(center)):
            target[f] = (source[f] - center[f]) * factor[f]


@entry
def run_block(
    cells: Ints, weights: Floats, rows: Ints, block: Block, layers: Layers, head: Head, adam: Adam, batch_rows: int
) -> tuple[float, int]:
    """Learn from the rows in the block, batch by batch.

    Returns the loss summed over rows (NaN if a weight is not finite) and the number of updates that left free
    thresholds unordered. With `batch_rows` zero the weights stay as they are and the loss is only summed up.
    """
    n_rows, learn = len(rows), batch_rows > 0
    for i in range(n_rows):
        block.cells[i] = cells[rows[i]]
        block.weights[i] = weights[rows[i]]
    offsets = layers.parameters[layers.n_weights :]
    total, inversions = 0.0, 0
    for start in range(0, n_rows, batch_rows if learn else n_rows):
        stop = min(start + batch_rows, n_rows) if learn else n_rows
        if learn:
            clear(head.offset_slopes)
        # A batch's loss is sum(weight * loss) / rows: dividing the weights scales loss and gradient at once.
        scale = 1.0 / (stop - start) if learn else 1.0
        loss = pass_rows(block, start, stop, scale, layers, head, learn)
        if not learn:
            return loss, 0
        write_offset_gradient(offsets, head, layers.gradient[layers.n_weights :])
        step(layers, adam)
        inversions += is_unordered(offsets, head.kind)
        total += loss * (stop - start)
    # Checked once per block: a loss may stay finite while a weight that it does not feel has overflowed.
    return total if np.isfinite(absolute_sum(layers.parameters)) else np.nan, inversions


@inlined
def pass_rows(block: Block, start: int, stop: int, scale: float, layers: Layers, head: Head, learn: bool) -> float:
    """Weighted loss of rows start..stop of the block, one chunk at a time; if learning, also write their gradient."""
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
        carry_forward(block.features, first, n_padded, block.sparse, low, n, layers)
        loss += chunk_loss(block.cells[low : low + n], offsets, layers.outputs, layers.output_slopes, head)
        if learn:
            # The products take whole tiles: rows after the n-th hold other samples, and must add nothing.
            for o in range(layers.n_outputs):
                clear(layers.output_slopes[o * layers.chunk_rows + n : o * layers.chunk_rows + n_padded])
            carry_backward(block.features, first, n_padded, block.sparse, low, n, layers, low == start)
    return loss


@compiled
def step(layers: Layers, adam: Adam) -> None:
    """One update by AdamW, as PyTorch has it, with gradient g, moments m and v, step t and rate r.

    ``m = beta_1 m + (1 - beta_1) g``, ``v = beta_2 v + (1 - beta_2) g^2``, then
    ``p = (1 - r decay) p - r / (1 - beta_1^t) m / (sqrt(v / (1 - beta_2^t)) + epsilon)``.
    """
    # What does not depend on the parameter is computed once, in float64. Padding needs no exception: its gradient is
    # zero, so its moments are, and a zero parameter stays zero.
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
