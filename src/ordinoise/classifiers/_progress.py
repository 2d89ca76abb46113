"""Progress bars, for ``verbose=True``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

OnEpoch = Callable[[int, float, float | None], None]


@contextmanager
def epoch_progress(verbose: bool, max_iter: int) -> Iterator[OnEpoch | None]:
    """A callable for after every epoch, which shows a bar with the losses; None if not `verbose`."""
    if not verbose:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn("epoch"),
        MofNCompleteColumn(),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    ]
    with Progress(*columns) as progress:
        task = progress.add_task("", total=max_iter)

        def on_epoch(epoch: int, loss: float, validation_loss: float | None) -> None:
            words = f"loss {loss:.4f}" + ("" if validation_loss is None else f", validation {validation_loss:.4f}")
            progress.update(task, completed=epoch, description=words)

        yield on_epoch


@contextmanager
def fit_progress(verbose: bool, n_fits: int) -> Iterator[Callable[[], None]]:
    """A callable for after every fit, which advances a bar on standard error if `verbose`."""
    if not verbose:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [SpinnerColumn(), TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=n_fits)
        yield lambda: progress.advance(task)
