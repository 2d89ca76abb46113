"""The runner: runs every trial of a plan once on a given executor, and stores each result as it arrives."""

from __future__ import annotations

import json
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ordinoise._validation import as_count, complain
from ordinoise.jobs.records import Trial, as_plain, trial_key, trial_record
from ordinoise.jobs.store import ResultStore, StoredResult

N_ATTEMPTS = 3
"""Attempts at a trial whose worker dies, before it counts as failed: chosen by no run."""


@dataclass(frozen=True)
class Failure:
    """A trial without a result; the next run tries it again.

    Attributes
    ----------
    key : str
        The trial's key.
    trial : dict
        The trial's record.
    error : str
        The error, in one line.
    """

    key: str
    trial: dict[str, Any]
    error: str


@dataclass(frozen=True)
class Outcome:
    """Results and failures of a plan.

    Attributes
    ----------
    results : list of StoredResult
        Of the trials that did not fail, in the order of the plan.
    failures : list of Failure
        In the order of the plan.
    n_reused : int
        Number of the plan's trials that were stored before.
    seconds : float
        Wall time of the run.
    """

    results: list[StoredResult]
    failures: list[Failure]
    n_reused: int
    seconds: float


def run_plan(
    plan: Sequence[Trial],
    run: Callable[[Any], Mapping[str, Any]],
    store: ResultStore,
    executor: Executor,
    *,
    on_result: Callable[[StoredResult | Failure, float], None] | None = None,
    n_in_flight: int = 256,
) -> Outcome:
    """Run the trials that the store does not hold yet, and return the results of all.

    Each result is on disk before the next one is handled. So a run can be interrupted at any moment, by Ctrl-C, a crash
    or ``kill -9``; the same call resumes it. The store identifies a trial by its fields alone: if the code of `run`
    changes its results, use a new file.

    Parameters
    ----------
    plan : sequence of Trial
        The trials; duplicates run once.
    run : callable
        Returns the result of a trial, a mapping of plain values. On a cluster or in processes it must be importable
        there.
    store : ResultStore
        Where results are stored.
    executor : concurrent.futures.Executor
        Where trials run; it is not closed.
    on_result : callable, optional
        Called after each trial with its result or failure and the estimated seconds left.
    n_in_flight : int, default=256
        Largest number of submitted trials without a result; use a few times the number of workers. The default is a
        round number, chosen by no run.

    Returns
    -------
    Outcome
    """
    started = time.perf_counter()
    trials = {trial_key(trial): trial for trial in plan}
    reused = store.keys() & trials.keys()
    _check_same(store.results(reused), trials)
    waiting = {key: trial for key, trial in trials.items() if key not in reused}
    work = _Work(waiting, run, store, executor, on_result or (lambda _result, _seconds_left: None))
    work.finish(as_count("n_in_flight", n_in_flight, 1))
    found = store.results(key for key in trials if key not in work.failures)
    # The plan's own records: the store may have been written before a field was added.
    results = [replace(stored, trial=trial_record(trials[stored.key])) for stored in found]
    failures = [work.failures[key] for key in trials if key in work.failures]
    return Outcome(results, failures, len(reused), time.perf_counter() - started)


@dataclass(frozen=True)
class _Attempt:
    """What a worker returns: a result, or an error as text, since not every exception can be pickled."""

    seconds: float
    result: dict[str, Any]
    error: str = ""


