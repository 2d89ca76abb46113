"""Connections to the review page: a limited number, each with a limited time for a whole request."""

from __future__ import annotations

import asyncio
import json
import socket

from uvicorn import Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from ordinoise.app.review.guard import HEADERS

# Round numbers, chosen by no run. A browser opens six connections; systems allow a process 256 files or more.
MOST_CONNECTIONS = 64
MOST_AT_ONCE = 8  # connections accepted before those in excess are closed
MOST_WAITING = 128  # connections that the system keeps until they are accepted
SECONDS_TO_ASK = 10.0

_SENTENCE = json.dumps({"error": "a request must be valid HTTP"})
_HEADERS = HEADERS | {
    "Content-Type": "application/json",
    "Content-Length": str(len(_SENTENCE)),
    "Connection": "close",
}
_LINES = ("HTTP/1.1 400 Bad Request", *(f"{name}: {value}" for name, value in _HEADERS.items()), "", _SENTENCE)
NOT_HTTP = "\r\n".join(_LINES).encode()


class BoundedServer(Server):
    """A uvicorn server that accepts few connections at once, while the system keeps more of them waiting."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then lengthen the queue: asyncio uses one number for both."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(MOST_WAITING)


class BoundedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with a time limit for each request and a limit on open connections.

    Uvicorn waits for a first request for ever, so that idle connections use up the files that a process may open. Here
    a connection is closed if a whole request, body included, takes longer than `SECONDS_TO_ASK`; and if there are more
    than `MOST_CONNECTIONS`, the one that has waited longest for a request is closed.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of the first request, and make room."""
        super().connection_made(transport)
        self._start()
        ours = [one for one in self.connections if isinstance(one, BoundedProtocol) and not one.transport.is_closing()]
        if len(ours) > MOST_CONNECTIONS:
            waiting = [one for one in ours if one._timer is not None]
            min(waiting, key=lambda one: one._timer.when() if one._timer else 0.0).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the clock once the request is complete."""
        super().data_received(data)
        self._stop_if_complete()

    def on_response_complete(self) -> None:
        """Start the clock of the next request."""
        self._start()
        super().on_response_complete()
        self._stop_if_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - as in uvicorn
        """Refuse what is not HTTP with a sentence and the headers of every other response."""
        is_answering = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not is_answering:
            self.transport.write(NOT_HTTP)
        self.transport.close()

    def _start(self) -> None:
        self._stop()
        self._timer = self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_if_complete(self) -> None:
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._stop()
