"""How long the same updates would have taken in the paper's style."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ordinoise.paper import SETS
from ordinoise.paper.runs import StoredResult


@dataclass(frozen=True)
class Speed:
    """Updates of a run, and what they cost in both ways.

    Attributes
    ----------
    n_updates : int
        Of all networks, those behind the estimated matrices too.
    loop_seconds : float
        One after the other in the paper's style, by the time of an update measured for each set.
    seconds : float
        Here, on the clock.
    busy_seconds : float
        Here, summed over the workers.
    """

    n_updates: int
    loop_seconds: float
    seconds: float
    busy_seconds: float

    @property
    def ratio(self) -> float:
        """How many times faster, on the clock."""
        return self.loop_seconds / self.seconds

    @property
    def ratio_a_worker(self) -> float:
        """How many times faster if the work had been done by one worker."""
        return self.loop_seconds / self.busy_seconds


def loop_microseconds(datasets: Iterable[str]) -> dict[str, float]:
    """Time of one update in the paper's style for each set; raises ImportError without PyTorch."""
    from ordinoise.learners.torch.paper_loop import microseconds_an_update

    return {name: microseconds_an_update(SETS[name].n_features, SETS[name].n_classes) for name in datasets}


def speed(results: Iterable[StoredResult], microseconds: dict[str, float], seconds: float) -> Speed:
    """The speed of a run that took so many seconds. An estimate that two losses share counts once."""
    n_updates, loop, busy = 0, 0.0, 0.0
    estimates = set()
    for stored in results:
        trial, made = stored.trial, stored.result["n_updates"]
        estimate = (trial["dataset"], trial["noise"], trial["split"], trial["estimator"])
        if estimate not in estimates:
            made += stored.result["n_estimating_updates"]
            estimates.add(estimate)
        n_updates += made
        loop += made * microseconds[trial["dataset"]] * 1e-6
        busy += stored.seconds
    return Speed(n_updates, loop, seconds, busy)
