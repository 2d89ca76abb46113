"""Signals that must not arrive in the middle of a library's work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def waiting_signals() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP wait until the block ends.

    For drawing: matplotlib reads fonts through C callbacks, and an exception in one of them ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
    before = {one: signal.getsignal(one) for name in names if (one := getattr(signal, name, None)) is not None}
    before = {one: handler for one, handler in before.items() if callable(handler)}
    for one in before:
        signal.signal(one, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if received:
        signal.raise_signal(received[0])
