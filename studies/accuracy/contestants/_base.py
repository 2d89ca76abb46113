"""What a contestant is."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from studies.accuracy.problems import Problem

OWN = "own"


@dataclass(frozen=True)
class Contestant:
    """A way to learn ordered grades, with the settings it enters with.

    Attributes
    ----------
    name : str
    make : callable
        The learner for a problem, not yet fitted; imports what it needs. It has `fit(X, y)` and `predict`,
        `predict_proba` or both. Ours see labels 0..n_classes-1; the others may rely on every class being present.
    settings : str
        How it is set, in words.
    needs : tuple of str
        Packages to import, beyond the library's own dependencies.
    decisions : tuple of str
        ``own`` is the learner's `predict`; ``mode`` and ``median`` read its probabilities. Each is an entry of its own.
    seconds : float
        Rough processor seconds of a fit to a small set.
    is_slow : bool
        Whether wide sets take it so long that a quick study does without it.
    is_ours : bool
        Whether it is of this library.
    is_told : bool
        Whether it is given the noise matrix, which nobody has in practice.
    """

    name: str
    make: Callable[[Problem], Any]
    settings: str
    needs: tuple[str, ...] = ()
    decisions: tuple[str, ...] = (OWN,)
    seconds: float = 1.0
    is_slow: bool = False
    is_ours: bool = False
    is_told: bool = False

    @property
    def entries(self) -> dict[str, str]:
        """The name of the entry that each decision makes."""
        if len(self.decisions) == 1:
            return {self.decisions[0]: self.name}
        return {decision: f"{self.name}, {decision}" for decision in self.decisions}

    @property
    def absent_packages(self) -> list[str]:
        """What it needs and does not find."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]
