"""The record of a contestant."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from studies.accuracy.problems import Problem

OWN = "own"


@dataclass(frozen=True)
class Contestant:
    """A learner of ordered grades with its settings.

    Attributes
    ----------
    name : str
    make : callable
        Makes the unfitted learner for a problem, and imports its library. The learner has `fit(X, y)` and `predict`,
        `predict_proba` or both. Ours may lack rows of a grade; for the others every class is present.
    settings : str
        Its settings, in words.
    needs : tuple of str
        Required packages, beyond the dependencies of this library.
    decisions : tuple of str
        ``own`` is the learner's `predict`; ``mode`` and ``median`` are decided from its probabilities. Each decision is
        a separate entry of the tables.
    seconds : float
        Rough processor seconds of a fit to a small set, for the estimate of the time left; how it was measured is not
        recorded.
    is_slow : bool
        Whether the quick study skips it.
    is_ours : bool
        Whether it is part of this library.
    is_oracle : bool
        Whether it is given the noise matrix, which is unknown in practice.
    group : str
        The dependency group that installs what it needs; one other than ``bench`` asks for an environment of its own.
    """

    name: str
    make: Callable[[Problem], Any]
    settings: str
    needs: tuple[str, ...] = ()
    decisions: tuple[str, ...] = (OWN,)
    seconds: float = 1.0
    is_slow: bool = False
    is_ours: bool = False
    is_oracle: bool = False
    group: str = "bench"

    @property
    def entries(self) -> dict[str, str]:
        """Name of the entry of each decision."""
        if len(self.decisions) == 1:
            return {self.decisions[0]: self.name}
        return {decision: f"{self.name}, {decision}" for decision in self.decisions}

    @property
    def absent_packages(self) -> list[str]:
        """Required packages that are not installed."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]
