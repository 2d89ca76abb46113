"""A working folder that keeps what is done, and the workers that do the rest: threads, or a Dask cluster."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import ordinoise
from ordinoise._validation import complain
from ordinoise.columns.refusals import is_sentence
from ordinoise.jobs import ResultStore, executor, run_plan

REFUSED = "refused"
LAYOUT = 2
"""Goes up with every change of what tasks are or return, so that a run stopped before the change is left alone."""


class Task(Protocol):
    """A frozen dataclass of plain values: everything that its result depends on, beside the working folder."""

    @property
    def cost(self) -> float:
        """Expected work relative to other tasks."""
        ...

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Plain values; large results are written into the working folder."""
        ...


class Work:
    """A working folder with what is done so far, and workers for the rest."""

    def __init__(self, folder: Path, store: ResultStore, workers: Any, on_stage: Callable[[str], None]) -> None:
        self.folder, self._store, self._workers, self._on_stage = folder, store, workers, on_stage

    def done(self, tasks: Sequence[Task], words: str) -> list[Any]:
        """The results of tasks, in their order; those of an earlier run are used again."""
        self._on_stage(words)
        outcome = run_plan(tasks, partial(run, str(self.folder.resolve())), self._store, self._workers)
        if outcome.failures:
            advice = "what is finished is kept: run the same command again to continue"
            raise complain("every part", "be worked on to the end", outcome.failures[0].error, advice)
        results = [one.result for one in outcome.results]
        refused = next((one[REFUSED] for one in results if REFUSED in one), None)
        if refused is not None:
            raise ValueError(refused)
        return results


def run(folder: str, task: Task) -> Mapping[str, Any]:
    """What a task returns; a refusal of the data is returned as its sentence."""
    try:
        return task.run(Path(folder))
    except ValueError as error:
        if not is_sentence(error):
            raise
        return {REFUSED: str(error)}


@contextmanager
def working(
    place: Path, wanted: object, jobs: int | None, scheduler: str | None, on_stage: Callable[[str], None]
) -> Iterator[Work]:
    """Work in a hidden folder beside `place`, which is removed at the end and kept where the run fails or is stopped.

    Its name holds a digest of `wanted`, the inputs and options, and of the versions: only the same work continues.
    """
    key = hashlib.sha256(repr((wanted, ordinoise.__version__, LAYOUT)).encode()).hexdigest()[:12]
    folder = place.absolute().parent / f".{place.name}.work-{key}"
    if not folder.parent.is_dir():
        raise complain("out", "lie in a folder that exists", repr(str(place)))
    with executor(jobs if scheduler is None else None, scheduler) as workers:
        folder.mkdir(exist_ok=True)
        with ResultStore(folder / "done.sqlite") as store:
            yield Work(folder, store, workers, on_stage)
    shutil.rmtree(folder, ignore_errors=True)
