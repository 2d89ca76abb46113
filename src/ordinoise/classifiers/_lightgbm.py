"""LightGBM's refusals as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ordinoise._sparse import is_sparse
from ordinoise._validation import complain

ZERO = 1e-35  # what LightGBM takes for zero


@contextmanager
def trained_by_lightgbm(features: Any) -> Iterator[None]:
    """Turn an error of LightGBM about the rows or the parameters into one sentence; `features` may be sparse."""
    numbers = features.data if is_sparse(features) else features
    # Refused here, as LightGBM prints a line of its own; a few rows nearly always show that there is nothing to refuse.
    if all((np.abs(some) < ZERO).all() for some in (numbers[:100], numbers)) and numbers.any():
        rule = "have a column whose numbers LightGBM can tell apart"
        advice = f"it takes every number below {ZERO:g} for zero: multiply the columns by a constant"
        raise complain("X", rule, "none", advice)
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "LightGBMError":  # by name: only the learner imports LightGBM
            raise
        raise complain("X and params", "be such that LightGBM can train", f"its error {error}") from None
