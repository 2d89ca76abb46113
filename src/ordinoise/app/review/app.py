"""The review page as an application: routes, and what goes over them as JSON."""

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
from ordinoise.app.review.guard import CSRF_HEADER, Guard, derived
from ordinoise.app.review.refit import Refit

PAGE = Path(__file__).parent / "page"
STATIC_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Endpoint = Callable[[Request], Awaitable[Response]]


def review_app(
    folder: str | os.PathLike[str], *, token: str, port: int, reviewer: str | None = None, refit: Refit | None = None
) -> Starlette:
    """The application that shows an audit and keeps what is decided about it.

    Parameters
    ----------
    folder : path
        What ``ordinoise audit`` wrote.
    token : str
        The secret of the address: the page is at ``http://127.0.0.1:<port>/?token=<token>``.
    port : int
        Where it will be served; requests that name another host or port are refused.
    reviewer : str, optional
        Name to begin with; the page asks for one otherwise.
    refit : callable, optional
        ``refit(rows, grades) -> RefitOutcome``, run in a thread when the page asks for it.
    """
    reviewer = "" if reviewer is None else as_reviewer(reviewer)
    desk = ReviewDesk(Path(folder), refit)
    page = _page(desk, derived(token, "csrf"), reviewer)

    async def index(request: Request) -> Response:  # noqa: ARG001 - what starlette hands over
        return HTMLResponse(page)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001 - what starlette hands over
        yield
        desk.close()

    routes = [Route("/", index), Route("/static/{name}", _static), *_reads(desk), *_writes(desk)]
    guard = Middleware(Guard, token=token, port=port)
    app = Starlette(routes=routes, middleware=[guard], lifespan=lifespan)
    app.state.desk = desk
    return app


def _page(desk: ReviewDesk, csrf: str, reviewer: str) -> str:
    shelf = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined)
    name = Path(desk.record.source).name
    return shelf.get_template("index.html").render(
        name=name, record=desk.record, csrf=csrf, csrf_header=CSRF_HEADER, reviewer=reviewer
    )


def _reads(desk: ReviewDesk) -> list[Route]:
    async def picture(request: Request) -> Response:
        found = desk.picture(request.path_params["row"], request.path_params["column"])
        if found is None:
            return _sentence(404, "there is no such picture")
        content = await run_in_threadpool(found[0].read_bytes)
        return Response(content, media_type=found[1])

    return [
        Route("/api/audit", _answering(lambda _: desk.overview())),
        Route("/api/changes/{after:int}", _answering(lambda request: desk.changes(request.path_params["after"]))),
        Route("/api/history/{row:int}", _answering(lambda request: desk.history(request.path_params["row"]))),
        Route("/api/refit", _answering(lambda _: desk.refit_report()), methods=["GET"]),
        Route("/picture/{row:int}/{column:int}", picture),
    ]


def _writes(desk: ReviewDesk) -> list[Route]:
    actions = {"decide": desk.decide, "undo": desk.undo, "note": desk.note, "export": desk.export, "refit": desk.refit}
    return [Route(f"/api/{name}", _acting(action), methods=["POST"]) for name, action in actions.items()]


def _answering(answer: Callable[[Request], Plain]) -> Endpoint:
    """An endpoint that reads."""

    async def endpoint(request: Request) -> Response:
        return await _in_thread(lambda: answer(request))

    return endpoint


def _acting(action: Callable[[Mapping[str, object]], Plain]) -> Endpoint:
    """An endpoint that writes; the action has returned, so what it kept is on disk, before anything is answered."""

    async def endpoint(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError):
            return _sentence(422, "a write must be JSON")
        if not isinstance(body, dict):
            return _sentence(422, "a write must be a JSON object")
        return await _in_thread(lambda: action(body))

    return endpoint


async def _in_thread(work: Callable[[], Plain]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(work))
    except StoreError as trouble:
        return _sentence(503, str(trouble))
    except (ValueError, OSError) as error:
        return _sentence(422, str(error))


def _sentence(status: int, words: str) -> JSONResponse:
    return JSONResponse({"error": words}, status)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    # Only what the package itself brings, by name: nothing is ever joined to a path.
    known = {path.name: path for path in PAGE.iterdir() if path.suffix in STATIC_TYPES}
    if name not in known:
        return _sentence(404, "there is no such file")
    content = known[name].read_bytes()
    return Response(content, media_type=STATIC_TYPES[known[name].suffix])
