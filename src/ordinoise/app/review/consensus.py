"""The reviewed consensus: the files of ``ordinoise raters`` with the settled grades, as new files beside them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ordinoise._files import regular_content
from ordinoise._validation import complain
from ordinoise.app.records.ratings import RatersRecord
from ordinoise.app.review.events import RowState
from ordinoise.app.review.export import Corrected, placed
from ordinoise.app.tables import Dialect, digest_of, read_text, write_content
from ordinoise.app.tables.label_studio import with_reviewed
from ordinoise.app.tables.reader import open_stored
from ordinoise.app.tables.regraded import text_with

CONSENSUS, TASKS, VERIFIED = "consensus.csv", "label-studio.json", "verified"


def write_reviewed(folder: Path, record: RatersRecord, states: Iterable[RowState]) -> Corrected:
    """Write ``consensus.reviewed.csv`` and, if there are tasks for Label Studio, ``label-studio.reviewed.json``.

    Settled items have the grade of the review, a confidence of one and the flag "verified".
    """
    source = folder / CONSENSUS
    if digest_of(source) != record.consensus_digest:
        advice = "run ordinoise raters again; nothing was written"
        raise complain(CONSENSUS, "be unchanged since it was written", f"other content in {str(source)!r}", advice)
    settled = list(states)
    grades = {state.row: state.grade for state in settled if state.grade is not None}
    opened = open_stored(source)
    before = opened.frame
    cells = _settled_cells(before, grades)
    columns = {name: before[name].to_list() for name in before.columns}
    for (row, column), cell in cells.items():
        columns[before.columns[column]][row] = cell
    table = pl.DataFrame(columns, schema=before.schema)
    tasks = _tasks(folder, grades)
    with tempfile.TemporaryDirectory(prefix=".reviewed-", dir=folder) as temporary:
        written = Path(temporary) / "reviewed.csv"
        write_content(text_with(source, opened, cells), written)
        if not read_text(written).equals(table):
            raise complain("the reviewed file", "hold every decision", "others when it was read again")
        also = Path(temporary) / "reviewed.json"
        if tasks is not None:
            also.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
        path = placed(written, source)
        more = () if tasks is None else (placed(also, folder / TASKS),)
    n_changed = int((before["grade"] != table["grade"]).sum())
    n_disputed = sum(state.is_disputed for state in settled)
    return Corrected(path, n_changed, len(grades) - n_changed, n_disputed, more)


def _settled_cells(table: pl.DataFrame, grades: Mapping[int, str]) -> dict[tuple[int, int], str]:
    """The cells of settled items, by row and column, spelled with the decimal mark of the file."""
    has_commas = bool(table["confidence"].str.contains(",", literal=True).any())
    spelled = Dialect(decimal="," if has_commas else ".").spelled
    grade, confidence, flags = map(table.columns.index, ("grade", "confidence", "flags"))
    cells = {}
    for row, settled in grades.items():
        known = (table[row, flags] or "").split()
        cells[row, grade], cells[row, confidence] = spelled(settled), spelled("1.0")
        cells[row, flags] = " ".join([VERIFIED, *(flag for flag in known if flag != VERIFIED)])
    return cells


def _tasks(folder: Path, grades: Mapping[int, str]) -> list[dict[str, Any]] | None:
    """The tasks for Label Studio with the settled grades; None if there are none."""
    path = folder / TASKS
    if not path.is_file():
        return None
    try:
        return with_reviewed(json.loads(regular_content(path).decode()), grades)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise complain(TASKS, "be as it was written", repr(str(path)), "nothing was written") from None
