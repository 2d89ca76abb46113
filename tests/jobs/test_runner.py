import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, make_dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from jobs.toy_trials import Toy, deadly, n_runs, toy, toys
from ordinoise.jobs import (
    Failure,
    ResultStore,
    StoredResult,
    executor,
    run_plan,
    trial_key,
    trial_record,
    write_table,
)

TESTS = Path(__file__).parents[1]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultStore]:
    with ResultStore(tmp_path / "results.db") as store:
        yield store


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "log"
    folder.mkdir()
    return folder


@pytest.fixture
def pool() -> Iterator[Executor]:
    with executor(3) as pool:
        yield pool


class Inline(Executor):
    """Runs a trial at once, in this thread; counts how many are handed out and not yet taken back."""

    def __init__(self) -> None:
        self.submitted: list[Future[Any]] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **options))
        self.submitted.append(future)
        return future


class Lossy(Inline):
    """Loses some trials before they come to an end, in the two ways in which dask does."""

    def __init__(self, n_losses: int) -> None:
        super().__init__()
        self.n_losses = n_losses

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        if not self.n_losses:
            return super().submit(function, *arguments, **options)
        self.n_losses -= 1
        future: Future[Any] = Future()
        if self.n_losses % 2:
            future.cancel()
        else:
            future.set_exception(RuntimeError("KilledWorker"))
        return future


def test_results_come_in_the_order_of_the_plan(store: ResultStore, pool: Executor) -> None:
    pauses = [0.03, 0.0, 0.02, 0.0, 0.01, 0.0]
    plan = [Toy(number, pause=pause) for number, pause in enumerate(pauses)]
    seen: list[StoredResult | Failure] = []
    outcome = run_plan(plan, toy, store, pool, on_result=lambda result, _: seen.append(result))
    assert [result.trial for result in outcome.results] == [trial_record(trial) for trial in plan]
    assert [result.result for result in outcome.results] == [toy(trial) for trial in plan]
    assert [result.key for result in seen] != [result.key for result in outcome.results]
    assert {result.key for result in seen} == {trial_key(trial) for trial in plan}


def test_what_is_stored_is_not_run_again(store: ResultStore, pool: Executor, log: Path) -> None:
    first = run_plan(toys(4, log), toy, store, pool)
    second = run_plan(toys(6, log)[::-1], toy, store, pool)
    assert (first.n_reused, second.n_reused, n_runs(log)) == (0, 4, 6)
    assert [result.trial["number"] for result in second.results] == [5, 4, 3, 2, 1, 0]
    assert second.results[:1:-1] == first.results


def test_a_trial_that_is_there_twice_runs_once(store: ResultStore, pool: Executor, log: Path) -> None:
    outcome = run_plan(toys(3, log) * 2, toy, store, pool)
    assert [result.trial["number"] for result in outcome.results] == [0, 1, 2]
    assert n_runs(log) == 3


def test_an_empty_plan_is_done(store: ResultStore, pool: Executor) -> None:
    outcome = run_plan([], toy, store, pool)
    assert (outcome.results, outcome.failures, outcome.n_reused) == ([], [], 0)


@dataclass(frozen=True)
class StubbornError(Exception):
    """An exception that does not survive pickle, and has more than one line."""

    number: int

    def __str__(self) -> str:
        return f"no\nresult for {self.number}"


def _fails_for_odd(trial: Toy) -> dict[str, Any]:
    if trial.number == 5:
        sys.exit("enough")
    if trial.number % 2:
        raise StubbornError(trial.number)
    return toy(trial)


def test_a_trial_that_fails_stops_no_other_and_is_tried_again(store: ResultStore, pool: Executor) -> None:
    plan = toys(6)
    seen: list[StoredResult | Failure] = []
    outcome = run_plan(plan, _fails_for_odd, store, pool, on_result=lambda result, _: seen.append(result))
    assert [result.trial["number"] for result in outcome.results] == [0, 2, 4]
    assert [failure.trial for failure in outcome.failures] == [trial_record(trial) for trial in plan[1::2]]
    assert [failure.error.split(" (")[0] for failure in outcome.failures] == [
        "StubbornError: no result for 1",
        "StubbornError: no result for 3",
        "SystemExit: enough",
    ]
    assert "(test_runner.py, line " in outcome.failures[0].error
    assert {one.key for one in seen if isinstance(one, Failure)} == {one.key for one in outcome.failures}
    assert {one.key for one in seen if isinstance(one, StoredResult)} == {one.key for one in outcome.results}
    again = run_plan(plan, toy, store, pool)
    assert (len(again.results), again.failures, again.n_reused) == (6, [], 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [({"model": object()}, "result.model must be a plain value"), (3.5, "run must return a mapping .*, got float")],
)
def test_a_result_that_cannot_be_kept_is_a_failure(store: ResultStore, given: Any, message: str) -> None:
    (failure,) = run_plan(toys(1), lambda _: given, store, Inline()).failures
    assert pytest.raises(ValueError, match=message).matches(ValueError(failure.error))
    assert store.keys() == set()


