"""How many more human grades would halve an interval, and which rows to grade next."""

from __future__ import annotations

import heapq
import math

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.scoring.judges.estimate import Counts, Means

SPREAD_ROWS = 4.0
"""Rows of the average spread that are added to every cell's own; a round number, chosen by no run."""


def more_to_halve(means: Means, counts: Counts) -> list[int | None]:
    """Human grades to add in each system to halve the interval of the first value; None if its rows do not suffice."""
    graded, judged = counts.graded.sum(axis=1), counts.judged.sum(axis=1)
    found: list[int | None] = []
    for grading, judging, n, most in zip(means.grading[:, 0], means.judging[:, 0], graded, judged, strict=True):
        left = (grading + judging) / 4 - judging
        needed = math.ceil(grading * n / left) if left > 0 else math.inf
        found.append(int(needed - n) if needed <= most else None)
    return found


def next_rows(
    counts: Counts, means: Means, cell_of_row: Ints, is_graded: np.ndarray, n_next: int, rng: np.random.Generator
) -> Ints:
    """Numbers of rows for people to grade next, drawn at random within each system and judge grade.

    A row goes where it most reduces the sum over systems of the variance of the mean, ``sum share**2 spread / n``
    (Neyman's allocation, one row at a time), among cells that still have rows.
    """
    cells = np.where(is_graded, -1, cell_of_row)
    left = np.bincount(cells[cells >= 0], minlength=counts.judged.size)
    chosen = _allocation(_worth(counts, means), counts.graded.ravel(), left, n_next)
    rows = [rng.choice(np.flatnonzero(cells == cell), n, replace=False) for cell, n in enumerate(chosen) if n]
    return np.sort(np.concatenate(rows)).astype(np.int64) if rows else np.empty(0, np.int64)


def _worth(counts: Counts, means: Means) -> Floats:
    """``share**2 spread`` of each cell, its spread smoothed by that of the judge grade in all systems."""
    squares = np.bincount(counts.cell, means.residuals[:, 0] ** 2, counts.judged.size).reshape(counts.judged.shape)
    graded = counts.graded
    overall = squares.sum() / graded.sum()
    by_grade = (squares.sum(axis=0) + SPREAD_ROWS * overall) / (graded.sum(axis=0) + SPREAD_ROWS)
    spread = (squares + SPREAD_ROWS * by_grade) / (graded + SPREAD_ROWS)
    return np.asarray((counts.shares**2 * spread).ravel())


def _allocation(worth: Floats, graded: Floats, left: Ints, n_next: int) -> Ints:
    """Rows to take from each cell, by the largest gain ``worth (1 / (n + 1) - 1 / (n + 2))`` first."""
    chosen = np.zeros(len(worth), np.int64)

    def gain(cell: int) -> float:
        n = graded[cell] + chosen[cell] + 1
        return float(worth[cell] * (1 / n - 1 / (n + 1)))

    queue = [(-gain(cell), cell) for cell in np.flatnonzero(left).tolist()]
    heapq.heapify(queue)
    while queue and chosen.sum() < n_next:
        _, cell = heapq.heappop(queue)
        chosen[cell] += 1
        if chosen[cell] < left[cell]:
            heapq.heappush(queue, (-gain(cell), cell))
    return chosen
