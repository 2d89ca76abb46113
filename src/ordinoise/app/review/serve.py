"""The server of the review page, reachable from this computer only."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ordinoise._interrupts import waiting_signals
from ordinoise._validation import complain
from ordinoise.app.review.door import Door
from ordinoise.app.review.lock import held
from ordinoise.app.review.refit import Refit

ADDRESS = "127.0.0.1"
SECONDS_TO_FINISH = 2  # for open requests after Ctrl-C; a round number, chosen by no run


def serve(
    folder: str | os.PathLike[str],
    *,
    port: int = 0,
    reviewer: str | None = None,
    on_ready: Callable[[str], None] | None = None,
    refit: Refit | None = None,
    token: str | None = None,
    open_browser: Callable[[str], object] | None = None,
    pictures: bool = False,
    on_hidden: Callable[[Path], object] = lambda _: None,
) -> None:
    """Serve the review page of an audit until Ctrl-C.

    Parameters
    ----------
    folder : path
        Folder written by ``ordinoise audit`` or ``ordinoise raters``.
    port : int, default=0
        Port on 127.0.0.1; 0 takes a free one.
    reviewer : str, optional
        Initial name; without it the page asks.
    on_ready : callable, optional
        Called with the address to open, secret included, when the server accepts connections.
    refit : callable, optional
        ``refit(settled) -> RefitOutcome``; without it the page offers no new estimate.
    token : str, optional
        Secret part of the address; random by default.
    open_browser : callable, optional
        Called with the URI of a file that leads one browser to the page; the URI itself contains no secret.
    pictures : bool
        As in `ReviewDesk`.
    on_hidden : callable
        Called with the folder of pictures that are not shown.
    """
    _check_installed()
    from ordinoise.app.review.app import review_app

    token, door = token or secrets.token_urlsafe(32), Door()
    with _listener(port) as listener, suppress(KeyboardInterrupt):
        port = listener.getsockname()[1]
        origin = f"http://{ADDRESS}:{port}"
        app = review_app(folder, token=token, port=port, reviewer=reviewer, refit=refit, door=door, pictures=pictures)
        if app.state.desk.hidden_pictures is not None:
            on_hidden(app.state.desk.hidden_pictures)
        server = _server(app)
        # Uvicorn listens to Ctrl-C and SIGTERM while it runs; not before, when the address is printed already, nor to
        # SIGHUP. Open requests are answered, then the handler that was there is called.
        with waiting_signals(lambda: setattr(server, "should_exit", True)):
            try:
                with held(folder, origin):
                    if on_ready is not None:
                        on_ready(f"{origin}/?token={token}")
                    if open_browser is not None:
                        with suppress(OSError):  # without a place for the file, the printed address is still there
                            open_browser(door.open(origin))
                    server.run(sockets=[listener])
            finally:
                door.close()
                app.state.desk.close()


def _server(app: Any) -> Any:
    """A uvicorn server of the application."""
    import uvicorn

    from ordinoise.app.review.connections import MOST_AT_ONCE, BoundedProtocol, BoundedServer

    # No log of requests: the first one contains the secret. Errors of the application are the guard's to answer and to
    # log; uvicorn's own would be the traceback of a request that a second Ctrl-C cuts off.
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        backlog=MOST_AT_ONCE,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    return BoundedServer(config)


def _check_installed() -> None:
    """Raise an error that says how to install what is missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise ImportError('the review page needs Starlette and uvicorn; pip install "ordinoise[review]"') from None


def _listener(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1; connections wait until the server runs."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # on Windows it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise complain("port", "be free on this computer", port, f"{error}; 0 takes a free one") from None
    return listener
