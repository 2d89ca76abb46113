"""What a column of a file holds, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnFindings:
    """A column of the file, and what became of it.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "text", "date", "flag", "image"}
        What the column holds.
    role : {"feature", "target", "left out"}
    n_missing, n_distinct : int
    note : str
        Why it was left out, or what was done to it; empty where there is nothing to say.
    """

    name: str
    kind: str
    role: str
    n_missing: int
    n_distinct: int
    note: str = ""
