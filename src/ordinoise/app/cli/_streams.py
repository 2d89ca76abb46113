"""Standard streams that cost no work: what they cannot show is escaped, and what they cannot take is dropped."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from ordinoise._validation import complain


class _Steady:
    """A stream whose first failure is kept, and which swallows everything from then on."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        if self.failure is None:
            self._try(lambda: self.stream.write(text))
        return len(text)

    def flush(self) -> None:
        if self.failure is None:
            self._try(self.stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def _try(self, action: Any) -> None:
        try:
            action()
        except OSError as failure:
            self.failure = failure
            drop_rest(self.stream)


@contextmanager
def steady_streams() -> Iterator[list[OSError]]:
    """Standard output and error that fail at nothing; yields a list that gets why standard output lost something.

    A reader that went away, as in ``| head``, is no loss.
    """
    _open_closed()
    before = sys.stdout, sys.stderr
    streams = [_Steady(stream if stream is not None else io.StringIO()) for stream in before]
    for one in streams:
        if isinstance(one.stream, io.TextIOWrapper):
            one.stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (cast(TextIO, one) for one in streams)
    lost: list[OSError] = []
    try:
        yield lost
    finally:
        for one in streams:
            one.flush()
        sys.stdout, sys.stderr = before
        if streams[0].failure is not None and not isinstance(streams[0].failure, BrokenPipeError):
            lost.append(streams[0].failure)


def _open_closed() -> None:
    """Open what is closed of the three streams, or the next file of the verb would become one of them."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def print_data(text: str) -> None:
    """Write a document to standard output in UTF-8, as to a file, whatever the encoding of the console.

    Other than words about files that a verb writes, it is the work of the verb: a failure is an error.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None or sys.stdout.isatty():
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    try:
        raw.write(text.encode())
        raw.flush()
    except BrokenPipeError:
        raise
    except OSError as failure:
        drop_rest(sys.stdout)
        raise complain(
            "standard output", "be writable", failure.strerror or failure, "write to a file, --out"
        ) from None


def drop_rest(stream: TextIO) -> None:
    """Send what waits in the buffer of a stream nowhere, or it would fail once more when the interpreter ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
