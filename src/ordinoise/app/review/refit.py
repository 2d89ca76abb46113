"""A new noise estimate with the settled grades as verified labels, compared with the previous one."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordinoise._text import percent
from ordinoise.app.records.history import Settled
from ordinoise.estimate import Estimate
from ordinoise.finding import finding_of
from ordinoise.noise import Noise

# Smaller changes of an entry of the noise matrix are not mentioned; a round number, chosen by no run.
LEAST_CHANGE = 0.005


@dataclass(frozen=True, eq=False)
class RefitOutcome:
    """The noise before and after the verified grades are used.

    Attributes
    ----------
    before, after : Noise
    n_trusted : int
        Number of verified labels.
    """

    before: Noise
    after: Noise
    n_trusted: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the page."""
        return {
            **_shares("before", self.before),
            **_shares("after", self.after),
            "matrix_before": self.before.matrix.tolist(),
            "matrix_after": self.after.matrix.tolist(),
            "n_trusted": self.n_trusted,
        }


def _shares(when: str, noise: Noise) -> dict[str, Any]:
    """The share of wrong labels, None where only a range is known, and its ends."""
    wrong = noise.wrong_share
    return {
        f"rate_{when}": None if wrong is None or wrong.is_range else wrong.value,
        f"interval_{when}": None if wrong is None or math.isnan(wrong.low) else wrong.ends,
    }


Refit = Callable[[Sequence[Settled]], RefitOutcome]
"""Estimates the noise again, given what the review has settled."""


def in_words(outcome: RefitOutcome, classes: Sequence[str]) -> list[str]:
    """Sentences that compare the share of wrong labels, its interval, and the entry that changed most."""
    before, after = finding_of(outcome.before), finding_of(outcome.after)
    if after.wrong is None:
        return after.sentences
    first = f"New estimate: {after.phrase}. Previous estimate: {before.phrase}."
    if before.wrong is None:
        return [first]
    return [first, *_interval_change(before.wrong, after.wrong), _matrix_change(outcome, classes)]


def _interval_change(before: Estimate, after: Estimate) -> list[str]:
    if before.is_range != after.is_range or not (before.half_width > 0 and math.isfinite(after.half_width)):
        return []
    change, what = after.half_width / before.half_width, "range" if after.is_range else "interval"
    if change > 1:
        return [f"The {what} is {percent(change - 1)} wider than before: the decisions do not narrow it."]
    return [f"The {what} is {percent(1 - change)} narrower than before."]


def _matrix_change(outcome: RefitOutcome, classes: Sequence[str]) -> str:
    change = outcome.after.matrix - outcome.before.matrix
    np.fill_diagonal(change, 0.0)
    true, recorded = divmod(int(np.abs(change).argmax()), len(change))
    if abs(change[true, recorded]) < LEAST_CHANGE:
        return "No kind of error is clearly more or less common than before."
    more = "more" if change[true, recorded] > 0 else "less"
    then, now = (percent(noise.matrix[true, recorded]) for noise in (outcome.before, outcome.after))
    return f"Recording {classes[true]} as {classes[recorded]} is {more} common than estimated: {now}, before {then}."


class RefitJob:
    """Runs a refit in a background thread, one at a time, and reports its status."""

    def __init__(self, refit: Refit | None, classes: Sequence[str]) -> None:
        self._refit, self._classes = refit, classes
        self._lock = threading.Lock()
        self._report: dict[str, Any] = {"status": "idle" if refit else "unavailable"}
        self._started = 0.0

    def start(self, settled: Sequence[Settled]) -> bool:
        """Start a run unless one is running; returns whether it started."""
        with self._lock:
            if self._refit is None or self._report["status"] == "running":
                return False
            self._started = time.monotonic()
            self._report = {"status": "running", "n_trusted": len(settled)}
        # A daemon thread, so that Ctrl-C ends the program.
        threading.Thread(target=self._run, args=(self._refit, settled), daemon=True).start()
        return True

    def report(self) -> dict[str, Any]:
        """Status (unavailable, idle, running, done or failed), seconds, and outcome or error."""
        with self._lock:
            running = self._report["status"] == "running"
            return self._report | ({"seconds": round(time.monotonic() - self._started, 1)} if running else {})

    def _run(self, refit: Refit, settled: Sequence[Settled]) -> None:
        try:
            outcome = refit(settled)
            done = {"status": "done", **outcome.to_dict(), "words": in_words(outcome, self._classes)}
        except Exception as error:  # the page must learn about any failure
            done = {"status": "failed", "error": str(error) or type(error).__name__}
        seconds = round(time.monotonic() - self._started, 1)
        with self._lock:
            self._report = done | {"seconds": seconds}
