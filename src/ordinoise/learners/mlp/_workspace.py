"""The compiled engine's memory, and the passes over rows that use it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from . import _engine as engine
from ._heads import Head
from ._layers import Layers
from ._products import PACK_TERMS
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
from .settings import LOSSES, Objective, Optimiser

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK_ROWS = 4096
CHUNK_ROWS = 128  # rows carried through the network at a time: their units stay in the second cache ...
LARGE_CHUNK_ROWS = 512  # ... unless the weights of a layer alone overflow it, when more rows an access are better
LARGE_LAYER = 2**18


class Workspace:
    """One training's data, tables, padded weights and scratch memory.

    Parameters
    ----------
    network : Network
        Where to start.
    features : array of shape (n_samples, n_features)
        Raw features; only blocks of rows are ever copied.
    cells : array of int, shape (n_samples,)
        ``rater * n_classes + recorded label``.
    weights : array of shape (n_samples,)
    objective, optimiser
        What to minimise, and how.
    most_rows : int
        The most rows that one pass will name.
    """

    def __init__(
        self,
        network: Network,
        features: NDArray[np.generic],
        cells: Ints,
        weights: Floats,
        objective: Objective,
        optimiser: Optimiser,
        most_rows: int,
    ) -> None:
        architecture = network.architecture
        self._features, self._cells, self._weights = features, cells, weights
        self._center, self._factor = network.center.astype(np.float64), 1 / network.scale
        self._batch_rows = int(optimiser.batch_size)
        self._block_rows = min(max(BLOCK_ROWS // self._batch_rows, 1) * self._batch_rows, most_rows)
        self._positions, length = padded_positions(architecture)
        chunk_rows = min(round_up(self._batch_rows, TILE_ROWS), _most_chunk_rows(architecture))
        self._block = _block(self._block_rows, padded_widths(architecture)[0])
        self._layers = _layers(architecture, length, chunk_rows)
        self._head = _head(architecture, objective, chunk_rows)
        self._adam = _adam(architecture, optimiser, length)
        self.parameters = network.parameters

    @property
    def parameters(self) -> Float32s:
        """A copy of the weights as they are now, without padding."""
        return self._layers.parameters[self._positions]

    @parameters.setter
    def parameters(self, parameters: Float32s) -> None:
        self._layers.parameters[self._positions] = parameters

    @property
    def moments(self) -> tuple[Float32s, Float32s, int]:
        """Copies of AdamW's two moments without padding, and its number of updates."""
        return self._adam.first[self._positions], self._adam.second[self._positions], int(self._adam.step[0])

    @moments.setter
    def moments(self, moments: tuple[Float32s, Float32s, int]) -> None:
        self._adam.first[self._positions], self._adam.second[self._positions], self._adam.step[0] = moments

    def train(self, rows: Ints) -> tuple[float, int]:
        """One epoch over `rows` in their order: mean loss, and updates that left free thresholds unordered."""
        total, inversions = self._run(rows, self._batch_rows)
        return total / len(rows), inversions

    def mean_loss(self, rows: Ints) -> float:
        """Weighted mean loss of `rows` under the weights as they are now."""
        self._head.risks[:] = 0.0
        total, _ = self._run(rows, 0)
        if len(self._head.correction):
            total = float(np.abs(self._head.risks).sum())
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
        features = self._features
        if features.dtype not in (np.float32, np.float64):
            features, rows = features[rows].astype(np.float64), np.arange(len(rows))
        n_columns = int(self._layers.widths[0])
        engine.fill_features(features, rows, self._center, self._factor, n_columns, self._block.features)


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
    table = objective.table.transpose(0, 2, 1) if objective.loss == "forward" else objective.table
    correction = np.empty((0, n_classes)) if objective.correction is None else objective.correction
    return Head(
        kind=HEADS.index(architecture.head),
        loss=LOSSES.index(objective.loss),
        table=np.ascontiguousarray(table).reshape(-1, table.shape[2]),
        correction=np.ascontiguousarray(correction).reshape(-1, n_classes),
        thresholds=np.zeros(n_classes - 1),
        gaps=np.ones(n_classes - 1),
        offset_slopes=np.zeros(architecture.n_offsets),
        risks=np.zeros(n_classes),
        weights=np.zeros(chunk_rows),
        score_slopes=np.zeros(chunk_rows),
        chance=np.zeros(chunk_rows),
        lines=np.zeros((n_classes, chunk_rows)),
        upper=np.ones((n_classes, chunk_rows)),
        lower=np.ones((n_classes, chunk_rows)),
    )


def _adam(architecture: Architecture, optimiser: Optimiser, length: int) -> engine.Adam:
    decays_offsets = optimiser.decay_thresholds or architecture.head == "softmax"
    return engine.Adam(
        first=_zeros(length),
        second=_zeros(length),
        step=np.zeros(1, dtype=np.int64),
        learning_rate=float(optimiser.learning_rate),
        beta_1=float(optimiser.beta_1),
        beta_2=float(optimiser.beta_2),
        epsilon=float(optimiser.epsilon),
        decay=float(optimiser.weight_decay),
        offset_decay=float(optimiser.weight_decay) if decays_offsets else 0.0,
    )


def _block(n_rows: int, n_columns: int) -> engine.Block:
    # Rows are read up to a whole tile after a batch's end; whatever lies there has slope zero.
    return engine.Block(_zeros((n_rows + TILE_ROWS) * n_columns), np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows))


def _zeros(length: int) -> Float32s:
    return np.zeros(length, dtype=np.float32)
