"""An audit of a file, written into a new folder: report, suspects, all labels, record."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import ordinoise
from ordinoise._files import new_folder, unfinished_folder, write_whole
from ordinoise.app.records.audit import AuditRecord, Suspect, write_record
from ordinoise.app.records.labels import LABELS
from ordinoise.app.records.subject import Subject
from ordinoise.app.rounds.history import History
from ordinoise.app.tables import Dialect, GradedTable, format_of, import_tasks, suggested_tasks, write_table
from ordinoise.app.verbs.fit import FileAudit, learn
from ordinoise.app.verbs.labels import label_frame, suggestion_frame
from ordinoise.app.verbs.oddities import oddities_of
from ordinoise.app.verbs.reasons import reasons_in_words, reasons_of
from ordinoise.app.verbs.request import Request
from ordinoise.audit.issues import CHANCES
from ordinoise.estimate import Estimate

if TYPE_CHECKING:
    from ordinoise.app.report.contents import Findings

GRADES = ("recorded", "suggested")
NUMBERS = ("row", "line", "suspicion", *CHANCES, "gain")
SUSPECTS, REPORT, TASKS = "suspects.csv", "report.html", "label-studio.json"
# If the columns say nothing, nothing is suspected by chance. A label is a suspect if another grade is suggested and it
# is more likely wrong than right, or among the first few; the counts are round numbers, chosen by no run.
MOST_SUSPECTS, FEWEST_SUSPECTS, LIKELY = 1000, 20, 0.5


def audit_file(
    request: Request,
    out: Path,
    *,
    history: History | None = None,
    n_suspects: int = MOST_SUSPECTS,
    excel_safe: bool = False,
    label_studio: bool = False,
    is_plain: bool = False,
    on_table: Callable[[GradedTable], None] = lambda _: None,
    verbose: bool = False,
) -> tuple[FileAudit, AuditRecord]:
    """Find the labels that look wrong in a file and write them into a new folder.

    The folder holds ``audit.json``, ``report.html``, ``suspects.csv`` (the most suspicious rows, with all their cells)
    and ``labels.csv`` (every graded row). If it is stopped, models that took long stay
    in a hidden folder beside it, and the same audit continues from there.

    Parameters
    ----------
    out : Path
        The folder; must not exist.
    history : History, optional
        What reviewers settled in earlier rounds.
    n_suspects : int
        Largest number of suspects to keep for review.
    excel_safe : bool
        Whether text in ``suspects.csv`` that a spreadsheet would run as a formula gets an apostrophe in front.
    label_studio : bool
        Whether to write the suspects as tasks for Label Studio too; of a Label Studio export they always are.
    is_plain : bool
        Whether the CSV files have commas and points in place of the dialect of the file.
    on_table, verbose
        As in `learn`.
    """
    with unfinished_folder(out) as unfinished, new_folder("out", out) as folder:
        found = learn(request, history=history, on_table=on_table, verbose=verbose, unfinished=unfinished)
        record = audit_record(found, n_suspects, history)
        write_audit(folder, found, record, out, excel_safe=excel_safe, is_plain=is_plain)
        dialect = Dialect.of(record.reading, is_plain=is_plain)
        labels = dialect.with_numbers(_label_frame(found, record), GRADES)
        write_table(labels, folder / LABELS, dialect=dialect)
        is_export = format_of(found.table.path) == "tasks"
        if label_studio or is_export:
            tasks = _label_studio_tasks(record, found.table.path if is_export else None)
            write_whole(folder / TASKS, json.dumps(tasks, ensure_ascii=False, indent=1).encode())
    return found, record


def write_audit(
    folder: Path, found: FileAudit, record: AuditRecord, out: Path, *, excel_safe: bool, is_plain: bool = False
) -> None:
    """Write the record, the report and the suspects of an audit into a folder that becomes `out`."""
    from ordinoise.app.report.page import write_report

    write_record(folder, record)
    heading = f"Audit of {found.request.file.name}"
    write_report(folder / REPORT, report_findings(heading, found, record, str(out)))
    dialect = Dialect.of(record.reading, is_plain=is_plain)
    suspects = dialect.with_numbers(dialect.shortened(suspect_frame(record)), [*GRADES, *number_columns(record)])
    write_table(suspects, folder / SUSPECTS, dialect=dialect, excel_safe=excel_safe)


def number_columns(record: Subject) -> list[str]:
    """Names of the columns that hold numbers."""
    return [column.name for column in record.columns if column.kind == "number"]


def audit_record(found: FileAudit, n_suspects: int = MOST_SUSPECTS, history: History | None = None) -> AuditRecord:
    """The record of an audit, with at most `n_suspects` suspects."""
    table, wrong, model = found.table, found.issues.expected_wrong, found.model
    count, under = (None, None) if wrong is None else (wrong.count, wrong.by_matrix)
    history = history or History(())
    recorded = dict(zip(table.rows.tolist(), map(str, table.labels), strict=True))
    settled = tuple(replace(one, recorded=recorded.get(one.row)) for one in history.settled)
    return AuditRecord(
        source=str(table.path.resolve()),
        digest=table.digest,
        target=table.target,
        classes=tuple(str(grade) for grade in table.classes),
        columns=table.columns,
        n_rows=table.n_rows,
        n_graded=table.n_graded,
        noise=model.noise_,
        wrong=None if wrong is None else wrong.value,
        wrong_low=None if wrong is None else wrong.low,
        wrong_high=None if wrong is None else wrong.high,
        confidence=model.noise_.confidence if wrong is None else wrong.confidence,
        stage="given" if count is None else count.stage,
        by_matrix=None if under is None or np.isnan(under.low) else _rounded(under),
        n_next=None if count is None else count.n_next,
        design_effect=1.0 if wrong is None else wrong.design_effect,
        count_doubts=() if count is None else tuple(doubt.sentence for doubt in count.doubts),
        learner=model.learner_,
        settings=found.request.settings(),
        suspects=_suspects(found, n_suspects, {one.row: one.grade for one in settled}),
        cautions=table.cautions,
        ordinoise=ordinoise.__version__,
        reading=table.reading,
        says_nothing=found.says_nothing,
        oddities=oddities_of(found),
        settled=settled,
        rounds=history.rounds,
        spot_check=history.spot_check,
        repeats=history.repeats,
        settled_wrong=found.settled_wrong,
        by_lot=None if count is None else count.by_lot,
        graders=found.graders,
    )


def report_findings(heading: str, found: FileAudit, record: AuditRecord, folder: str = "") -> Findings:
    """The input of the report page; `folder` is that of the audit, if it is one."""
    from ordinoise.app.report.contents import Findings

    model = found.model
    weights = {name: share for name, share in model.weights_.items() if share > 0}
    curves = {name: model.curves_[name][0] for name in weights if len(model.curves_[name][0])}
    return Findings(
        heading,
        record,
        found.probabilities,
        found.recorded,
        found.scores,
        weights,
        curves,
        folder,
        found.request.words(),
        found.is_in_parts,
    )


def _suspects(found: FileAudit, n_suspects: int, settled: Mapping[int, str]) -> tuple[Suspect, ...]:
    issues, chosen = found.issues, found.issues.worst
    if issues.verified is not None:
        chosen = chosen[~issues.verified[chosen]]
    if found.says_nothing:
        chosen = chosen[:0]
    chosen = chosen[issues.suggested[chosen] != issues.recorded[chosen]][:n_suspects]
    suspicion = issues.suspicion[chosen]
    chosen = chosen[(suspicion >= LIKELY) | ((np.arange(len(chosen)) < FEWEST_SUSPECTS) & (suspicion > 0))]
    rows = found.table.rows[chosen]
    cells = found.table.text_cells(rows)
    why = reasons_of(found, chosen, settled)
    return tuple(
        Suspect(
            row=int(row),
            rank=rank,
            recorded=str(issues.recorded[at]),
            suggested=str(issues.suggested[at]),
            suspicion=float(issues.suspicion[at]),
            graded=tuple(found.graded[at].tolist()),
            probability_wrong=_known(issues.probability_wrong[at]),
            expected_distance=_known(issues.expected_distance[at]),
            cells=cells[rank - 1],
            line=found.table.line(int(row)),
            **why[rank - 1],
        )
        for rank, (row, at) in enumerate(zip(rows, chosen, strict=True), start=1)
    )


def _rounded(under: Estimate) -> tuple[float, float, float]:
    """The number and its ends; the last bit of a sum depends on where its arrays lie."""
    return round(under.value, 6), round(under.low, 6), round(under.high, 6)


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def suspect_frame(record: AuditRecord) -> pl.DataFrame:
    """The suspects with the cells of their rows."""
    lines = ("line",) if any(one.line is not None for one in record.suspects) else ()
    ours: tuple[str, ...] = ("row", *lines, "recorded", "suggested", "suspicion")
    if any(suspect.probability_wrong is not None for suspect in record.suspects):
        ours += CHANCES
    columns = {name: [getattr(suspect, name) for suspect in record.suspects] for name in ours}
    return frame_with_cells(columns | reasons_in_words(record), record, record.suspects)


def frame_with_cells(
    ours: Mapping[str, Sequence[object]], subject: Subject, rows: Sequence[Suspect], *, has_target: bool = True
) -> pl.DataFrame:
    """Columns about rows, and after them the cells of the rows; one with a name of ours gets an underscore appended."""
    columns, texts = dict(ours), {name: pl.String for name in ours if name not in NUMBERS}
    for at, column in enumerate(subject.columns):
        if has_target or column.role != "target":
            name = column.name
            while name in columns:
                name += "_"
            columns[name], texts[name] = [one.cells[at] for one in rows], pl.String
    return pl.DataFrame(columns, schema_overrides=texts)


def _label_studio_tasks(record: AuditRecord, export: Path | None) -> list[dict[str, Any]]:
    """The suspects, worst first, as tasks with the suggested grade as a prediction and the suspicion as its score."""
    version, chosen = f"ordinoise {record.ordinoise}", record.suspects
    grades = [one.suggested for one in chosen]
    scores = [round(one.suspicion, 6) for one in chosen]
    if export is not None:
        return suggested_tasks(export, record.target, [one.row for one in chosen], grades, scores, version)
    places = {column.name: at for at, column in enumerate(record.columns) if column.name != record.target}
    cells = {name: [one.cells[at] for one in chosen] for name, at in places.items()}
    table = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String))
    return import_tasks(None, [str(one.row) for one in chosen], table, grades, scores, version, "suggestion")


def _label_frame(found: FileAudit, record: AuditRecord) -> pl.DataFrame:
    """Every row of the file; a settled one has the grade of the review, one without a grade only a suggestion."""
    issues, table = found.issues, found.table
    settled = {one.row: one for one in record.settled}
    known = [settled.get(row) for row in table.rows.tolist()]
    states = [None if one is None else "fixed" if one.is_fixed else "confirmed" for one in known]
    names = np.array(record.classes, dtype=object)
    graded = label_frame(
        table.rows, names[found.recorded], issues.suggested.astype(str), issues.suspicion, found.graded, record.classes,
        probability_wrong=issues.probability_wrong, expected_distance=issues.expected_distance, rank=issues.rank,
        settled=pl.Series(states, dtype=pl.String),
    )  # fmt: skip
    grades = pl.Series("suggested", [None if one is None else one.grade for one in known], dtype=pl.String)
    graded = graded.with_columns(pl.coalesce(grades, "suggested").alias("suggested"))
    frame = pl.concat([graded, _ungraded_frame(found, record)], how="diagonal").sort("row")
    return frame if table.lines is None else frame.insert_column(1, pl.Series("line", table.lines[frame["row"]]))


def _ungraded_frame(found: FileAudit, record: AuditRecord) -> pl.DataFrame:
    table = found.table
    if not table.ungraded.height:
        return pl.DataFrame()
    rows = np.setdiff1d(np.arange(table.frame.height), table.rows)
    added = {one.row: one.grade for one in record.settled}
    states = pl.Series(["added" if row in added else None for row in rows.tolist()], dtype=pl.String)
    after, noise = found.model.predict_proba(table.ungraded), found.model.noise_.average.believed
    frame = suggestion_frame(rows, record.classes, after, after @ noise.matrix, settled=states)
    grades = pl.Series("suggested", [added.get(row) for row in rows.tolist()], dtype=pl.String)
    return frame.with_columns(pl.coalesce(grades, "suggested").alias("suggested"))
