"""LightGBM's refusals as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ordinoise._validation import complain


@contextmanager
def trained_by_lightgbm() -> Iterator[None]:
    """Turn an error of LightGBM about the rows or the parameters into one sentence."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "LightGBMError":  # by name: only the learner imports LightGBM
            raise
        if "num_features" in str(error):
            rule = "have a column whose numbers LightGBM can tell apart"
            advice = "it takes every number below 1e-35 for zero: multiply the columns by a constant"
            raise complain("X", rule, "none", advice) from None
        raise complain("X and params", "be such that LightGBM can train", f"its error {error}") from None
