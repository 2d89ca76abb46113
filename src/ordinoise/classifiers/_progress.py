"""Progress bars, for ``verbose=True``."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_SECONDS = 0.1
"""Least time between two pictures of a bar in a notebook, which are sent to the browser; a round number."""
OnEpoch = Callable[[int, float, float | None], None]


@contextmanager
def epoch_progress(verbose: bool, max_iter: int) -> Iterator[OnEpoch | None]:
    """A callable for after every epoch, which shows a bar with the losses; None if not `verbose`."""
    if not verbose:
        yield None
        return
    if in_notebook():
        with notebook_bar("epoch", max_iter) as show:
            yield lambda epoch, loss, validation_loss: show(epoch, _losses(loss, validation_loss))
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
            progress.update(task, completed=epoch, description=_losses(loss, validation_loss))

        yield on_epoch


@contextmanager
def fit_progress(verbose: bool, n_fits: int) -> Iterator[Callable[[], None]]:
    """A callable for after every fit, which advances a bar on standard error or in the notebook if `verbose`."""
    if not verbose:
        yield lambda: None
        return
    if in_notebook():
        done = itertools.count(1)
        with notebook_bar("learning", n_fits) as show:
            yield lambda: show(next(done), "")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [SpinnerColumn(), TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=n_fits)
        yield lambda: progress.advance(task)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    from rich.console import Console

    return Console().is_jupyter


@contextmanager
def notebook_bar(doing: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """A callable that moves a bar below the cell, given the number done and words; in the end it goes away."""
    from IPython.display import HTML, display

    shown, last = display(HTML(_bar(doing, 0, total, "")), display_id=True), 0.0

    def show(done: int, words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY_SECONDS:
            last = time.monotonic()
            shown.update(HTML(_bar(doing, done, total, words)))

    try:
        yield show
    finally:
        shown.update(HTML(""))


def _bar(doing: str, done: int, total: int, words: str) -> str:
    return f'{doing} {done}/{total} <progress value="{done}" max="{total}"></progress> {words}'


def _losses(loss: float, validation_loss: float | None) -> str:
    return f"loss {loss:.4f}" + ("" if validation_loss is None else f", validation {validation_loss:.4f}")
