import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from jobs.toy_trials import Toy, toy, toys
from ordinoise.jobs import ResultStore, executor, run_plan
from ordinoise.jobs import cluster as cluster_module


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultStore]:
    with ResultStore(tmp_path / "results.db") as store:
        yield store


def test_threads_share_the_work(store: ResultStore) -> None:
    meeting = threading.Barrier(3, timeout=10)
    with executor(3) as pool:
        outcome = run_plan(toys(3), lambda _: {"place": meeting.wait()}, store, pool)
    assert sorted(result.result["place"] for result in outcome.results) == [0, 1, 2]


def test_threads_keep_the_contract_of_an_executor() -> None:
    gate = threading.Event()
    with executor(1) as pool:
        running, waiting, unlucky = pool.submit(gate.wait, timeout=10), pool.submit(int), pool.submit(int, "x")
        assert waiting.cancel()
        gate.set()
        assert running.result() is True
        with pytest.raises(ValueError, match="invalid literal"):
            unlucky.result()
        gate.clear()
        pool.submit(gate.wait, timeout=10)
        left = pool.submit(int)
    with pytest.raises(CancelledError):
        left.result(timeout=10)
    with pytest.raises(RuntimeError, match="after its end"):
        pool.submit(int)
    gate.set()
    pool.shutdown()
    assert not any(thread.is_alive() for thread in pool._threads)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_worker_killed_half_way_costs_nothing(store: ResultStore, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()

    def kill_once(*_: object) -> None:
        if len(store.keys()) == 1:
            os.kill(_worker_at(log / "30"), signal.SIGKILL)

    # The one that is to be lost takes long enough for it.
    plan = [Toy(number, str(log), pause=0.5 if number == 30 else 0.01) for number in range(60)]
    with executor(2, cluster="local") as pool:
        outcome = run_plan(plan, toy, store, pool, on_result=kill_once)
    assert outcome.failures == []
    assert [result.result for result in outcome.results] == [toy(trial) for trial in toys(60)]
    assert len((log / "30").read_text().splitlines()) == 2
    workers = {int(pid) for file in log.iterdir() for pid in file.read_text().split()}
    assert len(workers - {os.getpid()}) == len(workers) >= 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def _worker_at(begun: Path) -> int:
    """The process that works at a trial, as soon as one does."""
    until = time.monotonic() + 20
    while not (begun.exists() and begun.read_text().endswith("\n")):
        assert time.monotonic() < until
        time.sleep(0.002)
    return int(begun.read_text())


def test_the_cluster_of_the_user_goes_on_afterwards(store: ResultStore) -> None:
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
    ) as user:
        with executor(scheduler=user.scheduler_address) as pool:
            assert len(run_plan(toys(5), toy, store, pool).results) == 5
        with executor(scheduler=user.scheduler_address) as pool:
            assert run_plan(toys(7), toy, store, pool).n_reused == 5
        with Client(user) as client:
            assert client.submit(int, "3").result() == 3


def test_a_scheduler_that_dies_ends_the_run_and_loses_nothing(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "SECONDS_TO_CONNECT", 0.5)
    monkeypatch.setattr(cluster_module, "SECONDS_BETWEEN_CHECKS", 0.1)
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
    ) as user:

        def close_once(*_: object) -> None:
            if len(store.keys()) == 3:
                user.close()

        message = "scheduler must stay reachable, got a lost connection; finished trials are stored"
        with pytest.raises(ValueError, match=message), executor(scheduler=user.scheduler_address) as pool:
            run_plan(toys(50, pause=0.02), toy, store, pool, on_result=close_once)
    assert 3 <= len(store.keys()) < 50


def test_a_scheduler_that_is_not_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "SECONDS_TO_CONNECT", 0.3)
    for address in ("tcp://127.0.0.1:9", "carrier-pigeon://roof", "nonsense"):
        with (
            pytest.raises(
                ValueError, match=f"scheduler must be the address of a running dask scheduler, got '{address}'"
            ),
            executor(scheduler=address),
        ):
            raise AssertionError("no such place")


def test_a_scheduler_without_workers_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "SECONDS_TO_FIND_WORKERS", 0.2)
    with LocalCluster(n_workers=0, processes=False, protocol="tcp", dashboard_address=":0") as idle:
        message = "scheduler must have a worker within 0.2 seconds, got none at 'tcp.*'; start one"
        with pytest.raises(ValueError, match=message), executor(scheduler=idle.scheduler_address):
            raise AssertionError("no worker")


def test_dask_is_asked_for_by_name_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    for options in ({"cluster": "local"}, {"scheduler": "tcp://127.0.0.1:9"}):
        with pytest.raises(ImportError, match=r'pip install "ordinoise\[cluster\]"'), executor(**options):  # type: ignore[arg-type]
            raise AssertionError("no dask")
    with executor(1) as pool:
        assert pool.submit(int, "3").result() == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
        ({"cluster": "loc"}, r"cluster must be one of \['local'\], got 'loc'; did you mean 'local'?"),
        (
            {"scheduler": "tcp://a:1", "workers": 2},
            "scheduler must come alone, got workers=2 and cluster=None too",
        ),
        ({"scheduler": "tcp://a:1", "cluster": "local"}, "scheduler must come alone"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message), executor(**options):
        raise AssertionError("refused before this")
