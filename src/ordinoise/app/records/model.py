"""The folder of a model: what the classifier saves, and how it reads a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ordinoise._plain import as_plain, of_plain
from ordinoise._validation import complain
from ordinoise.app.records.stored import Envelope, read_stored, write_stored
from ordinoise.app.tables.embeddings import PREFIX
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.classifiers import load_model
from ordinoise.columns.findings import ColumnFindings

if TYPE_CHECKING:
    from ordinoise.classifiers.base import OrdinalClassifierBase

TASK = "task.json"
ENVELOPE = Envelope("ordinoise-task", 4, "fit", "model", "fit the model again")
FEATURE_KINDS = ("number", "flag", "date", "category", "text")


@dataclass(frozen=True)
class Task:
    """How a model reads a file: the column of grades, the columns of the training table, embeddings.

    `text_model` is what the vectors of the texts were made by; `n_embedded` the length of all vectors of a row;
    `reading` is how the training table was read.
    """

    target: str
    columns: tuple[ColumnFindings, ...]
    n_embedded: int = 0
    text_model: str | None = None
    reading: Reading = BY_RULES

    @property
    def categories(self) -> tuple[str, ...]:
        """Columns that are read as text, even if a file has only digits in them: categories and free text."""
        return self._named("category", "text")

    @property
    def features(self) -> tuple[str, ...]:
        """Columns that are features."""
        return tuple(column.name for column in self.columns if column.role == "feature")

    @property
    def texts(self) -> tuple[str, ...]:
        """Columns of free text."""
        return self._named("text")

    def _named(self, *kinds: str) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.role == "feature" and column.kind in kinds)


def write_task(folder: Path, task: Task) -> None:
    """Write ``task.json`` into the folder of a model."""
    write_stored(folder / TASK, ENVELOPE, as_plain(task))


def read_model(folder: Path) -> tuple[OrdinalClassifierBase, Task]:
    """The model in a folder written by ``ordinoise fit``, and its task."""
    model = load_model(folder)
    task = read_task(folder)
    _check_fits(task, model)
    return model, task


def read_task(folder: Path) -> Task:
    """The task of a model, without the model."""
    if not (folder / TASK).exists():
        raise complain("model", f"hold {TASK}", repr(str(folder)), "ordinoise fit writes one")
    return read_stored(folder / TASK, ENVELOPE, lambda plain: of_plain(Task, plain))


def _check_fits(task: Task, model: OrdinalClassifierBase) -> None:
    """Refuse a task whose columns are not those of the model."""
    names = [column.name for column in task.columns]
    features = [column for column in task.columns if column.role == "feature"]
    expected = [str(name) for name in getattr(model, "feature_names_in_", ())]
    n_vectors = max(len(expected) - len(features), 0)
    vectors = [f"{PREFIX}{at + 1}" for at in range(n_vectors)]
    is_known = all(column.kind in FEATURE_KINDS for column in features) and task.n_embedded == n_vectors
    if not is_known or len(set(names)) < len(names) or [column.name for column in features] + vectors != expected:
        got = f"columns {names}"
        raise complain("model", f"hold a {TASK} with the features {expected}", got, "the folder is damaged")
