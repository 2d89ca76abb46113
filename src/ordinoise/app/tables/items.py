"""Tables about items, joined to their ratings by name: features, and verified grades."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._validation import Ints, complain
from ordinoise.app.tables.reader import read_table
from ordinoise.app.tables.target import grades_of
from ordinoise.columns.features import features_of, findings_of
from ordinoise.columns.findings import ColumnFindings
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.names import as_column, listed


def item_features(
    path: Path, item: str | None, items: Sequence[str], ignore: Collection[str]
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[ColumnFindings, ...]]:
    """Features of the items, all cells of their rows as text, and what the columns hold.

    Parameters
    ----------
    path : Path
        Table with one row per item.
    item : str, optional
        Its column of names; rows are numbered from 0 without one.
    items : sequence of str
        Names of the items, in the order of the result.
    ignore : collection of str
        Columns that are not features, such as those with the grades.
    """
    frame = read_table(path, keep_text=[] if item is None else [item])
    rows = _rows_of(frame, item, items)
    chosen = frame[rows].drop([] if item is None else [item])
    roles = {name: ("ignored", "it holds grades") if name in ignore else ("feature", "") for name in chosen.columns}
    columns = tuple(findings_of(chosen.get_column(name), *role) for name, role in roles.items())
    if not any(column.role == "feature" for column in columns):
        raise complain("features", "have a column to learn from", "none besides the names and the grades")
    kept = [name for name in chosen.columns if name not in ignore]
    cells = pl.DataFrame([as_text(chosen.get_column(name)) for name in kept])
    return features_of(chosen, columns), cells, tuple(column for column in columns if column.name in kept)


def item_grades(
    path: Path, item: str | None, target: str, items: Sequence[str], classes: Sequence[Any]
) -> tuple[Ints, NDArray[Any]]:
    """Positions among the items and verified grades, from a table with a column of names and one of grades.

    The columns have the names of those in the ratings, or are called "item" and "grade".
    """
    names = [name for name in (item, "item") if name is not None]
    frame = read_table(path, keep_text=names)
    of_items = next((name for name in names if name in frame.columns), names[0])
    of_grades = target if target in frame.columns else "grade"
    as_column("trusted", of_items, frame.columns)
    as_column("trusted", of_grades, frame.columns)
    labels, rows = grades_of(frame, of_grades, classes)
    positions = {name: at for at, name in enumerate(items)}
    given = _names(frame[rows].get_column(of_items))
    known = np.array([name in positions for name in given], dtype=bool)
    if not known.any():
        got = f"{listed(given, 3)}, while the items are {listed(items, 3)}"
        raise complain("trusted", "name items of the file", got)
    places = np.array([positions[name] for name in given if name in positions], dtype=np.int64)
    if len(np.unique(places)) < len(places):
        twice = next(name for name in given if given.count(name) > 1)
        raise complain("trusted", "name every item once", f"{twice!r} twice")
    return places, labels[known]


def _rows_of(frame: pl.DataFrame, item: str | None, items: Sequence[str]) -> list[int]:
    """The row of each item."""
    if item is None:
        names: list[str | None] = [str(row) for row in range(frame.height)]
    else:
        names = list(_names(frame.get_column(as_column("features", item, frame.columns))))
    rows: dict[str | None, int] = {}
    for row, name in enumerate(names):
        if name in rows and name is not None:
            raise complain("features", "have one row per item", f"two for {name!r}")
        rows[name] = row
    absent = [name for name in items if name not in rows]
    if absent:
        got = f"none for {len(absent):,} of {len(items):,}, such as {listed(absent, 3)}"
        raise complain("features", "have a row for every item", got)
    return [rows[name] for name in items]


def _names(column: pl.Series) -> list[str]:
    return nameless(as_text(column)).str.strip_chars().to_list()
