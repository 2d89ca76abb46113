"""Signs that a table is not what it is taken for: names as features, other people's grades, the target in disguise.

Each sign is one sentence with the command to use instead. They warn; only a copy of the target is refused, as nothing
could be learned from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ordinoise._validation import Floats, Ints, complain
from ordinoise.columns.findings import ColumnFindings
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.names import listed
from ordinoise.columns.spelling import typed

if TYPE_CHECKING:
    from ordinoise.app.tables.graded import GradedTable

# Words for people and things that are told apart by name. A column so named is one of names only if it also has many
# different values, most of them in several rows or each in one.
RATER_WORDS = (
    "rater",
    "worker",
    "annotator",
    "reader",
    "judge",
    "grader",
    "labeler",
    "labeller",
    "coder",
    "assessor",
    "clerk",
    "examiner",
    "inspector",
    "scorer",
    "reviewer",
    "evaluator",
)
ITEM_WORDS = ("item", "task", "doc", "document", "image", "example", "sample", "question", "hit")
GROUP_WORDS = ("patient", "subject", "query", "qid", "customer", "user", "scan", "session", "client", "person")
NUMBER_WORDS = ("n", "num", "number", "count", "mean", "share", "size", "age")  # it counts or measures them
NAME_WORDS = ("id", "uid", "uuid", "key", "index")
MANY_NAMES, REPEATED = 10, 1.5  # fewest names, and mean number of rows of each; round numbers, chosen by no run
# Agreement (quadratic kappa) from which a column on the target's scale is taken for grades, with and without a name
# like that of the target: features of SWD and LEV reach .41 and .53, readers of LIDC .37 to .54.
LIKE, UNLIKE = 0.2, 0.7
# Share of rows that a column alone predicts right, and fewest rows: the best column of nine benchmarks reaches .88.
PERFECT, FEWEST, MOST_FOR_TREE = 0.98, 60, 5000
MOST_CHECKED = 500  # columns; a round number, chosen by no run


def check_no_copy(table: GradedTable) -> None:
    """Refuse a feature that is the target itself or a recoding of it; only certain with three grades or more."""
    ranks = np.unique(table.labels, return_inverse=True)[1]
    n_grades = int(ranks.max()) + 1
    if n_grades < 3 or len(table.rows) < FEWEST:
        return
    for column in table.columns:
        if column.role == "feature" and column.n_distinct == n_grades and column.n_missing == 0:
            codes = _codes(table.graded_cells(column.name))
            if len(np.unique(codes * n_grades + ranks)) == n_grades == int(codes.max()) + 1:
                got, advice = f"{column.name!r}, which has one value for each grade", f"--ignore {column.name}"
                raise complain("file", f"have no copy of {table.target!r} among its features", got, advice)


def cautions(table: GradedTable) -> tuple[str, ...]:
    """Sentences on columns that should perhaps not be features."""
    features = [column for column in table.columns if column.role == "feature"]
    places = {grade: rank for rank, grade in enumerate(table.classes)}
    ranks = np.array([places[grade] for grade in table.labels.tolist()])
    checked = features[:MOST_CHECKED]
    graders = [one.name for one in checked if _holds_grades(table, one.name, ranks)]
    names = [one for one in features if one.name not in graders and _is_name(one, table.frame.height)]
    found = list(_of_names(table, names))
    if graders:
        found.append(_of_graders(table, graders))
    others = [one for one in checked if one.name not in graders and one not in names and one.kind != "text"]
    clear = [one.name for one in others if _gives_away(table.graded_cells(one.name), one, ranks)]
    found += [
        f"column {name!r} alone predicts {table.target!r} nearly perfectly; if it was made from the grade, "
        f"--ignore {name}"
        for name in clear
    ]
    return tuple(found)


def _of_names(table: GradedTable, names: Sequence[ColumnFindings]) -> Iterator[str]:
    """Sentences on columns that name people or things."""
    raters, items = ([one.name for one in names if _has_word(one.name, words)] for words in (RATER_WORDS, ITEM_WORDS))
    # A column that tells things apart may have been left out as an identifier already.
    repeated = [one.name for one in table.columns if _has_word(one.name, ITEM_WORDS) and _repeats(one, table)]
    said: tuple[str, ...] = ()
    if raters and not repeated and table.graders is None:
        said = (raters[0],)
        yield (
            f"column {raters[0]!r} would be a feature, but looks like the names of who graded; --grader {raters[0]} "
            "leaves it out and compares them on comparable rows; if some items have several grades, use: "
            f"ordinoise raters {table.path.name} --item ITEM --rater {raters[0]} --grade {table.target}"
        )
    elif raters and repeated:
        said, columns = (*items, *raters), f"--item {repeated[0]} --rater {raters[0]}"
        yield (
            f"{listed(said)} would be features, but look like names; if every row is one person's grade, "
            f"use: ordinoise raters {table.path.name} {columns} --grade {table.target}; "
            f"or add {columns} to this command"
        )
    for column in names:
        if column.name not in said:
            what = f"column {column.name!r} would be a feature, but looks like a name"
            together = (
                f"--group {column.name} keeps its rows together, " if column.n_distinct < table.frame.height else ""
            )
            yield f"{what} ({column.n_distinct:,} different values); {together}--ignore {column.name} skips it"


def _repeats(column: ColumnFindings, table: GradedTable) -> bool:
    """Whether many values of a column stand in several rows."""
    return MANY_NAMES <= column.n_distinct <= table.frame.height / REPEATED


def _of_graders(table: GradedTable, names: Sequence[str]) -> str:
    target, holds = table.target, "holds" if len(names) == 1 else "hold"
    return (
        f"column{'s' * (len(names) > 1)} {listed(names)} {holds} grades on the scale of {target!r}; if these are other "
        f"people's grades, use: ordinoise raters {table.path.name} --wide {','.join([target, *names])}; otherwise "
        + " ".join(f"--ignore {name}" for name in names)
        + " leaves them out"
    )


def _has_word(name: str, words: Sequence[str]) -> bool:
    return bool(set(_tokens(name)) & {form for word in words for form in (word, f"{word}s")})


def _tokens(name: str) -> list[str]:
    """Words in a name such as worker_id, workerId or "Worker 12", lower case and without numbers."""
    parts = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return [part for part in re.split(r"[\W\d_]+", parts.lower()) if part]


def _is_name(column: ColumnFindings, n_rows: int) -> bool:
    """Whether a column names people or things, by its own name and the number of its values."""
    if column.kind not in ("number", "category") or set(_tokens(column.name)) & set(NUMBER_WORDS):
        return False
    if _has_word(column.name, RATER_WORDS):
        return 2 <= column.n_distinct <= n_rows / REPEATED
    if not _has_word(column.name, (*ITEM_WORDS, *GROUP_WORDS, *NAME_WORDS)) or column.n_distinct < MANY_NAMES:
        return False
    return column.n_distinct <= n_rows / REPEATED or column.n_distinct == n_rows


def _holds_grades(table: GradedTable, name: str, ranks: Ints) -> bool:
    """Whether a column has the grades of the target, nearly all of them, and agrees with it beyond chance."""
    values, target, classes = _typed(table.graded_cells(name)), table.target, table.classes
    if values.drop_nulls().n_unique() > len(classes):
        return False
    texts = as_text(values.cast(pl.Int64) if values.dtype.is_float() and _is_whole(values) else values)
    places = {str(grade): rank for rank, grade in enumerate(classes)}
    given = texts.drop_nulls().unique().to_list()
    if not set(given) <= set(places) or len(given) < max(len(classes) - 1, 2):
        return False
    known = texts.is_not_null().to_numpy()
    other = np.array([places[text] for text in texts.drop_nulls().to_list()])
    alike = bool(set(_tokens(name)) & set(_tokens(target))) or (not _tokens(name) and not _tokens(target))
    return _kappa(other, ranks[known], len(classes)) >= (LIKE if alike else UNLIKE)


def _is_whole(values: pl.Series) -> bool:
    """Whether all are whole numbers that floating point holds exactly."""
    numbers = values.drop_nulls()
    return bool(((numbers % 1 == 0) & (numbers.abs() < 2**53)).all())


def _kappa(one: Ints, other: Ints, n_classes: int) -> float:
    """Quadratic weighted kappa."""
    joint: Floats = np.bincount(one * n_classes + other, minlength=n_classes**2).reshape(n_classes, -1) / max(
        len(one), 1
    )
    square = np.subtract.outer(np.arange(n_classes), np.arange(n_classes)) ** 2
    expected = float((np.outer(joint.sum(axis=1), joint.sum(axis=0)) * square).sum())
    return 1 - float((joint * square).sum()) / expected if expected > 0 else 0.0


def _gives_away(column: pl.Series, found: ColumnFindings, ranks: Ints) -> bool:
    """Whether a small tree on one column predicts nearly every held-out grade, where the commonest grade would not."""
    from sklearn.tree import DecisionTreeClassifier

    if len(ranks) < FEWEST or np.bincount(ranks).max() > 0.9 * len(ranks) or found.n_distinct < 2:
        return False
    chosen = np.random.default_rng(0).permutation(len(ranks))[:MOST_FOR_TREE]
    column, ranks = column[chosen], ranks[chosen]
    values = _codes(column).astype(np.float64) if found.kind == "category" else _numbers(column, found)
    # Places among the distinct values: the tree rounds numbers to single precision, and refuses very large ones.
    places = np.unique(values, return_inverse=True)[1][:, None]
    half = len(ranks) // 2
    leaves = min(max(4 * (int(ranks.max()) + 1), found.n_distinct if found.kind == "category" else 0), 200)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(places[:half], ranks[:half])
    return bool((tree.predict(places[half:]) == ranks[half:]).mean() >= PERFECT)


def _numbers(column: pl.Series, found: ColumnFindings) -> Floats:
    from ordinoise.columns.features import numbers_of

    return numbers_of(column, found.kind, found.spelling)


def _typed(column: pl.Series) -> pl.Series:
    column = nameless(column)
    return typed(as_text(column)) if column.dtype in (pl.String, pl.Categorical, pl.Enum) else column


def _codes(column: pl.Series) -> Ints:
    """Numbers from 0 for the different values of a column; missing is one of them."""
    texts = as_text(nameless(column)).fill_null("")
    return np.asarray(np.unique(texts.to_numpy().astype(str), return_inverse=True)[1], dtype=np.int64)
