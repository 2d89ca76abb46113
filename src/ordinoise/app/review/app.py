"""The web application of the review page: its routes, with JSON in and out."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ordinoise._validation import complain
from ordinoise.app.review.decisions import ReusedKeyError, StoreError
from ordinoise.app.review.desk import Plain, ReviewDesk, UnknownRowError, as_reviewer
from ordinoise.app.review.door import Door
from ordinoise.app.review.guard import CSRF_HEADER, Guard, derived, error_response
from ordinoise.app.review.refit import Refit

PAGE = Path(__file__).parent / "page"
MOST_DIGITS = 18  # every such number fits into an integer of SQLite
STATIC_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Endpoint = Callable[[Request], Awaitable[Response]]


def review_app(
    folder: str | os.PathLike[str],
    *,
    token: str,
    port: int,
    reviewer: str | None = None,
    refit: Refit | None = None,
    door: Door | None = None,
    pictures: bool = False,
) -> Starlette:
    """The application that shows the suspects of an audit and stores the decisions.

    Parameters
    ----------
    folder : path
        Folder written by ``ordinoise audit`` or ``ordinoise raters``.
    token : str
        Secret part of the address: the page is at ``http://127.0.0.1:<port>/?token=<token>``.
    port : int
        Port of the server; requests that name another host or port are refused.
    reviewer : str, optional
        Initial name; without it the page asks.
    refit : callable, optional
        ``refit(settled) -> RefitOutcome``, run in a thread when the page asks for it.
    door : Door, optional
        Admits the browser that the command line starts; without it, only the token does.
    pictures : bool
        As in `ReviewDesk`.
    """
    reviewer = "" if reviewer is None else as_reviewer(reviewer)
    desk = ReviewDesk(Path(folder), refit, pictures=pictures)
    page = _page(desk, derived(token, "csrf"), reviewer)

    async def index(request: Request) -> Response:  # noqa: ARG001 - required by starlette
        return HTMLResponse(page)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001 - required by starlette
        yield
        desk.close()

    routes = [Route("/", index), Route("/static/{name}", _static), *_reads(desk), *_writes(desk)]
    guard = Middleware(Guard, token=token, port=port, door=door or Door())
    app = Starlette(
        routes=routes, middleware=[guard], exception_handlers={HTTPException: _http_error}, lifespan=lifespan
    )
    app.state.desk = desk
    return app


def _page(desk: ReviewDesk, csrf: str, reviewer: str) -> str:
    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined)
    name = Path(desk.record.source).name
    return environment.get_template("index.html").render(
        name=name, record=desk.record, is_ratings=desk.is_ratings, csrf=csrf, csrf_header=CSRF_HEADER,
        reviewer=reviewer, n_items=desk.n_items,
    )  # fmt: skip


def _reads(desk: ReviewDesk) -> list[Route]:
    async def picture(request: Request) -> Response:
        found = desk.picture(_number(request, "row"), _number(request, "column"))
        if found is None:
            return error_response(404, "picture not found")
        content = await run_in_threadpool(found[0].read_bytes)
        return Response(content, media_type=found[1])

    return [
        Route("/api/audit", _read_endpoint(lambda _: desk.overview())),
        Route("/api/changes/{after}", _read_endpoint(lambda request: desk.changes(_number(request, "after")))),
        Route("/api/history/{row}", _read_endpoint(lambda request: desk.history(_number(request, "row")))),
        Route("/api/refit", _read_endpoint(lambda _: desk.refit_report()), methods=["GET"]),
        Route("/picture/{row}/{column}", picture),
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


def _number(request: Request, name: str) -> int:
    """A number in the path of a request; anything else is not found."""
    text = request.path_params[name]
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        rule = f"be a whole number of at most {MOST_DIGITS} digits"
        raise HTTPException(404, str(complain(name, rule, repr(text[:40]))))
    return int(text)


async def _http_error(request: Request, error: Exception) -> Response:
    """One sentence for an unknown path or method, or the sentence that an endpoint gave."""
    assert isinstance(error, HTTPException)  # the handler is registered for nothing else
    if error.status_code == 405:
        return error_response(405, f"{request.method} is not possible here", error.headers)
    unknown = error.detail == HTTPStatus.NOT_FOUND.phrase
    return error_response(error.status_code, "there is no such page" if unknown else error.detail, error.headers)


async def _in_thread(work: Callable[[], Plain]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(work))
    except UnknownRowError as error:
        return error_response(404, str(error))
    except ReusedKeyError as error:
        return error_response(409, str(error))
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
