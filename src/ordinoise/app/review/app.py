"""The web application of the review page: its routes, with JSON in and out."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ordinoise.app.review.decisions import StoreError
from ordinoise.app.review.desk import Plain, ReviewDesk, as_reviewer
from ordinoise.app.review.guard import CSRF_HEADER, Guard, derived, error_response
from ordinoise.app.review.refit import Refit

PAGE = Path(__file__).parent / "page"
STATIC_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Endpoint = Callable[[Request], Awaitable[Response]]


def review_app(
    folder: str | os.PathLike[str], *, token: str, port: int, reviewer: str | None = None, refit: Refit | None = None
) -> Starlette:
    """The application that shows the suspects of an audit and stores the decisions.

    Parameters
    ----------
    folder : path
        Folder written by ``ordinoise audit``.
    token : str
        Secret part of the address: the page is at ``http://127.0.0.1:<port>/?token=<token>``.
    port : int
        Port of the server; requests that name another host or port are refused.
    reviewer : str, optional
        Initial name; without it the page asks.
    refit : callable, optional
        ``refit(rows, grades) -> RefitOutcome``, run in a thread when the page asks for it.
    """
    reviewer = "" if reviewer is None else as_reviewer(reviewer)
    desk = ReviewDesk(Path(folder), refit)
    page = _page(desk, derived(token, "csrf"), reviewer)

    async def index(request: Request) -> Response:  # noqa: ARG001 - required by starlette
        return HTMLResponse(page)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001 - required by starlette
        yield
        desk.close()

    routes = [Route("/", index), Route("/static/{name}", _static), *_reads(desk), *_writes(desk)]
    guard = Middleware(Guard, token=token, port=port)
    app = Starlette(routes=routes, middleware=[guard], lifespan=lifespan)
    app.state.desk = desk
    return app


def _page(desk: ReviewDesk, csrf: str, reviewer: str) -> str:
    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined)
    name = Path(desk.record.source).name
    return environment.get_template("index.html").render(
        name=name, record=desk.record, csrf=csrf, csrf_header=CSRF_HEADER, reviewer=reviewer
    )


def _reads(desk: ReviewDesk) -> list[Route]:
    async def picture(request: Request) -> Response:
        found = desk.picture(request.path_params["row"], request.path_params["column"])
        if found is None:
            return error_response(404, "picture not found")
        content = await run_in_threadpool(found[0].read_bytes)
        return Response(content, media_type=found[1])

    return [
        Route("/api/audit", _read_endpoint(lambda _: desk.overview())),
        Route("/api/changes/{after:int}", _read_endpoint(lambda request: desk.changes(request.path_params["after"]))),
        Route("/api/history/{row:int}", _read_endpoint(lambda request: desk.history(request.path_params["row"]))),
        Route("/api/refit", _read_endpoint(lambda _: desk.refit_report()), methods=["GET"]),
        Route("/picture/{row:int}/{column:int}", picture),
    ]


def _writes(desk: ReviewDesk) -> list[Route]:
    actions = {"decide": desk.decide, "undo": desk.undo, "note": desk.note, "export": desk.export, "refit": desk.refit}
    return [Route(f"/api/{name}", _write_endpoint(action), methods=["POST"]) for name, action in actions.items()]


def _read_endpoint(answer: Callable[[Request], Plain]) -> Endpoint:
    """An endpoint that answers a GET request."""

    async def endpoint(request: Request) -> Response:
        return await _in_thread(lambda: answer(request))

    return endpoint


def _write_endpoint(action: Callable[[Mapping[str, object]], Plain]) -> Endpoint:
    """An endpoint that runs an action on a JSON body; the answer is sent after the action is stored on disk."""

    async def endpoint(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError):
            return error_response(422, "a write must be JSON")
        if not isinstance(body, dict):
            return error_response(422, "a write must be a JSON object")
        return await _in_thread(lambda: action(body))

    return endpoint


async def _in_thread(work: Callable[[], Plain]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(work))
    except StoreError as error:
        return error_response(503, str(error))
    except (ValueError, OSError) as error:
        return error_response(422, str(error))


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    # Only files of this package, looked up by name: the name is never joined to a path.
    known = {path.name: path for path in PAGE.iterdir() if path.suffix in STATIC_TYPES}
    if name not in known:
        return error_response(404, "file not found")
    content = known[name].read_bytes()
    return Response(content, media_type=STATIC_TYPES[known[name].suffix])
