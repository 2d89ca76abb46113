"""What to do now, and what the predictions are measured against."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from ordinoise._text import NOTHING, percent
from ordinoise._validation import Ints
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.report.words import counted, number, printable, shortened
from ordinoise.audit.certificate import spot_check
from ordinoise.scoring.metrics import METRICS, ranked_probability_score

# Rows of the spot check that is advised, which a person checks in an hour or less; a round number, chosen by no run.
SPOT_CHECK = 60
ONE_FILE = (
    "This table was read in parts. Random rows (ordinoise next), a gate (ordinoise check) and settled grades in the "
    "next audit (--reviewed) are for one file that is read at once: draw a sample of rows into a file of its own, and "
    "audit that, to have the number of wrong grades."
)
MANY_SUSPECTS = 100  # more than a person settles in one sitting; a round number, chosen by no run


@dataclass(frozen=True)
class Step:
    """A sentence, and the command that does it."""

    words: str
    command: str = ""


def steps_of(
    record: AuditRecord, folder: str = "", options: Sequence[str] = (), *, in_parts: bool = False
) -> list[Step]:
    """What to do now, in order; without the folder of an audit, first an audit, with these words of a command line.

    Of a table that was read in parts, only its suspects can be reviewed.
    """
    if record.finding.kind == "no signal":
        return [Step("Add columns that the grade depends on, and audit the file again.")]
    audit = f"ordinoise audit {_quoted(PurePath(record.source).name)} --target {_quoted(record.target)}"
    audit = " ".join((audit, *(shlex.quote(printable(word)) for word in options)))
    if not folder:
        return [Step("To review suspicious rows, audit the file:", f"{audit} --out audit")]
    place = _quoted(folder)
    first = Step("No row stands out. Verify those that a model learns most from:", f"ordinoise next {place}")
    if record.suspects:
        rows, is_long = counted(len(record.suspects), "suspicious row"), len(record.suspects) > MANY_SUSPECTS
        words = f"Settle the {rows} below, one key per row" + is_long * "; the surest come first, stop when you like"
        first = Step(f"{words}:", f"ordinoise review {place}")
    if in_parts:
        return [first] * bool(record.suspects) + [Step(ONE_FILE)]
    again = Step("Then audit again: settled grades are trusted.", f"{audit} --reviewed {place} --out {place}-next")
    return [first, again, _spot_check(record, place)]


def _quoted(name: str) -> str:
    return shlex.quote(shortened(name, 60))


def _spot_check(record: AuditRecord, place: str) -> Step:
    n_left = max(record.n_left, 1)
    n_rows = min(SPOT_CHECK, n_left)
    command = f"ordinoise next {place} --spot-check --budget {n_rows}"
    if n_rows == n_left:
        return Step(f"Is it enough? {counted(n_rows, 'row')}: few enough to check every one.", command)
    most = percent(spot_check(n_left, n_rows, 0).at_most / n_left)
    return Step(
        f"Is it enough? Check {counted(n_rows, 'random row')}: if none is wrong, at most {most} of the remaining "
        "grades are, with 95% confidence, whatever the model believes.",
        command,
    )


@dataclass(frozen=True)
class Baseline:
    """Scores on the recorded grades if always one grade is predicted, or the shares of the grades; NaN if unknown."""

    grade: str
    scores: Mapping[str, float]

    @property
    def texts(self) -> tuple[str, ...]:
        """The scores as they are printed."""
        return tuple(NOTHING if math.isnan(score) else number(score) for score in self.scores.values())


def baseline_of(recorded: Ints, classes: Sequence[str], metrics: Sequence[str]) -> Baseline:
    """The baseline of every metric: always the middle one of the recorded grades."""
    n_classes = len(classes)
    shares = np.bincount(recorded, minlength=n_classes) / max(len(recorded), 1)
    middle = int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-12))
    joint = np.zeros((n_classes, n_classes))
    joint[:, min(middle, n_classes - 1)] = shares
    known = {name: METRICS[name].of_joint(joint) for name in metrics if name in METRICS}
    even = np.tile(shares, (n_classes, 1))
    known["ranked_probability_score"] = ranked_probability_score(np.arange(n_classes), even, sample_weight=shares)
    scores = {name: float(known.get(name, math.nan)) for name in metrics}
    return Baseline(printable(shortened(classes[min(middle, n_classes - 1)], 24)), scores)