def test_few_trials_are_in_flight_at_a_time(store: ResultStore) -> None:
    pool = Inline()
    ahead: list[int] = []

    def on_result(_: StoredResult | Failure, __: float) -> None:
        ahead.append(len(pool.submitted) - len(ahead))

    run_plan(toys(50), toy, store, pool, on_result=on_result, n_in_flight=7)
    assert max(ahead) == 7
    with pytest.raises(ValueError, match="n_in_flight must be a whole number of at least 1, got 0"):
        run_plan(toys(1), toy, store, pool, n_in_flight=0)


def test_a_result_is_stored_before_the_next_is_looked_at(store: ResultStore) -> None:
    stored: list[int] = []
    run_plan(toys(5), toy, store, Inline(), on_result=lambda *_: stored.append(len(store.keys())))
    assert stored == [1, 2, 3, 4, 5]


def test_the_time_left_follows_the_cost(store: ResultStore, monkeypatch: pytest.MonkeyPatch) -> None:
    costly = make_dataclass("Costly", [("cost", float)], frozen=True)
    left: list[float] = []
    clock = iter(range(1000))
    monkeypatch.setattr("ordinoise.jobs.runner.time.perf_counter", lambda: float(next(clock)))
    # One second on this clock from each look to the next: start, (twice a trial), each estimate.
    run_plan([costly(cost) for cost in (1.0, 3.0, 4.0)], lambda _: {}, store, Inline(), on_result=lambda _, s: left.append(s), n_in_flight=1)  # fmt: skip
    assert left == [3 * 7 / 1, 6 * 4 / 4, 0.0]


def test_seconds_are_those_of_the_trial(store: ResultStore) -> None:
    with executor(1) as pool:
        outcome = run_plan(toys(3, pause=0.05), toy, store, pool)
    assert all(0.05 <= result.seconds < outcome.seconds for result in outcome.results)
    assert outcome.seconds > 0.15


def test_a_lost_trial_is_handed_out_again(store: ResultStore, log: Path) -> None:
    outcome = run_plan(toys(1, log), toy, store, Lossy(2))
    assert (len(outcome.results), n_runs(log)) == (1, 1)


def test_a_trial_lost_again_and_again_is_a_failure(store: ResultStore) -> None:
    outcome = run_plan(toys(2), toy, store, Lossy(5), n_in_flight=1)
    assert [failure.trial["number"] for failure in outcome.failures] == [0]
    assert outcome.failures[0].error.startswith("no worker finished it in 3 attempts: RuntimeError: KilledWorker")
    assert [result.trial["number"] for result in outcome.results] == [1]


class Shared(Executor):
    """A worker that has all trials in hand at once, and loses all if trial 3 is among them."""

    def __init__(self) -> None:
        self.in_hand: list[tuple[Future[Any], Callable[[], Any], int]] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.in_hand.append((future, partial(function, *arguments, **options), arguments[1].number))
        threading.Timer(0.05, self._work).start()
        return future

    def _work(self) -> None:
        trials, self.in_hand = self.in_hand, []
        for future, call, _ in trials:
            if any(number == 3 for _, _, number in trials):
                future.set_exception(RuntimeError("KilledWorker"))
            else:
                future.set_result(call())


def test_a_trial_that_kills_its_worker_takes_no_other_along(store: ResultStore) -> None:
    outcome = run_plan(toys(4), toy, store, Shared())
    assert [failure.trial["number"] for failure in outcome.failures] == [3]
    assert [result.trial["number"] for result in outcome.results] == [0, 1, 2]


