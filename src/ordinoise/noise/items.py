"""Noise that depends on the item, the paper's eta(x): one matrix per row, ``[row, true, recorded]``.

A grader perceives a quantity with an error and cuts it at thresholds, so an item near a threshold is graded wrong more
often than one in the middle of its grade. Each function here takes what is known of every item and gives the matrices
that :func:`~ordinoise.noise.corrupt` draws from and ``Noise(matrices, per="row")`` keeps.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, Ints, as_floats, as_noise_matrix, as_number, as_same_length, complain

_normal_cdf = np.vectorize(lambda value: 0.5 * math.erfc(-value / math.sqrt(2)), otypes=[np.float64])


def perceived(positions: ArrayLike, cuts: ArrayLike, spread: ArrayLike) -> Floats:
    """Noise of graders who see an item's position with a normal error and cut it where the truth is cut.

    ``N[i, k, j] = P(cuts[j - 1] < p + spread_i e <= cuts[j])`` with e standard normal, where p is the position of item
    i, moved to the nearest point of grade k where the item does not belong to k.

    Parameters
    ----------
    positions : array of shape (n_samples,)
        Where each item truly lies on the scale that is cut into grades.
    cuts : array of shape (n_classes - 1,)
        Ascending; an item's true grade is the number of cuts at or below it.
    spread : float or array of shape (n_samples,)
        Standard deviation of the error, for all items or for each: a function of a feature makes it grow there.

    Returns
    -------
    matrices : array of shape (n_samples, n_classes, n_classes)

    Examples
    --------
    >>> perceived([0.1, 0.9], cuts=[0.0, 1.0], spread=0.5).round(2)[:, 1]
    array([[0.42, 0.54, 0.04],
           [0.04, 0.54, 0.42]])
    """
    places, edges = _as_positions(positions), _as_cuts(cuts)
    spreads = _per_sample("spread", spread, len(places))
    moved = _moved_into_grades(places, edges)
    # P(p + s e <= c): a jump from 0 to 1 at the cut where the grader makes no error.
    distance = edges - moved[:, :, None]
    width = spreads[:, None, None]
    with np.errstate(over="ignore"):  # an error far smaller than the distance is none
        scaled = np.divide(distance, width, out=np.where(distance > 0, np.inf, -np.inf), where=width > 0)
    below = _normal_cdf(scaled)
    full = np.concatenate([np.zeros((*moved.shape, 1)), below, np.ones((*moved.shape, 1))], axis=2)
    return np.diff(full, axis=2)


def near_cuts(positions: ArrayLike, cuts: ArrayLike, rate: float, width: float) -> Floats:
    """Slips across the nearest cuts only: with probability `rate` at a cut, falling with the distance from it.

    ``N[i, k, k +- 1] = rate exp(-distance / width)``, where the distance is that of the item, moved into grade k, to
    the upper or the lower cut of k.

    Parameters
    ----------
    positions, cuts
        As in :func:`perceived`.
    rate : float
        Probability of a slip across a cut that the item lies on; at most one half, since there may be two.
    width : float
        Distance at which the probability has fallen to about a third.

    Examples
    --------
    >>> near_cuts([0.2], cuts=[0.0, 1.0], rate=0.4, width=0.2).round(3)[0, 1]
    array([0.147, 0.846, 0.007])
    """
    places, edges = _as_positions(positions), _as_cuts(cuts)
    rate, width = as_number("rate", rate, 0.0, 0.5), as_number("width", width, 0.0, np.inf, open_low=True)
    moved, grades = _moved_into_grades(places, edges), np.arange(len(edges) + 1)
    matrices = np.zeros((len(places), len(grades), len(grades)))
    matrices[:, grades[:-1], grades[1:]] = rate * np.exp(-np.abs(edges - moved[:, :-1]) / width)
    matrices[:, grades[1:], grades[:-1]] = rate * np.exp(-np.abs(moved[:, 1:] - edges) / width)
    matrices[:, grades, grades] = 1 - matrices.sum(axis=2)
    return matrices


def in_region(is_inside: ArrayLike, inside: ArrayLike, outside: ArrayLike | None = None) -> Floats:
    """One matrix for the rows inside a region, another (by default no noise) for those outside.

    A region recorded a grade too low is ``in_region(mask, adjacent(K, up=0, down=1))``, a share of rows graded at
    random ``in_region(mask, np.full((K, K), 1 / K))``.

    Parameters
    ----------
    is_inside : bool array of shape (n_samples,)
    inside, outside : arrays of shape (n_classes, n_classes)
        ``[true, recorded]``.

    Examples
    --------
    >>> in_region([True, False], [[0.5, 0.5], [0.0, 1.0]]).tolist()
    [[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]
    """
    mask = np.asarray(is_inside)
    if mask.ndim != 1 or mask.dtype != np.bool_:
        raise complain("is_inside", "be one column of True and False", f"{mask.dtype} of shape {mask.shape}")
    first = as_noise_matrix(inside)
    second = np.eye(len(first)) if outside is None else as_noise_matrix(outside, len(first))
    return np.where(mask[:, None, None], first, second)


def positions_within(labels: Ints, values: Floats) -> Floats:
    """Where each item lies if a grade is one unit long and its items are sorted by a value: the grade plus the item's
    rank among those of its grade, between 0 and 1.
    """
    places = labels.astype(np.float64)
    for grade in np.unique(labels):
        rows = np.flatnonzero(labels == grade)
        places[rows[np.argsort(values[rows], kind="stable")]] += (np.arange(len(rows)) + 0.5) / len(rows)
    return places


def mean_matrix(matrices: Floats, labels: Ints) -> Floats:
    """The mean row over the items of each true grade; of a grade that does not occur, over all items."""
    grades = range(matrices.shape[1])
    seen = [labels == grade if (labels == grade).any() else np.ones(len(labels), dtype=bool) for grade in grades]
    return np.stack([matrices[rows, grade].mean(axis=0) for grade, rows in enumerate(seen)])


def _as_positions(positions: ArrayLike) -> Floats:
    return as_floats("positions", positions, 1)


def _as_cuts(cuts: ArrayLike) -> Floats:
    edges = as_floats("cuts", cuts, 1)
    if not (np.diff(edges) > 0).all():
        raise complain("cuts", "ascend", edges.tolist())
    return edges


def _per_sample(argument: str, value: ArrayLike, n_samples: int) -> Floats:
    """A number for every sample, none negative."""
    is_one = isinstance(value, (int, float, np.generic)) or (isinstance(value, np.ndarray) and value.ndim == 0)
    numbers = as_floats(argument, np.array([value]) if is_one else value, 1)
    if len(numbers) > 1:
        as_same_length(argument, len(numbers), "positions", n_samples)
    if numbers.min() < 0:
        raise complain(argument, "be at least 0", f"{numbers.min():g}")
    return np.broadcast_to(numbers, (n_samples,))


def _moved_into_grades(positions: Floats, cuts: Floats) -> Floats:
    """Every position moved to the nearest point of every grade, shape (n_samples, n_classes)."""
    low, high = np.append(-np.inf, cuts), np.append(np.nextafter(cuts, -np.inf), np.inf)
    return np.clip(positions[:, None], low, high)
