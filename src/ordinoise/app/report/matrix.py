"""The noise matrix on the page: a table of colored cells, and which way labels go wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise._text import percent
from ordinoise._validation import Floats
from ordinoise.app.report.words import shortened
from ordinoise.noise import Noise

# More grades than these are shown without intervals, or not at all; round numbers, chosen by eye on the page.
MOST_WITH_INTERVALS, MOST_SHOWN = 30, 100
# The strongest color stands for the largest error, or for this share if all are smaller; chosen by eye on the page.
PALEST = 0.05
# A true grade with a smaller share of the rows is not called the best or the worst; a round number, chosen by no run.
RARE = 0.02


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


@dataclass(frozen=True, eq=False)
class Directions:
    """Shares of labels that are recorded too low and too high.

    Attributes
    ----------
    prior : array of shape (n_classes,)
        Share of rows of each true grade.
    right, too_low, too_high, far : arrays of shape (n_classes,)
        For each true grade, the shares of its labels that are right, too low, too high, and off by two or more grades.
    wrong : float
        Share of all labels that are wrong.
    low_share, far_share : float
        Shares of the wrong labels that are too low, and that are off by two or more grades; 0 if none is wrong.
    matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    """

    prior: Floats
    right: Floats
    too_low: Floats
    too_high: Floats
    far: Floats
    wrong: float
    low_share: float
    far_share: float
    matrix: Floats

    @property
    def worst(self) -> int:
        """The true grade that is most often recorded wrong; rare grades are skipped."""
        common = self.prior >= min(RARE, self.prior.max())
        return int(np.where(common, 1 - self.right, -1.0).argmax())

    def confused_with(self, grade: int) -> int:
        """The wrong grade as which a true grade is most often recorded."""
        off = self.matrix[grade].copy()
        off[grade] = -1.0
        return int(off.argmax())


def directions_of(noise: Noise) -> Directions:
    """How often labels are too low and too high, by the noise matrix and the shares of the grades."""
    matrix, prior = noise.matrix, noise.class_shares
    assert prior is not None  # an audit always knows them
    steps = np.arange(len(matrix)) - np.arange(len(matrix))[:, None]
    low, high = (np.where(steps < 0, matrix, 0).sum(axis=1), np.where(steps > 0, matrix, 0).sum(axis=1))
    far = np.where(np.abs(steps) > 1, matrix, 0).sum(axis=1)
    wrong = float(prior @ (low + high))
    share = 1 / wrong if wrong > 0 else 0.0
    return Directions(
        prior, matrix.diagonal(), low, high, far, wrong, share * float(prior @ low), share * float(prior @ far), matrix
    )
