"""``ordinoise review``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Json


def review(
    folder: Path,
    *,
    port: int = 0,
    reviewer: str | None = None,
    no_browser: bool = False,
    pictures: bool = False,
    json: Json = False,
) -> None:
    """Settle the suspicious grades of an audit, or the items that divide raters, in the browser.

    Every decision is saved at once; Ctrl-C stops it.

    Example: ordinoise review audit --reviewer Ada

    Parameters
    ----------
    folder
        Folder written by ordinoise audit or ordinoise raters.
    port
        Port on this computer; a free one by default.
    reviewer
        Your name; without it the page asks.
    no_browser
        Print the address without opening a browser.
    pictures
        Show pictures of a folder that the audit names, though the audit does not lie in it.
    """
    from ordinoise.app.review.serve import serve
    from ordinoise.app.verbs.review import refit_of

    def show(address: str) -> None:
        if json:
            import sys

            from ordinoise.app.cli._findings import print_json

            print_json({"address": address})
            sys.stdout.flush()  # a program at the end of a pipe waits for it
        else:
            from ordinoise.app.cli._console import console, say

            say(console(), f"Review page: {address}", wraps=False)
            say(console(), "Ctrl-C stops it; every decision is saved.")

    def hide(place: Path) -> None:
        from ordinoise.app.cli._console import console, say

        sentence = f" the pictures in {place} are not shown, as {folder} lies elsewhere; --pictures shows them."
        say(console(stderr=True), sentence, bold="Note:")

    def browse(address: str) -> None:
        import webbrowser

        webbrowser.open(address)

    opened = None if no_browser else browse
    serve(
        folder, port=port, reviewer=reviewer, on_ready=show, refit=refit_of(folder), open_browser=opened,
        pictures=pictures, on_hidden=hide,
    )  # fmt: skip
