"""The matrix products of a network's layers, and what is done to each number between them.

A matrix is a flat float32 array, the position of its first number, and where needed the distances between its rows and
between its columns: exchanged, they transpose it; a distance of zero repeats one row. Columns are padded by the caller
to a multiple of a tile's columns, rows of samples to a multiple of its rows, so that only products with few rows (the
gradients of the output weights and biases) have remainders.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arithmetic import compiled, tanh
from ._tile import tile
from .layout import TILE_COLUMNS as COLUMNS
from .layout import TILE_ROWS as ROWS
from .layout import Float32s

Rows = tuple[Float32s, int]  # numbers, position; rows lie as far apart as the product has columns
Matrix = tuple[Float32s, int, int]  # numbers, position, distance between rows
Factor = tuple[Float32s, int, int, int]  # numbers, position, distance between rows, distance between terms

RELU, TANH, IDENTITY = 0, 1, 2

# Chosen by timing products when the kernels were written; that run was not kept. `python -m studies.steps` times whole
# updates with them. They decide the speed only, except that a BLAS library adds in an order of its own.
PACK_FROM = 128  # from this many columns on, the rows of a panel lie so far apart that it pays to copy them together
PACK_TERMS = 160  # at most so many terms per copy: 160 x 16 float32 are 10 KB, a third of a nearest cache of 32 KB
SQUARE = 8  # side of the squares of a transpose: as many lines of a cache as lie in one set of it
BLAS_FROM = 30_000_000  # from this many multiplications on, a BLAS library is faster than the tiles

NOTHING = np.float32(0)
ZERO: Any = np.int64(0)
WIDTH: Any = np.int64(COLUMNS)

tile_of_four = tile(ROWS)
tile_of_one = tile(1)


@compiled
def multiply(
    a: Factor, b: Rows, start: Matrix, out: Rows, n_rows: int, n_terms: int, n_columns: int, pack: Float32s
) -> None:
    """Write ``start + a @ b`` into `out`.

    Shapes: `a` (n_rows, n_terms), `b` (n_terms, n_columns), `start` and `out` (n_rows, n_columns).
    `start` and `out` may be the same numbers: a tile reads all of its part before it writes.
    """
    # Blocks of terms outside, panels of 16 columns next, tiles of 4 rows inside: a panel of b, packed or not, is then
    # reused for all rows while it is in the nearest cache. Blocks after the first add to what `out` holds by then.
    a_data, a_at, a_row, a_term = a
    is_dense = (a_term == 1 and a_row == n_terms) or (a_row == 1 and a_term == n_rows)
    if is_dense and n_rows * n_terms * n_columns >= BLAS_FROM:
        multiply_large(a, b, start, out, n_rows, n_terms, n_columns)
        return
    packs = n_columns >= PACK_FROM and n_rows > ROWS
    n_blocks = (n_terms + PACK_TERMS - 1) // PACK_TERMS if packs else 1
    n_block_terms = (n_terms + n_blocks - 1) // n_blocks
    for first in range(0, n_terms, n_block_terms):
        n = min(n_block_terms, n_terms - first)
        data, at, row = start if first == 0 else (out[0], out[1], n_columns)
        factor = (a_data, a_at + first * a_term, a_row, a_term)
        for column in range(0, n_columns, COLUMNS):
            panel = (b[0], b[1] + first * n_columns + column, n_columns)
            if packs:
                copy_panel(panel, n, pack)
                panel = (pack, ZERO, WIDTH)
            multiply_panel(factor, panel, (data, at + column, row), (out[0], out[1] + column, n_columns), n_rows, n)


@compiled
def multiply_large(a: Factor, b: Rows, start: Matrix, out: Rows, n_rows: int, n_terms: int, n_columns: int) -> None:
    """As `multiply`, by the BLAS library."""
    a_data, a_at, _, a_term = a
    start_data, start_at, start_row = start
    dense = a_data[a_at : a_at + n_rows * n_terms]
    factor = b[0][b[1] : b[1] + n_terms * n_columns].reshape((n_terms, n_columns))
    target = out[0][out[1] : out[1] + n_rows * n_columns].reshape((n_rows, n_columns))
    # `np.dot` overwrites: where `start` is `out` itself, the product goes elsewhere first. In the products that come
    # here, a start with row distance zero is a bias or the line of zeros, never `out`: the product is then written in
    # place, and zeros are not added at all.
    product = target if start_row == 0 else np.empty_like(target)
    if a_term == 1:
        np.dot(dense.reshape((n_rows, n_terms)), factor, product)
    else:
        np.dot(dense.reshape((n_terms, n_rows)).T, factor, product)
    if start_row == 0 and absolute_sum(start_data[start_at : start_at + n_columns]) == 0:
        return
    for r in range(n_rows):
        first = start_data[start_at + r * start_row : start_at + r * start_row + n_columns]
        row, sums = product[r], target[r]
        for c in range(n_columns):
            sums[c] = first[c] + row[c]


@compiled
def multiply_panel(a: Factor, b: Matrix, start: Matrix, out: Matrix, n_rows: int, n_terms: int) -> None:
    """As `multiply`, for the columns of one tile: four rows at a time, then the rest one by one."""
    a_data, a_at, a_row, a_term = a
    start_data, start_at, start_row = start
    out_data, out_at, out_row = out
    whole = n_rows // ROWS * ROWS
    for r in range(0, whole, ROWS):
        lines = (a_data, a_at + r * a_row, a_row, a_term)
        first, last = (start_data, start_at + r * start_row, start_row), (out_data, out_at + r * out_row, out_row)
        tile_of_four(first, lines, b, n_terms, last)
    for r in range(whole, n_rows):
        lines = (a_data, a_at + r * a_row, a_row, a_term)
        first, last = (start_data, start_at + r * start_row, start_row), (out_data, out_at + r * out_row, out_row)
        tile_of_one(first, lines, b, n_terms, last)


@compiled
def copy_panel(panel: Matrix, n_terms: int, pack: Float32s) -> None:
    """Copy a panel of b, (n_terms, COLUMNS), into contiguous `pack`."""
    data, at, row = panel
    for k in range(n_terms):
        source, target = data[at + k * row : at + k * row + COLUMNS], pack[k * COLUMNS : (k + 1) * COLUMNS]
        for c in range(COLUMNS):
            target[c] = source[c]


@compiled
def transpose(matrix: Float32s, at: int, n_rows: int, n_columns: int, out: Float32s) -> None:
    """Write the transpose of a (n_rows, n_columns) matrix to the start of `out`, in squares that a near cache holds."""
    for r in range(0, n_rows, SQUARE):
        for c in range(0, n_columns, SQUARE):
            for j in range(c, min(c + SQUARE, n_columns)):
                for i in range(r, min(r + SQUARE, n_rows)):
                    out[j * n_rows + i] = matrix[at + i * n_columns + j]


@compiled
def project(units: Float32s, at: int, n_rows: int, weights: Float32s, out: Float32s) -> None:
    """Write ``out[i] = sum_h units[i, h] weights[h]`` for every row i; rows are a multiple of four.

    Four rows at a time share each load of a weight, and their four sums do not wait for one another.
    """
    n = len(weights)
    for i in range(0, n_rows, 4):
        first = at + i * n
        u0, u1 = units[first : first + n], units[first + n : first + 2 * n]
        u2, u3 = units[first + 2 * n : first + 3 * n], units[first + 3 * n : first + 4 * n]
        s0, s1, s2, s3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for h in range(n):
            s0 += u0[h] * weights[h]
            s1 += u1[h] * weights[h]
            s2 += u2[h] * weights[h]
            s3 += u3[h] * weights[h]
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3


@compiled
def activate(units: Float32s, activation: int) -> None:
    """Apply the activation in place."""
    if activation == RELU:
        for i in range(len(units)):
            # max(u, 0) as a product: a branch would become a conditional store, which is not vectorized.
            units[i] *= np.float32(units[i] > NOTHING)
    elif activation == TANH:
        for i in range(len(units)):
            units[i] = tanh(units[i])


@compiled
def apply_slope(units: Float32s, slopes: Float32s, activation: int) -> None:
    """Multiply `slopes` by the derivative of the activation, known from the activated u: [u > 0], 1 - u^2, or 1."""
    if activation == RELU:
        for i in range(len(units)):
            slopes[i] *= np.float32(units[i] > NOTHING)
    elif activation == TANH:
        for i in range(len(units)):
            slopes[i] *= np.float32(1) - units[i] * units[i]


@compiled
def clear(numbers: NDArray[np.floating]) -> None:
    """Set all to zero."""
    for i in range(len(numbers)):
        numbers[i] = 0


@compiled
def absolute_sum(numbers: NDArray[np.floating]) -> float:
    """Sum of absolute values; infinite or NaN as soon as one number is, so one comparison tests them all."""
    total = 0.0
    for i in range(len(numbers)):
        total += abs(numbers[i])
    return total
