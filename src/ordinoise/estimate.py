"""A number with its interval: every interval of the package is one of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Self

import numpy as np

from ordinoise._text import NOTHING, percent
from ordinoise._validation import Floats

Form = str | Callable[[float], str]
"""How a number is written: a format such as ".2f", "%" for `percent`, or a function."""


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its interval.

    Printed, it is the number with two decimals and its interval; a format applies to all three, and "%" is `percent`.

    Attributes
    ----------
    value : float
        The best single number; NaN where the data allow a range and no more.
    low, high : float
        Ends of the interval, or of the range; NaN if neither is known.
    confidence : float
        Level of the interval.
    """

    value: float
    low: float
    high: float
    confidence: float = 0.95

    @classmethod
    def normal(
        cls, value: float, standard_error: float, confidence: float = 0.95, least: float = -np.inf, most: float = np.inf
    ) -> Self:
        """The estimate with a normal interval, within `least` and `most`; a point if the error is zero."""
        reach = normal_reach(standard_error, confidence) if standard_error else 0.0
        return cls(value, max(value - reach, least), min(value + reach, most), confidence)

    @classmethod
    def from_draws(cls, value: float, draws: Floats, confidence: float = 0.95) -> Self:
        """The estimate with the quantiles of draws that carry its uncertainty; NaN among them is ignored."""
        low, high = np.nanquantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
        return cls(value, low, high, confidence)

    @classmethod
    def each(cls, columns: Iterable[Floats], confidence: float = 0.95) -> list[Self]:
        """One estimate for each place of three arrays: numbers, lower and upper ends."""
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [cls(value, low, high, confidence) for value, low, high in rows]

    @property
    def is_range(self) -> bool:
        """Whether there is no single best number."""
        return math.isnan(self.value)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    @property
    def half_width(self) -> float:
        """Half the distance between the ends."""
        return (self.high - self.low) / 2

    def excludes(self, number: float) -> bool:
        """Whether the interval leaves out this number."""
        return self.low > number or self.high < number

    def times(self, factor: float) -> Estimate:
        """The estimate of so many times the number: of a count for a share, of a share for a count."""
        low, high = sorted(factor * end for end in self.ends)
        return Estimate(factor * self.value, low, high, self.confidence)

    def span(self, form: Form = ".2f", between: str = " to ") -> str:
        """The ends as text."""
        return between.join(_written(end, form) for end in self.ends)

    def words(self, form: Form = ".2f", between: str = " to ") -> str:
        """The number with the ends in parentheses; a range has only ends, and without ends there is only the number."""
        span = self.span(form, between)
        if self.is_range:
            return span
        value = _written(self.value, form)
        return value if math.isnan(self.low) else f"{value} ({span})"

    def to_dict(self) -> dict[str, float | None]:
        """The numbers by name, ready for JSON; None for NaN and infinity."""
        return {name: number if math.isfinite(number) else None for name, number in vars(self).items()}

    def __format__(self, form: str) -> str:
        return self.words(form or ".2f")

    def __str__(self) -> str:
        return self.words()


def normal_reach(standard_error: float, confidence: float) -> float:
    """Half the width of a normal interval: a quantile times `standard_error`; infinite for a confidence of one."""
    return np.inf if confidence == 1 else NormalDist().inv_cdf((1 + confidence) / 2) * standard_error


def _written(number: float, form: Form) -> str:
    if math.isnan(number):
        return NOTHING
    if form == "%":
        return percent(number)
    return format(number, form) if isinstance(form, str) else form(number)
