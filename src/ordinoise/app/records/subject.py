"""What a record is about: the file, its grades and columns, the noise, and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ordinoise._plain import as_plain
from ordinoise._validation import as_number, complain
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.columns.findings import ColumnFindings
from ordinoise.noise import Noise

# Notes on columns that are left out because they tell the rows apart.
NAMES = ("names or identifiers", "it counts the rows")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What every record of a file says first.

    Attributes
    ----------
    source : str
        Absolute path of the file, or of the folder or pattern of Parquet files.
    digest : str
        SHA-256 of the file when it was read; of several files that of their paths, sizes and times.
    target : str
        What is graded: the column of grades.
    classes : tuple of str
        Grades from lowest to highest, as text.
    columns : tuple of ColumnFindings
        What is known about each column; the cells of a suspect are in their order.
    noise : Noise
        Its replicates are not written to disk.
    confidence : float
        Level of the intervals.
    settings : mapping of str to plain values
        Options of the command (learner, seed, order, number of trusted labels ...).
    ordinoise : str
        Version that wrote it.
    reading : Reading
        How the file was read.
    """

    source: str
    digest: str
    target: str
    classes: tuple[str, ...]
    columns: tuple[ColumnFindings, ...]
    noise: Noise
    confidence: float
    settings: Mapping[str, Any]
    ordinoise: str
    reading: Reading = BY_RULES

    def __post_init__(self) -> None:
        if len(set(self.classes)) < len(self.classes):
            raise complain("classes", "name every grade once", list(self.classes))
        Noise.of(self.noise, len(self.classes))
        as_number("confidence", self.confidence, 0.0, 1.0)

    @cached_property
    def name_column(self) -> int | None:
        """The place of the column that names the rows: it differs in each, and tells nothing else; None without one."""
        n_rows = getattr(self, "n_rows", 0)
        return next(
            (
                at
                for at, column in enumerate(self.columns)
                if column.n_missing == 0 and column.n_distinct == n_rows > 1
                if column.role == "id" or (column.role == "ignored" and column.note.endswith(NAMES))
            ),
            None,
        )

    def to_dict(self, *, suspects: bool = True) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain: dict[str, Any] = as_plain(self)
        plain["noise"]["replicates"] = []
        if not suspects:
            del plain["suspects"]
        return plain
