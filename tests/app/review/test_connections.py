"""Slow, idle and malformed connections: none of them keeps the page from saving."""

import json
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.review.server import TOKEN, Server
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review import connections
from ordinoise.app.review.guard import CSRF_HEADER, HEADERS, derived

MOST_FILES = 150
ASKING = b"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"


@pytest.fixture
def server(audit: Path) -> Iterator[Server]:
    server = Server(audit, most_files=MOST_FILES)
    yield server
    server.close()


def _connected(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def _write(server: Server, row: int) -> httpx.Response:
    headers = {
        "origin": server.origin,
        CSRF_HEADER: derived(TOKEN, "csrf"),
        "cookie": f"ordinoise-review-{server.port}={derived(TOKEN, 'session')}",
    }
    body = {"row": row, "grade": None, "reviewer": "Ann", "key": secrets.token_hex(8)}
    return httpx.post(f"{server.origin}/api/decide", json=body, headers=headers, timeout=20)


@pytest.mark.parametrize("said", [b"", ASKING + b"\r\n{"], ids=["nothing", "body"])
def test_idle_connections_do_not_stall_a_write(said: bytes, server: Server, record: AuditRecord) -> None:
    idle = []
    for _ in range(2 * MOST_FILES):
        idle.append(_connected(server))
        idle[-1].sendall(said)
    begun = time.monotonic()
    for suspect in record.suspects[:5]:
        assert _write(server, suspect.row).status_code == 200
    assert time.monotonic() - begun < 5
    for one in idle:
        one.close()
    assert server.output.read_text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("said", [b"", b"GET / HT", ASKING, ASKING + b"\r\n{"], ids=["nothing", "line", "head", "body"])
def test_a_connection_without_a_whole_request_is_closed(said: bytes, server: Server) -> None:
    with _connected(server) as slow:
        begun = time.monotonic()
        slow.sendall(said)
        ended = False
        while not ended and time.monotonic() - begun < 3 * connections.SECONDS_TO_ASK:
            time.sleep(0.5)
            try:
                slow.sendall(b"x" if said else b"")  # a byte now and then does not extend the time
                ended = slow.recv(1000, socket.MSG_DONTWAIT) == b""
            except BlockingIOError:
                continue
            except OSError:
                ended = True
        assert ended
        assert time.monotonic() - begun < connections.SECONDS_TO_ASK + 3


@pytest.mark.parametrize(
    "said",
    [b"\0\1\2\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nHost\x01: a\r\n\r\n"],
    ids=["bytes", "word", "name"],
)
def test_what_is_not_http_is_refused_with_a_sentence_and_the_headers(said: bytes, server: Server) -> None:
    with _connected(server) as one:
        one.sendall(said)
        head, _, body = b"".join(iter(lambda: one.recv(4096), b"")).partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    assert first == "HTTP/1.1 400 Bad Request"
    assert HEADERS.items() <= dict(line.split(": ", 1) for line in lines).items()
    assert json.loads(body) == {"error": "a request must be valid HTTP"}
    assert server.output.read_text() == ""


def test_requests_that_follow_at_once_on_one_connection_are_answered(server: Server) -> None:
    one_request = f"GET /static/icon.svg HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    with _connected(server) as one:
        one.sendall(one_request * 20)
        found = b""
        while found.count(b"HTTP/1.1 403") < 20:
            more = one.recv(65536)
            assert more
            found += more
