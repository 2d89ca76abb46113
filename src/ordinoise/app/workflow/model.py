"""A model fitted to a file, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ordinoise._files import new_folder
from ordinoise.app.record import AuditRecord
from ordinoise.app.tables import GradedTable
from ordinoise.app.workflow.audit import REPORT
from ordinoise.app.workflow.learning import Learned, Request, Trusted, learn
from ordinoise.app.workflow.record import audit_record, report_findings
from ordinoise.app.workflow.task import write_task

SHOWN_SUSPECTS = 100


def fit_file(
    request: Request,
    out: Path,
    *,
    trusted: Trusted | None = None,
    on_table: Callable[[GradedTable], None] = lambda _: None,
) -> tuple[Learned, AuditRecord]:
    """Fit the front door to a file, and write the model, its task and a report into a new folder.

    Parameters
    ----------
    out : Path
        The folder; must not exist.
    trusted : (rows, grades), optional
        Labels that a person settled.
    on_table : callable
        Told of the table before the long work begins.
    """
    from ordinoise.app.report import write_report

    with new_folder("out", out) as folder:
        learned = learn(request, trusted=trusted, on_table=on_table)
        record = audit_record(learned, SHOWN_SUSPECTS)
        learned.model.save(folder / "model")
        for part in (folder / "model").iterdir():
            part.rename(folder / part.name)
        (folder / "model").rmdir()
        write_task(folder, learned)
        write_report(folder / REPORT, report_findings(f"Model of {request.file.name}", learned, record))
    return learned, record
