"""The compiled engine's memory, and the passes over rows that use it.

Everything that the kernels write to is allocated here, once per training: they allocate nothing per update. Sizes are
in padded numbers (see `layout`): columns in multiples of TILE_COLUMNS, rows of a chunk in multiples of TILE_ROWS.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._compiling import read_only
from ordinoise._sparse import is_sparse
from ordinoise._validation import complain

from . import _engine as engine
from ._heads import Head
from ._layers import Layers
from ._products import PACK_TERMS
from ._sparse import SparseRows
from .layout import (
    ACTIVATIONS,
    HEADS,
    TILE_COLUMNS,
    TILE_ROWS,
    Architecture,
    Float32s,
    padded_positions,
    padded_widths,
    round_up,
)
from .network import Network
from .settings import LOSSES, Objective, Optimizer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Rows gathered per compiled call (or one batch, if that is more): many enough that the call costs little, few enough
# that the copy of their features is small. A round number, chosen by no run.
BLOCK_ROWS = 4096
# Rows carried through the network at a time: few, so that their units stay in the second cache. Where the weights of
# one layer overflow it anyway, more rows share each reading of the weights, and a product that is not the first of its
# batch costs another pass over the gradient. 2**18 float32 weights are 1 MiB, a common size of that cache. Round
# numbers, chosen by no run.
CHUNK_ROWS = 128
LARGE_CHUNK_ROWS = 2048
LARGE_LAYER = 2**18


class Workspace:
    """The data, tables, padded weights and scratch memory of one training.

    Parameters
    ----------
    network : Network
        Where to start.
    features : array or CSR matrix of shape (n_samples, n_features)
        Raw features; only blocks of rows are ever copied.
    cells : array of int, shape (n_samples,)
        ``rater * n_classes + recorded label``.
    weights : array of shape (n_samples,)
        Weights of the loss.
    objective, optimizer
        What to minimize, and how.
    most_rows : int
        The most rows that one pass will read.
    """

    def __init__(
        self,
        network: Network,
        features: Any,
        cells: Ints,
        weights: Floats,
        objective: Objective,
        optimizer: Optimizer,
        most_rows: int,
    ) -> None:
        architecture = network.architecture
        self._features, self._cells, self._weights = features, cells, weights
        self._center, self._factor = network.center.astype(np.float64), 1 / network.scale
        self._batch_rows = int(optimizer.batch_size)
        # Whole batches, so that none is cut in two by the end of a block.
        self._block_rows = min(max(BLOCK_ROWS // self._batch_rows, 1) * self._batch_rows, most_rows)
        self._positions, length = padded_positions(architecture)
        chunk_rows = min(round_up(self._batch_rows, TILE_ROWS), _most_chunk_rows(architecture))
        sparse_rows = is_sparse(features)
        if sparse_rows and network.center.any():
            raise complain("center", "be zero for sparse features", "a shift, which would make them dense")
        self._block = _block(self._block_rows, 0 if sparse_rows else padded_widths(architecture)[0])
        self._layers = _layers(architecture, length, chunk_rows)
        self._head = _head(architecture, objective, chunk_rows)
        self._adam = _adam(architecture, optimizer, length)
        self.parameters = network.parameters

    @property
    def parameters(self) -> Float32s:
        """A copy of the current weights, without padding."""
        return _copied(self._layers.parameters, self._positions)

    @parameters.setter
    def parameters(self, parameters: Float32s) -> None:
        self._layers.parameters[self._positions] = parameters

    @property
    def moments(self) -> tuple[Float32s, Float32s, int]:
        """Copies of AdamW's two moments without padding, and its number of updates."""
        first, second = (_copied(one, self._positions) for one in (self._adam.first, self._adam.second))
        return first, second, int(self._adam.step[0])

    @moments.setter
    def moments(self, moments: tuple[Float32s, Float32s, int]) -> None:
        self._adam.first[self._positions], self._adam.second[self._positions], self._adam.step[0] = moments

    def train(self, rows: Ints) -> tuple[float, int]:
        """One epoch over `rows` in their order: mean loss, and count of updates that left free thresholds unordered."""
        total, inversions = self._run(rows, self._batch_rows)
        return total / len(rows), inversions

    def mean_loss(self, rows: Ints) -> float:
        """Weighted mean loss of `rows` under the current weights."""
        total, _ = self._run(rows, 0)
        return total / float(self._weights[rows].sum())

    def _run(self, rows: Ints, batch_rows: int) -> tuple[float, int]:
        total, inversions = 0.0, 0
        for start in range(0, len(rows), self._block_rows):
            chosen = rows[start : start + self._block_rows]
            self._fill_features(chosen)
            loss, unordered = engine.run_block(
                self._cells, self._weights, chosen, self._block, self._layers, self._head, self._adam, batch_rows
            )
            total, inversions = total + loss, inversions + unordered
            if not np.isfinite(total):
                break
        return total, inversions

    def _fill_features(self, rows: Ints) -> None:
        if is_sparse(self._features):
            self._block = self._block._replace(sparse=self._sparse_rows(self._features[rows]))
            return
        # A function is compiled for either type of float; features of other types are converted, a block at a time.
        features = self._features
        if features.dtype not in (np.float32, np.float64):
            features, rows = features[rows].astype(np.float64), np.arange(len(rows))
        n_columns = int(self._layers.widths[0])
        engine.fill_features(read_only(features), rows, self._center, self._factor, n_columns, self._block.features)

    def _sparse_rows(self, rows: Any) -> SparseRows:
        values = (rows.data * self._factor[rows.indices]).astype(np.float32)
        return SparseRows(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), values)


