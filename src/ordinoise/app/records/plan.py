"""Plans in the folder of an audit or of raters: the rows to verify next, or a spot check, stored as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ordinoise._files import write_whole
from ordinoise._validation import as_choice, as_number, complain
from ordinoise.app.records.audit import AuditRecord, Suspect, check_types, read_whole, suspect_parts
from ordinoise.app.records.ratings import RatedItem, RatersRecord
from ordinoise.audit.certificate import SpotCheck, spot_check

FORMAT, FORMAT_VERSION = "ordinoise-next", 1
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
    sizes : tuple of int
        For a spot check, the number of rows in each stratum; empty otherwise.
    drawn : tuple of int
        For a spot check, the stratum of each row.
    gains : tuple of float
        For a plan by gain, what each row is expected to teach; empty otherwise.
    asked : tuple of str
        With raters, who should grade each item; empty otherwise.
    confidence : float
        Level of the certificate of a spot check.
    rows : tuple of Suspect
    after : int
        For rows that are shown again, the last event of the review before that.
    """

    kind: str
    digest: str
    sizes: tuple[int, ...]
    drawn: tuple[int, ...]
    gains: tuple[float, ...]
    asked: tuple[str, ...]
    confidence: float
    rows: tuple[Suspect, ...]
    after: int = 0

    @property
    def is_blind(self) -> bool:
        """Whether reviewers must not see what was recorded, suggested or answered."""
        return self.kind in (SPOT_CHECK, REPEAT)

    @property
    def is_spot_check(self) -> bool:
        """Whether the rows were drawn at random, for a certificate."""
        return self.kind == SPOT_CHECK

    def certificate(self, settled: Mapping[int, str]) -> SpotCheck:
        """What the spot check shows, given the settled grades by row; rows without one count against both ends."""
        counts = [[0, 0, 0] for _ in self.sizes]  # right, wrong, open
        for one, stratum in zip(self.rows, self.drawn, strict=True):
            grade = settled.get(one.row)
            counts[stratum][2 if grade is None else int(grade != one.recorded)] += 1
        wrong, undecided = [one[1] for one in counts], [one[2] for one in counts]
        checked = [one[0] + one[1] for one in counts]
        return spot_check(self.sizes, checked, wrong, undecided=undecided, confidence=self.confidence)


def write_plan(folder: Path, plan: Plan) -> str:
    """Write the plan as the next ``next-N.json`` of the folder; returns its name without the suffix."""
    name = f"next-{1 + max((number for number, _ in _files(folder)), default=0)}"
    plain = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(plan)}
    write_whole(folder / f"{name}.json", json.dumps(plain, indent=1, allow_nan=False).encode())
    return name


def read_plans(folder: Path, record: AuditRecord | RatersRecord) -> list[Plan]:
    """Every plan in a folder, the oldest first; refuses damaged ones and those of another file."""
    return [
        read_whole(folder, path.name, FORMAT, FORMAT_VERSION, "next", lambda plain: _from_plain(plain, record))
        for _, path in _files(folder)
    ]


def repeats_of(plans: list[Plan]) -> dict[int, int]:
    """Rows that are shown again, and the last event before that; of several times the last one."""
    return {one.row: plan.after for plan in plans if plan.kind == REPEAT for one in plan.rows}


def _files(folder: Path) -> list[tuple[int, Path]]:
    found = ((re.fullmatch(r"next-(\d{1,9})\.json", path.name), path) for path in folder.iterdir())
    return sorted((int(name[1]), path) for name, path in found if name)


def _from_plain(found: dict[str, Any], record: AuditRecord | RatersRecord) -> Plan:
    lists = {name: tuple(found[name]) for name in ("sizes", "drawn", "gains", "asked")}
    plan = Plan(**found | lists | {"rows": tuple(_row(one) for one in found["rows"])})
    for one in (plan, *plan.rows):
        check_types(one)
    as_choice("kind", plan.kind, (GAIN, SPOT_CHECK, REPEAT))
    as_number("confidence", plan.confidence, 0.0, 1.0)
    if plan.digest != record.digest:
        raise complain("digest", "be that of the audited file", plan.digest[:16])
    n_rows = len(plan.rows)
    if plan.is_spot_check and (len(plan.drawn) != n_rows or not set(plan.drawn) <= set(range(len(plan.sizes)))):
        raise ValueError("the strata do not fit the rows")
    if len({one.row for one in plan.rows}) < n_rows:
        raise ValueError("a row is planned twice")
    for one in plan.rows:
        if len(one.cells) != len(record.columns) or len(one.posterior) != len(record.classes):
            raise ValueError(f"row {one.row} does not fit the columns or classes")
        if {one.recorded, one.suggested} - {*record.classes, NO_GRADE}:
            raise ValueError(f"row {one.row} has a grade that is not among the classes")
    return plan


def _row(plain: dict[str, Any]) -> Suspect:
    if "item" not in plain:
        return Suspect(**suspect_parts(plain))
    return RatedItem(**suspect_parts(plain) | {name: tuple(plain[name]) for name in ("raters", "grades", "flags")})
