"""One small matrix product with its sums in vector registers: all of a network's products are made of it.

Compilers turn plain loops over matrices into vector code only with checks for overlap and sums that travel through
memory, several times slower at the paper's sizes. So this one loop is spelled out in the compiler's own vectors.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.cgutils import ir  # type: ignore[attr-defined]
from numba.extending import intrinsic

from .layout import TILE_COLUMNS

LANES = 8  # float32 numbers in a 256-bit register
# 4 rows x 2 vectors of sums, 2 vectors of factors and one broadcast are 11 of AVX's 16 registers: the sums never leave
# them. Where registers are narrower, the compiler splits each vector.
VECTORS = TILE_COLUMNS // LANES

VECTOR = ir.VectorType(ir.FloatType(), LANES)
INDEX = ir.IntType(64)
FUSED = ("contract",)  # the one liberty given here: multiply and add in one instruction; the order of terms is fixed


def tile(n_rows: int) -> Any:
    """A function for compiled code: ``out[r, c] = start[r, c] + sum_k a[r, k] b[k, c]`` in one tile.

    The tile has `n_rows` rows and TILE_COLUMNS columns. A matrix is a tuple: a flat float32 array, the position of its
    first number and the distance between its rows (for `a` also the distance between its terms). Nothing is checked:
    the caller sees to it that whole tiles lie inside the arrays.
    """

    @intrinsic
    def product(_: Any, start: Any, a: Any, b: Any, n_terms: Any, out: Any) -> Any:
        return types.void(start, a, b, n_terms, out), _generator(n_rows)

    return product


def _generator(n_rows: int) -> Any:
    """What writes the tile's instructions: load the sums, add one term k per round, store the sums.

    The loop over terms is the only one at run time; those over rows and vectors are unrolled here. A round loads
    ``b[k, :]`` once for all rows and broadcasts ``a[r, k]`` for each, so it makes 2 n_rows multiply-adds of 8 numbers
    from n_rows + 2 loads.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def matrix(position: int) -> list[Any]:
            array, *distances = cgutils.unpack_tuple(builder, arguments[position])
            return [context.make_array(signature.args[position][0])(context, builder, array).data, *distances]

        start, start_at, start_row = matrix(0)
        a, a_at, a_row, a_term = matrix(1)
        b, b_at, b_row = matrix(2)
        out, out_at, out_row = matrix(4)
        # Variables on the stack, as the builder has no others; the compiler promotes each to a register.
        sums = [[cgutils.alloca_once(builder, VECTOR) for _ in range(VECTORS)] for _ in range(n_rows)]
        for r, row in enumerate(sums):
            for vector, slot in zip(_vectors(builder, start, _line(builder, start_at, start_row, r)), row, strict=True):
                builder.store(builder.load(vector, align=4), slot)  # positions are multiples of a float only
        with cgutils.for_range(builder, arguments[3]) as loop:
            line = builder.add(b_at, builder.mul(loop.index, b_row))
            factors = [builder.load(vector, align=4) for vector in _vectors(builder, b, line)]
            term = builder.add(a_at, builder.mul(loop.index, a_term))
            for r, row in enumerate(sums):
                _add_products(builder, _broadcast(builder, a, _line(builder, term, a_row, r)), factors, row)
        for r, row in enumerate(sums):
            for vector, slot in zip(_vectors(builder, out, _line(builder, out_at, out_row, r)), row, strict=True):
                builder.store(builder.load(slot), vector, align=4)
        return context.get_dummy_value()

    return generate


def _line(builder: Any, at: Any, distance: Any, n: int) -> Any:
    """Position of the n-th line."""
    return builder.add(at, builder.mul(distance, INDEX(n)))


def _vectors(builder: Any, data: Any, at: Any) -> list[Any]:
    """Pointers to the vectors of a line of TILE_COLUMNS numbers."""
    starts = [builder.gep(data, [builder.add(at, INDEX(v * LANES))]) for v in range(VECTORS)]
    return [builder.bitcast(start, VECTOR.as_pointer()) for start in starts]


def _broadcast(builder: Any, data: Any, at: Any) -> Any:
    """A vector full of one number."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, builder.load(builder.gep(data, [at])), ir.IntType(32)(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _add_products(builder: Any, number: Any, factors: list[Any], row: list[Any]) -> None:
    """Add number times factors to a row of sums."""
    for factor, slot in zip(factors, row, strict=True):
        product = builder.fmul(number, factor, flags=FUSED)
        builder.store(builder.fadd(builder.load(slot), product, flags=FUSED), slot)
