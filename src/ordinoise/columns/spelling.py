"""How the columns of a table are spelled: numbers, dates, gaps and categories as whole columns write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ordinoise.columns.candidates import (
    LEAST_SHARE,
    Candidate,
    Cells,
    date_candidate,
    has_other_months,
    hour_candidate,
    is_code,
    number_candidate,
)
from ordinoise.columns.categories import merged_categories
from ordinoise.columns.findings import SpelledColumn, Spelling, is_few
from ordinoise.columns.findings import SpellingHints as SpellingHints
from ordinoise.columns.inference import FLAGS, MISSING, nameless, plain_values, without_missing
from ordinoise.columns.votes import Choice, Votes, changes, finished, is_ambiguous, refusal
from ordinoise.columns.words import GAP_WORDS

TEXTS = ("category", "text", "id", "image", "ignored")  # requested kinds whose cells stay text
NUMERIC = ("number", "percent", "hours", "grade")  # kinds that digits without a mark can be, codes and dates apart
FIRST_DATE, LAST_DATE = 19000101, 21001231  # days as whole numbers


@dataclass(frozen=True, eq=False)
class SpelledTable:
    """A table with the types that its columns stand for, and how each column of text was read."""

    frame: pl.DataFrame
    columns: Mapping[str, SpelledColumn]

    @property
    def decimal(self) -> str:
        """The mark of decimals, if the columns that have one agree; else empty."""
        marks = {column.spelling.decimal for column in self.columns.values()} - {""}
        return marks.pop() if len(marks) == 1 else ""

    @property
    def spellings(self) -> dict[str, Spelling]:
        """How each column of text is spelled."""
        return {name: column.spelling for name, column in self.columns.items()}

    def messages(self, names: Sequence[str]) -> Iterator[str]:
        """What is to be said of some columns."""
        return (message for name in names if name in self.columns for message in self.columns[name].messages)

    def cautions(self, names: Sequence[str]) -> Iterator[str]:
        """What must not be overlooked in some columns."""
        return (caution for name in names if name in self.columns for caution in self.columns[name].cautions)


def spelled_table(columns: list[pl.Series], hints: SpellingHints | None = None) -> SpelledTable:
    """A table of the columns with the types that their text stands for; modifies the list.

    Columns of other types than text are left alone. A column is read by the first kind that fits at least nine tenths
    of its cells, gaps left out, in one spelling; columns that could be read in two ways follow the others.
    """
    hints = hints or SpellingHints()
    found: dict[str, SpelledColumn] = {}
    open_ones: list[tuple[int, Candidate]] = []
    for at, column in enumerate(columns):
        if column.dtype == pl.String:
            # Replaced one by one, so that the whole text is never in memory twice.
            columns[at], read = _read(column, hints)
            if isinstance(read, Candidate):
                open_ones.append((at, read))
            else:
                found[column.name] = read
    votes = Votes.of([column.spelling for column in found.values()], hints)
    for at, candidate in open_ones:
        name = columns[at].name
        columns[at], found[name] = finished(
            columns[at], candidate, votes.choice(candidate, name), hints.known.get(name)
        )
    found = {name: _with_mark(column, votes.decimal) for name, column in found.items()}
    return SpelledTable(pl.DataFrame(columns), found)


def _with_mark(column: SpelledColumn, decimal: str) -> SpelledColumn:
    """A column of whole numbers gets the mark of the others, which decides where a later file has one."""
    if column.spelling.kind not in ("number", "percent") or column.spelling.decimal:
        return column
    return replace(column, spelling=replace(column.spelling, decimal=decimal))


def typed(text: pl.Series, hints: SpellingHints | None = None) -> pl.Series:
    """One column of text converted to the type that it stands for, by its own cells and the hints."""
    return spelled_table([text], hints).frame.to_series()


def first_unread(text: pl.Series, kind: str, known: Spelling) -> tuple[int, str]:
    """Row and text of the first cell that is no value of the kind "number", "flag" or "date"."""
    if kind == "flag":
        words = ["0", "1", *(word.lower() for word in MISSING), *FLAGS[0], *FLAGS[1]]
        is_read = text.str.strip_chars().str.to_lowercase().is_in(words)
    else:
        values = typed(text, SpellingHints(kinds={text.name: kind}, known={text.name: known}))
        is_gap = text.str.strip_chars().str.to_lowercase().is_in([*GAP_WORDS, *(word.lower() for word in MISSING)])
        is_read = is_gap | (values.is_not_null() & (values.dtype != pl.String))
    unread = (text.is_not_null() & ~is_read.fill_null(True)).arg_true()
    row = int(unread.item(0)) if len(unread) else 0
    return row, str(text.item(row))


def _read(column: pl.Series, hints: SpellingHints) -> tuple[pl.Series, SpelledColumn | Candidate]:
    """A column and how it was read; the column as it is and a candidate where others must decide."""
    kind, known = hints.kinds.get(column.name, ""), hints.known.get(column.name)
    text = nameless(column)
    bare = text.str.strip_chars()
    if kind in TEXTS or (known is not None and known.kind in (*TEXTS, "code")):
        return column, SpelledColumn(known or Spelling(kind))
    wants = kind or ("" if known is None else known.kind)
    values = None if kind == "date" else plain_values(bare)
    if values is not None and not _is_other(bare, values, wants):
        spelling = _plain_spelling(values)
        return values.alias(column.name), SpelledColumn(spelling, (), changes(spelling, known, column.name))
    cells = Cells.of(bare, (*hints.missing, *(() if known is None else known.missing)))
    candidate = _candidate(cells, wants)
    if kind == "grade" and not (candidate and _is_plain_grade(candidate)):
        return without_missing(text, bare).alias(column.name), SpelledColumn(Spelling("text"))
    if candidate is None or not (candidate.is_enough or kind in ("number", "date")):
        return _as_text(column.name, without_missing(text, bare), cells, candidate)
    if wants not in NUMERIC and candidate.kind == "number" and _is_code(candidate):
        said = f"{column.name!r} is a code, not a number: some cells begin with 0"
        return without_missing(text, bare).alias(column.name), SpelledColumn(Spelling("code"), (said,))
    if len(candidate.options) > 1:
        return column, candidate
    return finished(column, candidate, Choice(candidate.options[0]), known)


def _is_other(bare: pl.Series, values: pl.Series, wants: str) -> bool:
    """Whether a plain type may not be what the column stands for: codes, dates without marks, points for groups."""
    if values.dtype == pl.Int64 and wants not in NUMERIC:
        lowest, highest = int(str(values.min())), int(str(values.max()))
        return (lowest >= FIRST_DATE and highest <= LAST_DATE) or is_code(bare, values)
    return values.dtype == pl.Float64 and is_ambiguous(bare, values)


def _is_code(candidate: Candidate) -> bool:
    """Whether the numbers are codes, beside words for a missing value."""
    frame = candidate.frame
    return bool(frame["is_code"].all()) and is_code(frame["cell"], frame[candidate.options[0]])


def _plain_spelling(values: pl.Series) -> Spelling:
    if values.dtype == pl.Boolean:
        return Spelling("flag")
    if values.dtype.is_temporal():
        return Spelling("date", dates="ymd")
    return Spelling("number", decimal="." if values.dtype == pl.Float64 else "")


def _candidate(cells: Cells, wants: str) -> Candidate | None:
    """The first reading that fits enough cells, else the one that fits most; None if none fits half of them."""
    if not len(cells.rest):
        return None
    kinds = {"date": date_candidate, "number": number_candidate, "hours": hour_candidate}
    wanted = {"grade": "number", "percent": "number"}.get(wants, wants)
    makers = [kinds[wanted]] if wanted in kinds else list(kinds.values())
    least = 0.0 if wanted in kinds else LEAST_SHARE
    found = [candidate for make in makers if (candidate := make(cells, least)) is not None]
    return next((one for one in found if one.is_enough), max(found, key=_fit, default=None))


def _fit(candidate: Candidate) -> float:
    return candidate.share(candidate.options[0])


def _is_plain_grade(candidate: Candidate) -> bool:
    """Whether every grade is a number and nothing else."""
    is_whole = all(candidate.share(option) == 1 for option in candidate.options)
    return is_whole and candidate.kind == "number" and not candidate.unit and not candidate.frame["is_bound"].any()


def _as_text(name: str, text: pl.Series, cells: Cells, candidate: Candidate | None) -> tuple[pl.Series, SpelledColumn]:
    """A column that stays text, the spellings of a category as one, and what is said where it looks like numbers."""
    merged, n_changed = merged_categories(text)
    messages: list[str] = []
    cautions: list[str] = []
    if n_changed:
        differ = f"cell of {name!r} differs" if n_changed == 1 else f"cells of {name!r} differ"
        messages.append(f"{n_changed:,} {differ} only in blanks or capitals; read as one")
    reason = refusal(name, candidate)
    if not reason and has_other_months(cells):
        reason = "looks like dates with names of months, of which English ones are read"
    is_category = is_few(merged.drop_nulls().n_unique(), len(merged) - merged.null_count())
    if reason:
        (messages if is_category else cautions).append(
            f"{name!r} {reason}" if is_category else f"{name!r} is not used: it {reason}"
        )
    spelling = Spelling("category" if is_category else "text")
    return merged.alias(name), SpelledColumn(spelling, tuple(messages), tuple(cautions), reason.partition(";")[0])
