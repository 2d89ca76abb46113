"""A copy of a file with noise added to its grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise._files import refuse_existing
from ordinoise._validation import Floats, Ints, as_choice, as_count, as_number, complain
from ordinoise.app.tables import (
    ColumnRoles,
    Dialect,
    GradedTable,
    format_of,
    graded_table,
    is_lines,
    lines_with,
    read_stored,
    read_text,
    write_content,
    write_lines,
    write_stored_with,
    write_table,
)
from ordinoise.app.tables.reader import open_stored
from ordinoise.app.tables.regraded import text_with
from ordinoise.app.tables.writer import LINES, STORED, TEXTS
from ordinoise.app.verbs.fit import matrix_from
from ordinoise.app.verbs.request import CorruptionRequest
from ordinoise.labels import ranks_of
from ordinoise.noise import (
    adjacent,
    corrupt,
    exponential_decay,
    in_region,
    inverse_decay,
    near_cuts,
    perceived,
    uniform,
)
from ordinoise.noise.items import mean_matrix, positions_within

KINDS: dict[str, Callable[[int, float], Floats]] = {
    "inverse_decay": inverse_decay,
    "exponential_decay": exponential_decay,
    "adjacent": lambda n_classes, rate: adjacent(n_classes, up=rate, down=rate),
    "uniform": uniform,
}
TABS = (".tsv", "\t")
BY_ROW = ("perceived", "near_cuts", "region", "spam")
WIDTH = 0.2
"""Distance from the next grade, in grades, at which slips of near_cuts have fallen to about a third. By no run."""


@dataclass(frozen=True)
class Corruption:
    """The noise that was added to a file.

    Attributes
    ----------
    noise_matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``; the average over the rows of each grade where they differ.
    classes : tuple of str
    n_changed, n_graded : int
        Number of changed grades, and of all grades.
    """

    noise_matrix: Floats
    classes: tuple[str, ...]
    n_changed: int
    n_graded: int


def corrupt_file(request: CorruptionRequest, out: Path) -> Corruption:
    """Write a copy of a file with its grades corrupted by a noise matrix; all other cells are kept."""
    file, target = request.file, request.target
    as_choice("kind", request.kind, (*KINDS, *BY_ROW))
    refuse_existing("out", out)
    table = graded_table(file, ColumnRoles(target, request.order), asked=request.reading)
    n_classes = len(table.classes)
    true = ranks_of("target", table.labels, np.asarray(table.classes))
    rng = np.random.default_rng(as_count("seed", request.seed, 0))
    if request.noise is not None:
        matrices = matrix_from(request.noise, n_classes)
    elif request.kind in BY_ROW:
        matrices = _by_row(request, true, _column_by(request, table), n_classes, rng)
    else:
        matrices = KINDS[request.kind](n_classes, request.rate)
    noisy = corrupt(true, matrices, random_state=rng)
    matrix = matrices if matrices.ndim == 2 else mean_matrix(matrices, true)
    _write(request, out, table, true, noisy)
    return Corruption(matrix, tuple(map(str, table.classes)), int((noisy != true).sum()), len(true))


def _write(request: CorruptionRequest, out: Path, table: GradedTable, true: Ints, noisy: Ints) -> None:
    """Write the table with the noisy grades.

    From CSV to CSV all other bytes are kept, else all other cells as stored; only text that goes into a typed file gets
    its inferred types.
    """
    file, target, reading = request.file, request.target, table.reading
    changed = table.rows[noisy != true].tolist()
    if format_of(file) == "text" and (out.suffix.lower() == ".csv" or (out.suffix.lower(), reading.delimiter) == TABS):
        opened = open_stored(file, asked=reading)
        at = opened.frame.columns.index(target)
        column = _corrupted(opened.frame[target], table, true, noisy)
        write_content(text_with(file, opened, {(row, at): column[row] for row in changed}), out)
        return
    if is_lines(file) and out.suffix.lower() in LINES:
        column = _corrupted(read_stored(file)[target], table, true, noisy)
        write_lines(lines_with(file, target, dict(zip(changed, column.gather(changed), strict=True))), out)
        return
    to_text, of_text = out.suffix.lower() in TEXTS, file.suffix.lower() in TEXTS
    frame = read_text(file, asked=reading) if to_text else table.frame if of_text else read_stored(file, asked=reading)
    column = _corrupted(frame[target], table, true, noisy)
    kind, cells = format_of(file), dict(zip(changed, column.gather(changed), strict=True))
    if out.suffix.lower() not in STORED.get(kind, ()) or not write_stored_with(file, kind, target, cells, out):
        write_table(frame.with_columns(column), out, header=reading.has_header)


def _column_by(request: CorruptionRequest, table: GradedTable) -> Floats | None:
    """The numbers of the column `by` in the graded rows; None without one."""
    if request.by is None:
        return None
    as_choice("by", request.by, tuple(table.frame.columns))
    column = table.frame[request.by][table.rows.tolist()]
    if not column.dtype.is_numeric() or column.null_count() or not np.isfinite(column.to_numpy()).all():
        raise complain("by", "be a column of numbers without gaps", repr(request.by))
    return column.to_numpy().astype(np.float64)


def _by_row(
    request: CorruptionRequest, true: Ints, by: Floats | None, n_classes: int, rng: np.random.Generator
) -> Floats:
    """One matrix per row."""
    if request.kind == "spam":
        share = as_number("rate", request.rate, 0.0, 1.0)
        return in_region(rng.random(len(true)) < share, np.full((n_classes, n_classes), 1 / n_classes))
    values = rng.random(len(true)) if by is None else by
    if request.kind == "region":
        return in_region(values > np.median(values), adjacent(n_classes, up=0.0, down=request.rate))
    positions, cuts = positions_within(true, values), np.arange(1.0, n_classes)
    if request.kind == "near_cuts":
        return near_cuts(positions, cuts, request.rate, WIDTH)
    return perceived(positions, cuts, request.rate)


def _corrupted(column: pl.Series, table: GradedTable, true: Ints, noisy: Ints) -> pl.Series:
    """The column with the noisy grades, each spelled as in its first row of the file."""
    found, first = np.unique(true, return_index=True)
    unseen = [rank for rank in range(len(table.classes)) if rank not in found]
    place = dict(zip(found.tolist(), table.rows[first].tolist(), strict=True))
    place |= {rank: len(column) + at for at, rank in enumerate(unseen)}
    sources = np.arange(len(column))
    changed = noisy != true
    sources[table.rows[changed]] = [place[rank] for rank in noisy[changed].tolist()]
    spelled = Dialect(decimal=table.reading.decimal or ".").spelled if column.dtype == pl.String else str
    others = pl.Series(column.name, [spelled(str(table.classes[rank])) for rank in unseen], dtype=pl.String)
    return pl.concat([column, others.cast(column.dtype)]).gather(sources)
