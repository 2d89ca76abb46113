"""Grades for the rows of a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ordinoise._validation import as_choice, as_number, complain
from ordinoise.app.tables import features_of, read_table
from ordinoise.app.workflow.task import read_model
from ordinoise.labels import RULES, decide


def predict_file(
    model: Path, file: Path, *, decision: str | None = None, confidence: float | None = None
) -> pl.DataFrame:
    """The table of a file with a predicted grade and the probability of every grade added to each row.

    Parameters
    ----------
    model : Path
        A folder that ``ordinoise fit`` wrote.
    file : Path
        A table with the columns that the model reads; it may have others, the target among them.
    decision : {"median", "mode", "mean"}, optional
        Another rule to pick a grade than the model was fitted with.
    confidence : float, optional
        Adds the lowest and the highest grade of a set that holds the true grade this often.
    """
    if decision is not None:
        as_choice("decision", decision, RULES)
    if confidence is not None:
        as_number("confidence", confidence, 0.0, 0.9999, open_low=True)
    fitted, task = read_model(model)
    frame = read_table(file, keep_text=task.categories)
    features = features_of(frame, task.columns)
    probabilities = fitted.predict_proba(features)
    grades = fitted.classes_[decide(probabilities, fitted.decision if decision is None else decision)]
    added = [pl.Series(f"predicted_{task.target}", grades)]
    if confidence is not None:
        sets = fitted.predict_set(features, confidence=confidence)
        added += [pl.Series(f"lowest_{task.target}", sets.low), pl.Series(f"highest_{task.target}", sets.high)]
    added += [
        pl.Series(f"probability_{grade}", probabilities[:, at].round(6)) for at, grade in enumerate(fitted.classes_)
    ]
    clash = next((series.name for series in added if series.name in frame.columns), None)
    if clash is not None:
        raise complain("file", f"have no column {clash!r}", "one", "it is a name of the answer; rename yours")
    return frame.with_columns(added)
