"""The fewest wrong labels: records too far from their score for any overlap of grades.

Around a smooth score, grades are taken to overlap with tails no heavier than those of Student's t with 3 degrees of
freedom. Then a record is as unlikely as p or more so in a share p of the rows at most, and what exceeds the number of
such rows that chance allows is wrong. The excess is looked at for several p, and the bound holds for all of them
(Meinshausen and Rice, 2006). Wrong records that are far off widen the fitted overlap: so the bound errs downwards.

Everything is read from counts of records by cells of the score, which add up over the parts of a table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom, poisson

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.estimation.score.curve import score_curve
from ordinoise.estimation.score.fit import Evidence, cold_starts, fit_family
from ordinoise.estimation.score.likelihood import START_RATES
from ordinoise.estimation.score.links import STUDENT_T3

LEVELS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""Chances below which a record counts as far. A grid by no run."""
FEWEST_ROWS = 50
"""Below this no overlap is fitted, and the floor is zero: a round number, chosen by no run."""
SAME = 1e-9  # grades whose chances differ by this part are equally likely


def overlap_of(cells: ScoreCells, records: Ints, design_effect: float = 1.0) -> Floats | None:
    """Chance of each grade in each cell if all records are right and overlap has tails of t3, (n_cells, n_classes).

    None where nothing can be fitted: too few rows, or one score for all.

    Parameters
    ----------
    cells : ScoreCells
        Of a sample of the rows, or of all.
    records : int array of shape (n_cells, n_classes)
        Rows by cell and recorded grade: the sums over all parts.
    design_effect : float
        Rows per independent row, where rows come in groups.
    """
    if records.sum() < FEWEST_ROWS:
        return None
    bins, place = cells.binned(records)
    if np.ptp(bins.score) == 0:
        return None
    bins = bins.with_counts(bins.counts / design_effect)
    evidence = Evidence(bins, replace(score_curve(bins), link=STUDENT_T3))
    return fit_family(evidence, "none", cold_starts(evidence, "none", START_RATES)).recorded[place]


def far_chances(overlap: Floats) -> Floats:
    """Chance of a grade no likelier than each grade, in each cell: the p-value of that record."""
    no_likelier = overlap[:, None, :] <= overlap[:, :, None] * (1 + SAME)
    return np.asarray((overlap[:, None, :] * no_likelier).sum(axis=2))


@dataclass(frozen=True)
class Floor:
    """At least so many unverified labels are wrong; `is_refuted` if the verdicts contradict what that rests on."""

    n_wrong: int
    is_refuted: bool = False


def fewest_wrong(
    overlap: Floats,
    records: Ints,
    unverified: Ints,
    right: Ints,
    *,
    slip_rate: float = 0.0,
    error: float = 0.025,
    design_effect: float = 1.0,
) -> Floor:
    """The floor, by far records that nobody verified.

    Parameters
    ----------
    overlap : array of shape (n_cells, n_classes)
        As :func:`overlap_of` has it.
    records, unverified, right : int arrays of shape (n_cells, n_classes)
        Rows by cell and recorded grade: all, those that nobody verified, and those that were found right. More right
        ones among the far records than chance allows refute the shape of the overlap, and with it the floor.
    slip_rate : float
        Share of verdicts that are wrong themselves.
    error : float
        Chance that the floor is too high.
    design_effect : float
        Rows per independent row: far rows then come in clumps of that size.
    """
    far, found = far_chances(overlap), 0.0
    sizes, each = records.sum(axis=1), error / len(LEVELS)
    for level in LEVELS:
        is_far = far <= level
        expected = float(sizes @ (overlap * is_far).sum(axis=1)) / design_effect
        allowed = design_effect * float(poisson.isf(each, expected))
        seen = int(right[is_far].sum())
        seen -= int(binom.isf(each, seen, slip_rate)) if slip_rate else 0
        if seen > allowed:
            return Floor(0, is_refuted=True)
        found = max(found, unverified[is_far].sum() - (allowed - seen))
    return Floor(int(found))
