"""What the kernels add up does not depend on where the system puts their arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from ordinoise._validation import Ints
from ordinoise.learners.boosting.objective import ForwardOrdered
from ordinoise.noise import inverse_decay

N_ROWS = 64  # one block
SPAN = 2**17  # numbers on both sides of where the kernel's arrays are expected


def _fill_with_addresses(out: Ints) -> None:
    """Where arrays of the size of the kernel's are put."""
    first, second, third = np.empty(64), np.empty(64), np.empty(64)
    out[:] = first.ctypes.data, second.ctypes.data, third.ctypes.data


def test_sums_of_the_ordered_kernel_are_the_same_wherever_its_arrays_lie() -> None:
    """A compiled loop that suspects two arrays to overlap adds in another order; weights are said to be longer here.

    Numba reads ``weights[low + i]`` as if the place could be counted from the end. The compiler's check for overlap
    then includes memory that lies beyond the end by the length of the array, and by chance other arrays are there.
    """
    rng = np.random.default_rng(0)
    objective = ForwardOrdered(np.asarray(inverse_decay(4, 0.12))[None])
    scores, cells, offsets = rng.normal(size=N_ROWS) * 3, rng.integers(4, size=N_ROWS), np.array([1.3, -0.2, -1.7])
    weights = min((np.ones(N_ROWS) for _ in range(500)), key=lambda array: array.ctypes.data)

    def sums(said_length: int) -> bytes:
        longer = np.lib.stride_tricks.as_strided(weights, (said_length,), (8,))
        return b"".join(array.tobytes() for array in objective.slopes(scores, offsets, cells, longer))

    expected = sums(N_ROWS)
    addresses = np.empty(3, dtype=np.int64)
    compiled: Any = njit(_fill_with_addresses)
    compiled(addresses)
    lengths = {
        length - length % N_ROWS
        for address in addresses.tolist()
        for length in range(
            (address - weights.ctypes.data) // 8 - SPAN, (address - weights.ctypes.data) // 8 + SPAN, N_ROWS
        )
        if length > 2 * N_ROWS
    }
    if not lengths:
        pytest.skip("the system puts the kernel's arrays before all others")
    assert all(sums(length) == expected for length in lengths)
