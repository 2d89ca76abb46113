"""What earlier rounds of review left to an audit: settled grades, rows graded twice, and the audits before it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ordinoise._validation import as_choice
from ordinoise.estimate import Estimate
from ordinoise.labels import DRAWN


@dataclass(frozen=True)
class Settled:
    """A grade that a review settled: the one form in which verified grades are stored and handed on.

    Attributes
    ----------
    row : int
        Number of the data row in the file, from 0.
    recorded : str or None
        The grade in the file; None if it has none.
    grade : str
        The grade by the review.
    reviewer : str
        Who chose it; empty if that is not known.
    drawn : {"random", "chosen"}
        How the row came to be reviewed, as in `ordinoise.labels.Verified`.
    """

    row: int
    recorded: str | None
    grade: str
    reviewer: str = ""
    drawn: str = "chosen"

    def __post_init__(self) -> None:
        as_choice("drawn", self.drawn, DRAWN)

    @property
    def is_fixed(self) -> bool:
        """Whether the review changed a grade."""
        return self.recorded is not None and self.grade != self.recorded

    @property
    def is_added(self) -> bool:
        """Whether the row had no grade before the review."""
        return self.recorded is None


@dataclass(frozen=True)
class Repeat:
    """A row that was graded twice, blind.

    Attributes
    ----------
    row : int
        Number of the data row in the file, from 0.
    first, again : str
        The two grades.
    reviewer, again_by : str
        Who gave them.
    """

    row: int
    first: str
    again: str
    reviewer: str
    again_by: str

    @property
    def is_differing(self) -> bool:
        """Whether the two grades differ."""
        return self.first != self.again


@dataclass(frozen=True)
class Round:
    """What an audit knew: the settled grades it used, and how many of the others it took to be wrong.

    Attributes
    ----------
    n_fixed, n_confirmed : int
        Settled grades, all rounds before it together.
    n_left : int
        Graded rows that were not settled.
    wrong, wrong_low, wrong_high : float or None
        Wrong grades among those, as in `AuditRecord`.
    """

    n_fixed: int
    n_confirmed: int
    n_left: int
    wrong: float | None
    wrong_low: float | None
    wrong_high: float | None

    def estimate(self, confidence: float = 0.95) -> Estimate | None:
        """The number of wrong grades with its interval, or as a range; None if it is not known."""
        if self.wrong_low is None or self.wrong_high is None:
            return None
        return Estimate(math.nan if self.wrong is None else self.wrong, self.wrong_low, self.wrong_high, confidence)
