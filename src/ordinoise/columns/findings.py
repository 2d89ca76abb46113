"""What a column of a file holds, and how it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Text with few distinct values is a category: at most 20, or a fifth of the rows, but never above 1000. By no run.
FEW, SHARE, MANY = 20, 5, 1000


def is_few(n_distinct: int, n_values: int) -> bool:
    """Whether so many different texts among so many are categories."""
    return n_distinct <= min(MANY, max(FEW, n_values // SHARE))


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
class SpelledColumn:
    """How one column was read, and what is to be said of it.

    Attributes
    ----------
    spelling : Spelling
    messages : tuple of str
        Clauses for the list of messages.
    cautions : tuple of str
        Clauses that must not be overlooked: cells that are no numbers, a column that looks numeric and is not used.
    reason : str
        Why a column that looks like numbers or dates stayed text; empty for all others.
    """

    spelling: Spelling
    messages: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    reason: str = ""


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


@dataclass(frozen=True)
class SpellingHints:
    """What a person, a model or the file itself says of the spelling; it decides where the cells of a column do not.

    Attributes
    ----------
    decimal : str
        The mark of decimals, "." or ",".
    dates : str
        The order of day, month and year, "dmy" or "mdy".
    missing : tuple of str
        More words that stand for a missing value.
    delimiter : str
        The delimiter of the file.
    kinds : mapping of str to str
        Columns whose kind is requested: "number", "date", "category", "text", "id", "image" or "ignored". "grade" is
        the column of grades: numbers only if every cell but the gaps is one, else text as it stands.
    known : mapping of str to Spelling
        Columns by the spelling that they had when a model was made.
    """

    decimal: str = ""
    dates: str = ""
    missing: tuple[str, ...] = ()
    delimiter: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Spelling] = field(default_factory=dict)

    @classmethod
    def of_columns(cls, columns: Sequence[ColumnFindings]) -> SpellingHints:
        """What the columns of a model say of another file."""
        features = [column for column in columns if column.role == "feature"]
        return cls(known={column.name: column.spelling or Spelling(column.kind) for column in features})
