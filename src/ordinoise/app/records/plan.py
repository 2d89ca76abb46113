"""Plans in the folder of an audit or of raters: the rows to verify next, or a spot check, stored as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordinoise._plain import as_plain, of_plain
from ordinoise._validation import as_choice, as_number, complain
from ordinoise.app.records.audit import Suspect, check_suspects, upgraded_suspect
from ordinoise.app.records.history import Settled
from ordinoise.app.records.ratings import RatedItem
from ordinoise.app.records.stored import Envelope, read_stored, write_stored
from ordinoise.app.records.subject import Subject
from ordinoise.audit.certificate import SpotCheck, spot_check

ENVELOPE = Envelope("ordinoise-next", 1, "next")
GAIN, SPOT_CHECK, REPEAT = "gain", "spot check", "repeat"
NO_GRADE = ""
"""The recorded grade of a row without one."""


@dataclass(frozen=True)
class Plan:
    """Rows to verify, in the order to verify them.

    Attributes
    ----------
    kind : {"gain", "spot check", "repeat"}
        Chosen by what they would teach, drawn at random, or settled rows that are shown again.
    digest : str
        SHA-256 of the file that the rows are of.
    confidence : float
        Level of the certificate of a spot check.
    rows : tuple of Suspect
    sizes : tuple of int
        For a spot check, the number of rows in each stratum; empty otherwise.
    stratum : tuple of int
        For a spot check, the stratum of each row; files of earlier versions call it `drawn`.
    gains : tuple of float
        For a plan by gain, what each row is expected to teach; empty otherwise.
    asked : tuple of str
        With raters, who should grade each item; empty otherwise.
    after : int
        For rows that are shown again, the last event of the review before that.
    """

    kind: str
    digest: str
    confidence: float
    rows: tuple[RatedItem | Suspect, ...]
    sizes: tuple[int, ...] = ()
    stratum: tuple[int, ...] = ()
    gains: tuple[float, ...] = ()
    asked: tuple[str, ...] = ()
    after: int = 0

    def __post_init__(self) -> None:
        as_choice("kind", self.kind, (GAIN, SPOT_CHECK, REPEAT))
        as_number("confidence", self.confidence, 0.0, 1.0)
        n_rows, strata = len(self.rows), range(len(self.sizes))
        if self.is_spot_check and (len(self.stratum) != n_rows or not set(self.stratum) <= set(strata)):
            raise complain("stratum", f"be one of {len(strata)} for every row", list(self.stratum))
        if len({one.row for one in self.rows}) < n_rows:
            raise complain("rows", "name every row once", "some twice")

    @property
    def is_blind(self) -> bool:
        """Whether reviewers must not see what was recorded, suggested or answered."""
        return self.kind in (SPOT_CHECK, REPEAT)

    @property
    def drawn(self) -> str:
        """How its rows were drawn, as in `Settled`: of several strata some rows are drawn more often than others."""
        return "random" if self.is_spot_check and len(self.sizes) == 1 else "chosen"

    @property
    def row_numbers(self) -> set[int]:
        """Numbers of its rows in the file."""
        return {one.row for one in self.rows}

    @property
    def is_spot_check(self) -> bool:
        """Whether the rows were drawn at random, for a certificate."""
        return self.kind == SPOT_CHECK

    def certificate(self, settled: Iterable[Settled]) -> SpotCheck:
        """What the spot check shows, given what is settled; rows that are not count against both ends."""
        grades = {one.row: one.grade for one in settled}
        counts = [[0, 0, 0] for _ in self.sizes]  # right, wrong, open
        for one, stratum in zip(self.rows, self.stratum, strict=True):
            grade = grades.get(one.row)
            counts[stratum][2 if grade is None else int(grade != one.recorded)] += 1
        wrong, undecided = [one[1] for one in counts], [one[2] for one in counts]
        checked = [one[0] + one[1] for one in counts]
        return spot_check(self.sizes, checked, wrong, undecided=undecided, confidence=self.confidence)


def write_plan(folder: Path, plan: Plan) -> str:
    """Write the plan as the next ``next-N.json`` of the folder; returns its name without the suffix."""
    name = f"next-{1 + max((number for number, _ in _files(folder)), default=0)}"
    write_stored(folder / f"{name}.json", ENVELOPE, as_plain(plan))
    return name


def read_plans(folder: Path, subject: Subject) -> list[Plan]:
    """Every plan in the folder of a record, the oldest first; refuses damaged ones and those of another file."""
    return [read_stored(path, ENVELOPE, lambda plain: _plan_of(plain, subject)) for _, path in _files(folder)]


def repeats_of(plans: Iterable[Plan]) -> dict[int, int]:
    """Rows that are shown again, and the last event before that; of several times the last one."""
    return {one.row: plan.after for plan in plans if plan.kind == REPEAT for one in plan.rows}


def _files(folder: Path) -> list[tuple[int, Path]]:
    found = ((re.fullmatch(r"next-(\d{1,9})\.json", path.name), path) for path in folder.iterdir())
    return sorted((int(name[1]), path) for name, path in found if name)


def _plan_of(plain: dict[str, Any], subject: Subject) -> Plan:
    if "drawn" in plain:
        plain["stratum"] = plain.pop("drawn")
    if isinstance(plain.get("rows"), list):
        plain["rows"] = [upgraded_suspect(one) for one in plain["rows"]]
    plan = of_plain(Plan, plain)
    if plan.digest != subject.digest:
        raise complain("digest", "be that of the audited file", plan.digest[:16])
    check_suspects("rows", plan.rows, subject, [*subject.classes, NO_GRADE])
    return plan
