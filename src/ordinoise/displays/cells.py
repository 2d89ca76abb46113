"""The noise matrix as a table of colored cells, for the report and for pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise._text import percent, shortened
from ordinoise.estimate import Estimate
from ordinoise.noise import Noise

# More grades than these are shown without intervals, or not at all; round numbers, chosen by eye on the page.
MOST_WITH_INTERVALS, MOST_SHOWN = 30, 100
# The strongest color stands for the largest error, or for this share if all are smaller; chosen by eye on the page.
PALEST = 0.05


@dataclass(frozen=True)
class MatrixCell:
    """An entry of the matrix: percentage, interval (may be empty), strength of its color in percent."""

    text: str
    interval: str
    strength: int
    is_right: bool


@dataclass(frozen=True)
class MatrixTable:
    """The matrix, with one row of cells per true grade.

    Attributes
    ----------
    names : tuple of str
    rows : tuple of tuple of MatrixCell
        Empty if there are too many grades to show.
    has_intervals : bool
    """

    names: tuple[str, ...]
    rows: tuple[tuple[MatrixCell, ...], ...]
    has_intervals: bool


def matrix_table(noise: Noise, classes: Sequence[str]) -> MatrixTable:
    """The cells of the noise matrix; with many grades, without intervals or without cells."""
    names = tuple(shortened(name) for name in classes)
    grades = range(len(names) if len(names) <= MOST_SHOWN else 0)
    has_intervals = noise.interval is not None and len(names) <= MOST_WITH_INTERVALS
    matrix, ends = noise.matrix, noise.interval if noise.interval is not None else np.zeros((2, *noise.matrix.shape))
    darkest = max(float((matrix - np.diag(matrix.diagonal())).max()), PALEST)

    def cell(true: int, seen: int) -> MatrixCell:
        found, is_right = Estimate(matrix[true, seen], *ends[:, true, seen]), true == seen
        strength = found.value if is_right else found.value / darkest
        # An interval from 0 to 0 is not shown.
        interval = found.span(_bare, "–") if has_intervals and found.high > 0 else ""  # noqa: RUF001
        return MatrixCell(_bare(found.value), interval, round(100 * min(max(strength, 0.0), 1.0)), is_right)

    return MatrixTable(names, tuple(tuple(cell(true, seen) for seen in grades) for true in grades), has_intervals)


def _bare(share: float) -> str:
    """A percentage without the percent sign."""
    return percent(share).rstrip("%") if math.isfinite(share) else ""
