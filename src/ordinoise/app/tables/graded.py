"""A file with a column of grades: its classes in order, its features, and messages for the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import Ints, complain
from ordinoise.app.tables.dialect import NO_HEADER, looks_like_data
from ordinoise.app.tables.embeddings import check_no_clash, embedded_columns
from ordinoise.app.tables.file_lines import lines_of, placed_errors
from ordinoise.app.tables.misuse import cautions, check_no_copy
from ordinoise.app.tables.reader import Opened, read_opened
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.roles import ColumnRoles
from ordinoise.app.tables.target import Classes, graded_rows, words_for_no_grade
from ordinoise.audit.graders.effects import check_graders
from ordinoise.columns.cell_errors import CellError
from ordinoise.columns.features import features_of, findings_of
from ordinoise.columns.findings import ColumnFindings, SpellingHints
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.names import as_column, listed


@dataclass(frozen=True, eq=False)
class GradedTable:
    """A file with a column of grades.

    Attributes
    ----------
    path : Path
    frame : polars.DataFrame
        The table as `read_table` returns it, with every row and column of the file.
    target : str
        The column of grades.
    classes : tuple of int or tuple of str
        Grades from lowest to highest.
    columns : tuple of ColumnFindings
        Every column, in the file's order.
    rows : int array
        Numbers of the rows that have a grade, from 0.
    labels : array of shape (n_graded,)
        The grades of those rows, each one of `classes`.
    features : polars.DataFrame
        The feature columns of those rows: Float64, and String for categories.
    messages : tuple of str
        Messages for the user: ignored rows and columns, and why.
    digest : str
        SHA-256 of the file.
    cautions : tuple of str
        Sentences on columns that should perhaps not be features, each with what to do.
    items, raters, groups, graders : text array of shape (n_graded,) or None
        What each row is a grade of, who gave it, what it belongs to, and who gave its one grade ("" where nobody is
        named), if columns were named for them.
    embedded : tuple of str
        Features that come from a file of embeddings or a model of the texts.
    ungraded : polars.DataFrame
        The feature columns of the rows without a grade, in the order of the file.
    reading : Reading
        How the file was read.
    """

    path: Path
    frame: pl.DataFrame
    target: str
    classes: Classes
    columns: tuple[ColumnFindings, ...]
    rows: Ints
    labels: NDArray[Any]
    features: pl.DataFrame
    messages: tuple[str, ...]
    digest: str
    cautions: tuple[str, ...] = ()
    items: NDArray[Any] | None = None
    raters: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    graders: NDArray[Any] | None = None
    embedded: tuple[str, ...] = ()
    ungraded: pl.DataFrame = field(default_factory=pl.DataFrame)
    reading: Reading = BY_RULES

    @cached_property
    def lines(self) -> Ints | None:
        """The line of each row in its file, from 1, or its row in a sheet; None where there is no such thing."""
        return lines_of(self.path, self.reading, self.frame)

    def line(self, row: int) -> int | None:
        """The line of a row in its file, or its row in a sheet; None where there is no such thing."""
        return None if self.lines is None else int(self.lines[row])

    @property
    def n_rows(self) -> int:
        """Number of rows of the file."""
        return self.frame.height

    @property
    def n_graded(self) -> int:
        """Number of rows with a grade."""
        return len(self.rows)

    @property
    def categories(self) -> list[str]:
        """Names of the features that are categories."""
        return [column.name for column in self.columns if column.role == "feature" and column.kind == "category"]

    @property
    def texts(self) -> list[str]:
        """Names of the features that are free text."""
        return [column.name for column in self.columns if column.role == "feature" and column.kind == "text"]

    def graded_cells(self, name: str) -> pl.Series:
        """The cells of a column in the graded rows."""
        return self.frame.get_column(name)[self.rows]

    def text_cells(self, rows: ArrayLike) -> list[tuple[str | None, ...]]:
        """The cells of some rows of the file as text, one per column, None where missing."""
        chosen = self.frame[np.asarray(rows, dtype=np.int64)]
        return pl.DataFrame([as_text(column) for column in chosen.get_columns()]).rows()


def graded_table(
    path: str | Path,
    roles: ColumnRoles,
    *,
    embeddings: str | Path | None = None,
    text_model: str | None = None,
    asked: Reading = BY_RULES,
) -> GradedTable:
    """The file at `path`, with grades in one of its columns.

    Parameters
    ----------
    path : str or Path
        A file for `read_table`.
    roles : ColumnRoles
        The column of grades, and what else is said of the columns.
    embeddings : str or Path, optional
        A file for `read_embeddings`, with one vector per row of the file; they are features too.
    text_model : str, optional
        A model for `text_vectors`; its vectors of the free text are features too.
    asked : Reading
        How to read the file, where that is not left to the rules.

    Raises
    ------
    ValueError
        One sentence about what is wrong with the file or the arguments.
    """
    hints = SpellingHints(kinds={**roles.kinds, roles.target: "grade"})
    opened = read_opened(path, asked=asked, keep_text=roles.kept_as_text, wanted=(roles.target,), hints=hints)
    with placed_errors(Path(path), opened):
        return graded_frame(path, opened, roles, embeddings=embeddings, text_model=text_model)


def graded_frame(
    path: str | Path,
    opened: Opened,
    roles: ColumnRoles,
    *,
    embeddings: str | Path | None = None,
    text_model: str | None = None,
    find: Callable[..., ColumnFindings] = findings_of,
) -> GradedTable:
    """A table that was read, as `graded_table`; `find` says what a column holds, given it, its role and a note."""
    target = roles.target
    frame = opened.frame
    is_doubtful = opened.reading.delimiter != "" and opened.reading.has_header and looks_like_data(frame.columns)
    if target not in frame.columns and is_doubtful:
        got = f"{target!r}; the columns are {listed(frame.columns)}"
        raise complain("target", "name a column of the file", got, NO_HEADER)
    classes, labels, rows = graded_rows(frame, target, roles.order)
    names = {option: names_in(frame, option, name, rows) for option, name in roles.ids.items()}
    wanted = roles.of_columns(opened)
    if "item" in names:
        wanted |= _differing(frame[rows], names["item"], wanted)
    asked = roles.asked_kinds(frame.columns)
    columns = tuple(
        of_kind(find(frame.get_column(name), *role, opened.spelled.get(name)), asked.get(name, ""))
        for name, role in wanted.items()
    )
    _check_features(frame, columns, rows, has_more=embeddings is not None)
    # Converted from all rows, so that an infinite number in any of them is refused by its row in the file.
    made = features_of(frame, columns)
    texts = [made.get_column(one.name) for one in columns if one.role == "feature" and one.kind == "text"]
    vectors = embedded_columns(texts, frame.height, embeddings, text_model)
    check_no_clash(frame.columns, vectors.columns)
    made = pl.DataFrame([*made.get_columns(), *vectors.get_columns()])
    others = made[np.setdiff1d(np.arange(frame.height), rows)]
    made = made if len(rows) == frame.height else made[rows]
    about_grades = _on_grades(frame, target, classes, has_order=roles.order is not None)
    used = [name for name, (role, _) in wanted.items() if role in ("feature", "target")]
    said = [opened.spelled[name] for name in used if name in opened.spelled]
    messages = (
        *opened.said,
        *about_grades,
        *_messages(columns, frame.height - len(rows), names.get("grader")),
        *(f"{message}." for one in said for message in one.messages),
    )
    if is_doubtful:
        messages = (f"the names of the columns look like a row of data; {NO_HEADER}.", *messages)
    table = GradedTable(
        Path(path), frame, target, classes, columns, rows, labels, made, messages, opened.digest, (),
        names.get("item"), names.get("rater"), names.get("group"), names.get("grader"), tuple(vectors.columns),
        others, opened.reading,
    )  # fmt: skip
    check_no_copy(table)
    heard = (*opened.cautions, *(caution for one in said for caution in one.cautions))
    return replace(table, cautions=(*heard, *cautions(table)))


def of_kind(found: ColumnFindings, kind: str) -> ColumnFindings:
    """What a column holds, used as the kind that is asked for; refuses a kind that no cell has."""
    if kind in ("", "id") or found.role not in ("feature", "ignored"):
        return found
    if kind != "category" and kind != found.kind:
        got = f"{found.name}={kind}, where no cell is a {kind}"
        raise complain("as", "name a kind that a column can have", got, f"{found.name}={found.kind} is one")
    return replace(found, kind=kind, role="feature", note="as requested")


def _on_grades(frame: pl.DataFrame, target: str, classes: Classes, *, has_order: bool) -> Iterator[str]:
    """The order that was told from the names of the grades, and the words that are no grades."""
    if not has_order and isinstance(classes[0], str) and not frame[target].dtype.is_numeric():
        yield f"from lowest to highest: {' < '.join(map(str, classes))}; --order changes it."
    words = words_for_no_grade(frame, target, classes)
    if words:
        n_rows = sum(words.values())
        yield f"{listed(words)} in {n_rows:,} row{'s' * (n_rows > 1)} of {target!r} read as no grade."


def names_in(frame: pl.DataFrame, option: str, name: str, rows: Ints) -> NDArray[Any]:
    """The names in a column of some rows; refuses missing ones, except of graders, and fewer than two graders."""
    texts = as_text(nameless(frame.get_column(as_column(option, name, frame.columns))))[rows].str.strip_chars()
    if option == "grader":
        names = np.array(texts.fill_null("").to_list())
        check_graders(np.unique(names[names != ""]).size, "grader")
        return names
    if texts.null_count():
        row = int(rows[texts.is_null().arg_true().item(0)])
        raise CellError(option, "have a value in every graded row", f"a missing cell of {name!r} in", row)
    return np.array(texts.to_list())


def _differing(
    frame: pl.DataFrame, items: NDArray[Any], roles: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """The features that differ between the grades of an item, which say nothing about it."""
    first = np.unique(items, return_index=True, return_inverse=True)
    of_item = first[1][first[2]]
    found = {}
    for name, (role, _) in roles.items():
        column = nameless(frame.get_column(name))
        if role == "feature" and not bool(column.eq_missing(column[of_item]).all()):
            found[name] = ("ignored", "it differs between the grades of an item")
    return found


def _check_features(frame: pl.DataFrame, columns: Sequence[ColumnFindings], rows: Ints, *, has_more: bool) -> None:
    """Refuse a table without features, and features without a value in the graded rows."""
    wanted = [column for column in columns if column.role == "feature"]
    for column in wanted:
        if frame.get_column(column.name)[rows].null_count() == len(rows):
            got = f"only missing cells in column {column.name!r}"
            raise complain("file", "have a value in every feature", got, f"--ignore {column.name} skips it")
    if not wanted and not has_more:
        reasons = "; ".join(f"{column.name!r}: {column.note}" for column in columns if column.role == "ignored")
        raise complain(
            "file", "have a column to learn from", f"none besides the target ({reasons or 'no other column'})"
        )


def _messages(columns: Sequence[ColumnFindings], n_ungraded: int, graders: NDArray[Any] | None) -> Iterator[str]:
    if n_ungraded:
        yield f"{n_ungraded} row{'s' * (n_ungraded > 1)} without a grade {'are' if n_ungraded > 1 else 'is'} ignored."
    n_unnamed = 0 if graders is None else int((graders == "").sum())
    if n_unnamed:
        rows = f"{n_unnamed} row{'s' * (n_unnamed > 1)}"
        yield f"{rows} without a grader {'are' if n_unnamed > 1 else 'is'} left out where graders are compared."
    for column in columns:
        if column.role == "ignored":
            yield f"column {column.name!r} is ignored: {column.note}."
        elif column.role == "feature" and column.note:
            yield f"column {column.name!r} is a feature: {column.note}."
