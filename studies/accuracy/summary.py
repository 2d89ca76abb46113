"""From results to a table: mean and spread over the splits of every entry on every problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordinoise.paper.runs.store import StoredResult
from studies.accuracy.contestants import CONTESTANTS
from studies.accuracy.contests import STANDARD

GREATER_IS_BETTER = {
    "mean_absolute_error": False,
    "zero_one_loss": False,
    "quadratic_weighted_kappa": True,
    "ranked_probability_score": False,
    "fit_seconds": False,
}
"""What is measured, and whether more of it is better."""

METRICS = tuple(GREATER_IS_BETTER)
"""What is measured."""


@dataclass(frozen=True)
class Score:
    """What one entry measured on one split.

    Attributes
    ----------
    dataset, noise, entry : str
        The set with its cut, the noise, and the contestant with its decision if it has two.
    split, n_training_rows : int
    values : dict
        The metrics; without the ranked probability score where there are no probabilities.
    """

    dataset: str
    noise: str
    entry: str
    split: int
    n_training_rows: int
    values: dict[str, float]


@dataclass(frozen=True)
class Line:
    """One entry on one set under one noise.

    Attributes
    ----------
    dataset, noise, entry : str
    n_splits, n_training_rows : int
        Splits averaged over, and training rows of each (their mean where queries differ in size).
    means, sds : dict
        Of each metric over the splits; NaN where the entry has no such metric or, for the spread, a single split.
    """

    dataset: str
    noise: str
    entry: str
    n_splits: int
    n_training_rows: int
    means: dict[str, float]
    sds: dict[str, float]

    @property
    def block(self) -> tuple[str, str]:
        """The problem that entries are compared on."""
        return self.dataset, self.noise


def told_entries() -> set[str]:
    """Entries of contestants that are given the noise matrix."""
    return {entry for who in CONTESTANTS.values() if who.is_told for entry in who.entries.values()}


def scores(results: Iterable[StoredResult]) -> Iterator[Score]:
    """Each entry's measurements; a contestant with two decisions gives two entries."""
    for stored in results:
        trial, result = stored.trial, stored.result
        entries = CONTESTANTS[trial["contestant"]].entries
        shared = {name: result[name] for name in METRICS if name in result}
        for decision, errors in result["decisions"].items():
            yield Score(
                dataset=_titled(trial),
                noise=trial["noise"],
                entry=entries[decision],
                split=trial["split"],
                n_training_rows=result["n_training_rows"],
                values=errors | shared,
            )


def summary(results: Iterable[StoredResult]) -> list[Line]:
    """Mean and standard deviation over splits of every set, noise and entry, in the order in which they first came.

    Parameters
    ----------
    results : iterable of StoredResult
        What `run_plan` gave.

    Returns
    -------
    list of Line
    """
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores(results):
        groups.setdefault((score.dataset, score.noise, score.entry), []).append(score)
    return [_line(*key, group) for key, group in groups.items()]


def _line(dataset: str, noise: str, entry: str, group: Sequence[Score]) -> Line:
    columns = {name: [score.values.get(name, np.nan) for score in group] for name in METRICS}
    return Line(
        dataset=dataset,
        noise=noise,
        entry=entry,
        n_splits=len(group),
        n_training_rows=round(np.mean([score.n_training_rows for score in group])),
        means={name: float(np.mean(column)) for name, column in columns.items()},
        sds={name: float(np.std(column, ddof=1)) if len(group) > 1 else np.nan for name, column in columns.items()},
    )


def _titled(trial: dict[str, Any]) -> str:
    cut = trial["cut"]
    return str(trial["dataset"]) if cut == STANDARD else f"{trial['dataset']}, {cut.replace('_', ' ')}"
