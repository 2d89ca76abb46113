"""How a blend is fitted: what was asked for, and the numbers of rows from which on it is done otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ordinoise._validation import Ints, as_count
from ordinoise.classifiers.blend.lineup import FEW_ROWS, LARGE_TABLE, usual_folds
from ordinoise.crossfit import stratified_folds

SMALL, ROUNDS_WHEN_SMALL = 1000, 2
"""Below 1000 rows the folds are drawn twice, since a single draw decides too much (decision 0011)."""
FEWEST_KEPT, LEAST_SECONDS = 2000, 0.5
"""Rows and time from which on a fit is kept in a file: round numbers, well above what the file costs."""


@dataclass(frozen=True, eq=False)
class BlendPlan:
    """How a blend is fitted.

    Attributes
    ----------
    learner, noise, answer, prior_rate, decision, n_folds, n_rounds, n_jobs, verbose
        As in `OrdinalClassifier`.
    folder : Path or None
        Where fits that take long are kept, to continue with.
    continues_from, races_from, keeps_from : int
        Rows from which on corrected learners start from trusting ones; candidates are dropped after the first fold;
        a fit is kept, if it took `kept_seconds`.
    """

    learner: str = "auto"
    noise: Any = "estimate"
    answer: str = "auto"
    prior_rate: float | tuple[float, float] | None = None
    decision: Any = "median"
    n_folds: int | None = None
    n_rounds: int | None = None
    n_jobs: int | None = None
    verbose: bool = False
    folder: Path | None = None
    continues_from: int = FEW_ROWS
    races_from: int = LARGE_TABLE
    keeps_from: int = FEWEST_KEPT
    kept_seconds: float = LEAST_SECONDS

    @property
    def estimates(self) -> bool:
        """Whether the noise is estimated from the held-out predictions."""
        return isinstance(self.noise, str) and self.noise == "estimate"

    @property
    def drops(self) -> bool:
        """Whether candidates with little weight are dropped."""
        return self.learner == "auto"

    def folds(self, ranks: Ints, groups: Ints | None, rng: np.random.Generator) -> Ints:
        """Fold of every row, shape (n_rounds, n_samples)."""
        wanted = usual_folds(len(ranks)) if self.n_folds is None else as_count("n_folds", self.n_folds, 2)
        n_folds = min(wanted, len(ranks))
        usual = ROUNDS_WHEN_SMALL if len(ranks) < SMALL else 1
        n_rounds = usual if self.n_rounds is None else as_count("n_rounds", self.n_rounds, 1)
        return np.stack([stratified_folds(ranks, n_folds, rng, groups) for _ in range(n_rounds)])
