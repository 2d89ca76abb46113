"""A memory limit (``ulimit -v``) ends a verb with one sentence, also where a library aborts the process.

Polars, LLVM and others abort when an allocation fails, upon which no exception handler runs. Under a limit, the verb
therefore runs in a child process, and this one waits to say what happened to it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from typing import IO, NoReturn

_SIGNS = re.compile(
    "failed to map segment|allocate|can't start new thread|load shared object|bad_alloc|out of memory|not enough memory"
    "|could not spawn|Resource temporarily unavailable",
    re.IGNORECASE,
)
LEAST = 1_200 * 2**20  # bytes of address space; with less, no verb that reads a table ended well, by trying
FEW_THREADS = 4 * 2**30  # below it, threads would take much of the address space; a round number, chosen by no run
_PASSED_ON = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_THREADS = ("POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_ALLOCATORS = ("_RJEM_MALLOC_CONF", "JE_ARROW_MALLOC_CONF")
"""Settings of the allocators of polars and Arrow, whose own thread would try for ever to start another."""
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def memory_limit() -> int | None:
    """The limit on this process's memory in bytes; None without one."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    found = [limit for limit in limits if limit != resource.RLIM_INFINITY]
    return min(found) if found else None


def memory_sentence(error: BaseException | None) -> str:
    """What to say if memory was short: the error's first sentence, or only the limit if a library ended the process."""
    limit, got = memory_limit(), "too little"
    if error is not None:
        got = ": ".join(filter(None, (type(error).__name__, str(error).split(". ")[0])))
    advice = "give fewer rows or columns"
    if limit is not None:
        got, advice = f"{got} under the limit of {limit / 1e6:,.0f} MB (ulimit -v)", f"raise the limit, or {advice}"
    return f"memory must be enough for the command, got {got}; {advice}"


def is_short_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that it came from, is about memory."""
    return any(
        isinstance(one, MemoryError)
        or getattr(one, "errno", None) == errno.ENOMEM
        or (memory_limit() is not None and _SIGNS.search(str(one)) is not None)
        for one in causes(error)
    )


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, the one that it came from, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def run_watched(limit: int, run: Callable[[], object], say: Callable[[str], object]) -> NoReturn:
    """Call `run` in a child process and exit with its code, or `say` that memory was short if a library ended it."""
    if limit < LEAST:
        say(f"memory must be at least {LEAST / 1e6:,.0f} MB, got a limit of {limit / 1e6:,.0f} MB (ulimit -v)")
        raise SystemExit(2)
    if limit < FEW_THREADS:
        for name in _THREADS:
            os.environ.setdefault(name, "1")
        for name in _ALLOCATORS:  # at the end, which counts: a program that calls this one may have set them
            os.environ[name] = ",".join(filter(None, (os.environ.get(name), "background_thread:false")))
    with TemporaryFile() as noise, TemporaryFile(buffering=0) as mark:
        signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)  # until the parent can pass them on
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
            _die_with_parent()
            _divert_libraries(noise.fileno())
            _take_buffers()
            _exit_after(run, mark)
        code = os.waitstatus_to_exitcode(_status_of(child))
        has_ended_itself = os.fstat(mark.fileno()).st_size > 0
    if not has_ended_itself and -code not in (signal.SIGKILL, *_PASSED_ON):
        say(memory_sentence(None))
        raise SystemExit(2)
    raise SystemExit(code if code >= 0 else 128 - code)


def _die_with_parent() -> None:
    """Ask the system to end this process with its parent, also if that one is killed; Linux only."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


def _divert_libraries(descriptor: int) -> None:
    """Keep Python's standard error, and write what libraries print there, such as stack traces, to another file."""
    sys.stderr.flush()
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace")
    os.dup2(descriptor, 2)
    # Where a worker thread runs out of memory, Python's hooks would print lines before ours; its error is raised too.
    threading.excepthook = lambda _: None
    sys.unraisablehook = lambda _: None


def _take_buffers() -> None:
    """Have the OpenBLAS libraries of numpy and scipy take their buffers now: without room they would ask for ever."""
    with contextlib.suppress(ImportError, OSError, MemoryError):  # the verb will say it
        import numpy as np
        from scipy.linalg.blas import dgemm

        square = np.ones((64, 64))
        dgemm(1.0, square, square @ square)


def _exit_after(run: Callable[[], object], mark: IO[bytes]) -> NoReturn:
    """Call `run`, mark that it came to an end, and exit with the code of its SystemExit, as an interpreter does."""
    code = 0
    try:
        run()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    mark.write(b"ended")
    sys.exit(code)


def _status_of(child: int) -> int:
    """Wait for the child; Ctrl-C reaches it by itself, other signals are passed on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in _PASSED_ON[1:]:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda received, _: os.kill(child, received))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    return os.waitpid(child, 0)[1]
