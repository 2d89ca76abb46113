"""SIGTERM and SIGHUP end a verb as Ctrl-C does: everything under way is cleaned up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Windows has no SIGHUP.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt at the first SIGTERM or SIGHUP and ignore later ones; yields the list of those received.

    A signal that is ignored stays ignored, such as SIGHUP under nohup.
    """
    received: list[int] = []

    def stop(number: int, _: object) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)  # a second one would interrupt the clean-up
        received.append(number)
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    before = {one: signal.getsignal(one) for one in _ENDINGS} if is_main else {}
    before = {one: handler for one, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for one in before:
        signal.signal(one, stop)
    try:
        yield received
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
