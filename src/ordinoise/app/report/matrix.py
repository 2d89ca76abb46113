"""The noise matrix as a table of coloured cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise.app.record import AuditRecord, NoiseFindings
from ordinoise.app.report.wording import percent, shortened

MOST_WITH_INTERVALS, MOST_SHOWN = 30, 100
PALEST = 0.05
"""The strongest colour stands for the largest error, or for this where all are smaller."""


@dataclass(frozen=True)
class MatrixCell:
    """An entry: its percentage, its interval (empty where there is none), how strong its colour is, on the diagonal?"""

    text: str
    interval: str
    strength: int
    is_right: bool


@dataclass(frozen=True)
class MatrixTable:
    """The matrix, a row of cells for each true grade.

    Attributes
    ----------
    names : tuple of str
    rows : tuple of tuple of MatrixCell
        Empty where there are too many grades to show.
    has_intervals : bool
    """

    names: tuple[str, ...]
    rows: tuple[tuple[MatrixCell, ...], ...]
    has_intervals: bool


def matrix_table(record: AuditRecord) -> MatrixTable:
    """Cells for the page; intervals are left out, and then all cells, where the grades are too many."""
    noise, names = record.noise, tuple(shortened(name) for name in record.classes)
    if len(names) > MOST_SHOWN:
        return MatrixTable(names, (), False)
    intervals = _intervals(noise) if len(names) <= MOST_WITH_INTERVALS else None
    matrix = np.array(noise.matrix)
    darkest = max(float((matrix - np.diag(matrix.diagonal())).max()), PALEST)
    rows = tuple(
        tuple(
            _cell(value, intervals[true][seen] if intervals else "", true == seen, darkest)
            for seen, value in enumerate(row)
        )
        for true, row in enumerate(noise.matrix)
    )
    return MatrixTable(names, rows, intervals is not None)


def _cell(value: float, interval: str, is_right: bool, darkest: float) -> MatrixCell:
    strength = value if is_right else value / darkest
    return MatrixCell(_bare(value), interval, round(100 * min(max(strength, 0.0), 1.0)), is_right)


def _intervals(noise: NoiseFindings) -> Sequence[Sequence[str]] | None:
    if noise.low is None or noise.high is None or not np.isfinite([noise.low, noise.high]).all():
        return None
    return [
        # Between nothing and nothing there is nothing to tell.
        [f"{_bare(low)}–{_bare(high)}" if high > 0 else "" for low, high in zip(lows, highs, strict=True)]  # noqa: RUF001
        for lows, highs in zip(noise.low, noise.high, strict=True)
    ]


def _bare(share: float) -> str:
    """A percentage without its sign."""
    return percent(share).rstrip("%") if math.isfinite(share) else ""
