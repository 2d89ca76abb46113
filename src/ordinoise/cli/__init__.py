"""The command line: one verb, one library call. The only place that prints."""

from __future__ import annotations

import sys

from cyclopts import App, Parameter

from ordinoise import __version__
from ordinoise.cli.bench import bench
from ordinoise.cli.demo import demo
from ordinoise.cli.export import export
from ordinoise.cli.reproduce import reproduce

app = App(
    name="ordinoise",
    help="Learn ordered grades from labels that people got wrong, and find the ones to fix.",
    version=__version__,
    default_parameter=Parameter(negative=""),
)
for verb in (demo, export, reproduce, bench):
    app.command(verb)


def main() -> None:
    """Run the command line; bad input is one sentence on standard error and exit code 2."""
    try:
        app()
    except (ValueError, OSError, ImportError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("stopped; what was finished is kept", file=sys.stderr)  # noqa: T201
        raise SystemExit(130) from None
