"""What a fitted model was asked to do, beside the model: the columns it reads, the grades it gives, the noise found."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ordinoise._files import write_whole
from ordinoise._validation import Floats, complain
from ordinoise.app.tables import ColumnFindings
from ordinoise.app.workflow.learning import Learned
from ordinoise.classifiers import load_model
from ordinoise.classifiers.base import OrdinalClassifierBase

TASK, FORMAT, FORMAT_VERSION = "task.json", "ordinoise-task", 1
MOST_REPLICATES = 200


@dataclass(frozen=True, eq=False)
class Task:
    """How a file becomes what the model reads.

    Attributes
    ----------
    target : str
        The column of grades.
    columns : tuple of ColumnFindings
        Columns of the file that the model was fitted to.
    noise_matrix_ : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    bootstrap_matrices_ : array of shape (n_replicates, n_classes, n_classes)
        Matrices that might have been estimated instead; none where the matrix was not estimated.
    """

    target: str
    columns: tuple[ColumnFindings, ...]
    noise_matrix_: Floats
    bootstrap_matrices_: Floats

    @property
    def categories(self) -> tuple[str, ...]:
        """Columns whose text is a category, also where a file has nothing but digits in them."""
        return tuple(column.name for column in self.columns if column.role == "feature" and column.kind == "category")


def write_task(folder: Path, learned: Learned) -> None:
    """Write ``task.json`` into a model folder."""
    replicates = getattr(learned.model.noise_estimator_, "bootstrap_matrices_", np.empty((0, 0, 0)))[:MOST_REPLICATES]
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "target": learned.table.target,
        "columns": [asdict(column) for column in learned.table.columns],
        "noise_matrix": learned.model.noise_matrix_.tolist(),
        "noise_replicates": np.round(replicates, 6).tolist(),
    }
    write_whole(folder / TASK, json.dumps(content, allow_nan=False).encode())


def read_model(folder: Path) -> tuple[OrdinalClassifierBase, Task]:
    """A model that ``ordinoise fit`` wrote, and its task."""
    model = load_model(folder)
    try:
        found = json.loads((folder / TASK).read_text())
    except FileNotFoundError:
        raise complain("model", f"hold {TASK}", repr(str(folder)), "ordinoise fit writes one") from None
    except (OSError, ValueError, RecursionError):
        raise complain("model", f"hold a readable {TASK}", repr(str(folder)), "the folder is damaged") from None
    return model, _task_from(found, folder, len(model.classes_))


def _task_from(found: Any, folder: Path, n_classes: int) -> Task:
    version = found.get("format_version") if isinstance(found, dict) and found.get("format") == FORMAT else None
    if not isinstance(version, int):
        raise complain("model", f"hold a readable {TASK}", repr(str(folder)), "the folder is damaged")
    if version > FORMAT_VERSION:
        advice = "it was written by a newer ordinoise; update this one"
        raise complain("model", f"hold a task of format version {FORMAT_VERSION} or older", version, advice)
    try:
        columns = tuple(ColumnFindings(**column) for column in found["columns"])
        matrix = np.array(found["noise_matrix"], dtype=np.float64).reshape(n_classes, n_classes)
        replicates = np.array(found["noise_replicates"], dtype=np.float64).reshape(-1, n_classes, n_classes)
        if not (np.isfinite(matrix).all() and np.isfinite(replicates).all()):
            raise ValueError("a number that is not finite")
        # Rounded on their way to disk.
        replicates = replicates / replicates.sum(axis=2, keepdims=True) if len(replicates) else replicates
        return Task(str(found["target"]), columns, matrix, replicates)
    except (KeyError, TypeError, ValueError) as error:
        got = f"{type(error).__name__}: {error}"
        raise complain("model", f"hold a whole {TASK}", got, "the folder is damaged") from None
