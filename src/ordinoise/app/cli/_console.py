"""Output in the terminal: tables, progress, and what was read from a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ordinoise._text import TextTable
    from ordinoise.app.tables import GradedTable
    from ordinoise.paper.runs import Failure, StoredResult

# Output to a file or a pipe is this wide, meant to hold our tables; a round number, chosen by no run.
PIPE_WIDTH = 130


def console(*, stderr: bool = False) -> Console:
    """A rich console as wide as the terminal, or `PIPE_WIDTH` wide if the output is a file or a pipe."""
    from rich.console import Console

    terminal = Console(stderr=stderr)
    return terminal if terminal.is_terminal else Console(width=PIPE_WIDTH, stderr=stderr)


class TrialProgress:
    """A progress bar per plan of trials, with the remaining time."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
        self._bar = Progress(*columns, console=console, transient=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def start(self, what: str, n_trials: int) -> None:
        """Start the bar of a plan."""
        self._bar.console.print(f"[bold]{what}[/]: {n_trials:,} trials; Ctrl-C stops, the same command continues.")
        self._task = self._bar.add_task(what, total=n_trials, left="")

    def reuse(self, n_trials: int) -> None:
        """Advance by trials that an earlier run finished."""
        self._bar.advance(self._task, n_trials)

    def advance(self, ended: StoredResult | Failure, seconds_left: float) -> None:
        """Advance by one trial."""
        minutes, seconds = divmod(int(min(seconds_left, 1e7)), 60)
        trial = ended.trial
        doing = " ".join(str(trial[name]) for name in ("dataset", "loss", "variant", "contestant") if name in trial)
        self._bar.update(self._task, advance=1, left=f"{minutes}:{seconds:02} left  {doing}")


def rich_table(table: TextTable, *, grouped: bool = False) -> Table:
    """The table for rich: names left-aligned, numbers right-aligned, notes below.

    With `grouped`, a rule separates rows whose first cells differ.
    """
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        title=Text(table.title), title_justify="left", caption=Text("\n".join(table.notes)), caption_justify="left"
    )
    for at, column in enumerate(table.columns):
        shown.add_column(Text(column), justify="left" if at < table.n_names else "right")
    for before, row in zip((None, *table.rows), table.rows, strict=False):
        if grouped and before and row[0] != before[0]:
            shown.add_section()
        shown.add_row(*map(Text, row))
    return shown


def show_table(*, is_quiet: bool = False) -> Callable[[GradedTable], None]:
    """A function that prints what was read from a file: rows, features, grades and messages; nothing if `is_quiet`."""
    from collections import Counter

    def show(table: GradedTable) -> None:
        kinds = Counter(column.kind for column in table.columns if column.role == "feature")
        features = ", ".join(f"{count} of kind {kind}" for kind, count in kinds.items())
        grades = " < ".join(map(str, table.classes))
        size = f"{table.frame.height:,} rows; features: {features}"
        for line in (f"{table.path.name}: {size}; grades {grades}", *(f"  {message}" for message in table.messages)):
            console().print(line, markup=False, highlight=False)

    return (lambda _: None) if is_quiet else show
