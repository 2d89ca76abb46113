"""A second process that reads files of stored types first: some damaged or forged ones end the process that does.

Polars and the reader of workbooks trust the lengths in a file: a damaged one asks for more memory than there is, upon
which the process is aborted, without an exception that could be caught. The second process has limits of memory and of
processor time, which follow from the size of the file.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ordinoise._validation import complain
from ordinoise.app.tables.process_size import bytes_of
from ordinoise.app.tables.source import MOST_PACKED, check_bytes, most_bytes, most_columns, most_unpacked

SCRIPT = Path(__file__).with_name("trial_process.py")
NAMES = {"parquet": "Parquet file", "arrow": "Feather file", "excel": "Excel workbook"}
# Round numbers, chosen by no run: what reading takes beside the values, and a time that small files are far below.
MEMORY_BESIDE, LEAST_SECONDS, BYTES_PER_SECOND = 2**28, 8, 2**21
SECONDS_BETWEEN_LOOKS = 0.02  # at the size of the process, where the system has no limit for it
DAMAGED_ABOVE = 2**40  # bytes: who asks for more at once follows a damaged length
_ASKED = re.compile(rb"memory allocation of (\d{1,30}) bytes failed")
_ENVIRONMENT = {"POLARS_MAX_THREADS": "2", "_RJEM_MALLOC_CONF": "narenas:1,background_thread:false"}
_lock = threading.Lock()


@dataclass
class _Second:
    """A second process, our end of the connection, what it complained, and whether the system limits its memory."""

    process: subprocess.Popen[str]
    connection: socket.socket | None
    said: IO[bytes]
    is_limited: bool = False
    is_too_large: bool = field(default=False, init=False)


_processes: dict[int, _Second] = {}  # by the process that started it: a fork must not share a pipe


def stored_size(path: Path, file: IO[bytes], kind: str, *, is_whole: bool = True) -> tuple[int, int, int] | None:
    """Rows and columns of an open Parquet or Feather file, and bytes of its text, once a second process has read it.

    None if it cannot say.

    A file is refused with a sentence if the process does not survive it, or if its values are too large. Where no
    second process can be started, as inside of another program, it is None too. Unless the file `is_whole` read
    later, but some rows at a time, it may hold more than fits into memory.
    """
    found = _examined(path, file, kind, os.fstat(file.fileno()).st_size, is_whole=is_whole)
    return (found["n_rows"], found["n_columns"], found["n_bytes"]) if "n_rows" in found else None


def check_sheet(path: Path, packed: bytes, sheet: str, size: int) -> None:
    """Refuse a workbook, unpacked from a file of `size` bytes, that a second process does not survive."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "book.xlsx"
        copy.write_bytes(packed)
        with copy.open("rb") as file:
            _examined(path, file, "excel", size, sheet=sheet, name=str(copy))


def damaged(path: Path, kind: str) -> ValueError:
    """The error about a file of stored types that cannot be read."""
    return complain("file", f"be a complete {NAMES[kind]}", f"damaged content in {str(path)!r}")


def _examined(
    path: Path, file: IO[bytes], kind: str, size: int, *, sheet: str = "", name: str = "", is_whole: bool = True
) -> dict[str, Any]:
    """What a second process finds in a file, empty if nothing."""
    most, seconds = most_unpacked(size), LEAST_SECONDS + size // BYTES_PER_SECOND
    job = {
        "kind": kind, "path": name or str(path.absolute()), "sheet": sheet, "seconds": seconds,
        "memory": most + MEMORY_BESIDE, "most_columns": most_columns(),
        "most_bytes": most_bytes() if is_whole else sys.maxsize,
    }  # fmt: skip
    with _lock:
        second = _processes.get(os.getpid()) or _started()
        if second is None:
            return {}
        answer = _answer(second, job, file)
        if answer is None:
            answer = _end_of(_processes.pop(os.getpid()))
    if "seconds" in answer:
        got = f"more for {str(path)!r}"
        raise complain("file", f"be readable in {seconds} seconds", got, "save it in another format")
    if "type" in answer:
        got = f"{answer['column']!r} of type {answer['type']} in {str(path)!r}"
        raise complain("file", "have columns of other types", got, "convert it, or leave it out")
    if "is_damaged" in answer:
        raise damaged(path, kind)
    check_bytes(path, answer.get("n_bytes", 0), most if is_whole else max(most, MOST_PACKED * size))
    return answer


def _answer(second: _Second, job: dict[str, Any], file: IO[bytes]) -> dict[str, Any] | None:
    """The answer of the process; None if it ended."""
    assert second.process.stdout is not None
    line, is_done = json.dumps(job), threading.Event()
    watch = threading.Thread(target=_watch, args=(second, job["memory"], is_done), daemon=True)
    if not second.is_limited:
        watch.start()
    try:
        if second.connection is None:
            assert second.process.stdin is not None
            second.process.stdin.write(f"{line}\n")
            second.process.stdin.flush()
        else:
            socket.send_fds(second.connection, [line.encode()], [file.fileno()])
        answer = second.process.stdout.readline()
    except OSError:
        answer = ""
    is_done.set()
    if not second.is_limited:
        watch.join()
    return json.loads(answer) if answer and not second.is_too_large else None


def _watch(second: _Second, most: int, is_done: threading.Event) -> None:
    """End the process if it grows by more than `most` bytes, where the system does not."""
    begun = bytes_of(second.process.pid)
    while begun and not is_done.wait(SECONDS_BETWEEN_LOOKS):
        if bytes_of(second.process.pid) - begun > most:
            second.is_too_large = True
            second.process.kill()
            return


def _started() -> _Second | None:
    """A new process, which ends when its input does: with this process, however that ends."""
    ours, theirs = socket.socketpair() if hasattr(socket, "send_fds") else (None, None)
    said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT)],
            stdin=subprocess.PIPE if theirs is None else theirs.fileno(),
            stdout=subprocess.PIPE,
            stderr=said,
            env=os.environ | _ENVIRONMENT,
            text=True,
            start_new_session=True,  # Ctrl-C is for this process
        )
    except OSError:
        for one in (ours, said):
            if one is not None:
                one.close()
        return None
    finally:
        if theirs is not None:
            theirs.close()
    second = _Second(process, ours, said)
    assert process.stdout is not None
    try:
        second.is_limited = bool(json.loads(process.stdout.readline())["has_memory_limit"])
    except (OSError, ValueError, LookupError, TypeError):
        _end_of(second)
        return None
    _processes[os.getpid()] = second
    return second


def _end_of(second: _Second) -> dict[str, int]:
    """End a process, or find out how it ended: an answer that says why the file is refused."""
    for pipe in (second.process.stdin, second.process.stdout, second.connection):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    code = second.process.wait()
    with second.said:
        second.said.seek(0)
        asked = _ASKED.search(second.said.read())
    if code == -getattr(signal, "SIGXCPU", 0) != 0:
        return {"seconds": 1}
    if second.is_too_large or (asked is not None and int(asked[1]) < DAMAGED_ABOVE):
        return {"n_bytes": sys.maxsize}
    return {"is_damaged": 1}


@atexit.register
def _end_ours() -> None:
    if os.getpid() in _processes:
        _end_of(_processes.pop(os.getpid()))
