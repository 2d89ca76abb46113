"""What else an audit finds in a file: conflicting near-duplicates, rows unlike all others, groups with other noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordinoise._text import number
from ordinoise.app.records.audit import Oddity
from ordinoise.app.tables.file_lines import line_word
from ordinoise.app.verbs.fit import FileAudit
from ordinoise.audit.contributions import feature_names
from ordinoise.audit.neighbors import nearest_rows
from ordinoise.audit.oddities import conflicting_pairs, noisy_groups, unlike_all_others
from ordinoise.columns.inference import as_text

MOST_ROWS, MOST_GROUPS = 50, 5  # rows of an oddity that are kept, and groups of a column that are named; by no run


def oddities_of(found: FileAudit) -> tuple[Oddity, ...]:
    """Conflicting near-duplicates, rows unlike all others, and groups whose grades are wrong more or less often."""
    if found.model.blend_.coding.reads_sparse or len(found.recorded) < 3:
        return ()
    table = found.graded_rows
    embedded = np.flatnonzero(np.isin(feature_names(found.model, table), found.table.embedded))
    nearest, distances = nearest_rows(table, embedded=embedded)
    checked = np.flatnonzero(nearest >= 0)
    pairs = [] if found.table.items is not None else conflicting_pairs(nearest, distances, found.recorded)
    far = checked[unlike_all_others(distances[checked])] if len(checked) else checked
    return (*_duplicates(found, pairs), *_outliers(found, far.tolist()), *_groups(found))


def _duplicates(found: FileAudit, pairs: list[tuple[int, int]]) -> list[Oddity]:
    if not pairs:
        return []
    rows = list(dict.fromkeys(row for pair in pairs for row in pair))
    first = [f"{a} and {b}" for a, b in (_places(found, list(pair)) for pair in pairs[:3])]
    words = f"{len(pairs):,} pair{'s' * (len(pairs) > 1)} of nearly identical rows have different grades"
    return [Oddity("duplicates", f"{words}, such as {_word(found)}s {', '.join(first)}.", *_rows(found, rows))]


def _outliers(found: FileAudit, rows: list[int]) -> list[Oddity]:
    if not rows:
        return []
    are = "rows are" if len(rows) > 1 else "row is"
    sentence = f"{len(rows):,} {are} unlike all others: for them a prediction says little, and a cell may be a slip."
    return [Oddity("outliers", sentence, *_rows(found, rows))]


def _rows(found: FileAudit, places: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of rows, and their lines in the file if it has lines."""
    rows = tuple(found.table.rows[places[:MOST_ROWS]].tolist())
    lines = () if found.table.lines is None else tuple(found.table.lines[list(rows)].tolist())
    return rows, lines


def _places(found: FileAudit, places: list[int]) -> tuple[int, ...]:
    """What a person calls some rows: their lines in the file if it has lines."""
    rows, lines = _rows(found, places)
    return lines or rows


def _word(found: FileAudit) -> str:
    return "row" if found.table.lines is None else line_word(str(found.table.path))


def _groups(found: FileAudit) -> list[Oddity]:
    """Categories, and the columns of raters and groups, by how suspicious the grades of their levels are.

    A suspicion is no rate of wrong grades, and the sentence says so.
    """
    if found.says_nothing or found.model.noise_.source in ("trusted", "too few rows"):
        return []
    oddities = []
    for column in found.table.columns:
        names = _levels(found, column.name, column.kind, column.role)
        if names is None:
            continue
        for one in noisy_groups(found.issues.suspicion, names)[:MOST_GROUPS]:
            often = "more" if one.share > one.elsewhere else "less"
            sentence = (
                f"Grades look {often} suspicious where {column.name} is {one.name}: {number(one.share)} on average in "
                f"{one.n_rows:,} rows, {number(one.elsewhere)} elsewhere. How many are wrong there, verified rows tell."
            )
            oddities.append(Oddity("groups", sentence, ()))
    return oddities


def _levels(found: FileAudit, name: str, kind: str, role: str) -> NDArray[np.object_] | None:
    """The level of a column in each graded row; None if it has none."""
    cells = found.table.graded_cells(name)
    is_named = role == "id" or (role == "feature" and kind in ("category", "flag"))
    return np.array(as_text(cells).fill_null("missing").to_list(), dtype=object) if is_named else None
