"""How the columns of a table are spelled: numbers, dates, gaps and categories as whole columns write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ordinoise.columns.findings import ColumnFindings, Spelling
from ordinoise.columns.inference import typed

TEXTS = ("category", "text", "id", "image", "ignored")  # requested kinds whose cells stay text


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
        return cls(known={column.name: column.spelling for column in columns if column.spelling is not None})


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


@dataclass(frozen=True, eq=False)
class SpelledTable:
    """A table with the types that its columns stand for, and how each column of text was read."""

    frame: pl.DataFrame
    columns: Mapping[str, SpelledColumn]

    @property
    def decimal(self) -> str:
        """The mark of decimals, if the columns that have one agree; else empty."""
        marks = {column.spelling.decimal for column in self.columns.values()} - {""}
        return marks.pop() if len(marks) == 1 else ""

    @property
    def spellings(self) -> dict[str, Spelling]:
        """How each column of text is spelled."""
        return {name: column.spelling for name, column in self.columns.items()}

    def messages(self, names: Sequence[str]) -> Iterator[str]:
        """What is to be said of some columns."""
        return (message for name in names if name in self.columns for message in self.columns[name].messages)

    def cautions(self, names: Sequence[str]) -> Iterator[str]:
        """What must not be overlooked in some columns."""
        return (caution for name in names if name in self.columns for caution in self.columns[name].cautions)


def spelled_table(columns: list[pl.Series], hints: SpellingHints | None = None) -> SpelledTable:
    """A table of the columns with the types that their text stands for; modifies the list.

    Columns of other types than text are left alone. Whole columns decide, and columns that could be read in two ways
    follow the others.
    """
    hints = hints or SpellingHints()
    found = {}
    for at, column in enumerate(columns):
        # Replaced one by one, so that the whole text is never in memory twice.
        if column.dtype == pl.String:
            kind = hints.kinds.get(column.name, "")
            columns[at] = column if kind in TEXTS else typed(column)
            found[column.name] = SpelledColumn(Spelling(kind or "text"))
    return SpelledTable(pl.DataFrame(columns), found)
