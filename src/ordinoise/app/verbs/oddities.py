"""What else an audit finds in a file: conflicting near-duplicates, rows unlike all others, groups that stand out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordinoise._text import number
from ordinoise._validation import Ints
from ordinoise.app.records.audit import Oddity
from ordinoise.app.tables.file_lines import line_word
from ordinoise.app.verbs.fit import FileAudit
from ordinoise.audit.contributions import feature_names
from ordinoise.audit.neighbors import nearest_rows
from ordinoise.audit.oddities import (
    Group,
    GroupRate,
    conflicting_pairs,
    judged_groups,
    suspicious_groups,
    unlike_all_others,
    wrong_rates,
)
from ordinoise.columns.inference import as_text
from ordinoise.labels import trusted_ranks

CONFIDENCE = 0.95  # that no group is named by chance, and that the intervals of all hold
MOST_ROWS, MOST_GROUPS = 50, 5  # rows of an oddity that are kept, and groups of a column that are named; by no run


def oddities_of(found: FileAudit) -> tuple[Oddity, ...]:
    """Conflicting near-duplicates, rows unlike all others, and groups whose grades stand out."""
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
    """Categories, and the levels of columns of raters and groups, that stand out, one line each, the clearest first.

    By rows that were verified at random, how often their grades are wrong; else how suspicious they look, which is no
    rate, as the sentence says. The error is shared among all groups of all columns.
    """
    if found.says_nothing or found.model.noise_.source in ("trusted", "too few rows"):
        return []
    levels = {column.name: _levels(found, column.name, column.kind, column.role) for column in found.table.columns}
    looked = {name: (names, judged_groups(names)) for name, names in levels.items() if names is not None}
    n_looks = sum(len(groups) for _, groups in looked.values())
    rates, rows, is_wrong = [], *_random_rows(found)
    for name, (names, groups) in looked.items():
        rates += [(name, one) for one in wrong_rates(is_wrong, names[rows], groups, n_looks, CONFIDENCE)]
    known = {(name, one.name) for name, one in rates}
    suspicious = [
        (name, one)
        for name, (names, _) in looked.items()
        for one in suspicious_groups(found.issues.suspicion, names, n_looks)[:MOST_GROUPS]
        if (name, one.name) not in known
    ]
    sentences = [_rate_words(name, one, n_looks) for name, one in rates]
    sentences += [_suspicion_words(*one) for one in sorted(suspicious, key=lambda one: -one[1].z)]
    return [Oddity("groups", sentence, ()) for sentence in sentences]


def _random_rows(found: FileAudit) -> tuple[Ints, NDArray[np.bool_]]:
    """Graded rows that were verified at random, and whether they were found wrong."""
    known = found.verified
    if known is None:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
    checked = trusted_ranks(known, found.model.classes_, len(found.recorded))
    is_random = checked.is_recorded & (checked.drawn == "random")
    return checked.rows[is_random], (checked.labels != found.recorded[checked.rows])[is_random]


def _rate_words(column: str, one: GroupRate, n_looks: int) -> str:
    where, elsewhere = (
        f"{n_wrong} of {n_rows} ({share.span('%')})"
        for (n_rows, n_wrong), share in ((one.own, one.share), (one.others, one.elsewhere))
    )
    looked = f"all {n_looks} groups that were looked at" if n_looks > 1 else "both"
    return (
        f"Grades are wrong more often where {column} is {one.name}: of rows verified at random {where} there, "
        f"{elsewhere} elsewhere; the intervals hold for {looked} together."
    )


def _suspicion_words(column: str, one: Group) -> str:
    return (
        f"Grades look more suspicious where {column} is {one.name}: {number(one.share)} on average in {one.n_rows:,} "
        f"rows, {number(one.elsewhere)} elsewhere. How many are wrong there, rows verified at random tell."
    )


def _levels(found: FileAudit, name: str, kind: str, role: str) -> NDArray[np.object_] | None:
    """The level of a column in each graded row; None if it has none."""
    cells = found.table.graded_cells(name)
    is_named = role == "id" or (role == "feature" and kind in ("category", "flag"))
    return np.array(as_text(cells).fill_null("missing").to_list(), dtype=object) if is_named else None
