"""The hidden layers, forward and backward, for a chunk of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arithmetic import inlined
from ._products import activate, apply_slope, multiply, project, transpose
from .layout import Float32s

# As typed numbers: a function is compiled anew for every literal that it is called with.
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)


class Layers(NamedTuple):
    """The network being trained: padded and flat, one layer after another.

    `units` and `slopes` have room for `chunk_rows` rows of every hidden layer; `outputs` and `output_slopes` hold a
    line of `chunk_rows` for each output.
    """

    parameters: Float32s
    gradient: Float32s
    widths: NDArray[np.int64]
    n_weights: int  # parameters before the offsets
    n_outputs: int
    chunk_rows: int
    activation: int
    units: Float32s
    slopes: Float32s
    outputs: Float32s
    output_slopes: Float32s
    transposed: Float32s
    pack: Float32s
    zeros: Float32s
    one: Float32s


@inlined
def carry_forward(features: Float32s, first: int, n_rows: int, layers: Layers) -> None:
    """Write the units of every hidden layer, then the outputs; the rows' features start at `first`."""
    parameters, units, pack = layers.parameters, layers.units, layers.pack
    source, source_at, at, out_at = features, first, ZERO, ZERO
    for layer in range(len(layers.widths) - 1):
        n_in, n_out = layers.widths[layer], layers.widths[layer + 1]
        bias_at = at + n_in * n_out
        rows, bias = (source, source_at, n_in, ONE), (parameters, bias_at, ZERO)
        multiply(rows, (parameters, at), bias, (units, out_at), n_rows, n_in, n_out, pack)
        activate(units[out_at : out_at + n_rows * n_out], layers.activation)
        source, source_at = units, out_at
        at = bias_at + n_out
        out_at += layers.chunk_rows * n_out
    width = layers.widths[-1]
    for o in range(layers.n_outputs):
        weights = parameters[at + o * width : at + (o + 1) * width]
        project(source, source_at, n_rows, weights, layers.outputs[o * layers.chunk_rows :])


@inlined
def carry_backward(features: Float32s, first: int, n_rows: int, layers: Layers, is_first: bool) -> None:
    """Add the gradient of the rows whose units and output slopes are known to that of a batch's earlier rows."""
    parameters, gradient, units, slopes = layers.parameters, layers.gradient, layers.units, layers.slopes
    n_outputs, n_layers, pack = layers.n_outputs, len(layers.widths) - 1, layers.pack
    width = layers.widths[n_layers]
    at, nothing = layers.n_weights - n_outputs * width, (layers.zeros, ZERO, ZERO)
    source, source_at = features, first
    if n_layers > 0:
        source, source_at = units, len(units) - layers.chunk_rows * width
        columns = (layers.output_slopes, ZERO, ONE, layers.chunk_rows)
        multiply(columns, (parameters, at), nothing, (slopes, source_at), n_rows, n_outputs, width, pack)
    lines = (layers.output_slopes, ZERO, layers.chunk_rows, ONE)
    total = nothing if is_first else (gradient, at, width)
    multiply(lines, (source, source_at), total, (gradient, at), n_outputs, n_rows, width, pack)
    for layer in range(n_layers - 1, -1, -1):
        n_in, n_out, slopes_at = layers.widths[layer], layers.widths[layer + 1], source_at
        bias_at = at - n_out
        at = bias_at - n_in * n_out
        here = slice(slopes_at, slopes_at + n_rows * n_out)
        apply_slope(units[here], slopes[here], layers.activation)
        ones, total = (layers.one, ZERO, ZERO, ZERO), nothing if is_first else (gradient, bias_at, ZERO)
        multiply(ones, (slopes, slopes_at), total, (gradient, bias_at), ONE, n_rows, n_out, pack)
        source, source_at = (units, slopes_at - layers.chunk_rows * n_in) if layer > 0 else (features, first)
        columns, total = (source, source_at, ONE, n_in), nothing if is_first else (gradient, at, n_out)
        multiply(columns, (slopes, slopes_at), total, (gradient, at), n_in, n_rows, n_out, pack)
        if layer > 0:
            transpose(parameters, at, n_in, n_out, layers.transposed)
            rows, weights = (slopes, slopes_at, n_out, ONE), (layers.transposed, ZERO)
            multiply(rows, weights, nothing, (slopes, source_at), n_rows, n_out, n_in, pack)
