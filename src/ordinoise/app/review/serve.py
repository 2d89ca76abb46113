"""The server of the review page, reachable from this computer only."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from typing import Any

from ordinoise._validation import complain
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
) -> None:
    """Serve the review page of an audit until Ctrl-C.

    Parameters
    ----------
    folder : path
        Folder written by ``ordinoise audit``.
    port : int, default=0
        Port on 127.0.0.1; 0 takes a free one.
    reviewer : str, optional
        Initial name; without it the page asks.
    on_ready : callable, optional
        Called with the address to open, secret included, when the server accepts connections.
    refit : callable, optional
        ``refit(rows, grades) -> RefitOutcome``; without it the page offers no new estimate.
    token : str, optional
        Secret part of the address; random by default.
    """
    uvicorn = _uvicorn()
    from ordinoise.app.review.app import review_app

    token = token or secrets.token_urlsafe(32)
    with _listener(port) as listener:
        port = listener.getsockname()[1]
        app = review_app(folder, token=token, port=port, reviewer=reviewer, refit=refit)
        try:
            with held(folder, f"http://{ADDRESS}:{port}"):
                _run(uvicorn, app, listener, on_ready, f"http://{ADDRESS}:{port}/?token={token}")
        finally:
            app.state.desk.close()


def _run(uvicorn: Any, app: Any, listener: socket.socket, on_ready: Callable[[str], None] | None, address: str) -> None:
    """Run the application until Ctrl-C."""
    # No log of requests: the first one contains the secret.
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    if on_ready is not None:
        on_ready(address)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        return


def _uvicorn() -> Any:
    """The module uvicorn, or an error that says how to install it."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise ImportError('the review page needs Starlette and uvicorn; pip install "ordinoise[review]"') from None
    return uvicorn


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
