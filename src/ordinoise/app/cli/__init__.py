"""The command line: one verb, one library call. The only place that prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from ordinoise import __version__
from ordinoise.app.cli.audit import audit
from ordinoise.app.cli.corrupt import corrupt
from ordinoise.app.cli.data import data
from ordinoise.app.cli.demo import demo
from ordinoise.app.cli.evaluate import evaluate
from ordinoise.app.cli.export import export
from ordinoise.app.cli.fit import fit
from ordinoise.app.cli.noise import noise
from ordinoise.app.cli.plan import plan
from ordinoise.app.cli.predict import predict
from ordinoise.app.cli.reproduce import reproduce
from ordinoise.app.cli.review import review

app = App(
    name="ordinoise",
    help="Learn ordered grades from labels that people got wrong, and find the ones to fix.",
    version=__version__,
    default_parameter=Parameter(negative=""),
    suppress_keyboard_interrupt=False,
)
VERBS = (fit, evaluate, predict, noise, audit, review, plan, corrupt, export, reproduce, data, demo)
for verb in VERBS:
    app.command(verb)
app.register_install_completion_command()


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line: 0 is good, 2 bad input told in one sentence, 1 our fault, 130 stopped by Ctrl-C."""
    try:
        app(sys.argv[1:] if words is None else words, exit_on_error=False)
    except CycloptsError:  # already told; its own exit code differs between its versions
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        _say("stopped; what was finished is kept")
        raise SystemExit(130) from None
    except BrokenPipeError:
        # Whoever read our output has gone; leave without a word, also from the flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except Exception as error:
        if os.environ.get("ORDINOISE_TRACEBACK"):
            raise
        if isinstance(error, (ValueError, OSError)) or (isinstance(error, ImportError) and "install" in str(error)):
            _say(str(error))
            raise SystemExit(2) from None
        _say(f"ordinoise failed with {type(error).__name__}: {error}; ORDINOISE_TRACEBACK=1 shows where")
        raise SystemExit(1) from None


def _say(sentence: str) -> None:
    """On standard error, one line."""
    print(" ".join(sentence.split()), file=sys.stderr)  # noqa: T201
