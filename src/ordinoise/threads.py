"""How many fits run at a time, and threads of matrix products beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ordinoise._validation import as_count


def n_processors() -> int:
    """Processors that this process may use: a scheduler of jobs may leave it fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_workers(n_jobs: int | None, n_tasks: int) -> int:
    """Threads to run `n_tasks` in: `n_jobs`, or as many as there are processors and tasks."""
    return min(n_tasks, n_processors()) if n_jobs is None else as_count("n_jobs", n_jobs, 1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep matrix products to one thread each while fits run side by side. Also a decorator."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
