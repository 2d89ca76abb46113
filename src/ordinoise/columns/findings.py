"""What a column of a file holds, and how it is used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Spelling:
    """How the cells of one column of text are spelled.

    Attributes
    ----------
    kind : str
        "number", "percent", "date", "hours", "flag", "category", "code" (digits that are no number) or "text".
    decimal : str
        The mark of decimals, "." or ","; empty where no cell has one.
    dates : str
        The order of day, month and year, "dmy", "mdy" or "ymd".
    unit : str
        A currency or unit that is left out.
    missing : tuple of str
        Words that are read as missing in this column.
    """

    kind: str
    decimal: str = ""
    dates: str = ""
    unit: str = ""
    missing: tuple[str, ...] = ()


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
    spelling : Spelling or None
        How its cells were read; None if the file stores a type.
    """

    name: str
    kind: str
    role: str
    n_missing: int
    n_distinct: int
    note: str = ""
    spelling: Spelling | None = None
