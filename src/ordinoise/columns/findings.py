"""What a column of a file holds, and how it is used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnFindings:
    """A column of the file, and how it is used.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "text", "date", "flag", "image"}
        What the column holds.
    role : {"feature", "target", "id", "ignored"}
        An id names items, raters or groups.
    n_missing, n_distinct : int
    note : str
        Why it is ignored or how it was converted; may be empty.
    """

    name: str
    kind: str
    role: str
    n_missing: int
    n_distinct: int
    note: str = ""
