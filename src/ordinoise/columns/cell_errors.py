"""What is wrong with a cell, whose row has a number from 0 until a file gives it a line."""

from __future__ import annotations

from ordinoise._validation import complain


class CellError(ValueError):
    """One sentence about a cell, in the shape of every error.

    Parameters
    ----------
    argument, rule, got : str
        As of any error; the place of the cell follows `got`.
    row : int
        Number of its row, from 0.
    """

    def __init__(self, argument: str, rule: str, got: str, row: int) -> None:
        super().__init__(str(complain(argument, rule, f"{got} row {row}", "rows are numbered from 0")))
        self.row, self._parts = row, (argument, rule, got)

    def at(self, place: str) -> ValueError:
        """The sentence with the place as the file has it."""
        argument, rule, got = self._parts
        return complain(argument, rule, f"{got} {place}")
