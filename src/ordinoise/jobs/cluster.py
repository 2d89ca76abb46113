"""Executors for trials: threads of this process, dask workers on this machine, or a running dask cluster."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from ordinoise._validation import as_choice, as_count, complain

CLUSTERS = ("local",)
LOOPBACK = "127.0.0.1"
# Round numbers, chosen by no run.
SECONDS_TO_CONNECT = 10
SECONDS_TO_FIND_WORKERS = 60
SECONDS_BETWEEN_CHECKS = 1
GONE = ("closing", "closed")
"""Status of a dask client that has lost its scheduler for good."""

_Task = tuple[Future[Any], Callable[[], Any]]


@contextmanager
def executor(
    workers: int | None = None, scheduler: str | None = None, cluster: str | None = None
) -> Iterator[Executor]:
    """An executor for `run_plan`: threads by default, or dask workers.

    Threads suffice for the compiled learner, which releases the interpreter's lock while it trains. A script with
    ``cluster="local"`` needs the guard ``if __name__ == "__main__":``, since the worker processes import it.

    Parameters
    ----------
    workers : int, optional
        Trials at a time; the number of processors by default. Not with `scheduler`, which has its own workers.
    scheduler : str, optional
        Address of a running dask scheduler, ``tcp://host:port``. Scheduler and workers must have everything installed
        that the trials need. They keep running afterwards.
    cluster : {"local"}, optional
        Start dask workers on this machine, one process each, reachable from this machine only.

    Yields
    ------
    concurrent.futures.Executor
        Closed at the end of the block, without waiting for trials that still run.
    """
    if scheduler is not None:
        if workers is not None or cluster is not None:
            raise complain("scheduler", "come alone", f"workers={workers!r} and cluster={cluster!r} too")
        with _connected(scheduler) as executor:
            yield executor
        return
    n_workers = (os.cpu_count() or 1) if workers is None else as_count("workers", workers, 1)
    if cluster is not None:
        as_choice("cluster", cluster, CLUSTERS)
        with _local(n_workers) as executor:
            yield executor
        return
    threads = _Threads(n_workers)
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _local(n_workers: int) -> Iterator[Executor]:
    distributed = _distributed()
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host=LOOPBACK,
            # Dask's own limit would pause a worker silently.
            memory_limit=None,
            dashboard_address=None,
            # Without a dashboard dask still opens a port: port 0 takes any free one, so that two runs can coexist.
            # One allowed failure: the runner resubmits lost trials itself, and a trial that kills its worker should
            # not kill many.
            scheduler_kwargs={"dashboard_address": f"{LOOPBACK}:0", "allowed_failures": 1},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield _Dask(client)


@contextmanager
def _connected(address: str) -> Iterator[Executor]:
    distributed = _distributed()
    try:
        # Checked before dask's client, which logs tracebacks where nobody listens.
        place = distributed.comm.get_address_host_port(address)
        socket.create_connection(place, SECONDS_TO_CONNECT).close()
        client = distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise complain("scheduler", "be the address of a running dask scheduler", repr(address), str(error)) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS_TO_FIND_WORKERS)
        except TimeoutError:
            rule = f"have a worker within {SECONDS_TO_FIND_WORKERS} seconds"
            raise complain("scheduler", rule, f"none at {address!r}", "start one with `dask worker`") from None
        yield _Dask(client)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        advice = 'pip install "ordinoise[cluster]"'
        raise ImportError(str(complain("a cluster", "find dask.distributed", "none installed", advice))) from None
    return distributed


class _Dask(Executor):
    """Dask workers as an executor.

    Dask's own executor waits forever for a trial whose worker dies while sending its result, and for all trials if the
    scheduler dies.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        if self._client.status in GONE:
            advice = "finished trials are stored: run again when it is back"
            raise complain("scheduler", "stay reachable", "a lost connection", advice)
        # Not pure: dask would take a resubmitted trial for the lost one.
        remote = self._client.submit(function, *arguments, pure=False, **options)
        future: Future[Any] = Future()
        # Once cancelled or done, dask may forget the result.
        future.add_done_callback(lambda _: remote.release())
        self._client.loop.add_callback(self._deliver, remote, future)
        return future

    async def _deliver(self, remote: Any, future: Future[Any]) -> None:
        """Copy the result or error of a dask task to the future."""
        error, result = None, None
        try:
            result = await self._result(remote)
        except BaseException as problem:
            error = problem if isinstance(problem, Exception) else CancelledError(str(problem))
        if future.set_running_or_notify_cancel():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    async def _result(self, remote: Any) -> Any:
        task = asyncio.ensure_future(remote)
        while not task.done() and self._client.status not in GONE:
            await asyncio.wait([task], timeout=SECONDS_BETWEEN_CHECKS)
        if not task.done():
            task.cancel()
        return await task


class _Threads(Executor):
    """Daemon threads: those of the standard pool keep the program alive, even after Ctrl-C, until they finish."""

    def __init__(self, n_threads: int) -> None:
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(n_threads)]
        self._is_open = True
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        if not self._is_open:
            raise RuntimeError("an executor must be used inside its block, got a trial after its end")
        future: Future[Any] = Future()
        self._tasks.put((future, partial(function, *arguments, **options)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._is_open = False
        with suppress(Empty):
            while cancel_futures:
                if (task := self._tasks.get_nowait()) is not None:
                    task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else []:
            thread.join()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, call = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)
