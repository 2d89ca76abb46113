"""``ordinoise review``."""

from __future__ import annotations

from pathlib import Path


def review(
    folder: Path, *, port: int = 0, reviewer: str | None = None, no_browser: bool = False, json: bool = False
) -> None:
    """Settle the suspected grades of an audit in the browser. Every decision is kept at once; Ctrl-C ends.

    Example: ordinoise review audit --reviewer Ada

    Parameters
    ----------
    folder
        What ordinoise audit wrote.
    port
        Where to listen on this computer; a free one by default.
    reviewer
        Your name; the page asks for it otherwise.
    no_browser
        Only print the address, do not open it.
    json
        Print the address as JSON.
    """
    from ordinoise.app.review.serve import serve
    from ordinoise.app.workflow import refitting

    def tell(address: str) -> None:
        if json:
            from ordinoise.app.cli._findings import print_json

            print_json({"address": address})
        else:
            from ordinoise.app.cli._console import console

            console().print(f"Review page: {address}\nCtrl-C ends it; every decision is kept.", soft_wrap=True)
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    serve(folder, port=port, reviewer=reviewer, on_ready=tell, refit=refitting(folder))
