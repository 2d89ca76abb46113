"""A second process that reads Parquet and Feather files first, since some damaged ones end the process that does.

Polars trusts the lengths in such a file: a damaged one asks for more memory than there is, upon which the process is
aborted, without an exception that could be caught.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

# Reads every value of a file in pieces, so that a large one is not in memory twice.
SCRIPT = """
import json, sys
import polars as pl
sys.stdout.write("ready\\n")
sys.stdout.flush()
for line in sys.stdin:
    path, kind = json.loads(line)
    try:
        table = pl.scan_parquet(path) if kind == "parquet" else pl.scan_ipc(path)
        table.select(pl.all().last()).collect(engine="streaming")
    except BaseException:
        pass
    sys.stdout.write("survived\\n")
    sys.stdout.flush()
"""
_lock = threading.Lock()
_processes: dict[int, subprocess.Popen[str]] = {}  # by the process that started it: a fork must not share a pipe


def survives(path: Path, kind: str) -> bool:
    """Whether a process that reads the file survives; what it found in the file does not matter.

    Also True where no second process can be started, as inside of another program.
    """
    with _lock:
        process = _processes.get(os.getpid()) or _started()
        if process is None or _answers(process, path, kind):
            return True
        _end(_processes.pop(os.getpid()))
        return False


def _answers(process: subprocess.Popen[str], path: Path, kind: str) -> bool:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps([str(path.absolute()), kind]) + "\n")
        process.stdin.flush()
        return process.stdout.readline() != ""
    except OSError:
        return False


def _started() -> subprocess.Popen[str] | None:
    """A new process, which ends when its input does: with this process, however that ends."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for this process
        )
    except OSError:
        return None
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        _end(process)
        return None
    _processes[os.getpid()] = process
    return process


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.wait()


@atexit.register
def _end_ours() -> None:
    if os.getpid() in _processes:
        _end(_processes.pop(os.getpid()))
