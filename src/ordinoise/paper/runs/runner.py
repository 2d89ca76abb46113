"""The runner: every trial of a plan once, each result kept as it comes, on whatever executor is given."""

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
from ordinoise.paper.runs.store import ResultStore, StoredResult
from ordinoise.paper.runs.trials import Trial, as_plain, trial_key, trial_record

N_ATTEMPTS = 3
"""How often a trial is handed out whose worker dies before it counts as failed."""


@dataclass(frozen=True)
class Failure:
    """A trial that gave no result; a later run tries it again.

    Attributes
    ----------
    key : str
        The trial's key.
    trial : dict
        The trial's record.
    error : str
        What went wrong, in one line.
    """

    key: str
    trial: dict[str, Any]
    error: str


@dataclass(frozen=True)
class Outcome:
    """What became of a plan.

    Attributes
    ----------
    results : list of StoredResult
        In the order of the plan, whatever order they finished in; without the trials that failed.
    failures : list of Failure
        In the order of the plan.
    n_reused : int
        How many of the plan's trials had been stored before.
    seconds : float
        Time on the clock.
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
    """Run the trials that the store does not hold yet, and give the results of all, in the order of the plan.

    A result is on disk before the next is looked at. So a run can be stopped at any moment, by Ctrl-C, a crash or
    ``kill -9``, and run again: it goes on where it was. The store knows trials by their fields alone; where the code
    of `run` comes to give other results, use a new file.

    Parameters
    ----------
    plan : sequence of Trial
        What to run; a trial that is there twice runs once.
    run : callable
        Gives a trial's result, a mapping of plain values. On a cluster or in processes it must be importable there.
    store : ResultStore
        Where results are kept.
    executor : concurrent.futures.Executor
        Where trials run; left open.
    on_result : callable, optional
        Called after each trial with its result or failure and the estimated seconds left.
    n_in_flight : int, default=256
        How many trials are handed out ahead of their results; a few times the number of workers.

    Returns
    -------
    Outcome
        Results, failures, and how much was there already.
    """
    started = time.perf_counter()
    trials = {trial_key(trial): trial for trial in plan}
    reused = store.keys() & trials.keys()
    _check_same(store.results(reused), trials)
    waiting = {key: trial for key, trial in trials.items() if key not in reused}
    work = _Work(waiting, run, store, executor, on_result or _say_nothing)
    work.finish(as_count("n_in_flight", n_in_flight, 1))
    found = store.results(key for key in trials if key not in work.failures)
    # As the plan has them: a store may be older than some field of the trials.
    results = [replace(stored, trial=trial_record(trials[stored.key])) for stored in found]
    failures = [work.failures[key] for key in trials if key in work.failures]
    return Outcome(results, failures, len(reused), time.perf_counter() - started)


@dataclass(frozen=True)
class _Attempt:
    """What comes back from a worker: a result or an error, as text, since not every exception can travel."""

    seconds: float
    result: dict[str, Any]
    error: str = ""


class _Work:
    """Trials on their way: waiting, in flight, then stored or failed."""

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
        # Trials in their last attempt, one at a time at the end: one that kills its worker then takes no other along.
        self.suspects: deque[str] = deque()
        self.in_flight: dict[Future[_Attempt], str] = {}
        self.landed: SimpleQueue[Future[_Attempt]] = SimpleQueue()
        self.failures: dict[str, Failure] = {}
        self.n_lost: Counter[str] = Counter()
        self.clock = _Clock(trials.values())

    def finish(self, n_in_flight: int) -> None:
        """Run everything; on Ctrl-C or an error, cancel what has not started and keep what is finished."""
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
        except Exception as error:  # A trial's own error would be an attempt: this is the death of its worker.
            self.n_lost[key] += 1
            if self.n_lost[key] < N_ATTEMPTS:
                (self.waiting if self.n_lost[key] < N_ATTEMPTS - 1 else self.suspects).append(key)
                del self.in_flight[future]
                return
            attempt = _Attempt(0.0, {}, f"no worker brought it to an end in {N_ATTEMPTS} attempts: {_one_line(error)}")
        told = self._keep(key, attempt)
        del self.in_flight[future]
        self.clock.advance(self.trials[key])
        self.on_result(told, self.clock.seconds_left)

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
    """How long the rest will take, from how long the part that is done has taken."""

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
    """Run a trial where it is to run."""
    started = time.perf_counter()
    try:
        result = run(trial)
        seconds = time.perf_counter() - started
        if not isinstance(result, Mapping):
            raise complain("run", "give a mapping of names to plain values", type(result).__name__)
        return _Attempt(seconds, as_plain("result", result))
    except (Exception, SystemExit) as error:
        return _Attempt(time.perf_counter() - started, {}, _one_line(error))


def _one_line(error: BaseException) -> str:
    """An exception's type and words, and the line that raised it."""
    words = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else words


def _check_same(found: Iterable[StoredResult], trials: Mapping[str, Trial]) -> None:
    """Complain if the trial under some key was another when it ran, as happens where a default has changed."""
    for stored in found:
        conflict = next(
            _conflicts(stored.trial, trial_record(trials[stored.key]), stored.trial.get("kind", "trial")), ""
        )
        if conflict:
            advice = "a default has changed since: give the field a new name, or use a new file"
            raise complain("store", "hold results of the trials that the plan has", conflict, advice)


def _conflicts(old: Any, new: Any, place: str) -> Iterator[str]:
    """Where two records differ in what both have: a field may have been added or dropped since."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() & new.keys():
            yield from _conflicts(old[name], new[name], f"{place}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, pair in enumerate(zip(old, new, strict=True)):
            yield from _conflicts(*pair, f"{place}[{at}]")
    elif json.dumps(old) != json.dumps(new):
        yield f"{place} = {old!r} instead of {new!r}"


def _say_nothing(_told: StoredResult | Failure, _seconds_left: float) -> None:
    """What is called after each trial where nobody asks to be told."""
