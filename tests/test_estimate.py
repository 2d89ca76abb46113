"""A number with its interval."""

from __future__ import annotations

import math

from ordinoise.estimate import Estimate


def test_a_range_has_no_number_and_prints_only_its_ends() -> None:
    known, range_ = Estimate(0.5, 0.25, 0.75), Estimate(math.nan, 0.25, 0.75)
    assert (known.is_range, str(known)) == (False, "0.50 (0.25 to 0.75)")
    assert (range_.is_range, str(range_)) == (True, "0.25 to 0.75")
