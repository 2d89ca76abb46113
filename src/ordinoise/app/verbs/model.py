"""A model in a folder: fitted to a file, evaluated on a file, used to grade the rows of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ordinoise._files import new_folder, unfinished_folder
from ordinoise._text import shortened
from ordinoise._validation import as_choice, as_number, complain
from ordinoise.app.records.model import Task, read_model, read_task, write_task
from ordinoise.app.tables import (
    Dialect,
    format_of,
    grades_of,
    is_lines,
    lines_and,
    typed_columns,
    write_content,
    write_lines,
    write_table,
)
from ordinoise.app.tables.embeddings import embedded_columns
from ordinoise.app.tables.file_lines import placed_errors
from ordinoise.app.tables.reader import Opened, open_stored, read_opened
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.regraded import text_and
from ordinoise.app.tables.stored import write_stored_and
from ordinoise.app.tables.writer import LINES, STORED_SUFFIXES, TEXTS
from ordinoise.columns.categories import folded, folded_once
from ordinoise.columns.features import features_of
from ordinoise.columns.findings import SpellingHints
from ordinoise.decisions import RULES, decide

if TYPE_CHECKING:
    from ordinoise.app.records.audit import AuditRecord
    from ordinoise.app.report.action import Baseline
    from ordinoise.app.rounds.history import History
    from ordinoise.app.tables import GradedTable
    from ordinoise.app.verbs.fit import FileAudit
    from ordinoise.app.verbs.request import EvaluationRequest, ModelRequest, PredictionRequest, Request
    from ordinoise.classifiers.base import OrdinalClassifierBase
    from ordinoise.scoring import Evaluation

# The report of a fit lists this many suspects, as many as its page shows at most.
SHOWN_SUSPECTS = 100
MOST_NAMED = 5  # unseen categories in a sentence


def fit_file(
    request: Request,
    out: Path,
    *,
    history: History | None = None,
    on_table: Callable[[GradedTable], None] = lambda _: None,
    verbose: bool = False,
) -> tuple[FileAudit, AuditRecord]:
    """Fit an OrdinalClassifier to a file and write the model and a report into a new folder.

    If it is stopped, models that took long stay in a hidden folder beside it, and the same fit continues from there.

    Parameters
    ----------
    out : Path
        The folder; must not exist.
    history : History, optional
        What reviewers of an audit settled.
    on_table, verbose
        As in `learn`.
    """
    from ordinoise.app.verbs.audit import audit_record
    from ordinoise.app.verbs.fit import learn

    with unfinished_folder(out) as unfinished, new_folder("out", out) as folder:
        found = learn(request, history=history, on_table=on_table, verbose=verbose, unfinished=unfinished)
        record = audit_record(found, SHOWN_SUSPECTS, history)
        write_model(folder, found, record)
    return found, record


def write_model(folder: Path, found: FileAudit, record: AuditRecord) -> None:
    """Write the model, how it reads a file, and the report into an existing folder."""
    from ordinoise.app.report.page import write_report
    from ordinoise.app.verbs.audit import REPORT, report_findings

    found.model.save(folder / "model")
    for part in (folder / "model").iterdir():
        part.rename(folder / part.name)
    (folder / "model").rmdir()
    table = found.table
    write_task(folder, Task(table.target, table.columns, len(table.embedded), found.request.text_model, table.reading))
    write_report(folder / REPORT, report_findings(f"Model of {found.request.file.name}", found, record))


def evaluate_file(
    request: EvaluationRequest, *, on_opened: Callable[[Opened], None] = lambda _: None
) -> tuple[Evaluation, Baseline]:
    """Every metric of a model on a file it was not fitted to, on the recorded grades and corrected for their noise.

    Beside it, what always predicting the middle grade would score on the recorded ones. Unless they are trusted, the
    grades are taken to be as noisy as the training grades.
    """
    from ordinoise.app.report.action import baseline_of
    from ordinoise.app.tables.graded import names_in
    from ordinoise.scoring import evaluate

    fitted, task = read_model(request.model)
    target = task.target if request.target is None else request.target
    hints = replace(SpellingHints.of_columns(task.columns), kinds={target: "grade"})
    opened = read_opened(
        request.file, keep_text=task.categories, asked=request.reading, wanted=[*task.features, target], hints=hints
    )
    on_opened(opened)
    frame = opened.frame
    labels, rows = grades_of(frame, target, fitted.classes_.tolist())
    noise = None if request.trusted else "model"
    with placed_errors(request.file, opened):
        groups = None if request.group is None else names_in(frame, "group", request.group, rows)
        features = _features(frame, task, request)
    found = evaluate(fitted, features[rows], labels, noise, groups=groups)
    classes = fitted.classes_.tolist()
    ranks = np.array([classes.index(label) for label in labels], dtype=np.int64)
    return found, baseline_of(ranks, [str(grade) for grade in classes], list(found.scores))


def predict_file(
    request: PredictionRequest,
    *,
    as_stored: bool = True,
    on_unseen: Callable[[str], None] = lambda _: None,
    on_opened: Callable[[Opened], None] = lambda _: None,
) -> pl.DataFrame:
    """The table of a file with columns added for the predicted grade and the probability of each grade.

    Parameters
    ----------
    request : PredictionRequest
        Columns of its file that are no features, such as the target, are kept but not read.
    as_stored : bool
        Whether to return the file's own cells as stored (text, for a CSV file) or with their inferred types.
    on_unseen : callable
        Called with a sentence for every column with categories that the model never saw, and on how cells were read.
    on_opened : callable
        Called with the table that was read.
    """
    check_prediction(request)
    fitted, task = read_model(request.model)
    opened = open_stored(request.file, asked=request.reading, wanted=task.features)
    on_opened(opened)
    with placed_errors(request.file, opened):
        return with_grades(
            fitted, task, opened.frame, request, as_stored=as_stored, on_unseen=on_unseen, reading=opened.reading
        )


def check_prediction(request: PredictionRequest) -> None:
    """Refuse bad options of a prediction."""
    if request.decision is not None:
        as_choice("decision", request.decision, RULES)
    if request.confidence is not None:
        as_number("confidence", request.confidence, 0.0, 0.9999, open_low=True)


def with_grades(
    fitted: OrdinalClassifierBase,
    task: Task,
    stored: pl.DataFrame,
    request: PredictionRequest,
    *,
    as_stored: bool = True,
    on_unseen: Callable[[str], None] = lambda _: None,
    reading: Reading = BY_RULES,
) -> pl.DataFrame:
    """The rows of a table that was read, with the columns that `predict_file` adds."""
    hints = SpellingHints.of_columns(task.columns)
    spelled = typed_columns(stored.get_columns(), task.categories, reading, hints)
    frame, names = spelled.frame, list(hints.known)
    for clause in (*spelled.messages(names), *spelled.cautions(names)):
        on_unseen(f"{clause}.")
    features = _features(frame, task, request)
    for sentence in unseen_categories(fitted, features):
        on_unseen(sentence)
    probabilities = fitted.predict_proba(features)
    grades = fitted.classes_[decide(probabilities, fitted.decision if request.decision is None else request.decision)]
    added = [pl.Series(f"predicted_{task.target}", grades)]
    if request.confidence is not None:
        sets = fitted.sets_of(probabilities, request.confidence)
        added += [pl.Series(f"lowest_{task.target}", sets.low), pl.Series(f"highest_{task.target}", sets.high)]
    added += [
        pl.Series(f"probability_{grade}", probabilities[:, at].round(6)) for at, grade in enumerate(fitted.classes_)
    ]
    clash = next((series.name for series in added if series.name in frame.columns), None)
    if clash is not None:
        raise complain("file", f"have no column {clash!r}", "one", "the prediction adds this name; rename yours")
    return (stored if as_stored else frame).with_columns(added)


def unseen_categories(model: OrdinalClassifierBase, features: pl.DataFrame) -> list[str]:
    """One sentence per column with categories that the training table did not have; they are read as missing."""
    columns = getattr(model, "columns_", None)
    if columns is None:
        return []
    found = []
    for at, known in columns.categories.items():
        column = features.to_series(at if columns.kept is None else columns.kept[at])
        unseen = column.filter(~column.is_in(list(known))).drop_nulls()
        by_fold = folded_once(str(one) for one in known)
        is_new = [folded(str(cell)) not in by_fold for cell in unseen.to_list()]
        if any(is_new):
            unseen = unseen.filter(is_new)
            names = unseen.unique(maintain_order=True).to_list()
            shown = ", ".join(shortened(repr(name)) for name in names[:MOST_NAMED])
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            found.append(
                f"column {column.name!r} has categories that the model never saw, read as missing in "
                f"{len(unseen):,} row{'s' * (len(unseen) > 1)}: {shown}{more}."
            )
    return found


def write_predictions(graded: pl.DataFrame, request: PredictionRequest, out: Path, *, is_plain: bool = False) -> None:
    """Write a table by `predict_file` to a new file.

    From CSV to CSV, unless `is_plain`, and from JSON lines to JSON lines every byte is kept and fields are added; from
    Parquet or Feather to one of these every type is kept, where pyarrow is installed.
    """
    file, suffix = request.file, out.suffix.lower()
    opened = read_opened(file, asked=request.reading)  # the decimal mark is known once the cells are read
    reading = opened.reading
    if not reading.decimal and reading.delimiter not in ("", ","):  # a few rows may not show it
        reading = replace(reading, decimal=read_task(request.model).reading.decimal)
    dialect = Dialect.of(reading, is_plain=is_plain)
    known = set(opened.frame.columns)
    added = pl.DataFrame([column for column in graded.get_columns() if column.name not in known])
    is_own = format_of(file) == "text" and (suffix == ".csv" or opened.reading.delimiter == "\t")
    if suffix in LINES and is_lines(file):
        write_lines(lines_and(file, added), out)
    elif suffix in TEXTS and is_own and not is_plain:
        grades = [name for name in added.columns if not name.startswith("probability_")]
        write_content(text_and(file, opened, dialect.with_numbers(dialect.shortened(added), grades), dialect), out)
    elif not (suffix in STORED_SUFFIXES and write_stored_and(file, format_of(file), added, out)):
        write_table(graded, out, dialect=dialect)


def _features(frame: pl.DataFrame, task: Task, request: ModelRequest) -> pl.DataFrame:
    """The features of every row of a table, with its embeddings if the model was made with some."""
    embeddings, text_model = request.embeddings, request.text_model
    made = features_of(frame, task.columns)
    if task.text_model is not None and text_model is None:
        raise complain("text-model", f"be given, as when the model was made ({task.text_model!r})", "none")
    if task.text_model is None and text_model is not None:
        raise complain("text-model", "be left out, as when the model was made", repr(text_model))
    if task.n_embedded == 0 and embeddings is not None:
        raise complain("embeddings", "be left out, as when the model was made", repr(str(embeddings)))
    if task.n_embedded and embeddings is None and text_model is None:
        raise complain("embeddings", "be given, as when the model was made", "none")
    vectors = embedded_columns([made.get_column(name) for name in task.texts], frame.height, embeddings, text_model)
    if vectors.width != task.n_embedded:
        raise complain(
            "embeddings", f"have {task.n_embedded} numbers per row, as when the model was made", vectors.width
        )
    return pl.DataFrame([*made.get_columns(), *vectors.get_columns()])
