"""An audit of a file: which labels are probably wrong, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from ordinoise._files import new_folder
from ordinoise.app.record import AuditRecord, write_record
from ordinoise.app.tables import GradedTable, write_table
from ordinoise.app.workflow.learning import Learned, Request, Trusted, learn
from ordinoise.app.workflow.record import MOST_SUSPECTS, audit_record, report_findings

LABELS, SUSPECTS, REPORT = "labels.csv", "suspects.csv", "report.html"


def audit_file(
    request: Request,
    out: Path,
    *,
    trusted: Trusted | None = None,
    n_suspects: int = MOST_SUSPECTS,
    on_table: Callable[[GradedTable], None] = lambda _: None,
) -> tuple[Learned, AuditRecord]:
    """Judge every label of a file, and write what was found into a new folder.

    The folder appears whole or not at all: ``audit.json``, ``report.html``, ``suspects.csv`` (the worst, with their
    rows) and ``labels.csv`` (all).

    Parameters
    ----------
    out : Path
        The folder; must not exist.
    trusted : (rows, grades), optional
        Labels that a person settled.
    n_suspects : int
        How many of the most suspicious labels a person may look at.
    on_table : callable
        Told of the table before the long work begins.
    """
    from ordinoise.app.report import write_report

    with new_folder("out", out) as folder:
        learned = learn(request, trusted=trusted, on_table=on_table)
        record = audit_record(learned, n_suspects)
        write_record(folder, record)
        write_report(folder / REPORT, report_findings(f"Audit of {request.file.name}", learned, record))
        write_table(_suspect_frame(record), folder / SUSPECTS, neutral=True)
        write_table(_label_frame(learned), folder / LABELS, neutral=True)
    return learned, record


def _suspect_frame(record: AuditRecord) -> pl.DataFrame:
    """The suspects with their rows; a column of the file that bears one of our names gets an underscore."""
    ours = ("row", "recorded", "suggested", "probability_wrong", "expected_distance")
    columns = {name: [getattr(suspect, name) for suspect in record.suspects] for name in ours}
    for at, column in enumerate(record.columns):
        name = column.name
        while name in columns:
            name += "_"
        columns[name] = [suspect.cells[at] for suspect in record.suspects]
    texts = {name: pl.String for name in columns if name not in ours} | {"recorded": pl.String, "suggested": pl.String}
    return pl.DataFrame(columns, schema_overrides=texts)


def _label_frame(learned: Learned) -> pl.DataFrame:
    issues = learned.issues
    return pl.DataFrame(
        {
            "row": learned.table.rows,
            "recorded": issues.recorded,
            "suggested": issues.suggested,
            "probability_wrong": issues.probability_wrong.round(6),
            "expected_distance": issues.expected_distance.round(6),
            "rank": issues.rank,
        }
    )
