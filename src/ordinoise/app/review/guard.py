"""Access control of the review page: only the browser that opened the printed address, and only from that page."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordinoise.app.review.door import Door

logger = logging.getLogger(__name__)

CSRF_HEADER = "x-review-key"
LARGEST_BODY = 64 * 1024  # bytes; a round number well above the longest note

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

# Browsers withhold a strict cookie from a redirect that began at a file, but not from this page. Without an icon of its
# own a slow browser would ask for /favicon.ico, which is not there.
ADMITTED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Review</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml"><meta http-equiv="refresh" content="0; url=/">
<p><a href="/">Continue to the review</a></p></html>"""

# The link helps a visitor from another site: browsers withhold a strict cookie on that first request only.
LOCKED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Review: not allowed</title>
<h1>The address is incomplete or was used before</h1>
<p>Open the full address that <code>ordinoise review</code> printed.</p>
<p>Already done? <a href="/">Continue to the review</a>.</p></html>"""


class Guard:
    """Middleware that refuses requests without valid host, cookie, origin and key, and sets security headers.

    Parameters
    ----------
    app : ASGI application
    token : str
        Secret in the printed address.
    port : int
        Port of the server, which the Host header of a request must name.
    door : Door
        Codes that admit a browser once.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int, door: Door) -> None:
        self._app, self._token, self._door = app, token, door
        self._session, self._csrf = derived(token, "session"), derived(token, "csrf")
        # Cookies are shared between ports: without the port in the name, two reviews at once would lock each other out.
        self._cookie = f"ordinoise-review-{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it to the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            await self._answer(scope, receive, send_with_headers)
        except Exception as error:
            # One line in the terminal, without the query, which may contain the secret.
            kind, shows_where = type(error).__name__, bool(os.environ.get("ORDINOISE_TRACEBACK"))
            logger.error("%s %s failed with %s", scope["method"], scope["path"], kind, exc_info=shows_where)
            if started:
                raise
            sentence = f"the server failed with {kind}; start it with ORDINOISE_TRACEBACK=1 to see where"
            await error_response(500, sentence)(scope, receive, send_with_headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        refusal = self._refusal(request)
        if refusal is None and request.method not in ("GET", "HEAD"):
            body = await _body(request)
            if body is None:
                refusal = error_response(413, f"a request must be at most {LARGEST_BODY} bytes")
            else:
                receive = _replay(body, receive)
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """The response that refuses a request or starts a session; None if the request may pass."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return error_response(400, "the Host header must name this server")
        given = request.query_params if request.method == "GET" and request.url.path == "/" else {}
        if "token" in given:
            is_right = _equal(given["token"], self._token)
            return self._with_cookie(RedirectResponse("/", 303)) if is_right else HTMLResponse(LOCKED, 403)
        if "code" in given:
            is_right = self._door.admits(given["code"])
            return self._with_cookie(HTMLResponse(ADMITTED)) if is_right else HTMLResponse(LOCKED, 403)
        if not _equal(request.cookies.get(self._cookie, ""), self._session):
            page = request.url.path == "/"
            return HTMLResponse(LOCKED, 403) if page else error_response(403, "the address must include the token")
        return None if request.method in ("GET", "HEAD") else self._write_refusal(request.headers, hosts[0])

    def _with_cookie(self, response: Response) -> Response:
        response.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return response

    def _write_refusal(self, headers: Headers, host: str) -> Response | None:
        if headers.getlist("origin") != [f"http://{host}"]:
            return error_response(403, "the Origin header must name this server")
        if not _equal(headers.get(CSRF_HEADER, ""), self._csrf):
            return error_response(403, f"a write must carry the header {CSRF_HEADER} of the page")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return error_response(415, "a write must be JSON")
        return None


def derived(token: str, purpose: str) -> str:
    """A secret derived from the token for one purpose; it does not reveal the token or other secrets."""
    return hmac.new(token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _equal(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def error_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A JSON response with an error message."""
    return JSONResponse({"error": message}, status, headers)


async def _body(request: Request) -> bytes | None:
    """The body; None if it is too large, whatever its header says, or if the sender disconnects."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_BODY:
                return None
    except ClientDisconnect:
        return None
    return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A receive function that returns the body once, then whatever comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
