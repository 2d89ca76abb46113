"""What one pass over the parts tells about the columns: facts that add up, and a random sample of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from ordinoise._files import whole_file
from ordinoise._validation import Ints, complain
from ordinoise.app.out_of_core.files import Part, read_part
from ordinoise.app.out_of_core.plan import DRAWN_ROWS, SAMPLE_ROWS, drawn_file, is_drawn
from ordinoise.app.tables.graded import GradedTable, graded_frame
from ordinoise.app.tables.reader import Opened, merged, typed_columns
from ordinoise.app.tables.target import Classes, graded_rows
from ordinoise.app.verbs.request import Request
from ordinoise.columns.coding import Columns
from ordinoise.columns.features import findings_of, is_prose
from ordinoise.columns.findings import FEW, MANY, ColumnFindings, SpelledColumn, is_few
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.spelling import typed

TEXTUAL = (pl.String, pl.Categorical, pl.Enum)


def surveyed(
    part: Part, number: int, target: str, group: str | None, seed: int, n_rows: int, folder: Path
) -> dict[str, Any]:
    """The facts of one part as plain values; its rows of the sample are written into the folder."""
    frame = read_part(part)
    _check_part(frame, part, target, group)
    rows = np.arange(part.first, part.first + part.n_rows)
    with whole_file(folder / drawn_file(number)) as file:
        frame.filter(pl.Series(is_drawn(rows, seed, _drawn_share(n_rows)))).write_parquet(file)
    values = nameless(frame.get_column(target)).value_counts()
    return {
        "missing": {column.name: column.null_count() for column in frame.get_columns()},
        "texts": {column.name: _few_texts(column) for column in frame.get_columns() if column.dtype in TEXTUAL},
        "grades": [[_plain(value), count] for value, count in values.rows()],
        "counts_rows": [name for name in frame.columns if _counts_rows(frame.get_column(name), rows)],
    }


def _drawn_share(n_rows: int) -> float:
    """Share of the rows that are kept apart; where models learn from all of them, only those of the sample."""
    return (SAMPLE_ROWS if n_rows <= DRAWN_ROWS else DRAWN_ROWS) / n_rows


def _check_part(frame: pl.DataFrame, part: Part, target: str, group: str | None) -> None:
    """Refuse infinite numbers and graded rows without a group."""
    for column in frame.get_columns():
        if column.dtype.is_float() and column.name != target:
            infinite = nameless(column).is_infinite().fill_null(False)
            if infinite.any():
                got = f"an infinite one in column {column.name!r}, row {part.first + infinite.arg_true().item(0)}"
                raise complain("file", "hold finite numbers", got, "rows are counted from 0 over all files")
    if group is not None:
        lost = (nameless(frame[group]).is_null() & nameless(frame[target]).is_not_null()).arg_true()
        if len(lost):
            got = f"a missing cell of {group!r} in row {part.first + lost.item(0)}"
            raise complain("group", "have a value in every graded row", got, "rows are counted from 0 over all files")


def _few_texts(column: pl.Series) -> list[str] | None:
    """The different texts of a column; None if there are too many for categories."""
    found = as_text(nameless(column)).drop_nulls().unique()
    return found.sort().to_list() if len(found) <= MANY else None


def _counts_rows(column: pl.Series, rows: Ints) -> bool:
    if not column.dtype.is_integer() or column.null_count():
        return False
    shift = column.to_numpy() - rows
    return bool(shift[0] in (0, 1) and (shift == shift[0]).all())


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


@dataclass(frozen=True, eq=False)
class SampleTable(GradedTable):
    """Graded rows of a sample, by their numbers in the whole table; classes and columns are those of the whole table.

    `frame` holds these rows alone; the whole table has `n_rows` rows, `n_graded` of them with a grade.
    """

    whole: tuple[int, int] = (0, 0)

    @property
    def n_rows(self) -> int:
        """Number of rows of the whole table."""
        return self.whole[0]

    @property
    def n_graded(self) -> int:
        """Number of graded rows of the whole table."""
        return self.whole[1]

    def graded_cells(self, name: str) -> pl.Series:
        """The cells of a column in the rows of the sample."""
        return self.frame.get_column(name)

    def text_cells(self, rows: ArrayLike) -> list[tuple[str | None, ...]]:
        """The cells of some rows, by their numbers in the whole table."""
        at = np.searchsorted(self.rows, np.asarray(rows, dtype=np.int64))  # rows ascend
        return pl.DataFrame([as_text(column) for column in self.frame[at].get_columns()]).rows()


@dataclass(frozen=True, eq=False)
class Survey:
    """The facts of all parts: missing cells, texts, grades, columns that count the rows."""

    n_rows: int
    missing: Mapping[str, int]
    texts: Mapping[str, tuple[str, ...] | None]
    grades: Mapping[Any, int]
    counting: frozenset[str]

    @classmethod
    def of(cls, facts: Sequence[Mapping[str, Any]], n_rows: int) -> Survey:
        """The facts of all parts, added up."""
        missing: dict[str, int] = {}
        grades: dict[Any, int] = {}
        for one in facts:
            for name, count in one["missing"].items():
                missing[name] = missing.get(name, 0) + count
            for value, count in one["grades"]:
                grades[value] = grades.get(value, 0) + count
        textual = {name for one in facts for name in one["texts"]}
        texts = {name: _union([one["texts"].get(name, ()) for one in facts]) for name in textual}
        counting = frozenset.intersection(*(frozenset(one["counts_rows"]) for one in facts))
        return cls(n_rows, missing, texts, grades, counting if n_rows >= FEW else frozenset())

    def classes(self, target: str, order: str | None) -> tuple[Classes, tuple[int, ...]]:
        """Grades from lowest to highest, and the number of rows with each."""
        known = [value for value in self.grades if value is not None]
        is_text = any(isinstance(value, str) for value in known)
        cells = [str(value) for value in known] if is_text else known
        column = pl.Series(target, cells, dtype=None if known else pl.String, strict=False)
        classes, labels, at = graded_rows(pl.DataFrame([column]), target, order)
        counts = dict.fromkeys(classes, 0)
        for label, row in zip(labels.tolist(), at.tolist(), strict=True):
            counts[label] += self.grades[known[row]]
        return classes, tuple(counts.values())

    @property
    def kept_as_text(self) -> list[str]:
        """Columns of text that do not stand for another type in every part; unknown ones are judged by the sample."""
        return [name for name, found in self.texts.items() if found and _typed_texts(found).dtype == pl.String]

    def findings(
        self, column: pl.Series, role: str, note: str = "", spelled: SpelledColumn | None = None
    ) -> ColumnFindings:
        """What a column of the sample holds, by the facts of the whole column where they add up."""
        found = findings_of(column, role, note, spelled)
        found = replace(found, n_missing=self.missing[column.name])
        if role != "feature":
            return found
        if column.name in self.counting:
            return replace(found, role="ignored", note="it counts the rows")
        texts = self.texts.get(column.name, ())
        if texts is None and column.dtype in TEXTUAL:
            return self._of_many_texts(found, column)
        if texts and found.kind in ("category", "text") and column.dtype in TEXTUAL:
            n_distinct = len(_typed_texts(texts).drop_nulls())
            if is_few(n_distinct, self.n_rows):
                return replace(found, kind="category", role="feature", n_distinct=n_distinct, note="")
        return found

    def _of_many_texts(self, found: ColumnFindings, column: pl.Series) -> ColumnFindings:
        if found.kind == "image":
            return found
        if is_prose(column):
            return replace(found, kind="text", role="feature", note="free text, read by its words")
        note = f"more than {MANY} different values, names or identifiers"
        return replace(found, kind="text", role="ignored", note=note)

    def coding(self, findings: Sequence[ColumnFindings]) -> Columns:
        """How the features become numbers, and which of them are free text."""
        wanted = [column for column in findings if column.role == "feature"]
        kept = [at for at, column in enumerate(wanted) if column.kind != "text"]
        found = {}
        for at, column in enumerate(wanted[place] for place in kept):
            if column.kind == "category":
                texts = _typed_texts(self.texts.get(column.name) or ()).drop_nulls()
                found[at] = tuple(sorted(as_text(texts).to_list()))
        if len(kept) == len(wanted):
            return Columns(found)
        return Columns(found, tuple(kept), texts=tuple(at for at in range(len(wanted)) if at not in kept))


def _union(found: Sequence[Sequence[str] | None]) -> tuple[str, ...] | None:
    """The different texts of all parts; None if there are too many for categories."""
    every: set[str] = set()
    for texts in found:
        if texts is None:
            return None
        every |= set(texts)
    return tuple(sorted(every)) if len(every) <= MANY else None


def _typed_texts(texts: Sequence[str]) -> pl.Series:
    return typed(pl.Series("", list(texts), dtype=pl.String))


def sample_table(
    request: Request, survey: Survey, classes: Classes, n_graded: int, sample: pl.DataFrame, rows: Ints, digest: str
) -> SampleTable:
    """The graded rows among some rows of the table, read by the rules for one file and the facts of all parts."""
    spelled = typed_columns(sample.get_columns(), [*survey.kept_as_text, *([request.group] if request.group else [])])
    roles = replace(request.roles, order=[str(grade) for grade in classes])
    found = graded_frame(
        request.file, Opened(spelled.frame, digest, spelled=spelled.columns), roles, find=survey.findings
    )
    more = {one.name: getattr(found, one.name) for one in fields(GradedTable)}
    more |= {"frame": found.frame[found.rows], "rows": rows[found.rows], "ungraded": pl.DataFrame(), "classes": classes}
    n_without = survey.n_rows - n_graded
    messages = [one for one in found.messages if "without a grade" not in one]
    if n_without:
        messages.insert(0, f"{n_without:,} rows without a grade are ignored.")
    return SampleTable(**more | {"messages": tuple(messages)}, whole=(survey.n_rows, n_graded))


def check_features(findings: Sequence[ColumnFindings], n_rows: int) -> None:
    """Refuse features without a value."""
    for column in findings:
        if column.role == "feature" and column.n_missing == n_rows:
            got = f"only missing cells in column {column.name!r}"
            raise complain("file", "have a value in every feature", got, f"--ignore {column.name} skips it")


def read_sample(folder: Path, parts: Sequence[Part], seed: int) -> tuple[pl.DataFrame, Ints]:
    """The sampled rows of all parts, and their numbers."""
    n_rows, frames, numbers = parts[-1].first + parts[-1].n_rows, [], []
    for number, part in enumerate(parts):
        rows = np.arange(part.first, part.first + part.n_rows)
        rows = rows[is_drawn(rows, seed, _drawn_share(n_rows))]
        chosen = is_drawn(rows, seed, SAMPLE_ROWS / n_rows)
        frames.append(pl.read_parquet(folder / drawn_file(number)).filter(pl.Series(chosen)))
        numbers.append(rows[chosen])
    return merged(frames), np.concatenate(numbers)
