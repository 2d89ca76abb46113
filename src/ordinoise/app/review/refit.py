"""The estimate again, with the decisions as trusted labels: what it gave before and gives now, in words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ordinoise.app.review.reasons import percent

Interval = tuple[float, float]
Matrix = tuple[tuple[float, ...], ...]
LEAST_CHANGE = 0.005
"""Smaller changes of an entry of the noise matrix are not told."""


@dataclass(frozen=True)
class RefitOutcome:
    """What the labels look like before and after the decisions are trusted.

    Attributes
    ----------
    rate_before, rate_after : float
        Share of wrong labels.
    interval_before, interval_after : (float, float) or None
        Interval of the share; None where there is none.
    matrix_before, matrix_after : tuple of tuple of float
        ``[true, recorded]``.
    n_trusted : int
        Labels that were trusted.
    """

    rate_before: float
    interval_before: Interval | None
    rate_after: float
    interval_after: Interval | None
    matrix_before: Matrix
    matrix_after: Matrix
    n_trusted: int


Refit = Callable[[Sequence[int], Sequence[str]], RefitOutcome]
"""What does the work: rows of the file and their grades in, the outcome out."""


def in_words(outcome: RefitOutcome, classes: Sequence[str]) -> list[str]:
    """Sentences that compare before and after: the share of wrong labels, how sure it is, the entry that moved most."""
    after = _with_interval(outcome.rate_after, outcome.interval_after)
    before = _with_interval(outcome.rate_before, outcome.interval_before)
    first = f"{after} of the labels are wrong by the new estimate, {before} by the one before."
    return [first, *_sharper(outcome), _moved(outcome, classes)]


def _with_interval(rate: float, interval: Interval | None) -> str:
    return percent(rate) + (f" ({percent(interval[0])} to {percent(interval[1])})" if interval else "")


def _sharper(outcome: RefitOutcome) -> list[str]:
    if outcome.interval_before is None or outcome.interval_after is None:
        return []
    before, after = (high - low for low, high in (outcome.interval_before, outcome.interval_after))
    if before <= 0:
        return []
    if after > before:
        return [f"The interval is {percent(after / before - 1)} wider than before: the decisions do not sharpen it."]
    return [f"The interval is {percent(1 - after / before)} narrower than before."]


def _moved(outcome: RefitOutcome, classes: Sequence[str]) -> str:
    change = np.subtract(outcome.matrix_after, outcome.matrix_before)
    np.fill_diagonal(change, 0.0)
    true, recorded = divmod(int(np.abs(change).argmax()), len(change))
    if abs(change[true, recorded]) < LEAST_CHANGE:
        return "No kind of error is clearly more or less common than before."
    more = "more" if change[true, recorded] > 0 else "less"
    then, now = (percent(matrix[true][recorded]) for matrix in (outcome.matrix_before, outcome.matrix_after))
    return f"Recording {classes[true]} as {classes[recorded]} is {more} common than it seemed: {now}, before {then}."


class Refitting:
    """One run of the callable at a time, in a thread of its own, to be asked how it goes."""

    def __init__(self, refit: Refit | None, classes: Sequence[str]) -> None:
        self._refit, self._classes = refit, classes
        self._lock = threading.Lock()
        self._report: dict[str, Any] = {"status": "idle" if refit else "unavailable"}
        self._started = 0.0

    def start(self, rows: Sequence[int], grades: Sequence[str]) -> bool:
        """Begin, unless one is under way; whether it did."""
        with self._lock:
            if self._refit is None or self._report["status"] == "running":
                return False
            self._started = time.monotonic()
            self._report = {"status": "running", "n_trusted": len(rows)}
        # A daemon: Ctrl-C ends the program, not only the page.
        threading.Thread(target=self._run, args=(self._refit, rows, grades), daemon=True).start()
        return True

    def report(self) -> dict[str, Any]:
        """How it goes: ``status`` is unavailable, idle, running, done or failed."""
        with self._lock:
            running = self._report["status"] == "running"
            return self._report | ({"seconds": round(time.monotonic() - self._started, 1)} if running else {})

    def _run(self, refit: Refit, rows: Sequence[int], grades: Sequence[str]) -> None:
        try:
            outcome = refit(rows, grades)
            done = {"status": "done", **asdict(outcome), "words": in_words(outcome, self._classes)}
        except Exception as error:  # whatever it was, the page must hear that it is over
            done = {"status": "failed", "error": str(error) or type(error).__name__}
        seconds = round(time.monotonic() - self._started, 1)
        with self._lock:
            self._report = done | {"seconds": seconds}
