"""The consensus of several raters, from a file to a new folder: consensus, raters, items to read again, report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._files import new_folder, write_whole
from ordinoise._validation import Floats, Ints, as_count, complain
from ordinoise.app.records.ratings import SPLIT, RatersRecord, write_ratings_record
from ordinoise.app.rounds.items import verified_grades
from ordinoise.app.tables import Dialect, digest_of, write_table
from ordinoise.app.tables.items import item_features
from ordinoise.app.tables.label_studio import is_json
from ordinoise.app.tables.ratings import RatingsTable, exported_ratings, long_ratings, wide_ratings
from ordinoise.app.verbs.doubt_warnings import without_doubt_warnings
from ordinoise.app.verbs.ratings_files import (
    consensus_frame,
    item_frame,
    label_studio_tasks,
    rater_frame,
    ratings_record,
    report_counts,
)
from ordinoise.app.verbs.request import RatingsRequest
from ordinoise.classifiers.blend.table import Filling
from ordinoise.columns.coding import Columns
from ordinoise.columns.features import findings_of
from ordinoise.columns.findings import ColumnFindings
from ordinoise.columns.spelling import spelled_table
from ordinoise.columns.texts import components
from ordinoise.estimation import RepeatedLabels
from ordinoise.labels import ranks_of
from ordinoise.scoring.agreement import Agreement, agreement

CONSENSUS, RATERS, ITEMS, REPORT, TASKS = "consensus.csv", "raters.csv", "items.csv", "report.html", "label-studio.json"
GRADES = ("grade", "lowest", "highest")
MOST_ITEMS = 1000  # items kept for review; a round number, chosen by no run
MOST_COMPONENTS, ITEMS_PER_COMPONENT = 100, 10
"""Components of a text column: those of `studies.raters`, fewer of few items. Round numbers, chosen by no run."""


@dataclass(frozen=True, eq=False)
class Consensus:
    """The ratings of a file and the model fitted to them.

    Attributes
    ----------
    request : RatingsRequest
    table : RatingsTable
    cells : polars.DataFrame
        What is known about each item, as text.
    columns : tuple of ColumnFindings
        What the columns of `cells` hold.
    model : RepeatedLabels
        Fitted to the numbers of the items.
    agreement : Agreement or None
        None if no item has two grades.
    verified : int array
        Numbers of the items with a verified grade.
    """

    request: RatingsRequest
    table: RatingsTable
    cells: pl.DataFrame
    columns: tuple[ColumnFindings, ...]
    model: RepeatedLabels
    agreement: Agreement | None
    verified: Ints

    @cached_property
    def ranks(self) -> Ints:
        """Rank of each grade given."""
        return ranks_of("grade", self.table.labels, self.model.classes_)

    @cached_property
    def consensus(self) -> Ints:
        """Rank of the consensus of each item."""
        return ranks_of("grade", self.model.consensus_, self.model.classes_)

    @cached_property
    def given(self) -> list[Ints]:
        """Positions of the ratings of each item."""
        order = np.argsort(self.table.of_item, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.table.of_item))[:-1])

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """Lowest and highest rank given to each item."""
        n_items = len(self.table.items)
        lowest, highest = np.full(n_items, len(self.table.classes)), np.full(n_items, -1)
        np.minimum.at(lowest, self.table.of_item, self.ranks)
        np.maximum.at(highest, self.table.of_item, self.ranks)
        return lowest, highest

    @cached_property
    def flags(self) -> list[tuple[str, ...]]:
        """Marks of each item: "verified", "only-guessers", "outside-range", "one-grade", "split"."""
        n_items, (lowest, highest) = len(self.table.items), self.ends
        marks = {
            "verified": np.isin(np.arange(n_items), self.verified),
            "only-guessers": self.model.by_guessers_,
            "outside-range": (self.consensus < lowest) | (self.consensus > highest),
            "one-grade": np.bincount(self.table.of_item) == 1,
            SPLIT: self.model.split_,
        }
        return [tuple(name for name, mark in marks.items() if mark[at]) for at in range(n_items)]


def find_consensus(
    request: RatingsRequest,
    *,
    trusted: tuple[Ints, NDArray[Any]] | None = None,
    on_table: Callable[[RatingsTable], None] = lambda _: None,
    on_step: Callable[[], None] = lambda: None,
) -> Consensus:
    """Read the ratings of a file and fit `RepeatedLabels` to them.

    Parameters
    ----------
    trusted : (items, grades), optional
        Numbers of items and their verified grades, in place of those of the request.
    on_table : callable
        Called with the ratings before fitting.
    on_step : callable
        Called after every step of the fits.
    """
    as_count("seed", request.seed, 0)
    table = read_ratings(request)
    features, cells, columns = _about_items(request, table)
    if trusted is None and request.trusted is not None:
        trusted = verified_grades(request.trusted, table)
    on_table(table)
    model = RepeatedLabels(
        classes=list(table.classes), pooled=table.raters is None, random_state=request.seed, callback=on_step
    )
    with without_doubt_warnings():
        model.fit(table.of_item, table.raters, table.labels, X=features, trusted=trusted)
    known = np.array([], dtype=np.int64) if trusted is None else trusted[0]
    return Consensus(request, table, cells, columns, model, _agreement(table, request.seed), known)


def read_ratings(request: RatingsRequest) -> RatingsTable:
    """The ratings of a file, in whichever form it has."""
    if request.file.is_file() and request.wide is None and is_json(request.file):
        if request.rater is not None:
            raise complain("rater", "not be given with a Label Studio export", repr(request.rater))
        return exported_ratings(request.file, request.item, request.grade, request.order)
    if request.wide is not None:
        if request.rater is not None or request.grade is not None:
            raise complain("wide", "stand instead of --rater and --grade", "both")
        names = [request.wide]
        is_named = not request.unnamed
        return wide_ratings(request.file, names, request.item, request.order, is_named=is_named, asked=request.reading)
    if request.item is None or request.grade is None:
        advice = "or --wide one,two,three if every rater has a column"
        raise complain("options", "name the columns with --item and --grade", "not both", advice)
    if request.unnamed:
        raise complain("unnamed", "be given with --wide", "none", "leave out --rater instead")
    return long_ratings(request.file, request.item, request.rater, request.grade, request.order, asked=request.reading)


def _about_items(
    request: RatingsRequest, table: RatingsTable
) -> tuple[Floats | None, pl.DataFrame, tuple[ColumnFindings, ...]]:
    """Features of the items as finite numbers, their cells, and what the columns hold."""
    if request.features is None:
        note = "shown to the reviewer"
        frame = spelled_table(table.cells.get_columns()).frame
        return None, table.cells, tuple(findings_of(column, "ignored", note) for column in frame.get_columns())
    grades = [name for name in (request.rater, request.grade) if name is not None]
    grades += [] if request.wide is None else [name.strip() for name in request.wide.split(",")]
    grades += [] if table.raters is None else np.unique(table.raters).tolist()  # also as columns of their own
    frame, cells, columns = item_features(request.features, table.item, table.items, grades)
    categories = [column.name for column in columns if column.role == "feature" and column.kind == "category"]
    texts = [column.name for column in columns if column.role == "feature" and column.kind == "text"]
    coding = Columns.of(frame, categories, texts)
    numbers = coding.encoded(frame)
    n_components = min(MOST_COMPONENTS, max(1, frame.height // ITEMS_PER_COMPONENT))
    spoken = [components(some, n_components) for some in coding.cells(frame)]
    dense = Filling.of(numbers, coding.categories).dense(numbers)
    return np.column_stack([dense, *spoken]).astype(np.float64), cells, columns


def _agreement(table: RatingsTable, seed: int) -> Agreement | None:
    if np.bincount(table.of_item).max() < 2:
        return None
    return agreement(table.of_item, table.raters, table.labels, classes=list(table.classes), random_state=seed)


def rate_file(
    request: RatingsRequest,
    out: Path,
    *,
    n_items: int = MOST_ITEMS,
    label_studio: bool = False,
    excel_safe: bool = False,
    is_plain: bool = False,
    on_table: Callable[[RatingsTable], None] = lambda _: None,
    on_step: Callable[[], None] = lambda: None,
) -> tuple[Consensus, RatersRecord]:
    """Find the consensus of several raters and write it into a new folder.

    The folder holds ``consensus.csv`` (every item), ``raters.csv``, ``items.csv`` (in the order to read them again),
    ``report.html`` and ``raters.json``; for a Label Studio export also ``label-studio.json``, ready to import. If
    anything fails, no folder is left.

    Parameters
    ----------
    out : Path
        The folder; must not exist.
    n_items : int
        Largest number of items to keep for review.
    label_studio : bool
        Whether to write ``label-studio.json`` for other files, too.
    excel_safe : bool
        Whether text that a spreadsheet would run as a formula gets an apostrophe in front.
    is_plain : bool
        Whether the CSV files have commas and points in place of the dialect of the file.
    on_table, on_step
        As in `find_consensus`.
    """
    from ordinoise.app.report.raters import write_raters_report

    with new_folder("out", out) as folder:
        found = find_consensus(request, on_table=on_table, on_step=on_step)
        dialect = Dialect.of(found.table.reading, is_plain=is_plain)

        def write(frame: pl.DataFrame, name: str) -> None:
            frame = dialect.with_numbers(dialect.shortened(frame), GRADES)
            write_table(frame, folder / name, dialect=dialect, excel_safe=excel_safe)

        write(consensus_frame(found), CONSENSUS)
        record = ratings_record(found, n_items, digest_of(folder / CONSENSUS))
        write_ratings_record(folder, record)
        write_raters_report(folder / REPORT, record, report_counts(found))
        write(rater_frame(record), RATERS)
        write(item_frame(record), ITEMS)
        if label_studio or found.table.exported is not None:
            write_whole(folder / TASKS, json.dumps(label_studio_tasks(found), ensure_ascii=False, indent=1).encode())
    return found, record
