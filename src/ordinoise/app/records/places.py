"""What a person calls rows: their lines in the file or their rows in a sheet, and the cells that name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ordinoise._text import NOTHING
from ordinoise.app.records.audit import AuditRecord, Suspect
from ordinoise.app.tables.file_lines import line_word

FROM_ZERO = "Rows are numbered from 0; the header is not counted."


@dataclass(frozen=True)
class Places:
    """Rows of a file by what a person calls them.

    Attributes
    ----------
    word : {"line", "row"}
        What the numbers are.
    numbers : tuple of int
    column : int or None
        The place of the column whose cells name the rows; None without one.
    name : str
        Its name.
    cells : tuple of str
        Its cell in each row; empty without such a column.
    note : str
        What the numbers count.
    """

    word: str
    numbers: tuple[int, ...]
    column: int | None
    name: str
    cells: tuple[str, ...]
    note: str

    @property
    def heads(self) -> tuple[str, ...]:
        """Heads of the columns of a table that shows the places."""
        return (self.word,) if self.column is None else (self.word, self.name)

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """The cells of these columns."""
        numbers = map(str, self.numbers)
        return [(number,) for number in numbers] if self.column is None else list(zip(numbers, self.cells, strict=True))


def places_of(record: AuditRecord, rows: Sequence[Suspect]) -> Places:
    """The places of some rows of a record."""
    lines = tuple(one.line for one in rows if one.line is not None)
    has_lines = len(lines) == len(rows)
    word = line_word(record.source) if has_lines else "row"
    note = f"{word.capitalize()}s are those of {Path(record.source).name}." if has_lines else FROM_ZERO
    at = record.name_column
    name, cells = ("", ()) if at is None else (record.columns[at].name, tuple(one.cells[at] or NOTHING for one in rows))
    return Places(word, lines if has_lines else tuple(one.row for one in rows), at, name, cells, note)


def title_of(record: AuditRecord, row: Suspect) -> str:
    """The title of one row: ``Line 273: K0271``."""
    places = places_of(record, [row])
    title = f"{places.word.capitalize()} {places.numbers[0]}"
    return title if places.column is None else f"{title}: {places.cells[0]}"
