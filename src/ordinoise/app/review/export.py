"""The corrected file: the audited file with the settled grades, written as a new file beside it."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ordinoise._validation import complain
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review.events import RowState
from ordinoise.app.tables import digest_of
from ordinoise.app.tables.folder import whole_folder
from ordinoise.app.tables.regraded import GradeColumn


@dataclass(frozen=True)
class Corrected:
    """A corrected file.

    Attributes
    ----------
    path : path
    n_changed : int
        Settled grades that differ from the recorded ones, as counted in the file.
    n_kept : int
        Settled grades that confirm the recorded ones.
    n_disputed : int
        Settled rows with different grades by different reviewers; the latest grade is written.
    also : tuple of path
        Other files that were written with it.
    """

    path: Path
    n_changed: int
    n_kept: int
    n_disputed: int
    also: tuple[Path, ...] = ()


def write_corrected(record: AuditRecord, states: Iterable[RowState]) -> Corrected:
    """Write ``<name>.reviewed.csv`` beside the audited file, with the settled grades in place of the recorded ones.

    Grades of earlier rounds are written too. The file stays what it is, but for those cells: a CSV file byte for byte,
    any other format with its types. If the name is taken, the new file gets a number.
    """
    source = Path(record.source)
    _check_unchanged(source, record.digest)
    graded = [state for state in states if state.grade is not None]
    decided = {one.row: one.grade for one in record.settled}
    decided |= {state.row: state.grade for state in graded if state.grade is not None}
    column = GradeColumn(source, record.target, record.classes, record.reading)
    beside = whole_folder(source)
    with tempfile.TemporaryDirectory(prefix=".reviewed-", dir=beside.parent) as folder:
        written = Path(folder) / f"reviewed{column.suffix()}"
        n_changed = column.write_with(decided, written)
        _check_unchanged(source, record.digest)  # it was read more than once
        path = placed(written, beside)
    n_disputed = sum(state.is_disputed for state in graded)
    return Corrected(path, n_changed, len(decided) - n_changed, n_disputed)


def _check_unchanged(source: Path, digest: str) -> None:
    if digest_of(source) != digest:
        advice = "audit it again; nothing was written"
        raise complain("the audited file", "be unchanged since its audit", f"other content in {str(source)!r}", advice)


def placed(written: Path, source: Path) -> Path:
    """The path of a written file, once it has a free name beside the original, with ``.reviewed`` before its suffix."""
    return next(path for path in _names(source, written.suffix) if _is_placed(written, path))


def _names(source: Path, suffix: str) -> Iterator[Path]:
    """Names for the new file, best first."""
    stem = Path(source.name.removesuffix(".gz")).stem
    yield source.with_name(f"{stem}.reviewed{suffix}")
    for number in itertools.count(2):
        yield source.with_name(f"{stem}.reviewed-{number}{suffix}")


def _is_placed(written: Path, path: Path) -> bool:
    """Give a file its name unless the name is taken, in one step, so that no other process is overwritten."""
    try:
        os.link(written, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        try:
            with path.open("xb") as file:
                file.write(written.read_bytes())
        except FileExistsError:
            return False
    return True
