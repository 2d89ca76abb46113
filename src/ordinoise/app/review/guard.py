"""Who may talk to the review page: the browser that was given the printed address, and no other page in it."""

from __future__ import annotations

import hashlib
import hmac

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSRF_HEADER = "x-review-key"
LARGEST_BODY = 64 * 1024

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

# The link helps who came from a page of another site: a strict cookie stays at home on that first step only.
LOCKED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Review: not allowed</title>
<h1>This address needs its key</h1><p>Open the whole address that <code>ordinoise review</code> printed.</p>
<p>You did? <a href="/">Go on to the review</a>.</p></html>"""


class Guard:
    """Middleware that lets a request through only with every ingredient, and sets the headers of every answer.

    Parameters
    ----------
    app : ASGI application
    token : str
        The secret in the printed address.
    port : int
        Where the server listens: requests must be addressed to it by name.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._session, self._csrf = derived(token, "session"), derived(token, "csrf")
        # Cookies do not tell ports apart: without it in the name, two reviews at once would shut each other out.
        self._cookie = f"ordinoise-review-{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on to the application."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return None

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        request = Request(scope, receive)
        refusal = self._refusal(request)
        if refusal is None and request.method not in ("GET", "HEAD"):
            body = await _body(request)
            if body is None:
                refusal = _refused(413, f"a request must be at most {LARGEST_BODY} bytes")
            else:
                receive = _replayed(body, receive)
        return await (refusal or self._app)(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """The answer that ends the matter, or None if the request may pass."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _refused(400, "the Host header must name this server")
        if request.method == "GET" and request.url.path == "/" and "token" in request.query_params:
            return self._entry(request.query_params["token"])
        if not _equal(request.cookies.get(self._cookie, ""), self._session):
            page = request.url.path == "/"
            return HTMLResponse(LOCKED, 403) if page else _refused(403, "the address must hold the key")
        return None if request.method in ("GET", "HEAD") else self._refused_write(request.headers, hosts[0])

    def _entry(self, token: str) -> Response:
        if not _equal(token, self._token):
            return HTMLResponse(LOCKED, 403)
        response = RedirectResponse("/", 303)
        response.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return response

    def _refused_write(self, headers: Headers, host: str) -> Response | None:
        if headers.getlist("origin") != [f"http://{host}"]:
            return _refused(403, "the Origin header must name this server")
        if not _equal(headers.get(CSRF_HEADER, ""), self._csrf):
            return _refused(403, "a write must carry the key of the page")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _refused(415, "a write must be JSON")
        return None


def derived(token: str, purpose: str) -> str:
    """A secret made from the token for one purpose, so that none of them gives the others away."""
    return hmac.new(token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _equal(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def _refused(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status)


async def _body(request: Request) -> bytes | None:
    """The body, or None as soon as it is too large, whatever length it claims, or as the sender is gone."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_BODY:
                return None
    except ClientDisconnect:
        return None
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Messages that tell the application the body once, and whatever comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
