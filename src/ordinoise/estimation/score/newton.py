"""Damped Fisher scoring: tens of steps where a quasi-Newton method takes hundreds, because the information is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats
from ordinoise.estimation.score.objective import Expansion, Objective

LONGEST_STEP = 2.0
"""Parameters are logarithms and logits: a longer step leaves the region that the expansion describes."""
MOST_TRIALS = 15
DAMPING_FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the descent ended."""

    parameters: Floats
    value: float
    information: Floats
    converged: bool
    n_steps: int


def minimum(objective: Objective, start: Floats, *, max_steps: int = 100, tolerance: float = 1e-4) -> Minimum:
    """Lowest point that steps from `start` reach; converged once a step gains less than `tolerance`."""
    here, at, damping = start, objective.expansion(start), 1e-3
    for n_steps in range(1, max_steps + 1):
        step, value, damping = _downhill(objective, here, at, damping)
        gain = at.value - value
        if gain > 0:
            here = here + step
            at = objective.expansion(here)
        if gain < tolerance:
            return Minimum(here, at.value, at.information, True, n_steps)
    return Minimum(here, at.value, at.information, False, max_steps)


def _downhill(objective: Objective, here: Floats, at: Expansion, damping: float) -> tuple[Floats, float, float]:
    """A step that lowers the value, that value and the next damping; no step at all where none is found."""
    for _ in range(MOST_TRIALS):
        step = _damped_step(at, damping)
        value = objective.value(here + step)
        if value < at.value:
            return step, value, max(damping / 6, DAMPING_FLOOR)
        damping = max(damping * 8, 1e-6)
    return np.zeros_like(here), at.value, damping


def _damped_step(at: Expansion, damping: float) -> Floats:
    # The floor keeps the system regular where the data say nothing at all.
    ridge = damping * (at.information.diagonal() + 1e-3) + 1e-9
    step = -np.linalg.solve(at.information + np.diag(ridge), at.gradient)
    return np.asarray(step * min(1.0, LONGEST_STEP / max(np.abs(step).max(initial=0.0), 1e-12)))
