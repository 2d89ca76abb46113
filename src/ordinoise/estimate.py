"""A number with its interval: every interval of the package is one of these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its interval.

    Attributes
    ----------
    value : float or None
        The best single number; None where the data allow a range and no more.
    low, high : float
        Ends of the interval, or of the range.
    confidence : float
        Level of the interval.
    """

    value: float | None
    low: float
    high: float
    confidence: float = 0.95

    @property
    def is_range(self) -> bool:
        """Whether there is no single best number."""
        return self.value is None

    def __str__(self) -> str:
        ends = f"{self.low:.2f} to {self.high:.2f}"
        return ends if self.value is None else f"{self.value:.2f} ({ends})"