class _Work:
    """The state of a run: trials that wait, are in flight, or are stored or failed."""

    def __init__(
        self,
        trials: Mapping[str, Trial],
        run: Callable[[Any], Mapping[str, Any]],
        store: ResultStore,
        executor: Executor,
        on_result: Callable[[StoredResult | Failure, float], None],
    ) -> None:
        self.trials, self.run, self.store, self.executor, self.on_result = trials, run, store, executor, on_result
        self.waiting = deque(trials)
        # Last attempts run one at a time at the end, so that a trial that kills its worker affects no other trial.
        self.suspects: deque[str] = deque()
        self.in_flight: dict[Future[_Attempt], str] = {}
        self.landed: SimpleQueue[Future[_Attempt]] = SimpleQueue()
        self.failures: dict[str, Failure] = {}
        self.n_lost: Counter[str] = Counter()
        self.clock = _Clock(trials.values())

    def finish(self, n_in_flight: int) -> None:
        """Run everything; on Ctrl-C or an error, cancel trials that have not started and store finished ones."""
        try:
            while self.waiting or self.in_flight or self.suspects:
                while self.waiting and len(self.in_flight) < n_in_flight:
                    self._submit(self.waiting.popleft())
                if not self.in_flight:
                    self._submit(self.suspects.popleft())
                self._settle(self.landed.get())
        except BaseException:
            self._rescue()
            raise

    def _submit(self, key: str) -> None:
        future = self.executor.submit(_attempt, self.run, self.trials[key])
        self.in_flight[future] = key
        future.add_done_callback(self.landed.put)

    def _settle(self, future: Future[_Attempt]) -> None:
        key = self.in_flight[future]
        try:
            attempt = future.result()
        except Exception as error:  # The worker died: an error of the trial itself is returned as an attempt.
            self.n_lost[key] += 1
            if self.n_lost[key] < N_ATTEMPTS:
                (self.waiting if self.n_lost[key] < N_ATTEMPTS - 1 else self.suspects).append(key)
                del self.in_flight[future]
                return
            attempt = _Attempt(0.0, {}, f"no worker finished it in {N_ATTEMPTS} attempts: {_one_line(error)}")
        settled = self._keep(key, attempt)
        del self.in_flight[future]
        self.clock.advance(self.trials[key])
        self.on_result(settled, self.clock.seconds_left)

    def _keep(self, key: str, attempt: _Attempt) -> StoredResult | Failure:
        record = trial_record(self.trials[key])
        if attempt.error:
            self.failures[key] = Failure(key, record, attempt.error)
            return self.failures[key]
        self.store.add(key, record, attempt.result, attempt.seconds)
        return StoredResult(key, record, attempt.result, attempt.seconds)

    def _rescue(self) -> None:
        for future in self.in_flight:
            future.cancel()
        for future, key in self.in_flight.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self._keep(key, future.result())


class _Clock:
    """Estimate of the time left, from the time and cost of the finished trials."""

    def __init__(self, trials: Iterable[Trial]) -> None:
        self.started = time.perf_counter()
        self.cost_left = sum(trial.cost for trial in trials)
        self.cost_done = 0.0

    def advance(self, trial: Trial) -> None:
        self.cost_left -= trial.cost
        self.cost_done += trial.cost

    @property
    def seconds_left(self) -> float:
        elapsed = time.perf_counter() - self.started
        return elapsed * max(self.cost_left, 0.0) / self.cost_done if self.cost_done > 0 else float("inf")


def _attempt(run: Callable[[Any], Mapping[str, Any]], trial: Trial) -> _Attempt:
    """Run a trial on a worker."""
    started = time.perf_counter()
    try:
        result = run(trial)
        seconds = time.perf_counter() - started
        if not isinstance(result, Mapping):
            raise complain("run", "return a mapping of names to plain values", type(result).__name__)
        return _Attempt(seconds, as_plain("result", result))
    except (Exception, SystemExit) as error:
        return _Attempt(time.perf_counter() - started, {}, _one_line(error))


def _one_line(error: BaseException) -> str:
    """Type and message of an exception, and the line that raised it."""
    words = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else words


def _check_same(found: Iterable[StoredResult], trials: Mapping[str, Trial]) -> None:
    """Raise if a stored trial differs from the plan's trial with the same key, as after a changed default."""
    for stored in found:
        conflict = next(
            _conflicts(stored.trial, trial_record(trials[stored.key]), stored.trial.get("kind", "trial")), ""
        )
        if conflict:
            advice = "a default has changed since: give the field a new name, or use a new file"
            raise complain("store", "hold results of the trials that the plan has", conflict, advice)


def _conflicts(old: Any, new: Any, place: str) -> Iterator[str]:
    """Differences of two records in the fields that both have; added and dropped fields are ignored."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() & new.keys():
            yield from _conflicts(old[name], new[name], f"{place}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, pair in enumerate(zip(old, new, strict=True)):
            yield from _conflicts(*pair, f"{place}[{at}]")
    elif json.dumps(old) != json.dumps(new):
        yield f"{place} = {old!r} instead of {new!r}"
