"""Signals that must not arrive in the middle of a library's work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def waiting_signals(on_signal: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP wait until the block ends; signals that are ignored stay ignored.

    For drawing: matplotlib reads fonts through C callbacks, and an exception in one of them ends the process. For
    servers: `on_signal` is called at once, and can tell the block to end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def receive(number: int, _: object) -> None:
        received.append(number)
        on_signal()

    numbers = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]  # Windows has no SIGHUP
    obeyed = [one for one in numbers if one is not None and signal.getsignal(one) not in (signal.SIG_IGN, None)]
    before = {one: signal.signal(one, receive) for one in obeyed}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if received:
        signal.raise_signal(received[0])
