"""The labels of an audit as its folder has them, and how many are wrong by what was settled since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl

from ordinoise._validation import Ints, complain
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.records.history import Settled
from ordinoise.app.records.plan import NO_GRADE
from ordinoise.app.tables import read_text
from ordinoise.audit.issues import CHANCES
from ordinoise.audit.prevalence.count import Count, Table
from ordinoise.audit.prevalence.floor import Floor
from ordinoise.audit.prevalence.sums import Sums, Traits, shape_of
from ordinoise.audit.prevalence.verdicts import Verdicts
from ordinoise.estimation.score.cells import ScoreCells

LABELS = "labels.csv"


def share_column(grade: str) -> str:
    """The column with the share of rows like this one that have a grade."""
    return f"graded_{grade}"


def read_labels(folder: Path, record: AuditRecord) -> pl.DataFrame:
    """``labels.csv`` of an audit, in any dialect; refuses one that does not fit its record.

    A spreadsheet that saves it again may change its encoding, its line ends, its delimiter and its decimal mark.
    """
    names = [share_column(grade) for grade in record.classes]
    path = folder / LABELS
    try:
        text = read_text(path)
        whole = [_number(name).cast(pl.Int64) for name in ("row", "line") if name in text.columns]
        chances = [name for name in CHANCES if name in text.columns]
        numbers = [_number(name) for name in (*names, "suspicion", *chances)]
        grades = [
            pl.Series(name, [_grade(cell, record.classes) for cell in text[name]], dtype=pl.String)
            for name in ("recorded", "suggested")
        ]
        labels = text.with_columns(*whole, *grades, *numbers).with_columns(
            pl.col("recorded").fill_null(NO_GRADE), pl.col("suspicion").fill_null(0.0)
        )
    except (OSError, ValueError, pl.exceptions.PolarsError):
        raise complain("folder", f"hold a whole {LABELS}", repr(str(folder)), "audit the file again") from None
    known = {NO_GRADE, *record.classes}
    has_gaps = any(labels[name].null_count() for name in names)
    is_other = labels["row"].to_list() != list(range(record.n_rows))
    if has_gaps or is_other or not {*labels["recorded"], *labels["suggested"]} <= known:
        raise complain("folder", f"hold the {LABELS} of its audit", repr(str(folder)), "audit the file again")
    return labels


def _number(name: str) -> pl.Expr:
    """The numbers of a column, with a decimal point or a decimal comma."""
    return pl.col(name).str.strip_chars().str.replace(",", ".", literal=True).cast(pl.Float64)


def _grade(cell: str | None, classes: Sequence[str]) -> str | None:
    """The grade that a cell stands for: a spreadsheet writes 2.5 as 2,5 and 1.0 as 1."""
    if cell is None or cell in classes:
        return cell
    number = _as_number(cell.strip())
    return next((name for name in classes if number is not None and _as_number(name) == number), cell)


def _as_number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def ranks_in(record: AuditRecord, labels: pl.DataFrame) -> Ints:
    """Ranks of the recorded grades; -1 where there is none."""
    ranks = {grade: rank for rank, grade in enumerate(record.classes)} | {NO_GRADE: -1}
    return np.array([ranks[grade] for grade in labels["recorded"]], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class CountedLabels:
    """The graded rows of an audit, ready to be counted after each settled one: that takes milliseconds.

    Attributes
    ----------
    rows : int array of shape (n_graded,)
        Their numbers in the file.
    traits : Traits
    table : Table
    """

    rows: Ints
    traits: Traits
    table: Table

    @classmethod
    def of(cls, folder: Path, record: AuditRecord) -> Self | None:
        """Those in a folder; None where a matrix was given, or an audit of another version left no such table."""
        if record.stage == "given" or record.noise.source == "trusted":
            return None
        try:
            labels = read_labels(folder, record)
        except ValueError:
            return None
        graded = labels.filter(pl.col("recorded") != NO_GRADE)
        chances = graded.select([share_column(grade) for grade in record.classes]).to_numpy()
        cells = ScoreCells.from_sample(chances)
        traits = Traits.of(cells, chances, ranks_in(record, graded), graded["suspicion"].to_numpy())
        sums = Sums.of(traits, *shape_of(cells, len(record.classes)))
        by_lot = None if record.by_lot is None else Floor(record.by_lot)
        return cls(graded["row"].to_numpy(), traits, Table.of(cells, sums, record.design_effect, by_lot))

    def count(self, settled: Iterable[Settled], confidence: float, slips: Mapping[int, float]) -> Count:
        """How many of the others are wrong, by these verdicts; `slips` are the chances that they err, by row."""
        known = {one.row: one for one in settled if not one.is_added}
        places = np.flatnonzero(np.isin(self.rows, list(known)))
        of_rows = [known[row] for row in self.rows[places].tolist()]
        n_rows = len(places)
        verdicts = Verdicts(
            places, np.array([one.is_fixed for one in of_rows], dtype=bool), np.zeros(n_rows, dtype=bool),
            np.array([one.drawn == "random" for one in of_rows], dtype=bool),
            np.array([slips.get(one.row, 0.0) for one in of_rows], dtype=np.float64),
        )  # fmt: skip
        return self.table.count(verdicts, self.traits.among(places), confidence)


def counted_record(record: AuditRecord, count: Count, settled: tuple[Settled, ...]) -> AuditRecord:
    """The record after more rows were settled; none of them is a suspect."""
    rows = {one.row for one in settled}
    left = count.left
    return replace(
        record, settled=settled, suspects=tuple(one for one in record.suspects if one.row not in rows),
        wrong=None if left.is_range else left.value, wrong_low=left.low, wrong_high=left.high, stage=count.stage,
        n_next=count.n_next, count_doubts=tuple(doubt.sentence for doubt in count.doubts), by_lot=count.by_lot,
        by_matrix=record.by_matrix if record.settled == settled else None,
    )  # fmt: skip
