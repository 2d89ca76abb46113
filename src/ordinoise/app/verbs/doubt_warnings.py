"""Doubts about an estimate belong to its result, not among Python's warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

from ordinoise.estimation import IdentifiabilityWarning


@contextmanager
def without_doubt_warnings() -> Iterator[None]:
    """Ignore warnings about doubts: the noise keeps its doubts, and they are shown with the result."""
    with warnings.catch_warnings():
        for category in (IdentifiabilityWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        yield
