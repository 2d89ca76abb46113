"""Output in the terminal: tables, progress, and what was read from a file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from ordinoise._text import TextTable
    from ordinoise.app.tables import GradedTable
    from ordinoise.app.tables.reader import Opened
    from ordinoise.jobs import Failure, StoredResult

# Output to a file or a pipe is this wide, meant to hold our tables; a round number, chosen by no run.
PIPE_WIDTH = 130
# Characters that steer a terminal or break a line: control characters, lone surrogates, marks of text direction.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """`text` with a replacement character for every character that a terminal would act on."""
    return _UNFIT.sub("\ufffd", text)


def say(screen: Console, sentence: str, *, bold: str = "", wraps: bool = True) -> None:
    """Print a sentence with names or cells from outside: as they are, without markup and control characters.

    `bold` is printed in bold before the sentence. Without `wraps`, a long address stays in one piece.
    """
    from rich.text import Text

    screen.print(Text.assemble((printable(bold), "bold"), printable(sentence)), soft_wrap=not wraps)


def console(*, stderr: bool = False) -> Console:
    """A rich console as wide as the terminal, or `PIPE_WIDTH` wide if the output is a file or a pipe."""
    from rich.console import Console

    terminal = Console(stderr=stderr)
    return terminal if terminal.is_terminal else Console(width=PIPE_WIDTH, stderr=stderr)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print a warning of any library as one line of words on standard error, each once, without the line of code."""
    said: set[str] = set()

    def show(message: Warning | str, *_: object) -> None:
        sentence = " ".join(str(message).split())
        if sentence not in said:
            said.add(sentence)
            with suppress(OSError):  # the terminal may be gone, as after a hang-up
                say(console(stderr=True), f" {sentence}", bold="Note:")

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]  # the arguments are those of Python's own
        yield


def say_continued(out: Path) -> None:
    """Say on standard error that a stopped run left finished models for this output."""
    from ordinoise._files import unfinished

    if unfinished(out).is_dir():
        sentence = " a run that was stopped; its finished models are used if the table and the options are the same."
        say(console(stderr=True), sentence, bold="Continues")


@contextmanager
def compilation_told() -> Iterator[None]:
    """Say once on a terminal that functions are compiled, which takes a while and happens once per computer."""
    import logging

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            screen = console(stderr=True)
            if screen.is_terminal:
                say(screen, f" {record.getMessage()}", bold="Note:")

    logger, teller = logging.getLogger("ordinoise.compiling"), Teller(logging.INFO)
    level, logger.level = logger.level, logging.INFO
    logger.addHandler(teller)
    try:
        yield
    finally:
        logger.removeHandler(teller)
        logger.level = level


class TrialProgress:
    """A progress bar per plan of trials, with the remaining time."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}", markup=False))
        self._bar = Progress(*columns, console=console, transient=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def start(self, what: str, n_trials: int) -> None:
        """Start the bar of a plan."""
        say(self._bar.console, f": {n_trials:,} trials; Ctrl-C stops, the same command continues.", bold=what)
        self._task = self._bar.add_task(what, total=n_trials, left="")

    def reuse(self, n_trials: int) -> None:
        """Advance by trials that an earlier run finished."""
        self._bar.advance(self._task, n_trials)

    def advance(self, ended: StoredResult | Failure, seconds_left: float) -> None:
        """Advance by one trial."""
        minutes, seconds = divmod(int(min(seconds_left, 1e7)), 60)
        trial = ended.trial
        doing = " ".join(str(trial[name]) for name in ("dataset", "loss", "variant", "contestant") if name in trial)
        self._bar.update(self._task, advance=1, left=printable(f"{minutes}:{seconds:02} left  {doing}"))


@contextmanager
def step_progress(doing: str) -> Iterator[Callable[[], None]]:
    """A callable for after every step of work of unknown length: a count and the time, on standard error."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    screen = console(stderr=True)
    columns = [SpinnerColumn(), TextColumn(doing), TextColumn("step {task.completed:.0f}"), TimeElapsedColumn()]
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda: progress.advance(task)


def rich_table(table: TextTable, *, grouped: bool = False) -> Table:
    """The table for rich: names left-aligned, numbers right-aligned, notes below.

    With `grouped`, a rule separates rows whose first cells differ.
    """
    from rich.table import Table
    from rich.text import Text

    notes = Text("\n".join(map(printable, table.notes)))
    shown = Table(title=Text(printable(table.title)), title_justify="left", caption=notes, caption_justify="left")
    for at, column in enumerate(table.columns):
        shown.add_column(Text(printable(column)), justify="left" if at < table.n_names else "right")
    for before, row in zip((None, *table.rows), table.rows, strict=False):
        if grouped and before and row[0] != before[0]:
            shown.add_section()
        shown.add_row(*(Text(printable(cell)) for cell in row))
    return shown


def show_table(*, is_quiet: bool = False) -> Callable[[GradedTable], None]:
    """A function that prints what was read from a file: rows, features, grades and messages; nothing if `is_quiet`."""
    from collections import Counter

    def show(table: GradedTable) -> None:
        kinds = Counter(column.kind for column in table.columns if column.role == "feature")
        features = ", ".join(f"{count} of kind {kind}" for kind, count in kinds.items())
        grades = " < ".join(map(str, table.classes))
        size = f"{table.n_rows:,} rows; features: {features}"
        for line in (f"{table.path.name}: {size}; grades {grades}", *(f"  {message}" for message in table.messages)):
            say(console(), line)
        for sentence in table.cautions:
            say(console(), f" {sentence}.", bold="Careful:")

    return (lambda _: None) if is_quiet else show


def show_opened(opened: Opened) -> None:
    """Print on standard error how a file was read, if that is not usual."""
    screen = console(stderr=True)
    for sentence in opened.said:
        say(screen, f" {sentence}", bold="Note:")
    for sentence in opened.cautions:
        say(screen, f" {sentence}.", bold="Careful:")


def show_stage(*, is_quiet: bool = False) -> Callable[[str], None]:
    """A function that prints what is done now, and when it began, on standard error; nothing if `is_quiet`."""
    import time

    start = time.monotonic()

    def show(words: str) -> None:
        seconds = int(time.monotonic() - start)
        say(console(stderr=True), f"{seconds // 60:3}:{seconds % 60:02} {words}")

    return (lambda _: None) if is_quiet else show
