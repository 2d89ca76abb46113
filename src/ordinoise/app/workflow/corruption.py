"""A copy of a file with some grades recorded wrong, to try things on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise._files import refuse_existing
from ordinoise._validation import Floats, Ints, as_choice, as_count
from ordinoise.app.tables import GradedTable, delimiter_of, graded_table, read_text, write_table
from ordinoise.app.workflow.learning import matrix_from
from ordinoise.labels import ranks_of
from ordinoise.noise import adjacent, corrupt, exponential_decay, inverse_decay, uniform

KINDS = ("inverse_decay", "exponential_decay", "adjacent", "uniform")
TEXTS = (".csv", ".tsv")


@dataclass(frozen=True)
class Corruption:
    """What was done to a file.

    Attributes
    ----------
    noise_matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    classes : tuple of str
    n_changed, n_graded : int
        Grades recorded wrong, and grades in all.
    """

    noise_matrix: Floats
    classes: tuple[str, ...]
    n_changed: int
    n_graded: int


def corrupt_file(
    file: Path,
    target: str,
    out: Path,
    *,
    rate: float = 0.15,
    kind: str = "inverse_decay",
    order: str | None = None,
    noise: Path | None = None,
    seed: int = 0,
) -> Corruption:
    """Write a copy of a file in which grades are recorded as the noise matrix has it; every other cell stays.

    Parameters
    ----------
    rate : float
        Of the kind: for "inverse_decay" the chance of each neighbouring grade, half as much two grades off.
    kind : {"inverse_decay", "exponential_decay", "adjacent", "uniform"}
    noise : Path, optional
        A file with the matrix, instead of kind and rate.
    """
    as_choice("kind", kind, KINDS)
    refuse_existing("out", out)
    table = graded_table(file, target, order=order)
    n_classes = len(table.classes)
    matrix = _matrix(kind, rate, n_classes) if noise is None else matrix_from(noise, n_classes)
    true = ranks_of("target", table.labels, np.asarray(table.classes))
    noisy = corrupt(true, matrix, random_state=as_count("seed", seed, 0))
    as_it_stands = out.suffix in TEXTS
    frame = read_text(file) if as_it_stands else table.frame
    column = _regraded(frame[target], table, true, noisy)
    same_kind = as_it_stands and file.suffix in TEXTS
    write_table(frame.with_columns(column), out, delimiter=delimiter_of(file) if same_kind else ",")
    return Corruption(matrix, tuple(map(str, table.classes)), int((noisy != true).sum()), len(true))


def _matrix(kind: str, rate: float, n_classes: int) -> Floats:
    if kind == "inverse_decay":
        return inverse_decay(n_classes, rate)
    if kind == "exponential_decay":
        return exponential_decay(n_classes, rate)
    return adjacent(n_classes, up=rate, down=rate) if kind == "adjacent" else uniform(n_classes, rate)


def _regraded(column: pl.Series, table: GradedTable, true: Ints, noisy: Ints) -> pl.Series:
    """The column of grades with the noisy ones in it, each spelled as the file spells it elsewhere."""
    found, first = np.unique(true, return_index=True)
    unseen = [rank for rank in range(len(table.classes)) if rank not in found]
    place = dict(zip(found.tolist(), table.rows[first].tolist(), strict=True))
    place |= {rank: len(column) + at for at, rank in enumerate(unseen)}
    sources = np.arange(len(column))
    changed = noisy != true
    sources[table.rows[changed]] = [place[rank] for rank in noisy[changed].tolist()]
    others = pl.Series(column.name, [str(table.classes[rank]) for rank in unseen], dtype=pl.String)
    return pl.concat([column, others.cast(column.dtype)]).gather(sources)
