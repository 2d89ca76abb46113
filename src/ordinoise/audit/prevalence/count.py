"""How many of the labels that nobody verified are wrong: what may be said at each stage of a review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ordinoise._validation import Floats, Ints
from ordinoise.audit.prevalence.ceiling import most_by_chosen, most_unlike
from ordinoise.audit.prevalence.floor import Floor, fewest_wrong, overlap_of
from ordinoise.audit.prevalence.forecast import most_of_next
from ordinoise.audit.prevalence.gate import Gate, gate
from ordinoise.audit.prevalence.sums import GRID, Sums, Traits, shape_of
from ordinoise.audit.prevalence.tilt import Curve, Sample, curve_of, slopes, wrong_by_sample
from ordinoise.audit.prevalence.verdicts import Tally, Verdicts
from ordinoise.estimate import Estimate
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.noise import Doubt

FEWEST_RANDOM = 10
"""Random rows below which they count as chosen ones: their interval would be wider than the range. By no run."""
MORE_SUSPICIOUS = 2.0
"""Standard errors by which chosen rows must look more suspicious than the rest to bound it. Of 100 samples of rows that
a user knows to be right one does; without this up to 40 did."""
Stage = Literal["nothing", "chosen", "random"]


@dataclass(frozen=True, eq=False)
class Count:
    """How many labels are wrong among the rows that nobody verified.

    Attributes
    ----------
    stage : {"nothing", "chosen", "random"}
        What was verified: no row, rows that people chose, or a random sample. Only the last gives a number.
    left : Estimate
        Number of wrong labels among the rows that nobody verified. Its value is NaN, and its ends are those of a range,
        unless the stage is "random".
    n_left : int
        Rows that nobody verified, open ones among them.
    chosen, random : Tally
        Rows verified, by how they were drawn. Random rows as suspicious as those that were chosen since count as
        chosen, for they stand for no row that is left.
    floor : int
        At least so many are wrong if grades overlap with tails no heavier than t3; 0 if that is refuted. Where rows
        were given out at random, at least as many as `by_lot` leaves.
    most_unlike : float
        At most so many, if no grade is recorded as another one more often than as itself: the limit for all rows, less
        the wrong ones that were found.
    most_by_chosen : float
        At most so many, if the chosen rows are wrong no less often than the rest; infinite without chosen rows, or
        where these do not look more suspicious than the rest.
    curve : Curve or None
        Chance that a record is wrong by its suspicion; the chances of the rows left sum to ``left.value``. None unless
        the stage is "random": before, no number of a single row is honest.
    n_next : int or None
        The most wrong labels among the next 40 chosen rows; None without chosen rows.
    by_lot : int or None
        At least so many of all labels are wrong, as graders of rows that were given out at random differ; None if
        nobody said that they were.
    doubts : tuple of Doubt
        ``"overlap-refuted"``: rows that looked too far to be right were found right, so there is no floor.
        ``"chosen-unsuspicious"``: the chosen rows looked no more suspicious than the rest, so they say nothing of it.
        ``"lot-refuted"``: rows were not given out at random, or more are found right than graders who differ allow.
    """

    stage: Stage
    left: Estimate
    n_left: int
    chosen: Tally
    random: Tally
    floor: int
    most_unlike: float
    most_by_chosen: float
    curve: Curve | None
    n_next: int | None
    doubts: tuple[Doubt, ...] = ()
    by_lot: int | None = None

    @property
    def is_refuted(self) -> bool:
        """Whether verdicts contradict the assumption of the floor."""
        return any(doubt.code == "overlap-refuted" for doubt in self.doubts)

    @property
    def n_found(self) -> int:
        """Labels that were found wrong; `left` counts none of them."""
        return self.chosen.n_wrong + self.random.n_wrong

    def gate(self, most_wrong: float) -> Gate:
        """Whether at most this share of all labels is wrong, if what was found is put right."""
        n_rows = self.n_left + self.chosen.n_decided + self.random.n_decided
        return gate(self.left, n_rows, most_wrong, (1 - self.left.confidence) / 2)


@dataclass(frozen=True, eq=False)
class Table:
    """A table that wrong labels are counted in: its sums, and the overlap of its grades.

    It is made once for a ranking. Then :meth:`count` takes milliseconds, whatever the number of rows, so that a review
    can count after each verdict. A table in parts has the sum of their :class:`Sums`, in cells that all parts share.

    Attributes
    ----------
    sums : Sums
        Over all rows, verified ones too.
    overlap : array of shape (n_cells, n_classes) or None
        Chance of each grade if all records are right, see :func:`overlap_of`; None if there is no telling.
    design_effect : float
        Rows per independent row, where rows come in groups: it widens floor and ceilings.
    by_lot : Floor or None
        The floor of all rows by graders who had theirs given out at random; None if nobody said so.
    """

    sums: Sums
    overlap: Floats | None
    design_effect: float = 1.0
    by_lot: Floor | None = None

    @classmethod
    def of(cls, cells: ScoreCells, sums: Sums, design_effect: float = 1.0, by_lot: Floor | None = None) -> Table:
        """The table with these sums."""
        return cls(sums, overlap_of(cells, sums.records, design_effect), design_effect, by_lot)

    def count(
        self, verdicts: Verdicts, verified: Traits, confidence: float = 0.95, sample_effect: float = 1.0
    ) -> Count:
        """The count by these verdicts.

        Parameters
        ----------
        verdicts : Verdicts
        verified : Traits
            Of the rows of the verdicts, in their order.
        confidence : float
            Level of the interval, or of both ends of the range together. An interval that is looked at several times
            while the sample grows needs the error shared among the looks.
        sample_effect : float
            Rows per independent draw of the random sample: 1 where rows were drawn singly, however they hang together.
        """
        rest = self.sums - self._sums(verified, ~verdicts.is_open)
        is_random = self._of_rest(verdicts, verified, rest)
        chosen, error = verdicts.among(~is_random).tally, (1 - confidence) / 2
        floor = self._floor(verdicts, verified, rest, error)
        unlike = self._most_unlike(verdicts.tally, error)
        by_chosen, doubts = self._most_by_chosen(chosen, self._sums(verified, ~is_random), rest, error)
        high = min(unlike, by_chosen, rest.n_rows)
        if floor.is_refuted or floor.n_wrong > high:
            floor, doubts = Floor(0, is_refuted=True), (*doubts, REFUTED)
        by_lot = self._by_lot(verdicts.tally, error, high)
        doubts += (LOT_REFUTED,) if by_lot.is_refuted else ()
        least = max(floor.n_wrong, by_lot.n_wrong)
        left, curve = Estimate(np.nan, least, high, confidence), None
        if is_random.any():
            curve, left = _by_sample(verdicts, verified, is_random, rest, confidence, sample_effect)
        return Count(
            "random" if is_random.any() else "chosen" if chosen.n_rows else "nothing",
            left, rest.n_rows, chosen, verdicts.among(is_random).tally, least, unlike, by_chosen, curve,
            most_of_next(chosen.n_rows, chosen.n_wrong + chosen.n_open, error=error) if chosen.n_rows else None, doubts,
            None if self.by_lot is None or by_lot.is_refuted else self.by_lot.n_wrong,
        )  # fmt: skip

    def _of_rest(self, verdicts: Verdicts, verified: Traits, rest: Sums) -> NDArray[np.bool_]:
        """Random rows that stand for the rest: none that people would have chosen since, and none if there are few.

        Where the chosen rows are the most suspicious ones, their number says from which suspicion on. So two samples
        with chosen rows between them are one sample of what both could have been drawn from.
        """
        is_random, at = verdicts.is_random, verified.level
        chosen = at[~is_random]
        by_level = np.bincount(chosen, minlength=len(GRID)) + rest.by_level
        cut = len(GRID) - 1 - int(np.argmax(by_level[::-1].cumsum() >= len(chosen)))
        by_chance = len(chosen) / max(by_level.sum(), 1)
        if len(chosen) and (chosen >= cut).mean() >= (1 + by_chance) / 2:
            is_random = is_random & (at <= cut)
        return is_random & (is_random.sum() >= FEWEST_RANDOM)

    def _sums(self, verified: Traits, some: NDArray[np.bool_]) -> Sums:
        """Sums over some of the verified rows."""
        return Sums.of(verified.among(np.flatnonzero(some)), *self.sums.records.shape)

    def _most_unlike(self, verified: Tally, error: float) -> float:
        """The ceiling of all wrong labels, less those that were found.

        Not that of the rest alone: suspects are chosen for differing from their prediction, so the rest hardly does.
        """
        slips = int(binom.isf(error, verified.n_decided, verified.slip_rate)) if verified.slip_rate else 0
        most = most_unlike(self.sums.n_unlike, self.sums.n_rows, error, self.design_effect)
        return max(most - max(verified.n_wrong - slips, 0), 0.0)

    def _most_by_chosen(
        self, chosen: Tally, looked_at: Sums, rest: Sums, error: float
    ) -> tuple[float, tuple[Doubt, ...]]:
        """The ceiling by chosen rows, or a doubt where they do not look more suspicious than the rest."""
        if not chosen.n_rows:
            return np.inf, ()
        mean, spread = rest.suspicion
        if looked_at.suspicion[0] < mean + MORE_SUSPICIOUS * spread / chosen.n_rows**0.5:
            return np.inf, (_unsuspicious(chosen.n_rows),)
        return most_by_chosen(rest.n_rows, chosen, error, self.design_effect), ()

    def _floor(self, verdicts: Verdicts, verified: Traits, rest: Sums, error: float) -> Floor:
        """The floor; open rows are neither unverified nor right."""
        if self.overlap is None:
            return Floor(0)
        right = self._sums(verified, ~verdicts.is_open & ~verdicts.is_wrong).records
        unverified = rest.records - self._sums(verified, verdicts.is_open).records
        return fewest_wrong(
            self.overlap, self.sums.records, unverified, right,
            slip_rate=verdicts.tally.slip_rate, error=error, design_effect=self.design_effect,
        )  # fmt: skip

    def _by_lot(self, verified: Tally, error: float, high: float) -> Floor:
        """The floor by graders, less what was found wrong, and what reviewers may have taken for right."""
        if self.by_lot is None or self.by_lot.is_refuted:
            return self.by_lot or Floor(0)
        slips = int(binom.isf(error, verified.n_decided, verified.slip_rate)) if verified.slip_rate else 0
        least = max(self.by_lot.n_wrong - verified.n_wrong - slips, 0)
        return Floor(0, is_refuted=True) if least > high else Floor(least)


LOT_REFUTED = Doubt(
    "lot-refuted",
    "the expected grades of graders differ, or too many rows were found right: rows were not given out at random, so "
    "what graders differ by says nothing of how many are wrong at least",
)
REFUTED = Doubt(
    "overlap-refuted",
    "rows that looked too far off to be right were found right: grades overlap in a way that the columns do not show, "
    "so nothing is known of how many are wrong at least",
)


def _unsuspicious(n_chosen: int) -> Doubt:
    return Doubt(
        "chosen-unsuspicious",
        f"the {n_chosen} verified rows did not look more suspicious than the others, so they say nothing about these",
    )


def _by_sample(
    verdicts: Verdicts,
    verified: Traits,
    is_random: NDArray[np.bool_],
    rest: Sums,
    confidence: float,
    sample_effect: float,
) -> tuple[Curve, Estimate]:
    """The curve, and the number of wrong labels among the rest."""
    logits, decided = verified.logit, ~verdicts.is_open
    drawn = verdicts.among(is_random)
    sample = Sample(logits[is_random], drawn.is_wrong, drawn.is_open, drawn.slip_rate, sample_effect)
    slope, flat = slopes(logits[decided], verdicts.is_wrong[decided])
    curve, at = curve_of(sample, slope), np.flatnonzero(rest.by_level)
    return curve, wrong_by_sample(sample, GRID[at], rest.by_level[at], curve, flat, confidence)


def count_wrong(
    probabilities: Floats,
    recorded: Ints,
    suspicion: Floats,
    verdicts: Verdicts | None = None,
    *,
    confidence: float = 0.95,
    design_effect: float = 1.0,
    sample_effect: float = 1.0,
    by_lot: Floor | None = None,
) -> tuple[Count, Floats]:
    """How many labels are wrong, and the chance that each is, or NaN where nobody can know it.

    Parameters
    ----------
    probabilities : array of shape (n_rows, n_classes)
        Of the recorded grade, by models that trust the labels and did not see the row.
    recorded : int array of shape (n_rows,)
        Recorded grades, as ranks.
    suspicion : array of shape (n_rows,)
        In [0, 1], higher for rows that are more likely wrong; its own scale does not matter much.
    verdicts : Verdicts, optional
        What was verified.
    confidence, design_effect, sample_effect, by_lot
        As in :class:`Table`.

    Returns
    -------
    Count, and an array of shape (n_rows,)
        Chances of rows that nobody verified sum to ``count.left.value``; verified rows have 1 where they were found
        wrong and 0 where right. All are NaN without a random sample.
    """
    verdicts = verdicts or Verdicts.of(None, recorded)
    cells = ScoreCells.from_sample(probabilities)
    rows = Traits.of(cells, probabilities, recorded, suspicion)
    sums = Sums.of(rows, *shape_of(cells, probabilities.shape[1]))
    table = Table.of(cells, sums, design_effect, by_lot)
    count = table.count(verdicts, rows.among(verdicts.rows), confidence, sample_effect)
    if count.curve is None:
        return count, np.full(len(recorded), np.nan)
    chances = count.curve.of(rows.logit)
    decided = ~verdicts.is_open
    chances[verdicts.rows[decided]] = verdicts.is_wrong[decided]
    return count, chances
