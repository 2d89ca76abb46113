"""What the count of wrong labels reads of each row, and the sums of it, which add up over the parts of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ordinoise._validation import Floats, Ints
from ordinoise.decisions import decide
from ordinoise.estimation.score.cells import ScoreCells

FARTHEST = 14.0
"""Logits of the suspicion are cut here: a chance of one in a million."""
STEPS_PER_UNIT = 64
"""Logits are rounded to this grid, so that a histogram holds all that a sum over rows needs: it moves no chance by more
than a fiftieth of itself, and a sum by far less."""
GRID: Floats = np.arange(-FARTHEST * STEPS_PER_UNIT, FARTHEST * STEPS_PER_UNIT + 1) / STEPS_PER_UNIT
"""The logits that a suspicion is rounded to."""
PREDICTIONS = ("mode", "median")
"""Predicted grades that records are compared with."""


@dataclass(frozen=True, eq=False)
class Traits:
    """What the count reads of each row.

    Attributes
    ----------
    cell : int array of shape (n_rows,)
        Cell of the score.
    recorded : int array of shape (n_rows,)
        Recorded grade, as a rank.
    is_unlike : bool array of shape (n_rows, 2)
        Whether the record differs from the most likely grade, and from the middle one.
    level : int array of shape (n_rows,)
        Place of the suspicion's logit in `GRID`.
    """

    cell: Ints
    recorded: Ints
    is_unlike: NDArray[np.bool_]
    level: Ints

    @classmethod
    def of(cls, cells: ScoreCells, probabilities: Floats, recorded: Ints, suspicion: Floats) -> Self:
        """The traits of rows, by probabilities of their recorded grade from models that did not see it."""
        is_unlike = np.column_stack([decide(probabilities, kind) != recorded for kind in PREDICTIONS])
        return cls(cells.of(probabilities), recorded, is_unlike, levels_of(suspicion))

    def among(self, rows: Ints) -> Self:
        """Those of some rows."""
        return type(self)(self.cell[rows], self.recorded[rows], self.is_unlike[rows], self.level[rows])

    @property
    def logit(self) -> Floats:
        """Logit of the suspicion of each row."""
        return GRID[self.level]


def levels_of(suspicion: Floats) -> Ints:
    """Place in `GRID` of the logit of each suspicion."""
    with np.errstate(divide="ignore"):
        logits = np.clip(logit(suspicion), -FARTHEST, FARTHEST)
    return np.rint((logits + FARTHEST) * STEPS_PER_UNIT).astype(np.int64)


def shape_of(cells: ScoreCells, n_classes: int) -> tuple[int, int]:
    """Numbers of cells and of grades: the shape of `Sums.records`."""
    return cells.spread_cuts.size + len(cells.spread_cuts), n_classes


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows: those of a table are the sums of its parts, less those of verified rows where these do not count.

    Attributes
    ----------
    records : int array of shape (n_cells, n_classes)
        Rows by cell of the score and recorded grade.
    n_unlike : int array of shape (2,)
        Rows whose record differs from the most likely grade, and from the middle one.
    by_level : int array of shape (n_levels,)
        Rows by the logit of their suspicion.
    """

    records: Ints
    n_unlike: Ints
    by_level: Ints

    @classmethod
    def of(cls, rows: Traits, n_cells: int, n_classes: int) -> Self:
        """The sums over these rows."""
        flat = np.bincount(rows.cell * n_classes + rows.recorded, minlength=n_cells * n_classes)
        by_level = np.bincount(rows.level, minlength=len(GRID))
        return cls(flat.reshape(n_cells, n_classes), rows.is_unlike.sum(axis=0), by_level)

    def __add__(self, other: Sums) -> Sums:
        """The sums over the rows of both."""
        return Sums(self.records + other.records, self.n_unlike + other.n_unlike, self.by_level + other.by_level)

    def __sub__(self, other: Sums) -> Sums:
        """The sums over the rows of this one that the other does not hold."""
        return Sums(self.records - other.records, self.n_unlike - other.n_unlike, self.by_level - other.by_level)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.by_level.sum())

    @property
    def suspicion(self) -> tuple[float, float]:
        """Mean and standard deviation of the suspicion; zeros without rows."""
        n_rows = max(self.n_rows, 1)
        mean, squares = (float(self.by_level @ expit(GRID) ** power) / n_rows for power in (1, 2))
        return mean, max(squares - mean**2, 0.0) ** 0.5
