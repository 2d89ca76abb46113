"""Options that the verbs share which learn from a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

if TYPE_CHECKING:
    from ordinoise.app.workflow import Request


@Parameter(name="*")
@dataclass(frozen=True)
class Asking:
    """How to read and to learn.

    Parameters
    ----------
    order
        Grades from lowest to highest, such as low,medium,high; needed where they are text.
    ignore
        A column that is no feature; may be given several times.
    learner
        auto, mlp, boosting or blend.
    noise
        estimate, none (the grades are right), or a file with the noise matrix: a line a true grade, no header.
    decision
        How a grade is picked: median, mode or mean.
    seed
        The same seed gives the same answer.
    jobs
        Fits at a time; all processors by default.
    """

    order: str | None = None
    ignore: tuple[str, ...] = ()
    learner: str = "auto"
    noise: str = "estimate"
    decision: str = "median"
    seed: int = 0
    jobs: int | None = None

    def request(self, file: Path, target: str, *, verbose: bool) -> Request:
        """What the library is asked for."""
        from ordinoise.app.workflow import Request

        asked = (self.order, self.ignore, self.learner, self.noise, self.decision, self.seed, self.jobs)
        return Request(file, target, *asked, verbose)
