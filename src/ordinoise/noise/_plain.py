"""Parts of a noise record as they come out of a file: checked, or refused with one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinoise._validation import Floats, as_number, complain


def plain_array(name: str, values: Any) -> Floats:
    """An array of numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise complain(name, "be an array of numbers", repr(values)[:60]) from None


def plain_raters(raters: Any) -> tuple[Any, ...]:
    """Names of raters."""
    if not isinstance(raters, (list, tuple)) or not all(isinstance(one, (str, int, float)) for one in raters):
        raise complain("raters", "be a list of names", repr(raters)[:60])
    return tuple(raters)


def plain_confidence(value: Any) -> float:
    """A level of confidence."""
    found = plain_array("confidence", value)
    return as_number("confidence", found.item() if found.ndim == 0 else value, 0.0, 1.0)


def plain_ends(name: str, ends: Any) -> tuple[float, float] | None:
    """Two ends of an interval, or None."""
    if ends is None:
        return None
    found = plain_array(name, ends)
    if found.shape != (2,) or not np.isfinite(found).all():
        raise complain(name, "be two finite numbers", repr(ends)[:60])
    return float(found[0]), float(found[1])