def test_a_pool_that_breaks_ends_the_run_and_loses_nothing(store: ResultStore) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(BrokenProcessPool):
        run_plan(toys(5), deadly, store, pool, n_in_flight=1)
    assert [result.trial["number"] for result in store.results()] == [0, 1, 2]


def test_a_field_added_later_keeps_old_results(store: ResultStore, pool: Executor) -> None:
    older = make_dataclass("Toy", [("number", int), ("pause", float, 0.0)], frozen=True, namespace={"cost": 1.0})
    before = run_plan([older(number) for number in range(3)], toy_of_old, store, pool)
    after = run_plan(toys(3), toy, store, pool)
    assert after.n_reused == 3
    assert [result.result for result in after.results] == [result.result for result in before.results]
    assert [result.trial for result in after.results] == [trial_record(trial) for trial in toys(3)]


def toy_of_old(trial: Any) -> dict[str, Any]:
    return toy(Toy(trial.number))


def test_a_default_that_changed_is_refused(store: ResultStore, pool: Executor) -> None:
    changed = make_dataclass("Toy", [("number", int), ("rates", tuple, (0.1, 0.4))], frozen=True, namespace={"cost": 1})
    run_plan(toys(3), toy, store, pool)
    with pytest.raises(ValueError, match=r"Toy.rates\[1\] = 0.3 instead of 0.4; a default has changed since"):
        run_plan([changed(number) for number in range(3)], toy_of_old, store, pool)


def test_an_error_of_the_caller_keeps_what_is_finished(store: ResultStore) -> None:
    def on_result(*_: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run_plan(toys(4), toy, store, Inline(), on_result=on_result)
    assert len(store.keys()) == 4


def test_an_interrupt_cancels_what_has_not_started_and_keeps_what_is_finished(store: ResultStore, log: Path) -> None:
    gate = threading.Event()

    def run(trial: Toy) -> dict[str, Any]:
        if trial.number >= 3:
            gate.wait(20)
        return toy(trial)

    def interrupt(*_: Any) -> None:
        if len(store.keys()) == 3:
            signal.raise_signal(signal.SIGINT)

    with ThreadPoolExecutor(2) as pool:
        started = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            run_plan(toys(200, log), run, store, pool, on_result=interrupt)
        assert time.perf_counter() - started < 5
        gate.set()
    assert len(store.keys()) == 3
    assert n_runs(log) <= 5


def _driver(tmp_path: Path, name: str, log: Path, pause: float) -> list[str]:
    return [
        *(sys.executable, "-m", "jobs.toy_trials"),
        *(str(tmp_path / f"{name}.db"), str(tmp_path / f"{name}.csv"), str(log), "60", str(pause)),
    ]


ENVIRONMENT = os.environ | {"PYTHONPATH": str(TESTS)}


def _begun(command: list[str], log: Path, n_begun: int) -> subprocess.Popen[bytes]:
    """A driver that has begun at least so many more trials."""
    n_before = n_runs(log)
    driver = subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    while n_runs(log) < n_before + n_begun:
        assert time.monotonic() < until
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.005)
    return driver


@pytest.mark.slow
def test_a_run_killed_at_any_moment_ends_as_if_nothing_had_been(tmp_path: Path, log: Path) -> None:
    command = _driver(tmp_path, "killed", log, pause=0.05)
    for n_begun in (1, 7, 12):
        driver = _begun(command, log, n_begun)
        time.sleep(random.random() / 50)
        driver.kill()
        driver.communicate()
        assert not (tmp_path / "killed.csv").exists()
    assert 20 <= n_runs(log) < 60
    subprocess.run(command, env=ENVIRONMENT, check=True)
    # Beside the sixty, at most what each of the three had on its two threads, or had not yet written.
    assert n_runs(log) <= 60 + 3 * 4
    with ResultStore(tmp_path / "whole.db") as store, executor(8) as pool:
        whole = run_plan(toys(60, log, 0.05), toy, store, pool)
    write_table(whole.results, tmp_path / "whole.csv")
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_ctrl_c_ends_the_program_at_once_whatever_still_runs(tmp_path: Path, log: Path) -> None:
    driver = _begun(_driver(tmp_path, "stopped", log, pause=60), log, 2)
    started = time.perf_counter()
    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=20)
    assert time.perf_counter() - started < 10
    assert errors.decode().rstrip().endswith("KeyboardInterrupt")
    with ResultStore(tmp_path / "stopped.db") as store:
        assert store.keys() == set()
