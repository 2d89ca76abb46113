"""The place of each weight in the flat parameter vector, as saved (tight) and as trained (padded)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import as_choice, as_count

ACTIVATIONS = ("relu", "tanh", "identity")
HEADS = ("free", "ordered", "softmax")
# Of the compiled matrix product, whose sums then fit the registers (see `_tile`); trained weights are padded to whole
# tiles.
TILE_ROWS, TILE_COLUMNS = 4, 16

Shape = tuple[int, ...]
Float32s = NDArray[np.float32]


@dataclass(frozen=True)
class Architecture:
    """The form of a network: widths, activation and head.

    Parameters
    ----------
    n_features, n_classes : int
        Columns of the features, number of ordered labels (K).
    hidden_layer_sizes : tuple of int
        Units of each hidden layer; ``()`` is a linear model.
    activation : {"relu", "tanh", "identity"}
        After every hidden layer.
    head : {"ordered", "free", "softmax"}
        One score and K-1 thresholds, which descend by construction (ordered) or are plain parameters as in the
        paper (free), or K outputs with a bias each (softmax).
    """

    n_features: int
    n_classes: int
    hidden_layer_sizes: tuple[int, ...] = (10,)
    activation: str = "relu"
    head: str = "ordered"

    def __post_init__(self) -> None:
        as_count("n_features", self.n_features, 1)
        as_count("n_classes", self.n_classes, 2)
        for size in self.hidden_layer_sizes:
            as_count("hidden_layer_sizes", size, 1)
        as_choice("activation", self.activation, ACTIVATIONS)
        as_choice("head", self.head, HEADS)

    @property
    def n_outputs(self) -> int:
        """One score, or one output per class for the softmax head."""
        return self.n_classes if self.head == "softmax" else 1

    @property
    def n_offsets(self) -> int:
        """Numbers added to the outputs: K-1 thresholds, or K biases for the softmax head."""
        return self.n_classes if self.head == "softmax" else self.n_classes - 1

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns that enter each layer: the features, then every hidden layer."""
        return (self.n_features, *self.hidden_layer_sizes)

    @property
    def n_parameters(self) -> int:
        """Length of the flat parameter vector."""
        return sum(prod(shape) for _, shape in array_shapes(self))


def array_shapes(architecture: Architecture, *, padded: bool = False) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every array of the flat vector, in order.

    ``weights_0`` (n_features, units), ``biases_0``, ..., ``output_weights`` (n_outputs, units), ``offsets``.
    """
    widths = padded_widths(architecture) if padded else architecture.widths
    for layer, (n_in, n_out) in enumerate(pairwise(widths)):
        yield f"weights_{layer}", (n_in, n_out)
        yield f"biases_{layer}", (n_out,)
    yield "output_weights", (architecture.n_outputs, widths[-1])
    yield "offsets", (architecture.n_offsets,)


def padded_widths(architecture: Architecture) -> tuple[int, ...]:
    """Widths as trained, rounded up to whole tiles.

    Hidden layers are columns of a product; the features are only its rows, unless there is no hidden layer.
    """
    multiples = [TILE_COLUMNS] * len(architecture.widths)
    if architecture.hidden_layer_sizes:
        multiples[0] = TILE_ROWS
    return tuple(round_up(*pair) for pair in zip(architecture.widths, multiples, strict=True))


def round_up(count: int, multiple: int) -> int:
    """The least multiple of `multiple` that is at least `count`."""
    return -(-count // multiple) * multiple


def split(architecture: Architecture, flat: Float32s) -> dict[str, Float32s]:
    """Named views into a flat vector."""
    views = {}
    start = 0
    for name, shape in array_shapes(architecture):
        views[name] = flat[start : start + prod(shape)].reshape(shape)
        start += prod(shape)
    return views


def padded_positions(architecture: Architecture) -> tuple[NDArray[np.int64] | slice, int]:
    """Position of every parameter in the padded vector, a slice where nothing is padded; and that vector's length."""
    tight = dict(array_shapes(architecture))
    positions = []
    start = 0
    for name, shape in array_shapes(architecture, padded=True):
        block = np.arange(start, start + prod(shape)).reshape(shape)
        positions.append(block[tuple(slice(0, length) for length in tight[name])].ravel())
        start += prod(shape)
    found = np.concatenate(positions)
    return slice(start) if len(found) == start else found, start
