"""Grades predicted for a folder of Parquet files, a part at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ordinoise._files import new_folder, refuse_existing, whole_file
from ordinoise._validation import complain
from ordinoise.app.out_of_core.files import Part, parts_of, read_part, state_of
from ordinoise.app.out_of_core.work import working
from ordinoise.app.records.model import Task, read_model
from ordinoise.app.tables.folder import parquet_files
from ordinoise.app.verbs.model import check_prediction, with_grades
from ordinoise.app.verbs.request import PredictionRequest
from ordinoise.classifiers.base import OrdinalClassifierBase

GRADED = "graded"
MOST_SENTENCES = 5  # about categories that the model never saw


@dataclass(frozen=True)
class PredictTask:
    """The rows of one part with their predicted grades."""

    part: Part
    number: int
    model: str
    decision: str | None
    confidence: float | None
    cost: float = 1.0

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Write the part; the number of rows with each grade is returned."""
        folder_of_model, unseen = Path(self.model), list[str]()
        fitted, task = _model(folder_of_model)
        request = PredictionRequest(
            folder_of_model, Path(self.part.path), decision=self.decision, confidence=self.confidence
        )
        frame = with_grades(fitted, task, read_part(self.part), request, on_unseen=unseen.append)
        with whole_file(folder / GRADED / f"part-{self.number:05}.parquet") as file:
            frame.write_parquet(file)
        counts = frame[f"predicted_{task.target}"].value_counts()
        return {"grades": {str(grade): count for grade, count in counts.rows()}, "unseen": unseen}


@lru_cache(maxsize=1)
def _model(folder: Path) -> tuple[OrdinalClassifierBase, Task]:
    return read_model(folder)


def predict_parts(
    request: PredictionRequest,
    out: Path,
    *,
    jobs: int | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
    on_unseen: Callable[[str], None] = lambda _: None,
) -> dict[str, int]:
    """Write the rows of a folder of Parquet files with their grades into a new folder; returns counts of the grades.

    Parameters
    ----------
    request : PredictionRequest
        The machines of its Dask cluster must see the same files.
    out : Path
        New folder, with one Parquet file per part; polars, pandas and pyarrow read it as one table.
    jobs : int, optional
        Threads.
    on_unseen : callable
        As in `predict_file`.
    """
    check_prediction(request)
    refuse_existing("out", out)
    _, task = read_model(request.model)
    if task.n_embedded:
        raise complain("model", "read no embeddings to grade several Parquet files", repr(str(request.model)))
    files = parquet_files(request.file)
    parts = parts_of(files).parts
    wanted = state_of(sorted(request.model.iterdir())), request.decision, request.confidence
    with working(out, files, wanted, jobs, request.scheduler, on_stage) as work, new_folder("out", out) as folder:
        (work.folder / GRADED).mkdir(exist_ok=True)
        asked = str(request.model.resolve()), request.decision, request.confidence
        tasks = [PredictTask(part, at, *asked) for at, part in enumerate(parts)]
        found = work.done(tasks, f"grading {len(parts):,} part{'s' * (len(parts) > 1)}")
        for one in sorted((work.folder / GRADED).iterdir()):
            one.rename(folder / one.name)
    for sentence in list(dict.fromkeys(line for one in found for line in one["unseen"]))[:MOST_SENTENCES]:
        on_unseen(sentence)
    total: Counter[str] = Counter()
    for one in found:
        total.update(one["grades"])
    return dict(total.most_common())
