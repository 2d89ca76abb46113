"""A review server in a process of its own, to be killed and started again."""

import multiprocessing
import os
import resource
import signal
import socket
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from app.review.sample import noise_of
from ordinoise.app.records.history import Settled
from ordinoise.app.review import RefitOutcome, serve

TOKEN = "a-secret-of-the-tests"
# A process that has loaded everything makes each server in a moment.
_starting = multiprocessing.get_context("forkserver")
_starting.set_forkserver_preload(["app.review.server", "ordinoise.app.review.app", "uvicorn"])


def stand_in(settled: Sequence[Settled]) -> RefitOutcome:
    """What an estimate might give; long enough for a person to notice."""
    time.sleep(0.3)
    near, far = np.array([(0.9, 0.1), (0.22, 0.78)]), np.array([(0.85, 0.15), (0.2, 0.8)])
    return RefitOutcome(noise_of(0.21, (0.16, 0.27), near), noise_of(0.19, (0.17, 0.21), far), len(settled))


def _run(
    folder: Path, port: int, ready: Connection, output: Path, most_files: int | None, ignored: tuple[int, ...]
) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever the tests were started with, such as nohup or &
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    if most_files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    with output.open("ab") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    tempfile.tempdir = str(output.parent)  # a server that is killed cannot remove what it has written
    serve(folder, port=port, token=TOKEN, refit=stand_in, on_ready=ready.send, open_browser=ready.send)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """The page of an audit at one address, for as long as it lives."""

    def __init__(
        self, folder: Path, *, most_files: int | None = None, ignored: tuple[signal.Signals, ...] = ()
    ) -> None:
        self.folder, self.port = folder, free_port()
        self._limits = (most_files, ignored)
        self.output = folder.with_name("output.txt")
        self.origin = f"http://127.0.0.1:{self.port}"
        self.address = f"{self.origin}/?token={TOKEN}"
        self.start()

    def start(self) -> None:
        here, there = _starting.Pipe(duplex=False)
        self.process = _starting.Process(
            target=_run, args=(self.folder, self.port, there, self.output, *self._limits), daemon=True
        )
        self.process.start()
        there.close()
        assert here.poll(60), "the server does not start"
        assert here.recv() == self.address
        self.file = here.recv()
        here.close()

    def end(self, how: signal.Signals) -> int | None:
        """The exit code after a signal."""
        assert self.process.pid is not None
        os.kill(self.process.pid, how)
        self.process.join(20)
        return self.process.exitcode

    def kill(self) -> None:
        assert self.end(signal.SIGKILL) == -signal.SIGKILL

    def close(self) -> None:
        if self.process.is_alive():
            self.kill()
