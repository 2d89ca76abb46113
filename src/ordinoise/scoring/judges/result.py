"""What `judge` gives back: corrected scores of every system, the judge's matrix, and what to grade next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ordinoise._plain import as_plain
from ordinoise._text import percent
from ordinoise._validation import Floats, Ints
from ordinoise.estimate import Estimate
from ordinoise.noise import Noise
from ordinoise.noise.record import Doubt

# Probabilities of one matrix from which the judge counts as fair to all systems or as leaning; round numbers, chosen by
# no run.
ALIKE, APART = 0.9, 0.1


@dataclass(frozen=True)
class SystemScore:
    """What people would have graded the outputs of one system.

    Attributes
    ----------
    system : str
    n_rows, n_human : int
        Rows that the judge graded, and those of them that people graded too.
    mean : Estimate
        Mean grade; text grades count from 1.
    at_least : mapping of str to Estimate
        Share of rows with this grade or a higher one, for every grade but the lowest.
    judge_mean : float or None
        Mean of the judge's own grades; None if the judge has another scale.
    human_mean : Estimate or None
        Mean of the human grades alone; None if there are none.
    more_to_halve : int or None
        Human grades to add to make the interval of `mean` half as wide; None if the rows do not suffice, or if there
        are no human grades yet.
    """

    system: str
    n_rows: int
    n_human: int
    mean: Estimate
    at_least: Mapping[str, Estimate]
    judge_mean: float | None
    human_mean: Estimate | None
    more_to_halve: int | None

    @property
    def judge_bias(self) -> Estimate | None:
        """By how much the judge's mean is too high; None if the judge has another scale."""
        if self.judge_mean is None:
            return None
        own, mean = self.judge_mean, self.mean
        return Estimate(own - mean.value, own - mean.high, own - mean.low, mean.confidence)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        shares = {grade: share.to_dict() for grade, share in self.at_least.items()}
        return as_plain(self) | {"at_least": shares, "judge_bias": self.judge_bias and self.judge_bias.to_dict()}


@dataclass(frozen=True)
class Difference:
    """Mean grade of one system less that of another."""

    system: str
    other: str
    mean: Estimate

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.mean.low > 0 or self.mean.high < 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return as_plain(self) | {"is_clear": self.is_clear}


@dataclass(frozen=True, eq=False)
class Judgment:
    """Automatic grades, corrected by the rows that people graded too.

    Attributes
    ----------
    systems : tuple of SystemScore
        In alphabetical order.
    differences : tuple of Difference
        Every pair of systems, the better one first.
    noise : Noise or None
        How the judge records each human grade, ``[human, judge]``: one matrix, or one per system (``per="rater"``) if
        that is more likely. None if the judge has another scale.
    table : array of shape (n_judge_classes, n_classes)
        Distribution of the human grade for each grade of the judge.
    one_matrix : float
        Probability that the judge errs alike in all systems, from even odds.
    next_rows : array of int
        Numbers of the rows to grade next, from 0.
    doubts : tuple of Doubt
        Reasons not to believe the estimates.
    classes, judge_classes : tuples of str
        Grades of people and of the judge, from lowest to highest.
    n_people : int
        Number of human graders, that is of columns.
    confidence : float
        Level of all intervals, each on its own.
    messages : tuple of str
        What was left out or put together.
    is_paired : bool
        Whether rows of one item were taken to be alike; else all rows are independent.
    """

    systems: tuple[SystemScore, ...]
    differences: tuple[Difference, ...]
    noise: Noise | None
    table: Floats
    one_matrix: float
    next_rows: Ints
    doubts: tuple[Doubt, ...]
    classes: tuple[str, ...]
    judge_classes: tuple[str, ...]
    n_people: int
    confidence: float
    messages: tuple[str, ...] = ()
    is_paired: bool = False

    @property
    def lean(self) -> str:
        """Whether the judge treats systems differently, in one sentence."""
        if len(self.systems) < 2:
            return "There is one system, so the judge cannot lean."
        alike = percent(self.one_matrix)
        if self.one_matrix >= ALIKE:
            return f"No sign that the judge treats systems differently: one matrix for all has probability {alike}."
        if self.one_matrix > APART:
            return f"Whether the judge treats systems differently is open: one matrix for all has probability {alike}."
        most = [(bias.value, one.system) for one in self.systems if (bias := one.judge_bias) is not None]
        words = f"The judge treats systems differently: one matrix for all has probability {alike}"
        if not most:
            return f"{words}."
        (low, harshest), (high, kindest) = min(most), max(most)
        return f"{words}. It is {low:+.2f} grades off for {harshest} and {high:+.2f} for {kindest}."

    @property
    def assumption(self) -> str:
        """What is taken for granted about people's grades and rows, in two sentences."""
        people = (
            "Human grades are taken to be right"
            if self.n_people == 1
            else f"The {self.n_people} people may err; the true grade is inferred from all of them"
        )
        rows = "Rows of one item may be alike" if self.is_paired else "All rows are taken to be independent"
        choice = "their rows to be a random choice among the rows of a system with the same judge grade"
        return f"{people}, and {choice}. {rows}."

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and text, ready for JSON."""
        noise = None if self.noise is None else self.noise.to_dict(replicates=False)
        return as_plain(self) | {"noise": noise, "lean": self.lean, "assumption": self.assumption}

    def __str__(self) -> str:
        lines = [f"{one.system}: {one.mean} from {one.n_human} human grades of {one.n_rows}" for one in self.systems]
        lines += [f"{one.system} - {one.other}: {one.mean}" for one in self.differences]
        return "\n".join([*lines, self.lean, *(f"in doubt: {doubt.sentence}" for doubt in self.doubts)])
