"""How good a model is on the rows of a file, and how good it would be on clean grades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ordinoise.app.tables import features_of, grades_of, read_table
from ordinoise.app.workflow.task import read_model
from ordinoise.scoring.evaluation import Evaluation, evaluate


def evaluate_file(model: Path, file: Path, *, trusted: bool = False, target: str | None = None) -> Evaluation:
    """Every metric of a model on a file it was not fitted to, as recorded and as on clean grades.

    Parameters
    ----------
    model : Path
        A folder that ``ordinoise fit`` wrote.
    file : Path
        A table with the columns that the model reads, and grades.
    trusted : bool
        Whether the grades of the file are right; otherwise they are as noisy as those of the training file.
    target : str, optional
        The column of grades; that of the training file by default.
    """
    fitted, task = read_model(model)
    frame = read_table(file, keep_text=task.categories)
    labels, rows = grades_of(frame, task.target if target is None else target, fitted.classes_.tolist())
    features = features_of(frame[rows], task.columns)
    noise: Any = np.eye(len(fitted.classes_)) if trusted else task
    return evaluate(fitted, features, labels, noise)
