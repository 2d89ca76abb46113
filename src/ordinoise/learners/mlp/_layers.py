"""The hidden layers, forward and backward, for a chunk of rows.

With U_0 the features (rows, widths[0]), layer l computes ``U_{l+1} = act(U_l W_l + b_l)``, W_l of shape
(widths[l], widths[l+1]), and the outputs are ``V U_L^T``, V of shape (n_outputs, widths[L]). The backward pass carries
the slopes ``D_l = dLoss/dU_l`` from the last layer to the first: with E the product, number by number, of D_{l+1} and
the derivative of the activation, ``dW_l = U_l^T E``, ``db_l`` is the sum of the rows of E, and ``D_l = E W_l^T``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arithmetic import inlined
from ._products import activate, apply_slope, clear, multiply, project, transpose
from ._sparse import SparseRows, add_projected_gradient, add_weight_gradient, enter_units, project_rows
from .layout import Float32s

# As typed numbers: numba compiles a function once more for every literal that it is called with.
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)


class Layers(NamedTuple):
    """The network being trained: padded and flat, one layer after another.

    Padding is zero and stays zero: a padded unit has only zero weights on both sides, so its value (every activation
    maps 0 to 0) and its gradients are zero.
    """

    parameters: Float32s  # W_0, b_0, W_1, b_1, ..., V, offsets
    gradient: Float32s  # in the same places
    widths: NDArray[np.int64]  # padded: features, then every hidden layer
    n_weights: int  # parameters before the offsets
    n_outputs: int
    chunk_rows: int
    activation: int
    units: Float32s  # U_1, U_2, ..., each (chunk_rows, width)
    slopes: Float32s  # D_1, D_2, ..., in the same places
    outputs: Float32s  # (n_outputs, chunk_rows)
    output_slopes: Float32s  # (n_outputs, chunk_rows)
    transposed: Float32s  # room for the largest W^T that the backward pass needs
    pack: Float32s  # room for one packed panel of a product
    zeros: Float32s  # one line of zeros, to start a product from
    one: Float32s  # a single 1, read with distance zero as a line of ones


@inlined
def carry_forward(
    features: Float32s, first: int, n_rows: int, sparse: SparseRows, low: int, n: int, layers: Layers
) -> None:
    """Write U_1, U_2, ..., then the outputs; features start at `first`, or are n sparse rows from `low` on."""
    parameters, units, pack = layers.parameters, layers.units, layers.pack
    source, source_at, at, out_at, is_sparse = features, first, ZERO, ZERO, len(sparse.starts) > 0
    for layer in range(len(layers.widths) - 1):
        n_in, n_out = layers.widths[layer], layers.widths[layer + 1]
        bias_at = at + n_in * n_out
        # The bias as a matrix whose rows lie zero numbers apart: every row of the product starts from it.
        rows, bias = (source, source_at, n_in, ONE), (parameters, bias_at, ZERO)
        if is_sparse and layer == 0:
            enter_units(sparse, low, n, parameters[:bias_at], parameters[bias_at : bias_at + n_out], units)
        else:
            multiply(rows, (parameters, at), bias, (units, out_at), n_rows, n_in, n_out, pack)
        activate(units[out_at : out_at + n_rows * n_out], layers.activation)
        source, source_at = units, out_at
        at = bias_at + n_out
        out_at += layers.chunk_rows * n_out
    width = layers.widths[-1]
    # One output at a time, since mostly there is one only, which would fill a sixteenth of a tile.
    for o in range(layers.n_outputs):
        weights, out = parameters[at + o * width : at + (o + 1) * width], layers.outputs[o * layers.chunk_rows :]
        if is_sparse and len(layers.widths) == 1:
            project_rows(sparse, low, n, weights, out)
        else:
            project(source, source_at, n_rows, weights, out)


@inlined
def carry_backward(
    features: Float32s,
    first: int,
    n_rows: int,
    sparse: SparseRows,
    low: int,
    n: int,
    layers: Layers,
    is_first: bool,
) -> None:
    """Add the gradient of a chunk, whose units and output slopes are known, to that of the batch's earlier chunks.

    The first chunk overwrites the gradient instead, which saves clearing it.
    """
    parameters, gradient, units, slopes = layers.parameters, layers.gradient, layers.units, layers.slopes
    n_outputs, n_layers, pack = layers.n_outputs, len(layers.widths) - 1, layers.pack
    width = layers.widths[n_layers]
    at, nothing = layers.n_weights - n_outputs * width, (layers.zeros, ZERO, ZERO)
    source, source_at, is_sparse = features, first, len(sparse.starts) > 0
    if n_layers > 0:
        # D_L = (output slopes)^T V: the lines of the slopes are read as columns, by exchanging the two distances.
        source, source_at = units, len(units) - layers.chunk_rows * width
        columns = (layers.output_slopes, ZERO, ONE, layers.chunk_rows)
        multiply(columns, (parameters, at), nothing, (slopes, source_at), n_rows, n_outputs, width, pack)
    # dV = (output slopes) U_L.
    lines = (layers.output_slopes, ZERO, layers.chunk_rows, ONE)
    total = nothing if is_first else (gradient, at, width)
    if is_sparse and n_layers == 0:
        for o in range(n_outputs):
            by_output = layers.output_slopes[o * layers.chunk_rows :]
            add_projected_gradient(sparse, low, n, by_output, gradient[at + o * width : at + (o + 1) * width], is_first)
    else:
        multiply(lines, (source, source_at), total, (gradient, at), n_outputs, n_rows, width, pack)
    for layer in range(n_layers - 1, -1, -1):
        n_in, n_out, slopes_at = layers.widths[layer], layers.widths[layer + 1], source_at
        bias_at = at - n_out
        at = bias_at - n_in * n_out
        here = slice(slopes_at, slopes_at + n_rows * n_out)
        apply_slope(units[here], slopes[here], layers.activation)  # D becomes E, in place
        ones, total = (layers.one, ZERO, ZERO, ZERO), nothing if is_first else (gradient, bias_at, ZERO)
        multiply(ones, (slopes, slopes_at), total, (gradient, bias_at), ONE, n_rows, n_out, pack)
        source, source_at = (units, slopes_at - layers.chunk_rows * n_in) if layer > 0 else (features, first)
        columns, total = (source, source_at, ONE, n_in), nothing if is_first else (gradient, at, n_out)
        if is_sparse and layer == 0:
            if is_first:
                clear(gradient[at:bias_at])
            add_weight_gradient(sparse, low, n, slopes[here], n_out, gradient[at:bias_at])
        else:
            multiply(columns, (slopes, slopes_at), total, (gradient, at), n_in, n_rows, n_out, pack)
        if layer > 0:  # nothing asks for the slopes by feature
            # A tile reads its second factor by contiguous rows, so W^T is written out first.
            transpose(parameters, at, n_in, n_out, layers.transposed)
            rows, weights = (slopes, slopes_at, n_out, ONE), (layers.transposed, ZERO)
            multiply(rows, weights, nothing, (slopes, source_at), n_rows, n_out, n_in, pack)
