"""Several grades per item, read from a file: one row per grade, one column per rater, or a Label Studio export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._validation import Ints, complain
from ordinoise.app.tables.file_lines import placed_errors
from ordinoise.app.tables.label_studio import Exported, exported_grades, is_json
from ordinoise.app.tables.reader import Opened, read_opened
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.target import Classes, graded_rows
from ordinoise.columns.cell_errors import CellError
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.names import as_column, listed, spread

GRADE = "grade"
"""Name of the grades where no column has one."""


@dataclass(frozen=True, eq=False)
class RatingsTable:
    """The grades in a file, one entry per rating.

    Attributes
    ----------
    path : Path
    digest : str
        SHA-256 of the file.
    target : str
        What is graded: the column of grades.
    item : str or None
        The column that names the items; None if they are numbered.
    classes : tuple of int or tuple of str
        Grades from lowest to highest.
    items : tuple of str
        Names of the items in order, numbers as numbers, so that nothing depends on the order of the file.
    of_item : int array of shape (n_ratings,)
        Position of each rating's item in `items`; ratings are sorted by it, then by rater and grade.
    raters : text array of shape (n_ratings,) or None
        Who gave each rating; None if it is not known.
    labels : array of shape (n_ratings,)
        The grades, each one of `classes`.
    cells : polars.DataFrame
        What the file says about each item, as text, one row per item.
    messages : tuple of str
        Messages for the user.
    exported : Exported or None
        What a Label Studio export says beyond the grades.
    reading : Reading
        How the file was read.
    """

    path: Path
    digest: str
    target: str
    item: str | None
    classes: Classes
    items: tuple[str, ...]
    of_item: Ints
    raters: NDArray[Any] | None
    labels: NDArray[Any]
    cells: pl.DataFrame
    messages: tuple[str, ...]
    exported: Exported | None = None
    reading: Reading = BY_RULES

    @property
    def n_raters(self) -> int:
        """Number of raters; 0 if they are not known."""
        return 0 if self.raters is None else len(np.unique(self.raters))

    def in_order(self) -> RatingsTable:
        """Sorted by item, rater and grade, whatever the order in the file."""
        order = np.array(sorted(range(len(self.items)), key=lambda at: _sort_key(self.items[at])), dtype=np.int64)
        of_item = np.argsort(order)[self.of_item]
        rank = {grade: at for at, grade in enumerate(self.classes)}
        ranks = np.array([rank[grade] for grade in self.labels.tolist()])
        raters = np.zeros(len(ranks)) if self.raters is None else self.raters
        ratings = np.lexsort((ranks, raters, of_item))
        tasks = self.exported and replace(self.exported, tasks=tuple(self.exported.tasks[at] for at in order))
        return replace(
            self, items=tuple(self.items[at] for at in order), of_item=of_item[ratings], labels=self.labels[ratings],
            raters=None if self.raters is None else self.raters[ratings],
            cells=self.cells[order] if self.cells.width else self.cells, exported=tasks,
        )  # fmt: skip


def long_ratings(
    path: Path,
    item: str,
    rater: str | None,
    grade: str,
    order: Sequence[object] | str | None = None,
    *,
    asked: Reading = BY_RULES,
) -> RatingsTable:
    """Ratings from a table with one row per grade; without `rater` it is not known who gave them."""
    named = [item] if rater is None else [item, rater]
    opened = read_opened(path, keep_text=named, asked=asked, wanted=[*named, grade])
    frame, digest = opened.frame, opened.digest
    for option, name in zip(("item", "rater"), named, strict=False):
        as_column(option, name, frame.columns)
    as_column("grade", grade, frame.columns)
    _check_different({"item": item, "grade": grade} | ({} if rater is None else {"rater": rater}))
    columns = {name: _stripped(frame.get_column(name)) for name in named}
    complete = frame.filter(pl.Series(_all_present(list(columns.values()))))
    if not complete.height:
        raise complain("file", f"have rows with a value in {' and '.join(map(repr, named))}", "none")
    classes, labels, rows = graded_rows(complete, grade, order)
    kept = complete[rows]
    items, of_item = _numbered(_stripped(kept.get_column(item)))
    raters = None if rater is None else np.array(_stripped(kept.get_column(rater)).to_list())
    messages = (
        _said(opened)
        + _skipped(frame.height - complete.height, "name")
        + _skipped(complete.height - len(rows), "grade")
    )
    cells = _cells_per_item(kept.drop(*named, grade), of_item, len(items))
    if rater is not None and len(items) == len(of_item):
        messages += (_of_one_grade(path, grade, rater, cells.columns),)
    found = RatingsTable(
        path, digest, grade, item, classes, items, of_item, raters, labels, cells, messages, reading=opened.reading
    )
    return found.in_order()


def wide_ratings(
    path: Path,
    wide: Sequence[str],
    item: str | None,
    order: Sequence[object] | str | None,
    *,
    is_named: bool,
    asked: Reading = BY_RULES,
) -> RatingsTable:
    """Ratings from a table with one row per item and one column per rater, or per opinion if not `is_named`."""
    opened = read_opened(path, keep_text=[*wide, *([] if item is None else [item])], asked=asked, wanted=wide)
    wide = spread(wide, opened.frame.columns)
    if len(wide) < 2 or len(set(wide)) < len(wide):
        raise complain("wide", "name two different columns or more, with commas between", ",".join(wide))
    frame, digest = opened.frame, opened.digest
    for name in wide:
        as_column("wide", name, frame.columns)
    if item in wide:
        raise complain("item", "not be among the columns of grades", repr(item))
    with placed_errors(path, opened):
        names = _item_names(frame, item)
    grades = pl.concat([nameless(as_text(frame.get_column(name))) for name in wide])
    classes, labels, rows = graded_rows(pl.DataFrame({GRADE: grades}), GRADE, order)
    number, column = rows % frame.height, rows // frame.height
    graded = np.unique(number)
    raters = np.array(wide)[column] if is_named else None
    messages = _said(opened) + _skipped(frame.height - len(graded), "grade")
    about = frame[graded].drop(*wide, *([] if item is None else [item]))
    cells = pl.DataFrame([as_text(one) for one in about.get_columns()])
    items = tuple(names[at] for at in graded.tolist())
    of_item = np.searchsorted(graded, number)
    found = RatingsTable(
        path, digest, GRADE, item, classes, items, of_item, raters, labels, cells, messages, reading=opened.reading
    )
    return found.in_order()


def exported_ratings(
    path: Path, item: str | None, grade: str | None, order: Sequence[object] | str | None
) -> RatingsTable:
    """Ratings from a Label Studio export in JSON; `item` names a field of the tasks' data, `grade` a control tag."""
    frame, tasks, exported, digest = exported_grades(path, item, grade)
    classes, labels, rows = graded_rows(frame, GRADE, order)
    kept = frame[rows]
    of_task = kept["task"].to_numpy()
    graded = np.unique(of_task)
    names = tuple(tasks["name"][graded.tolist()].to_list())
    raters = np.array(kept["rater"].to_list())
    messages = _skipped(tasks.height - len(graded), "grade")
    cells, of_item = tasks.drop("name")[graded.tolist()], np.searchsorted(graded, of_task)
    kept_tasks = Exported(exported.tag, exported.to_name, exported.kind, tuple(exported.tasks[at] for at in graded))
    found = RatingsTable(
        path, digest, exported.tag, item, classes, names, of_item, raters, labels, cells, messages, kept_tasks
    )
    return found.in_order()


