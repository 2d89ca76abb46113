"""The plan of a run over parts: what every worker must know to read a part, and which rows it uses for what."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._files import whole_file, write_whole
from ordinoise._plain import as_plain, of_plain
from ordinoise._validation import Floats, Ints
from ordinoise.app.out_of_core.files import Part, read_part
from ordinoise.app.tables import grades_of
from ordinoise.app.tables.graded import names_in
from ordinoise.columns.coding import Columns
from ordinoise.columns.features import features_of
from ordinoise.columns.findings import ColumnFindings
from ordinoise.hashing import Keys, hashed_folds, name_keys, places_of, row_keys

N_FOLDS = 4
"""An even number, so that two workers share the fits; a model learns from three quarters of the rows."""
SAMPLE_ROWS = 100_000
"""Rows of the sample: models are stopped by it, bins and cells are cut by it, doubts are looked for in it, and the
report is drawn from it. A round number, chosen by no run; with twice as many the last steps, on one processor, took two
minutes at ten million rows."""
TRAINING_ROWS = 1_000_000
"""Rows that one model is trained on, about, where there are more. `studies.partitions rows` prints what more gain."""
DRAWN_ROWS = TRAINING_ROWS * N_FOLDS // (N_FOLDS - 1)
"""Rows that are kept apart for training; a model leaves out those of its fold."""
PLAN = "plan.json"


@dataclass(frozen=True, eq=False)
class Labelled:
    """The rows of a part: numbers in the whole table, ranks (-1 without a grade), keys that belong together, folds."""

    rows: Ints
    ranks: Ints
    keys: Keys
    folds: Ints


@dataclass(frozen=True, eq=False)
class Plan:
    """Parts, columns, grades, and the rule that shares out the rows.

    Attributes
    ----------
    parts : tuple of Part
    target, group : str
        Columns of grades and of groups; None without groups.
    classes : tuple
        Grades from lowest to highest.
    findings : tuple of ColumnFindings
    columns : Columns
        How the features become numbers.
    recorded_counts : tuple of int
        Number of rows with each grade.
    seed : int
    """

    parts: tuple[Part, ...]
    target: str
    group: str | None
    classes: tuple[Any, ...]
    findings: tuple[ColumnFindings, ...]
    columns: Columns
    recorded_counts: tuple[int, ...]
    seed: int

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return self.parts[-1].first + self.parts[-1].n_rows

    @property
    def n_graded(self) -> int:
        """Number of rows with a grade."""
        return sum(self.recorded_counts)

    @property
    def n_classes(self) -> int:
        """Number of grades."""
        return len(self.classes)

    @cached_property
    def feature_names(self) -> list[str]:
        """Columns that are features."""
        return [column.name for column in self.findings if column.role == "feature"]

    @cached_property
    def read_columns(self) -> list[str]:
        """Columns that are features, target or group."""
        return list(dict.fromkeys([*self.feature_names, *self.label_columns]))

    @property
    def label_columns(self) -> list[str]:
        """Columns that are target or group."""
        return [self.target] if self.group is None else [self.target, self.group]

    def numbers(self, frame: pl.DataFrame) -> Floats:
        """The features of some rows as trees read them."""
        found = self.columns.encoded(features_of(frame, self.findings))
        return np.ascontiguousarray(found, dtype=np.float64)

    def labelled(self, number: int) -> Labelled:
        """The grades and folds of a part, without its features."""
        part = self.parts[number]
        return self.labels_in(read_part(part, self.label_columns), part)

    def labels_in(self, frame: pl.DataFrame, part: Part) -> Labelled:
        """The grades and folds of a part that was read."""
        rows = np.arange(part.first, part.first + part.n_rows)
        return self.labels_of(frame, rows)

    def labels_of(self, frame: pl.DataFrame, rows: Ints) -> Labelled:
        """The grades and folds of rows with these numbers."""
        ranks = np.full(len(rows), -1)
        places = {grade: rank for rank, grade in enumerate(self.classes)}
        if frame[self.target].null_count() < len(rows):
            labels, graded = grades_of(frame, self.target, list(self.classes))
            ranks[graded] = np.array([places[grade] for grade in labels.tolist()], dtype=np.int64)
        keys = row_keys(rows, self.seed)
        if self.group is not None:
            graded = np.flatnonzero(ranks >= 0)
            keys[graded] = name_keys(names_in(frame, "group", self.group, graded).tolist(), self.seed)
        return Labelled(rows, ranks, keys, hashed_folds(keys, N_FOLDS))

    def training_part(self, number: int, folder: Path) -> tuple[pl.DataFrame, Ints]:
        """The rows of a part that were drawn for training, and their numbers."""
        part = self.parts[number]
        rows = np.arange(part.first, part.first + part.n_rows)
        if self.n_rows <= DRAWN_ROWS:
            return read_part(part, self.read_columns), rows
        frame = pl.read_parquet(folder / drawn_file(number), columns=self.read_columns)
        return frame, rows[is_drawn(rows, self.seed, DRAWN_ROWS / self.n_rows)]

    def write(self, folder: Path) -> None:
        """Write the plan for the workers."""
        write_whole(folder / PLAN, json.dumps(as_plain(self)).encode())


@lru_cache(maxsize=1)
def read_plan(folder: Path) -> Plan:
    """The plan in the working folder of a run."""
    return of_plain(Plan, json.loads((folder / PLAN).read_bytes()))


def is_drawn(rows: Ints, seed: int, share: float) -> NDArray[np.bool_]:
    """Which rows are in a random share; a smaller share is a part of a larger one."""
    return np.asarray(places_of(row_keys(rows, seed), 0) < share)


def drawn_file(number: int) -> str:
    """The file with the rows of a part that were drawn, in the working folder."""
    return f"drawn-{number:05}.parquet"


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays, whole or not at all."""
    with whole_file(path) as file:
        np.savez(file, **arrays)


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays in a file."""
    with np.load(path, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def scores_at(plan: Plan, folder: Path, rows: Ints, file_of: Callable[[int], str]) -> Floats:
    """The scores of rows with these ascending numbers, from the files of their parts."""
    firsts, found = np.array([part.first for part in plan.parts]), []
    part_of = np.searchsorted(firsts, rows, side="right") - 1
    for number in np.unique(part_of).tolist():
        own = rows[part_of == number] - firsts[number]
        found.append(read_arrays(folder / file_of(number))["scores"][own])
    return np.concatenate(found)
