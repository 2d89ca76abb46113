"""A number with its interval: every interval of the package is one of these."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its interval.

    Attributes
    ----------
    value : float
        The best single number; NaN where the data allow a range and no more.
    low, high : float
        Ends of the interval, or of the range.
    confidence : float
        Level of the interval.
    """

    value: float
    low: float
    high: float
    confidence: float = 0.95

    @property
    def is_range(self) -> bool:
        """Whether there is no single best number."""
        return math.isnan(self.value)

    def __str__(self) -> str:
        ends = f"{self.low:.2f} to {self.high:.2f}"
        return ends if self.is_range else f"{self.value:.2f} ({ends})"