def _most_chunk_rows(architecture: Architecture) -> int:
    is_large = any(n * m >= LARGE_LAYER for n, m in pairwise(padded_widths(architecture)))
    return LARGE_CHUNK_ROWS if is_large else CHUNK_ROWS


def _layers(architecture: Architecture, length: int, chunk_rows: int) -> Layers:
    widths = padded_widths(architecture)
    widest = max(widths)
    return Layers(
        parameters=_zeros(length),
        gradient=_zeros(length),
        widths=np.array(widths, dtype=np.int64),
        n_weights=length - architecture.n_offsets,
        n_outputs=architecture.n_outputs,
        chunk_rows=chunk_rows,
        activation=ACTIVATIONS.index(architecture.activation),
        units=_zeros(chunk_rows * sum(widths[1:])),
        slopes=_zeros(chunk_rows * sum(widths[1:])),
        outputs=_zeros(chunk_rows * architecture.n_outputs),
        output_slopes=_zeros(chunk_rows * architecture.n_outputs),
        transposed=_zeros(max((n * m for n, m in pairwise(widths[1:])), default=0)),
        pack=_zeros(PACK_TERMS * TILE_COLUMNS),
        zeros=_zeros(widest),
        one=np.ones(1, dtype=np.float32),
    )


def _head(architecture: Architecture, objective: Objective, chunk_rows: int) -> Head:
    n_classes = architecture.n_classes
    # Noise matrices transposed, [recorded, true]: the row of a recorded label is then contiguous, like a row of levels.
    table = objective.table.transpose(0, 2, 1) if objective.loss == "forward" else objective.table
    return Head(
        kind=HEADS.index(architecture.head),
        loss=LOSSES.index(objective.loss),
        table=np.ascontiguousarray(table).reshape(-1, table.shape[2]),
        thresholds=np.zeros(n_classes - 1),
        gaps=np.ones(n_classes - 1),
        offset_slopes=np.zeros(architecture.n_offsets),
        weights=np.zeros(chunk_rows),
        score_slopes=np.zeros(chunk_rows),
        chance=np.zeros(chunk_rows),
        lines=np.zeros((n_classes, chunk_rows)),
        upper=np.ones((n_classes, chunk_rows)),
        lower=np.ones((n_classes, chunk_rows)),
    )


def _adam(architecture: Architecture, optimizer: Optimizer, length: int) -> engine.Adam:
    # The biases of the softmax head are ordinary weights and always decay.
    decays_offsets = optimizer.decay_thresholds or architecture.head == "softmax"
    return engine.Adam(
        first=_zeros(length),
        second=_zeros(length),
        step=np.zeros(1, dtype=np.int64),
        learning_rate=float(optimizer.learning_rate),
        beta_1=float(optimizer.beta_1),
        beta_2=float(optimizer.beta_2),
        epsilon=float(optimizer.epsilon),
        decay=float(optimizer.weight_decay),
        offset_decay=float(optimizer.weight_decay) if decays_offsets else 0.0,
    )


def _block(n_rows: int, n_columns: int) -> engine.Block:
    # Up to a whole tile of rows is read after a batch's end; whatever lies there has slope zero.
    dense, nowhere = _zeros((n_rows + TILE_ROWS) * n_columns), np.zeros(0, dtype=np.int64)
    cells, weights = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows)
    return engine.Block(dense, cells, weights, SparseRows(nowhere, nowhere, _zeros(0)))


def _copied(numbers: Float32s, positions: Any) -> Float32s:
    found = numbers[positions]
    return found.copy() if found.base is numbers else found


def _zeros(length: int) -> Float32s:
    return np.zeros(length, dtype=np.float32)
