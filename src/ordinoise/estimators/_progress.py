"""A progress bar over epochs, for ``verbose=True``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

OnEpoch = Callable[[int, float, float | None], None]


@contextmanager
def epoch_progress(verbose: bool, max_iter: int) -> Iterator[OnEpoch | None]:
    """What to call after every epoch: a bar with the losses, or nothing."""
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
