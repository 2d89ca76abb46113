"""The fewest wrong labels that graders show who had rows given out at random and grade them differently.

Whatever the true grades are, two graders who would record the same rows differently are not both right: by the triangle
inequality ``wrong_g + wrong_h >= E_x TV(R_g(x), R_h(x))``, the total variation of the records that each would give. The
least number of wrong labels that satisfies this for all pairs is found by a linear programme.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.special import expit, logit

from ordinoise._validation import Floats, Ints, as_same_length
from ordinoise.audit.graders.record import NOT_BY_LOT
from ordinoise.audit.graders.regression import Shifts
from ordinoise.audit.graders.rows import Rows
from ordinoise.audit.prevalence.floor import Floor
from ordinoise.labels import as_column

STEPS, LONGEST, FARTHEST = 25, 1.0, 4.0  # of the scoring: steps, the longest, and where it ends; by no run
SMALLEST = 1e-6  # a chance; fewer would be an infinite score
MOST_COMPARED, MOST_ROWS = 150, 1000
"""Graders, those with the most rows, and rows that are compared: what is left out lowers the floor, or its precision.
Round numbers, chosen by no run."""


def fewest_by_graders(table: Floats, ranks: Ints, who: Ints, design_effect: float = 1.0) -> Floor:
    """The floor of the wrong labels of these rows, if rows were given out at random; refuted if the columns show not.

    Parameters
    ----------
    table : array of shape (n_rows, n_classes)
        Probabilities of the recorded label, by models that saw neither the row nor the grader.
    ranks : int array of shape (n_rows,)
    who : int array of shape (n_rows,)
        Numbers of the graders; rows of which nobody is named have -1, and take no part.
    design_effect : float
        Rows per independent row, where rows come in groups.
    """
    named = who >= 0
    table, ranks, who = table[named], ranks[named], np.unique(who[named], return_inverse=True)[1]
    n_own = np.bincount(who)
    if len(n_own) < 2:
        return Floor(0)
    if Rows.of(table, ranks, who, np.ones(len(who)), None).assignment[1] < NOT_BY_LOT:
        return Floor(0, is_refuted=True)
    compared = np.argsort(-n_own, kind="stable")[:MOST_COMPARED]
    cumulative = logit(np.cumsum(table, axis=1)[:, :-1].clip(SMALLEST, 1 - SMALLEST))
    habits = cautious(*habits_of(cumulative, ranks, who, design_effect), n_own / len(who))[compared]
    rows = np.unique(np.linspace(0, len(who) - 1, min(MOST_ROWS, len(who))).astype(np.int64))
    return Floor(int(least_wrong(n_own[compared], distances_of(cumulative[rows], habits))))


def numbered_graders(column: Any, n_rows: int) -> Ints:
    """The number of the grader of each row, and -1 where nobody is named."""
    names = as_column("noise_by", column)
    as_same_length("noise_by", len(names), "y", n_rows)
    values = [None if name is None or name != name else name for name in names.tolist()]
    named = dict.fromkeys(name for name in values if name is not None)
    number = {name: at for at, name in enumerate(named)}
    return np.array([number.get(name, -1) for name in values], dtype=np.int64)


def habits_of(cumulative: Floats, ranks: Ints, who: Ints, design_effect: float) -> tuple[Floats, Floats]:
    """Shift and log spread of each grader in a cumulative logit, and their standard errors, (n_graders, 2) each.

    The logit of a record at or below a grade is ``(c - shift) / spread``, with c that of all graders; Fisher scoring.
    """
    n_graders = int(who.max()) + 1
    habits, at = np.zeros((n_graders, 2)), np.arange(len(ranks))
    information = np.zeros((n_graders, 2, 2))
    for _ in range(STEPS):
        chances, slopes = records_by(cumulative, habits[who])
        score = (slopes[:, at, ranks] / chances[at, ranks]).T
        gradient = np.column_stack([np.bincount(who, one, n_graders) for one in score.T])
        for one, other in ((0, 0), (0, 1), (1, 1)):
            products = (slopes[one] * slopes[other] / chances).sum(axis=1)
            information[:, one, other] = information[:, other, one] = np.bincount(who, products, n_graders)
        information += SMALLEST * np.eye(2)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0].clip(-LONGEST, LONGEST)
        habits = (habits + step).clip(-FARTHEST, FARTHEST)
        if np.abs(step).max() < 1e-4:
            break
    errors = np.sqrt(np.linalg.inv(information)[:, [0, 1], [0, 1]] * design_effect)
    return habits, errors


def records_by(cumulative: Floats, habits: Floats) -> tuple[Floats, Floats]:
    """Chances of the records of rows under habits, and their derivatives by shift and log spread, (2, n_rows, K)."""
    precision = np.exp(-habits[:, 1:])
    scores = (cumulative - habits[:, :1]) * precision
    below = expit(scores)
    density = below * (1 - below)
    by_habit = (-density * precision, -density * scores)
    chances = np.diff(below, axis=1, prepend=0.0, append=1.0)
    slopes = np.stack([np.diff(one, axis=1, prepend=0.0, append=0.0) for one in by_habit])
    return chances.clip(SMALLEST, None), slopes


def cautious(habits: Floats, errors: Floats, shares: Floats) -> Floats:
    """Habits shrunken towards the mean one, and by one more standard error: chance alone shows no difference."""
    found = []
    for values, error in zip(habits.T, errors.T, strict=True):
        center = float(np.average(values, weights=error**-2))
        mean, covariance = Shifts(shares, error**-2, np.eye(len(shares)), values - center).common()
        found.append(center + np.sign(mean) * np.maximum(np.abs(mean) - np.sqrt(covariance.diagonal()), 0))
    return np.column_stack(found)


def distances_of(cumulative: Floats, habits: Floats) -> Floats:
    """Total variation of the records of each two graders, averaged over rows, (n_graders, n_graders)."""
    found = np.zeros((len(habits), len(habits)))
    each = [records_by(cumulative, np.tile(habit, (len(cumulative), 1)))[0] for habit in habits]
    for one in range(1, len(habits)):
        for other in range(one):
            found[one, other] = 0.5 * np.abs(each[one] - each[other]).sum() / len(cumulative)
    return found


def least_wrong(n_own: Ints, distances: Floats) -> float:
    """The least number of wrong labels such that each two graders are wrong at least as often as they differ."""
    one, other = np.nonzero(distances)
    if not len(one):
        return 0.0
    pair = np.arange(len(one))
    pairs: Any = coo_array((-np.ones(2 * len(one)), (np.tile(pair, 2), np.r_[one, other])), (len(one), len(n_own)))
    found = linprog(n_own, A_ub=pairs, b_ub=-distances[one, other], bounds=(0, 1))
    return float(found.fun or 0.0)
