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
from ordinoise.app.out_of_core.files import state_of
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


class ChangedError(ValueError):
    """A file that was replaced while it was read: what was learned is of neither."""


class Work:
    """A working folder with what is done so far, and workers for the rest."""

    def __init__(
        self, folder: Path, store: ResultStore, workers: Any, on_stage: Callable[[str], None], files: Sequence[Path]
    ) -> None:
        self.folder, self._store, self._workers, self._on_stage = folder, store, workers, on_stage
        self._files, self._states = files, [_state(file) for file in files]

    def done(self, tasks: Sequence[Task], words: str) -> list[Any]:
        """The results of tasks, in their order; those of an earlier run are used again."""
        self._on_stage(words)
        outcome = run_plan(tasks, partial(run, str(self.folder.resolve())), self._store, self._workers)
        self._check_unchanged()
        if outcome.failures:
            advice = "what is finished is kept: run the same command again to continue"
            raise complain("every part", "be worked on to the end", outcome.failures[0].error, advice)
        results = [one.result for one in outcome.results]
        refused = next((one[REFUSED] for one in results if REFUSED in one), None)
        if refused is not None:
            raise ValueError(refused)
        return results

    def _check_unchanged(self) -> None:
        for file, state in zip(self._files, self._states, strict=True):
            if _state(file) != state:
                advice = "nothing was written: run the same command again"
                raise ChangedError(*complain("file", "not change while it is read", repr(str(file)), advice).args)


def _state(file: Path) -> tuple[int, ...]:
    """What another content of a file changes; no more than that, of files that are there."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


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
    place: Path, files: Sequence[Path], wanted: object, jobs: int | None, scheduler: str | None,
    on_stage: Callable[[str], None],
) -> Iterator[Work]:  # fmt: skip
    """Work in a hidden folder beside `place`, which is removed at the end and kept where the run fails or is stopped.

    Its name holds a digest of the state of the files, of `wanted`, the options, and of the versions: only the same work
    continues. Where a file changes meanwhile, it is removed too.
    """
    key = hashlib.sha256(repr((state_of(files), wanted, ordinoise.__version__, LAYOUT)).encode()).hexdigest()[:12]
    folder = place.absolute().parent / f".{place.name}.work-{key}"
    if not folder.parent.is_dir():
        raise complain("out", "lie in a folder that exists", repr(str(place)))
    with executor(jobs if scheduler is None else None, scheduler) as workers:
        folder.mkdir(exist_ok=True)
        try:
            with ResultStore(folder / "done.sqlite") as store:
                yield Work(folder, store, workers, on_stage, files)
        except ChangedError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    shutil.rmtree(folder, ignore_errors=True)
