"""The noise matrix as a table of colored cells, for the report and for pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise._text import percent, shortened
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
    if len(names) > MOST_SHOWN:
        return MatrixTable(names, (), False)
    intervals = _intervals(noise) if len(names) <= MOST_WITH_INTERVALS else None
    matrix = noise.matrix
    darkest = max(float((matrix - np.diag(matrix.diagonal())).max()), PALEST)
    rows = tuple(
        tuple(
            _cell(value, intervals[true][seen] if intervals else "", true == seen, darkest)
            for seen, value in enumerate(row)
        )
        for true, row in enumerate(matrix.tolist())
    )
    return MatrixTable(names, rows, intervals is not None)


def _cell(value: float, interval: str, is_right: bool, darkest: float) -> MatrixCell:
    strength = value if is_right else value / darkest
    return MatrixCell(_bare(value), interval, round(100 * min(max(strength, 0.0), 1.0)), is_right)


def _intervals(noise: Noise) -> Sequence[Sequence[str]] | None:
    if noise.interval is None:
        return None
    return [
        # An interval from 0 to 0 is not shown.
        [f"{_bare(low)}–{_bare(high)}" if high > 0 else "" for low, high in zip(lows, highs, strict=True)]  # noqa: RUF001
        for lows, highs in zip(*noise.interval.tolist(), strict=True)
    ]


def _bare(share: float) -> str:
    """A percentage without the percent sign."""
    return percent(share).rstrip("%") if math.isfinite(share) else ""
