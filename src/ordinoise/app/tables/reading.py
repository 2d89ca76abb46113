"""How a file is read: found by rules, changed by options, kept with audits and models."""

from __future__ import annotations

from dataclasses import dataclass

from ordinoise.app.tables.encoding import encoding_words

DELIMITER_WORDS = {"\t": "tabs", " ": "blanks"}


@dataclass(frozen=True)
class Reading:
    """How a file is read: what a person asks for, and after the reading what was found.

    What is empty is left to the rules, so that ``Reading()`` asks for nothing.

    Attributes
    ----------
    encoding : str
        Name of the encoding, as Python calls it.
    mark : bool
        Whether the file begins with a byte order mark.
    delimiter : str
        The character between the fields of a CSV file.
    line_end : str
        What ends the lines of a text file.
    has_header : bool
        Whether a row has the names of the columns.
    header_row : int
        That row as the file shows it: the line of a text file, counted from 1 (a quoted line break is not the end of
        one), or the row of a sheet. The table begins below.
    rows_above, rows_below : int
        Rows above the header and below the table that are not blank and no part of it.
    sheet : str
        The sheet of a workbook.
    decimal : str
        The decimal mark of numbers: a point or a comma.
    dates : str
        Order of day, month and year where it could be one or the other: "dmy" or "mdy".
    missing : tuple of str
        Words for a missing cell, beside the usual ones.
    """

    encoding: str = ""
    mark: bool = False
    delimiter: str = ""
    line_end: str = ""
    has_header: bool = True
    header_row: int = 0
    rows_above: int = 0
    rows_below: int = 0
    sheet: str = ""
    decimal: str = ""
    dates: str = ""
    missing: tuple[str, ...] = ()

    def words(self) -> str:
        """What is not usual about the file; empty for UTF-8 with commas and the names in its first line."""
        parts = [encoding_words(self.encoding)] if self.encoding not in ("", "utf-8") else []
        if self.delimiter not in ("", ","):
            parts.append(f"{DELIMITER_WORDS.get(self.delimiter, self.delimiter)} between cells")
        if self.decimal == ",":
            parts.append("decimal commas")
        if self.rows_above or self.rows_below:
            places = [(self.rows_above, "above"), (self.rows_below, "below")]
            others = " and ".join(f"{n} {'row' if n == 1 else 'rows'} {where}" for n, where in places if n)
            others += f" {'is' if self.rows_above + self.rows_below == 1 else 'are'} no part of the table"
            parts.append(f"names in row {self.header_row} ({others})" if self.has_header else others)
        return ", ".join(parts)


BY_RULES = Reading()
"""Nothing is asked for."""
WITHOUT_HEADER = Reading(has_header=False)
