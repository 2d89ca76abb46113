"""The command line: one module per verb. Only this package prints."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from cyclopts import App, CycloptsError, CycloptsPanel, Parameter

from ordinoise import __version__
from ordinoise.app.cli._columns import advice_on_columns
from ordinoise.app.cli._console import compilation_told, console, plain_warnings, printable
from ordinoise.app.cli._environment import check_environment
from ordinoise.app.cli._memory import causes, is_short_of_memory, memory_limit, memory_sentence, run_watched
from ordinoise.app.cli._signals import stop_signals
from ordinoise.app.cli._streams import drop_rest, steady_streams
from ordinoise.app.cli.audit import audit
from ordinoise.app.cli.check import check
from ordinoise.app.cli.corrupt import corrupt
from ordinoise.app.cli.data import data
from ordinoise.app.cli.demo import demo
from ordinoise.app.cli.evaluate import evaluate
from ordinoise.app.cli.export import export
from ordinoise.app.cli.fit import fit
from ordinoise.app.cli.judge import judge
from ordinoise.app.cli.next import next_rows
from ordinoise.app.cli.noise import noise
from ordinoise.app.cli.plan import plan
from ordinoise.app.cli.predict import predict
from ordinoise.app.cli.raters import raters
from ordinoise.app.cli.reproduce import reproduce
from ordinoise.app.cli.review import review

app = App(
    name="ordinoise",
    help="Learn ordered grades from labels that people got wrong, and find the ones to fix.",
    version=__version__,
    default_parameter=Parameter(negative=""),
    suppress_keyboard_interrupt=False,
)
VERBS = (
    fit, evaluate, predict, noise, audit, raters, review, next_rows, check,
    judge, plan, corrupt, export, reproduce, data, demo,
)  # fmt: skip
for verb in VERBS:
    app.command(verb, name=verb.__name__.partition("_")[0])
app.register_install_completion_command()
INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 success, 1 a check that failed, 2 bad input, 3 a check that cannot be told, 70 internal error, 130
    stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """
    try:
        os.getcwd()  # noqa: PTH109 - without a path made of it
    except FileNotFoundError:
        _print_error("the current folder must exist, got one that was removed; change to another")
        raise SystemExit(2) from None
    if arguments is None:  # otherwise the process is that of another program
        try:
            check_environment()
        except ValueError as error:
            _print_error(str(error))
            raise SystemExit(2) from None
    limit = memory_limit()
    if limit is None or arguments is not None:  # called by another program, whose process is not ours to fork
        _run_verb(arguments)
    else:
        run_watched(limit, lambda: _run_verb(arguments), _print_error)


def _run_verb(arguments: Sequence[str] | None) -> None:
    """Run a verb until it ends or is told to."""
    with stop_signals() as received:
        try:
            with steady_streams() as lost:
                _run(arguments)
        except SystemExit as ending:
            if ending.code or not lost:
                raise
        finally:
            if received:  # also if the verb ended well, as review does
                raise SystemExit(128 + received[0])
    if lost:
        reason = lost[0].strerror or lost[0]
        _print_error(f"standard output must be writable, got: {reason}; what was written to files is complete")
        raise SystemExit(2)


def _run(arguments: Sequence[str] | None) -> None:
    """Run a verb; every exception becomes one sentence and an exit code."""
    try:
        with plain_warnings(), compilation_told():
            app(sys.argv[1:] if arguments is None else arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:  # its own exit code differs between its versions
        words = [str(word) for word in (sys.argv[1:] if arguments is None else arguments)]
        _print_usage_error("\n".join(filter(None, [str(error), advice_on_columns(str(error), words)])))
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        _say_stopped()
    except BrokenPipeError:
        # The reader of our output is gone, as in "| head": exit silently, also when Python flushes at exit.
        drop_rest(sys.stdout)
        raise SystemExit(0) from None
    except SystemExit:
        raise
    except BaseException as error:  # the panics of polars are no Exception
        if os.environ.get("ORDINOISE_TRACEBACK"):
            raise
        if any(isinstance(one, KeyboardInterrupt) for one in causes(error)):  # in a library that wrapped it
            _say_stopped()
        if is_short_of_memory(error):
            _print_error(memory_sentence(error))
            raise SystemExit(2) from None
        if isinstance(error, (ValueError, OSError)) or (isinstance(error, ImportError) and "install" in str(error)):
            _print_error(str(error))
            raise SystemExit(2) from None
        _print_error(f"ordinoise failed with {type(error).__name__}: {error}; ORDINOISE_TRACEBACK=1 shows where")
        raise SystemExit(INTERNAL_ERROR) from None


def _say_stopped() -> NoReturn:
    _print_error("stopped; finished work is kept")
    raise SystemExit(130) from None


def _print_usage_error(message: str) -> None:
    """Print what is wrong with the arguments, in the frame that cyclopts gives to help, without control characters."""
    lines = "\n".join(map(printable, message.splitlines()))
    with contextlib.suppress(OSError):
        console(stderr=True).print(CycloptsPanel(lines))


def _print_error(message: str) -> None:
    """Print one line on standard error."""
    with contextlib.suppress(OSError):  # the terminal may be gone, as after a hang-up
        print(printable(" ".join(message.split())), file=sys.stderr, flush=True)  # noqa: T201
