"""Exponential, logarithm and tanh as plain arithmetic, so that loops over them become vector instructions.

The C library's functions are called one number at a time. These are polynomials after a change of exponent, which is
done on the bits of a number; relative errors are a few units in the last place. Degrees are
such that the first omitted term of a series is below the precision of its type.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from ordinoise._compiling import compiled_and_kept

# Adding this rounds to a whole number and leaves it in the lowest bits; reassociation would undo that, so it is not
# among the liberties given to the compiler here.
ROUND_64 = np.float64(1.5 * 2.0**52)
ROUND_32 = np.float32(1.5 * 2.0**23)
LOG2_E = np.float64(1.4426950408889634)
# ln 2 in two parts, as in fdlibm: the high one ends in zero bits, so that its product with an exponent is exact.
LN_2_HIGH = np.float64(6.93147180369123816490e-01)
LN_2_LOW = np.float64(1.90821492927058770002e-10)
LARGEST_EXPONENT = np.float64(700.0)  # a round number: exp(700) and exp(-700) are normal float64
MANTISSA = np.int64(2**52 - 1)
ONE = np.int64(1023 << 52)  # the bits of 1.0
WHOLE = np.int64(0x433 << 52)  # the bits of 2**52, whose lowest bits can be read as a whole number
SQRT_2 = np.float64(1.4142135623730951)

LOG2_E_32, LN_2_32 = np.float32(1.4426950408889634), np.float32(0.6931471805599453)
C2, C3, C4, C5, C6, C7 = (np.float32(1 / n) for n in (2, 6, 24, 120, 720, 5040))  # 1 / n!


OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Functions that only compiled code calls need no wrapper for Python, which takes longer to compile than most of them.
INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# The compiler may fuse, reorder sums and ignore the sign of zero; it may not assume that numbers are finite.
LIBERTIES = {"contract", "reassoc", "nsz"}


def _fingerprint() -> str:
    """A digest of all compiled code of this folder."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


FINGERPRINT = _fingerprint()


def entry(function: Any) -> Any:
    """`function`, compiled to be called from Python: cached on disk, without Python's global lock."""
    # numba's cache checks the function's own file only and would miss a change in a function that it calls. Its files
    # are named after the function, so a digest of the folder in that name makes every change count.
    function.__qualname__ += f"_{FINGERPRINT}"
    return compiled_and_kept(function, **OPTIONS, fastmath=LIBERTIES)


def compiled(function: Any) -> Any:
    """`function`, compiled to be called from compiled code; its sums may be taken in any order."""
    return njit(**OPTIONS, **INNER, fastmath=LIBERTIES)(function)


def inlined(function: Any) -> Any:
    """`function`, copied into the one compiled function that calls it: its code is then optimized only once."""
    return njit(**OPTIONS, **INNER, fastmath=LIBERTIES, inline="always")(function)


def exactly_compiled(function: Any) -> Any:
    """`function`, compiled as `compiled` does but with its sums in the order written."""
    return njit(**OPTIONS, **INNER, fastmath={"contract"})(function)


@exactly_compiled
def exp(x: float) -> float:
    """The exponential of a number, which is first clipped to [-700, 700].

    ``exp(x) = 2^n exp(r)`` with n the whole number next to ``x / ln 2`` and ``|r| <= ln(2) / 2``; exp(r) by its Taylor
    series of degree 12. One is added last, to lose no digits of r.
    """
    x = min(max(x, -LARGEST_EXPONENT), LARGEST_EXPONENT)
    shifted = x * LOG2_E + ROUND_64
    whole = shifted - ROUND_64
    r = (x - whole * LN_2_HIGH) - whole * LN_2_LOW
    p = 1 / 479001600 * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = (p * r) * r + r
    power = np.int64((np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)).view(np.float64)
    return power + power * p


@exactly_compiled
def log(x: float) -> float:
    """The logarithm of a positive normal number.

    ``log(2^e m) = e ln 2 + log m`` with m between ``1 / sqrt(2)`` and ``sqrt(2)``, and ``log m = 2 atanh(s)`` by its
    series in ``s = (m - 1) / (m + 1)``, taken to s^19.
    """
    bits = np.float64(x).view(np.int64)
    exponent = np.int64((bits >> np.int64(52)) | WHOLE).view(np.float64) - (2.0**52 + 1023.0)
    mantissa = np.int64((bits & MANTISSA) | ONE).view(np.float64)
    large = mantissa > SQRT_2
    mantissa = mantissa * 0.5 if large else mantissa
    exponent = exponent + 1.0 if large else exponent
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    p = 2 / 19 * z + 2 / 17
    p = p * z + 2 / 15
    p = p * z + 2 / 13
    p = p * z + 2 / 11
    p = p * z + 2 / 9
    p = p * z + 2 / 7
    p = p * z + 2 / 5
    p = p * z + 2 / 3
    p = (p * z) * s + 2.0 * s
    return exponent * LN_2_HIGH + (exponent * LN_2_LOW + p)


@exactly_compiled
def tanh(x: np.float32) -> np.float32:
    """The hyperbolic tangent of a float32 number, from ``exp(-2|x|)`` as in `exp`, by a series of degree 7.

    ``2|x|`` is cut at 20, where tanh has reached one in float32.
    """
    y = min(np.float32(2) * abs(x), np.float32(20))
    shifted = ROUND_32 - y * LOG2_E_32
    whole = shifted - ROUND_32
    r = -y - whole * LN_2_32
    p = C7 * r + C6
    p = p * r + C5
    p = p * r + C4
    p = p * r + C3
    p = p * r + C2
    p = (p * r) * r + r
    power = np.int32((np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)).view(np.float32)
    rest = power * p + (power - np.float32(1))  # exp(-2|x|) - 1 without cancellation
    t = -rest / (rest + np.float32(2))
    return t if x > 0 else -t
