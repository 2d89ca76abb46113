"""What is known of the graders of a table with one grade per row, with intervals, and what may be said of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from ordinoise import finding
from ordinoise._frames import installed_library
from ordinoise._plain import as_plain, of_plain
from ordinoise._text import TextTable, hypertext, number, plain, shortened
from ordinoise.estimate import Estimate
from ordinoise.finding import as_sentence

LEAST_ROWS = 10.0  # effective rows below which nothing is said of a grader; a round number, chosen by no run
MOST_TOLD = 0.9  # share of an assignment told by the columns above which nobody can be compared; chosen by no run
ROWS_OF_A_SPREAD = 100.0  # effective rows from which on a spread is said; below it correlates .5 with the truth
NOT_BY_LOT = 0.01
"""Level of the test of random assignment: 7 of 664 random tables of ten settings were below it."""
NARROW = 0.1  # half width of an interval in grades below which two decimals are shown; chosen by no run
MOST_NAMED = 5  # names in one sentence; a round number, chosen by no run


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
    shift : Estimate or None
        How many grades higher than the others on comparable rows; None if too few rows count.
    second_range : Estimate or None
        The shift with wider ends: if reasons for the assignment that no column shows weigh as much, per unit of
        variance, as those that the columns show. None where rows look as given out by lot.
    spread : Estimate or None
        How many times as far the grades scatter around what the columns tell; None with few rows.
    expected, expected_of_others : float
        Mean grade that the columns tell for the rows of this grader, and for those of the others, in ranks from 0.
    """

    grader: Any
    n_rows: int
    told: float
    effective_rows: float
    shift: Estimate | None
    second_range: Estimate | None
    spread: Estimate | None
    expected: float
    expected_of_others: float

    @property
    def differs(self) -> bool:
        """Whether the interval of the shift leaves out zero."""
        return self.shift is not None and self.shift.excludes(0)


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
    first : float or None
        The lowest grade if grades are consecutive whole numbers; else sentences call the lowest 1.
    """

    effects: tuple[GraderEffect, ...]
    p_value: float
    contrast: Estimate | None = None
    confidence: float = 0.95
    first: float | None = None

    @property
    def is_by_lot(self) -> bool:
        """Whether the columns show no sign that rows were not given out at random."""
        return self.p_value >= NOT_BY_LOT

    @property
    def differing(self) -> tuple[GraderEffect, ...]:
        """Those whose interval leaves out zero, in their order."""
        return tuple(effect for effect in self.effects if effect.differs)

    @property
    def unknown(self) -> tuple[GraderEffect, ...]:
        """Those of too few rows."""
        return tuple(effect for effect in self.effects if effect.shift is None)

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
        found = [sentence for effect in self.effects for sentence in self.sentences_of(effect)]
        found += [] if found else [as_sentence(finding.NO_SHIFT)]
        return [*found, *self.closing]

    @property
    def headline(self) -> tuple[str, str]:
        """How many differ, in two parts: the finding itself, which can be set in bold, and the rest."""
        differing, n_known = self.differing, len(self.effects) - len(self.unknown)
        head = finding.GRADERS.format(n_differing=len(differing), n_graders=n_known)
        still = [one.second_range for one in differing if one.second_range is not None and one.second_range.excludes(0)]
        more = "" if self.is_by_lot or not differing else finding.STILL_DIFFERING.format(n_still=len(still))
        more += finding.UNKNOWN_GRADERS.format(n_unknown=len(self.unknown)) if self.unknown else ""
        return head, f"{more}."

    @property
    def closing(self) -> list[str]:
        """The sentences that end every account: who has too few rows, and what stays unseen."""
        few = [str(effect.grader) for effect in self.unknown]
        more = f" and {len(few) - MOST_NAMED:,} more" if len(few) > MOST_NAMED else ""
        said = [finding.TOO_FEW_OF_A_GRADER.format(graders=", ".join(few[:MOST_NAMED]) + more)] if few else []
        return [as_sentence(clause) for clause in (*said, finding.UNSEEN)]

    def sentences_of(self, effect: GraderEffect) -> list[str]:
        """What may be said of one grader; nothing if no interval leaves out zero."""
        said, name = [], shortened(str(effect.grader))
        if effect.shift is not None and effect.differs:
            way, sign = ("higher", 1) if effect.shift.value > 0 else ("lower", -1)
            size = effect.shift.times(sign)
            said.append(
                f"{finding.SHIFT.format(grader=name, size=written(size.value, size), way=way, ends=span(size))}."
            )
            if effect.second_range is not None:
                said.append(self._of_assignment(effect, name, f"{span(effect.second_range.times(sign), size)} {way}"))
        if effect.spread is not None and effect.spread.excludes(1):
            times = written(effect.spread.value, effect.spread)
            said.append(as_sentence(finding.SPREAD.format(grader=name, times=times, ends=span(effect.spread))))
        return said

    def _of_assignment(self, effect: GraderEffect, name: str, ends: str) -> str:
        base, unit = (1, " (the lowest is 1)") if self.first is None else (self.first, "")
        expected, others = (number(one + base, 1) for one in (effect.expected, effect.expected_of_others))
        return as_sentence(
            finding.NOT_BY_LOT.format(grader=name, expected=expected, unit=unit, others=others, ends=ends)
        )

    def to_frame(self) -> Any:
        """One row per grader, as a frame of the first installed of pandas, polars and pyarrow."""
        columns: dict[str, list[Any]] = {
            name: [getattr(effect, name) for effect in self.effects]
            for name in ("grader", "n_rows", "effective_rows", "told", "expected", "expected_of_others")
        }
        for name in ("shift", "second_range", "spread"):
            for part, end in (("value", ""), ("low", "_low"), ("high", "_high")):
                columns[name + end] = [getattr(getattr(effect, name), part, math.nan) for effect in self.effects]
        del columns["second_range"]  # its middle is the shift
        return nw.from_dict(columns, backend=installed_library()).to_native()

    def to_dict(self) -> dict[str, Any]:
        """Plain values and the sentences, ready for JSON."""
        found: dict[str, Any] = as_plain(self)
        return found | {"sentences": self.sentences}

    @classmethod
    def from_dict(cls, plain: Any) -> GraderEffects:
        """The effects that `to_dict` gave."""
        if isinstance(plain, dict):
            plain = {name: part for name, part in plain.items() if name != "sentences"}
        return of_plain(cls, plain)

    def __str__(self) -> str:
        return plain(self._table())

    def _repr_html_(self) -> str:
        return hypertext(self._table())

    def _table(self) -> TextTable:
        rows = tuple(
            (
                str(effect.grader), f"{effect.n_rows:,}",
                "too few rows to tell" if effect.shift is None else effect.shift.words(number),
                "" if effect.second_range is None else effect.second_range.span(number),
                "" if effect.spread is None else effect.spread.words(number),
            )
            for effect in self.effects
        )  # fmt: skip
        return TextTable(
            "Graders, compared with the others on comparable rows",
            ("grader", "rows", "grades higher", "if unseen reasons weigh as much", "scatter, times"),
            rows,
            tuple(self.sentences),
        )


def written(value: float, of: Estimate) -> str:
    """A number of grades with one decimal, or with two where its interval is narrow."""
    return number(value, 1 if of.half_width >= NARROW else 2)


def span(of: Estimate, form: Estimate | None = None) -> str:
    """The ends of an interval, with as many decimals as `written`."""
    return of.span(lambda end: written(end, form or of))
