"""Damped Fisher scoring (Levenberg-Marquardt): tens of steps where a quasi-Newton method takes hundreds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats
from ordinoise.estimation.score.objective import Expansion, Objective

LONGEST_STEP = 2.0
"""Parameters are logarithms and logits: a longer step leaves the region where the expansion holds. Chosen by no run."""
FIRST_DAMPING, LESS_DAMPING, MORE_DAMPING = 1e-3, 6, 8
"""Damping at the start, its divisor after a good step and its factor after a bad one: usual values, by no run."""
MOST_TRIALS = 15  # the damping grows by 8 each time, so the last step is 8 ** 15 times shorter
DAMPING_FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class Minimum:
    """The point that a descent reached."""

    parameters: Floats
    value: float
    information: Floats
    converged: bool
    n_steps: int


def minimum(objective: Objective, start: Floats, *, max_steps: int = 100, tolerance: float = 1e-4) -> Minimum:
    """Descend from `start`; converged once a step lowers the value by less than `tolerance`."""
    here, at, damping = start, objective.expansion(start), FIRST_DAMPING
    for n_steps in range(1, max_steps + 1):
        step, lower, damping = _downhill(objective, here, at, damping)
        gain = at.value - lower.value
        here, at = here + step, lower
        if gain < tolerance:
            return Minimum(here, at.value, at.information, True, n_steps)
    return Minimum(here, at.value, at.information, False, max_steps)


def _downhill(objective: Objective, here: Floats, at: Expansion, damping: float) -> tuple[Floats, Expansion, float]:
    """A step that lowers the value, the expansion there and the next damping; a zero step if none is found.

    Nearly every first trial lowers the value, so trials are expanded at once instead of only valued.
    """
    for _ in range(MOST_TRIALS):
        step = _damped_step(at, damping)
        there = objective.expansion(here + step)
        if there.value < at.value:
            return step, there, max(damping / LESS_DAMPING, DAMPING_FLOOR)
        damping = max(damping * MORE_DAMPING, 1e-6)
    return np.zeros_like(here), at, damping


def _damped_step(at: Expansion, damping: float) -> Floats:
    # (information + ridge) step = -gradient. The ridge scales with the diagonal, so damping does not depend on units;
    # its floor keeps the system regular in directions without any information.
    ridge = damping * (at.information.diagonal() + 1e-3) + 1e-9
    step = -np.linalg.solve(at.information + np.diag(ridge), at.gradient)
    return np.asarray(step * min(1.0, LONGEST_STEP / max(np.abs(step).max(initial=0.0), 1e-12)))
