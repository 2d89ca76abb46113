"""A copy of a file with noise added to its grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise._files import refuse_existing
from ordinoise._validation import Floats, Ints, as_choice, as_count
from ordinoise.app.tables import GradedTable, delimiter_of, graded_table, read_stored, read_text, write_table
from ordinoise.app.workflow.fit import matrix_from
from ordinoise.app.workflow.request import CorruptionRequest
from ordinoise.labels import ranks_of
from ordinoise.noise import adjacent, corrupt, exponential_decay, inverse_decay, uniform

KINDS: dict[str, Callable[[int, float], Floats]] = {
    "inverse_decay": inverse_decay,
    "exponential_decay": exponential_decay,
    "adjacent": lambda n_classes, rate: adjacent(n_classes, up=rate, down=rate),
    "uniform": uniform,
}
TEXTS = (".csv", ".tsv")


@dataclass(frozen=True)
class Corruption:
    """The noise that was added to a file.

    Attributes
    ----------
    noise_matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
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
    as_choice("kind", request.kind, tuple(KINDS))
    refuse_existing("out", out)
    table = graded_table(file, target, order=request.order)
    n_classes = len(table.classes)
    if request.noise is None:
        matrix = KINDS[request.kind](n_classes, request.rate)
    else:
        matrix = matrix_from(request.noise, n_classes)
    true = ranks_of("target", table.labels, np.asarray(table.classes))
    noisy = corrupt(true, matrix, random_state=as_count("seed", request.seed, 0))
    to_text = out.suffix in TEXTS
    # All other cells are kept as stored; only text that goes into a typed file gets its inferred types.
    frame = read_text(file) if to_text else table.frame if file.suffix in TEXTS else read_stored(file)
    column = _corrupted(frame[target], table, true, noisy)
    same_kind = to_text and file.suffix in TEXTS
    write_table(frame.with_columns(column), out, delimiter=delimiter_of(file) if same_kind else ",")
    return Corruption(matrix, tuple(map(str, table.classes)), int((noisy != true).sum()), len(true))


def _corrupted(column: pl.Series, table: GradedTable, true: Ints, noisy: Ints) -> pl.Series:
    """The column with the noisy grades, each spelled as in its first row of the file."""
    found, first = np.unique(true, return_index=True)
    unseen = [rank for rank in range(len(table.classes)) if rank not in found]
    place = dict(zip(found.tolist(), table.rows[first].tolist(), strict=True))
    place |= {rank: len(column) + at for at, rank in enumerate(unseen)}
    sources = np.arange(len(column))
    changed = noisy != true
    sources[table.rows[changed]] = [place[rank] for rank in noisy[changed].tolist()]
    others = pl.Series(column.name, [str(table.classes[rank]) for rank in unseen], dtype=pl.String)
    return pl.concat([column, others.cast(column.dtype)]).gather(sources)
