"""The first layer on sparse rows: products that visit only the columns that are not zero.

Rows come as CSR: row i has ``columns[starts[i] : starts[i + 1]]`` and the `values` there. With n_out units the weights
that a column meets are a contiguous line of W_0, so that the inner loops run over units; without a hidden layer a line
of V belongs to an output, and they run over the row's columns.
"""

from __future__ import annotations

from typing import NamedTuple

from ._arithmetic import compiled
from ._heads import Ints
from ._products import NOTHING, clear
from .layout import Float32s


class SparseRows(NamedTuple):
    """The rows of one call; of length zero where features are dense."""

    starts: Ints  # (rows + 1,)
    columns: Ints
    values: Float32s  # scaled


@compiled
def enter_units(rows: SparseRows, low: int, n: int, weights: Float32s, bias: Float32s, units: Float32s) -> None:
    """Write ``x W_0 + b_0`` of rows low..low+n to the lines of `units`."""
    n_out = len(bias)
    for i in range(n):
        line = units[i * n_out : (i + 1) * n_out]
        for c in range(n_out):
            line[c] = bias[c]
        for at in range(rows.starts[low + i], rows.starts[low + i + 1]):
            value = rows.values[at]
            met = weights[rows.columns[at] * n_out : (rows.columns[at] + 1) * n_out]
            for c in range(n_out):
                line[c] += value * met[c]


@compiled
def add_weight_gradient(rows: SparseRows, low: int, n: int, slopes: Float32s, n_out: int, gradient: Float32s) -> None:
    """Add ``x^T E`` of rows low..low+n, whose slopes E are the lines of `slopes`."""
    for i in range(n):
        line = slopes[i * n_out : (i + 1) * n_out]
        for at in range(rows.starts[low + i], rows.starts[low + i + 1]):
            value = rows.values[at]
            met = gradient[rows.columns[at] * n_out : (rows.columns[at] + 1) * n_out]
            for c in range(n_out):
                met[c] += value * line[c]


@compiled
def project_rows(rows: SparseRows, low: int, n: int, weights: Float32s, out: Float32s) -> None:
    """Write ``out[i] = x_i . weights`` for rows low..low+n: one output without a hidden layer."""
    for i in range(n):
        total = NOTHING
        for at in range(rows.starts[low + i], rows.starts[low + i + 1]):
            total += rows.values[at] * weights[rows.columns[at]]
        out[i] = total


@compiled
def add_projected_gradient(
    rows: SparseRows, low: int, n: int, slopes: Float32s, gradient: Float32s, is_first: bool
) -> None:
    """Add ``sum_i slopes[i] x_i``, the gradient of one output's weights; a batch starts from zero."""
    if is_first:
        clear(gradient)
    for i in range(n):
        for at in range(rows.starts[low + i], rows.starts[low + i + 1]):
            gradient[rows.columns[at]] += slopes[i] * rows.values[at]
