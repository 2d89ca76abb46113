"""The dialect of CSV files that are written beside a person's file: that of the file, so that its Excel reads them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl

from ordinoise.app.tables.reading import Reading
from ordinoise.columns.inference import nameless

_DECIMAL = re.compile(r"[+-]?\d+\.\d+(e[+-]?\d+)?")
# A person needs no more of a number; round numbers, chosen by no run.
DIGITS, MOST_DECIMALS = 4, 6


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is spelled; it is no `Reading`, which also says where the table is in its file.

    Attributes
    ----------
    delimiter : str
        The character between fields.
    decimal : str
        The decimal mark of numbers: a point or a comma.
    line_end : str
    mark : bool
        Whether the file, which is in UTF-8, begins with a byte order mark.
    is_for_people : bool
        Whether numbers are without exponents and, where no program reads them back, short.
    """

    delimiter: str = ","
    decimal: str = "."
    line_end: str = "\n"
    mark: bool = False
    is_for_people: bool = False

    @classmethod
    def of(cls, reading: Reading, *, is_plain: bool = False) -> Self:
        """The dialect of a file as it was read; of one that is no CSV, one that its numbers allow.

        Excel takes a file in UTF-8 for one in the code page of its system unless it begins with a mark.
        """
        decimal = reading.decimal or "."
        if is_plain or (not reading.delimiter and decimal == "."):
            return cls()
        if not reading.delimiter:
            return cls(";", decimal, "\r\n", mark=True, is_for_people=True)
        mark = reading.mark or reading.encoding not in ("", "utf-8")
        found = cls(reading.delimiter, decimal, "\r\n" if reading.line_end == "\r\n" else "\n", mark)
        return replace(found, is_for_people=found != cls())

    def shortened(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The table with its numbers as a person reads them: four digits; unchanged if it is for programs."""
        if not self.is_for_people:
            return frame
        number = pl.col(pl.Float32, pl.Float64)
        short = number.round(MOST_DECIMALS).round_sig_figs(DIGITS)
        return frame.with_columns(pl.when(number.abs() < 10**DIGITS).then(short).otherwise(number.round(0)).name.keep())

    def with_decimals(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The table with its decimal numbers as text, spelled as in the file; unchanged if it is for programs."""
        if not self.is_for_people:
            return frame
        return pl.DataFrame([self._spelled(column) if column.dtype.is_float() else column for column in frame])

    def _spelled(self, column: pl.Series) -> pl.Series:
        text = nameless(column).cast(pl.String)
        exponents = text.filter(text.str.contains("e", literal=True)).unique().to_list()
        plain = {cell: np.format_float_positional(float(cell), trim="0") for cell in exponents}
        return text.replace(plain).str.replace(".", self.decimal, literal=True).alias(column.name)

    def spelled(self, grade: str) -> str:
        """A grade, or another number, with the decimal mark of the file."""
        return grade.replace(".", self.decimal) if _DECIMAL.fullmatch(grade) else grade

    def with_numbers(self, frame: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
        """The table with the numbers in some columns of text, such as grades, with the decimal mark of the file."""
        if self.decimal == ".":
            return frame
        texts = {name: frame[name] for name in names if name in frame.columns and frame[name].dtype == pl.String}
        spelled = [
            pl.Series(name, [cell and self.spelled(cell) for cell in column], dtype=pl.String)
            for name, column in texts.items()
        ]
        return frame.with_columns(spelled)


PLAIN = Dialect()