__all__ = ["RatingsTable", "exported_ratings", "is_json", "long_ratings", "wide_ratings"]


def _of_one_grade(path: Path, grade: str, rater: str, columns: Sequence[str]) -> str:
    """What to use where no item has two grades."""
    needed = (
        f"by the columns that describe the items ({listed(columns)})"
        if columns
        else ("by columns that describe the items, of which the file has none")
    )
    return (
        f"every item has one grade; ordinoise audit {path.name} --target {grade} --grader {rater} compares who gave "
        f"them on comparable rows, {needed}."
    )


def _check_different(names: dict[str, str]) -> None:
    seen: dict[str, str] = {}
    for option, name in names.items():
        if name in seen:
            raise complain(option, f"name another column than {seen[name]}", repr(name))
        seen[name] = option


def _item_names(frame: pl.DataFrame, item: str | None) -> list[str]:
    """Names of the rows, all different and none missing; their numbers from 0 without a column."""
    if item is None:
        return [str(row) for row in range(frame.height)]
    names = _stripped(frame.get_column(as_column("item", item, frame.columns)))
    if names.null_count():
        raise CellError("item", "name every row", "a missing cell in", names.is_null().arg_true().item(0))
    if names.n_unique() < len(names):
        twice = names.filter(names.is_duplicated()).item(0)
        raise complain("item", "name every row differently in a table of one row per item", f"{twice!r} twice")
    return [str(name) for name in names.to_list()]


def _stripped(column: pl.Series) -> pl.Series:
    """A column of names as text without blanks around; empty ones are missing."""
    text = nameless(as_text(column)).str.strip_chars()
    return pl.select(pl.when(text != "").then(text)).to_series()


def _all_present(columns: list[pl.Series]) -> NDArray[np.bool_]:
    return np.logical_and.reduce([column.is_not_null().to_numpy() for column in columns])


def _sort_key(name: str) -> tuple[bool, float, str]:
    """Numbers by their size, then texts."""
    try:
        number = float(name)
    except ValueError:
        return True, 0.0, name
    return (False, number, name) if number == number else (True, 0.0, name)


def _numbered(names: pl.Series) -> tuple[tuple[str, ...], Ints]:
    """Different names in the order of the file, and the position of each entry among them."""
    distinct = names.unique(maintain_order=True)
    positions = names.replace_strict(distinct, list(range(len(distinct))), return_dtype=pl.Int64)
    return tuple(distinct.to_list()), positions.to_numpy()


def _cells_per_item(frame: pl.DataFrame, of_item: Ints, n_items: int) -> pl.DataFrame:
    """The columns that say the same in all rows of an item, as text, one row per item."""
    first = np.full(n_items, -1)
    first[of_item[::-1]] = np.arange(len(of_item))[::-1]
    texts = [as_text(column) for column in frame.get_columns()]
    kept = [text for text in texts if bool(nameless(text).eq_missing(nameless(text)[first[of_item]]).all())]
    return pl.DataFrame([text[first] for text in kept])


def _said(opened: Opened) -> tuple[str, ...]:
    return (*opened.said, *(f"careful: {caution}." for caution in opened.cautions))


def _skipped(n_rows: int, what: str) -> tuple[str, ...]:
    if not n_rows:
        return ()
    return (f"{n_rows:,} row{'s' * (n_rows > 1)} without a {what} {'are' if n_rows > 1 else 'is'} ignored.",)
