"""Tables and progress in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ordinoise._text import TextTable
    from ordinoise.app.tables import GradedTable
    from ordinoise.paper.runs import Failure, StoredResult


WIDTH_OF_A_FILE = 130


def console(*, stderr: bool = False) -> Console:
    """Where to print: as wide as the terminal, or wide enough for our tables where the output is a file or a pipe.

    With `stderr` it leaves standard output to a program that reads it.
    """
    from rich.console import Console

    terminal = Console(stderr=stderr)
    return terminal if terminal.is_terminal else Console(width=WIDTH_OF_A_FILE, stderr=stderr)


class TrialProgress:
    """A bar for every plan, told of each trial; the time that is left follows from the work that is left."""

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
        """A plan of so many trials begins."""
        self._bar.console.print(f"[bold]{what}[/]: {n_trials:,} trials; Ctrl-C stops, the same command goes on.")
        self._task = self._bar.add_task(what, total=n_trials, left="")

    def reuse(self, n_trials: int) -> None:
        """So many of them were there already."""
        self._bar.advance(self._task, n_trials)

    def advance(self, told: StoredResult | Failure, seconds_left: float) -> None:
        """A trial ended."""
        minutes, seconds = divmod(int(min(seconds_left, 1e7)), 60)
        trial = told.trial
        doing = " ".join(str(trial[name]) for name in ("dataset", "loss", "variant", "contestant") if name in trial)
        self._bar.update(self._task, advance=1, left=f"{minutes}:{seconds:02} left  {doing}")


def rich_table(table: TextTable, *, grouped: bool = False) -> Table:
    """The table as rich prints it: names to the left, numbers to the right, notes below; a rule between groups."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        title=Text(table.title), title_justify="left", caption=Text("\n".join(table.notes)), caption_justify="left"
    )
    for at, column in enumerate(table.columns):
        shown.add_column(Text(column), justify="left" if at < table.n_names else "right")
    names: tuple[str, ...] = ()
    for row in table.rows:
        if grouped and names and row[0] != names[0]:
            shown.add_section()
        shown.add_row(*map(Text, row))
        names = row
    return shown


def show_table_words(table: GradedTable) -> None:
    """What was read, before the long work: columns, grades, and what was done to them."""
    from collections import Counter

    kinds = Counter(column.kind for column in table.columns if column.role == "feature")
    features = ", ".join(f"{count} of kind {kind}" for kind, count in kinds.items())
    shown = console()
    grades = " < ".join(map(str, table.classes))
    size = f"{table.frame.height:,} rows; learning from {features}"
    shown.print(f"{table.path.name}: {size}; grades {grades}", markup=False, highlight=False)
    for words in table.words:
        shown.print(f"  {words}", markup=False, highlight=False)
