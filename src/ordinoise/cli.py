"""The command line: one verb, one library call. The only place that prints."""

from __future__ import annotations

import sys

from cyclopts import App

from ordinoise import __version__

app = App(
    name="ordinoise",
    help="Learn ordered grades from labels that people got wrong, and find the ones to fix.",
    version=__version__,
)


def main() -> None:
    """Run the command line; bad input is one sentence on standard error and exit code 2."""
    try:
        app()
    except ValueError as error:
        print(error, file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
