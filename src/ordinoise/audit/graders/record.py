"""What is known of the graders of a table with one grade per row, with intervals, and what may be said of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw

from ordinoise._frames import installed_library
from ordinoise._plain import as_plain, without_nan
from ordinoise._text import TextTable, hypertext, number, plain
from ordinoise.estimate import Estimate

TENTHS = partial(number, decimals=1)
LEAST_ROWS = 10.0  # effective rows below which nothing is said of a grader; a round number, chosen by no run
MOST_TOLD = 0.9  # share of an assignment told by the columns above which nobody can be compared; chosen by no run
ROWS_OF_A_SPREAD = 100.0  # effective rows from which on a spread is said; below it correlates .5 with the truth
NOT_BY_LOT = 0.01
"""Level of the test of random assignment: 7 of 664 random tables of ten settings were below it."""
UNSEEN = (
    "A grader who gets harder cases that no column shows looks the same as a severe one; only rows graded twice, or "
    "given out by lot, tell them apart."
)


@dataclass(frozen=True)
class GraderEffect:
    """How one grader grades, compared with what the others would say of such rows.

    Attributes
    ----------
    grader : object
    n_rows : int
    told : float
        Share of the assignment to this grader that the columns tell, from 0 (by lot) to 1 (nobody to compare with).
    effective_rows : float
        Rows that count for the comparison: those that the columns do not give to this grader anyway.
    shift : Estimate
        How many grades higher than the others on comparable rows; a missing value if too few rows count.
    second_range : Estimate
        Ends of the shift if reasons for the assignment that no column shows weigh as much, per unit of variance, as
        those that the columns show; as wide as `shift` where rows look as given out by lot. It has no value.
    spread : Estimate
        How many times as far the grades scatter around what the columns tell; missing with few rows.
    expected, expected_of_others : float
        Mean grade that the columns tell for the rows of this grader, and for those of the others, in ranks from 0.
    """

    grader: Any
    n_rows: int
    told: float
    effective_rows: float
    shift: Estimate
    second_range: Estimate
    spread: Estimate
    expected: float
    expected_of_others: float

    @property
    def is_comparable(self) -> bool:
        """Whether enough rows could have gone to another grader."""
        return self.effective_rows >= LEAST_ROWS and self.told <= MOST_TOLD

    @property
    def differs(self) -> bool:
        """Whether the interval of the shift leaves out zero."""
        return self.is_comparable and (self.shift.low > 0 or self.shift.high < 0)


@dataclass(frozen=True)
class GraderEffects:
    """The graders of a table in the order of their shifts, the highest first; those of too few rows come last.

    Attributes
    ----------
    effects : tuple of GraderEffect
    p_value : float
        Of the test that rows were given out at random: whether the grades that the columns tell differ by grader.
    contrast : Estimate or None
        How many grades higher a row of the contrast is graded, by the same graders on comparable rows.
    confidence : float
        Level of the intervals.
    """

    effects: tuple[GraderEffect, ...]
    p_value: float
    contrast: Estimate | None = None
    confidence: float = 0.95

    @property
    def is_by_lot(self) -> bool:
        """Whether the columns show no sign that rows were not given out at random."""
        return self.p_value >= NOT_BY_LOT

    def __len__(self) -> int:
        return len(self.effects)

    def __iter__(self) -> Iterator[GraderEffect]:
        return iter(self.effects)

    def __getitem__(self, grader: Any) -> GraderEffect:
        """The effect of one grader, by name."""
        for effect in self.effects:
            if effect.grader == grader:
                return effect
        raise KeyError(grader)

    @property
    def sentences(self) -> list[str]:
        """What may be said: who differs from the others, who has too few rows, and what stays unseen."""
        found = [sentence for effect in self.effects if effect.is_comparable for sentence in self._of(effect)]
        few = [str(effect.grader) for effect in self.effects if not effect.is_comparable]
        if not found:
            found = ["No grader clearly grades higher or lower than the others on comparable rows."]
        if few:
            listed = ", ".join(few[:5]) + (f" and {len(few) - 5} more" if len(few) > 5 else "")
            found.append(f"Too few rows to tell: {listed}.")
        return [*found, UNSEEN]

    def _of(self, effect: GraderEffect) -> list[str]:
        said = []
        if effect.differs:
            way, sign = ("higher", 1) if effect.shift.value > 0 else ("lower", -1)
            size = effect.shift.times(sign)
            said.append(
                f"{effect.grader} grades {number(size.value, 1)} {way} than the others on comparable rows "
                f"({size.span(TENTHS)})."
            )
            if not self.is_by_lot:
                said.append(
                    f"Rows were not given out at random: those of {effect.grader} are expected at grade "
                    f"{number(effect.expected + 1, 1)} (the lowest is 1), the others' at "
                    f"{number(effect.expected_of_others + 1, 1)}. If reasons that no column shows weigh as much as "
                    f"those that do, {effect.second_range.span(TENTHS)}."
                )
        if effect.spread.low > 1 or effect.spread.high < 1:
            said.append(
                f"Grades of {effect.grader} scatter {number(effect.spread.value, 1)} times as much around what the "
                f"columns tell ({effect.spread.span(TENTHS)})."
            )
        return said

    def to_frame(self) -> Any:
        """One row per grader, as a frame of the first installed of pandas, polars and pyarrow."""
        columns: dict[str, list[Any]] = {
            name: [getattr(effect, name) for effect in self.effects]
            for name in ("grader", "n_rows", "effective_rows", "told", "expected", "expected_of_others")
        }
        for name in ("shift", "second_range", "spread"):
            for end in ("value", "low", "high"):
                label = name if end == "value" else f"{name}_{end}"
                columns[label] = [getattr(getattr(effect, name), end) for effect in self.effects]
        del columns["second_range"]  # a range has no value
        return nw.from_dict(columns, backend=installed_library()).to_native()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is missing is None."""
        found: dict[str, Any] = without_nan(as_plain(self))
        return found

    def __str__(self) -> str:
        return plain(self._table())

    def _repr_html_(self) -> str:
        return hypertext(self._table())

    def _table(self) -> TextTable:
        rows = tuple(
            (
                str(effect.grader), f"{effect.n_rows:,}",
                effect.shift.words(number) if effect.is_comparable else "too few rows to tell",
                effect.second_range.span(number) if effect.is_comparable and not self.is_by_lot else "",
                "" if math.isnan(effect.spread.value) else effect.spread.words(number),
            )
            for effect in self.effects
        )  # fmt: skip
        return TextTable(
            "Graders, compared with the others on comparable rows",
            ("grader", "rows", "grades higher", "if unseen reasons weigh as much", "scatter, times"),
            rows,
            tuple(self.sentences),
        )
