"""A file with a column of grades, understood: its classes in order, its features, and words about what was done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import Ints, complain
from ordinoise.app.tables.columns import ColumnFindings
from ordinoise.app.tables.features import features_of, findings_of
from ordinoise.app.tables.inference import as_text
from ordinoise.app.tables.names import as_column
from ordinoise.app.tables.reading import read_table
from ordinoise.app.tables.target import Classes, grades_of, ordered_classes


@dataclass(frozen=True, eq=False)
class GradedTable:
    """A file with a column of grades.

    Attributes
    ----------
    path : Path
    frame : polars.DataFrame
        The table as it was read, every row and column of the file.
    target : str
        The column of grades.
    classes : tuple of int or tuple of str
        Grades from lowest to highest.
    columns : tuple of ColumnFindings
        Every column, in the file's order.
    rows : int array
        Numbers of the rows that have a grade, from 0.
    words : tuple of str
        Sentences about what was done to the table.
    """

    path: Path
    frame: pl.DataFrame
    target: str
    classes: Classes
    columns: tuple[ColumnFindings, ...]
    rows: Ints
    words: tuple[str, ...]

    @property
    def features(self) -> pl.DataFrame:
        """The feature columns of the graded rows: Float64, and String for categories; made anew at each call."""
        return features_of(self.frame[self.rows], self.columns)

    @property
    def labels(self) -> NDArray[Any]:
        """The grades of the graded rows, each one of `classes`."""
        return grades_of(self.frame, self.target, self.classes)[0]

    def text_cells(self, rows: ArrayLike) -> list[tuple[str | None, ...]]:
        """The cells of some rows of the file as text, one for every column, None where missing."""
        chosen = self.frame[np.asarray(rows, dtype=np.int64)]
        return pl.DataFrame([as_text(column) for column in chosen.get_columns()]).rows()


def graded_table(
    path: str | Path,
    target: str,
    *,
    order: Sequence[object] | str | None = None,
    ignore: Collection[str] = (),
    features: Collection[str] | None = None,
) -> GradedTable:
    """The file at `path`, with grades in the column `target`.

    Parameters
    ----------
    path : str or Path
        A file for `read_table`.
    target : str
        The column of grades. Rows without one are left out.
    order : sequence, optional
        Grades from lowest to highest; needed unless they are numbers. It may name grades that no row has.
    ignore : collection of str
        Columns that are no features.
    features : collection of str, optional
        The only columns that are features; every other column unless given.

    Raises
    ------
    ValueError
        One sentence about what is wrong with the file or the arguments.
    """
    frame = read_table(path)
    classes = ordered_classes(frame, target, order)
    _, rows = grades_of(frame, target, classes)
    roles = _roles(frame, target, ignore, features)
    columns = tuple(findings_of(frame.get_column(name), *role) for name, role in roles.items())
    _check_features(frame, columns, rows)
    words = tuple(_words(columns, frame.height - len(rows)))
    return GradedTable(Path(path), frame, target, classes, columns, rows, words)


def _roles(
    frame: pl.DataFrame, target: str, ignore: Collection[str], features: Collection[str] | None
) -> dict[str, tuple[str, str]]:
    """What every column is asked to be, and why."""
    ignored = {as_column("ignore", name, frame.columns) for name in ignore}
    wanted = {as_column("features", name, frame.columns) for name in (frame.columns if features is None else features)}
    if target in ignored:
        raise complain("ignore", "leave the target alone", repr(target))
    if features is not None and target in wanted:
        raise complain("features", "leave the target out", repr(target))
    roles = dict.fromkeys(frame.columns, ("feature", ""))
    roles |= {
        name: ("left out", "it is not among the features asked for") for name in frame.columns if name not in wanted
    }
    roles |= dict.fromkeys(ignored, ("left out", "as asked"))
    return roles | {target: ("target", "")}


def _check_features(frame: pl.DataFrame, columns: Sequence[ColumnFindings], rows: Ints) -> None:
    """Refuse features without a value, infinite ones, and a table without any feature."""
    wanted = [column for column in columns if column.role == "feature"]
    for column in wanted:
        if frame.get_column(column.name)[rows].null_count() == len(rows):
            got = f"nothing but missing cells in column {column.name!r}"
            raise complain("file", "have a value in every feature", got, f"--ignore {column.name} leaves it out")
        # One column at a time: whether its numbers are finite is seen where they are made.
        features_of(frame, [column])
    if not wanted:
        reasons = "; ".join(f"{column.name!r}: {column.note}" for column in columns if column.role == "left out")
        raise complain(
            "file", "have a column to learn from", f"none besides the target ({reasons or 'no other column'})"
        )


def _words(columns: Sequence[ColumnFindings], n_ungraded: int) -> Iterator[str]:
    if n_ungraded:
        yield f"{n_ungraded} row{'s' * (n_ungraded > 1)} without a grade {'are' if n_ungraded > 1 else 'is'} left out."
    for column in columns:
        if column.role == "left out":
            yield f"column {column.name!r} is left out: {column.note}."
        elif column.role == "feature" and column.note:
            yield f"column {column.name!r} is a feature: {column.note}."
