"""Summary of the results: mean and standard deviation over the splits of every entry on every problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordinoise.jobs.store import StoredResult
from studies.accuracy.contestants import CONTESTANTS
from studies.accuracy.contests import STANDARD

ERROR = "mean_absolute_error"
"""The metric of ranks and pages."""

METRICS = (ERROR, "zero_one_loss", "quadratic_weighted_kappa", "ranked_probability_score", "fit_seconds")
"""All metrics, for the CSV table."""


@dataclass(frozen=True)
class Score:
    """The metrics of one entry on one split.

    Attributes
    ----------
    dataset, noise, entry : str
        The set with its cut, the noise, and the contestant with its decision if it has several.
    split, n_training_rows : int
    values : dict
        By metric; without the ranked probability score if there are no probabilities.
    """

    dataset: str
    noise: str
    entry: str
    split: int
    n_training_rows: int
    values: dict[str, float]

    @property
    def run(self) -> tuple[str, str, int]:
        """What entries have in common when they are compared: set, noise and split."""
        return self.dataset, self.noise, self.split


@dataclass(frozen=True)
class Line:
    """One entry on one set under one noise.

    Attributes
    ----------
    dataset, noise, entry : str
    n_splits, n_training_rows : int
        Number of splits, and of training rows of each (their mean, since queries differ in size).
    means, sds : dict
        Mean and standard deviation of each metric over the splits; NaN if the entry lacks the metric, and for the
        standard deviation of a single split.
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
        """The problem on which entries are compared."""
        return self.dataset, self.noise


def oracle_entries() -> set[str]:
    """Entries of contestants that are given the noise matrix."""
    return {entry for who in CONTESTANTS.values() if who.is_oracle for entry in who.entries.values()}


def scores(results: Iterable[StoredResult]) -> Iterator[Score]:
    """The metrics of every entry and split; a contestant with two decisions has two entries."""
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
    """Mean and standard deviation over the splits for every set, noise and entry, in the order of the results."""
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
