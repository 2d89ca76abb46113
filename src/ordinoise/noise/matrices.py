"""Noise matrices: the probability of each recorded grade given each true grade.

Everywhere in ordinoise ``noise_matrix[true, recorded]``: a row is a true label, and rows sum to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import (
    Floats,
    Ints,
    as_class_count,
    as_classes,
    as_floats,
    as_generator,
    as_labels,
    as_noise_matrix,
    as_number,
    as_probabilities,
    as_ranks,
    as_same_length,
    complain,
)
from ordinoise._warning import renamed, warn_caller

SINGULAR_CONDITION = 1e12
"""At it an inverse keeps about four of the 16 digits of a float64."""
STREAM = 0x6E6F697365
"""What tells the stream of `corrupt` from that of the data: "noise" in ASCII."""
LARGEST_M = 6.0
"""Largest absolute row sum of an inverse that unbiased losses use: a rule of thumb, chosen by no run."""


def inverse_decay(n_classes: int, rate: ArrayLike) -> Floats:
    """Noise that decays with distance: a label is recorded `d` grades off with probability rate / d.

    The paper's inversely decaying noise (rho): uniform with one rate for all classes, class-conditional with one per
    class.

    Parameters
    ----------
    n_classes : int
        Number of ordered grades.
    rate : float or array of shape (n_classes,)
        Probability of slipping to a neighbor, for all classes or for each true class.

    Returns
    -------
    noise_matrix : array of shape (n_classes, n_classes)
        ``noise_matrix[true, recorded]``.

    Examples
    --------
    >>> inverse_decay(3, 0.2)
    array([[0.7, 0.2, 0.1],
           [0.2, 0.6, 0.2],
           [0.1, 0.2, 0.7]])
    """
    return power_decay(n_classes, rate, power=1.0)


def power_decay(n_classes: int, rate: ArrayLike, power: float) -> Floats:
    """Noise that decays as a power of distance: `d` grades off with probability rate / d**power.

    A power of 1 is :func:`inverse_decay`; a large one leaves only slips to neighbors.
    """
    power = as_number("power", power, 0.0, np.inf)
    return _from_decay(n_classes, rate, lambda distance: distance**-power)


def exponential_decay(n_classes: int, rate: ArrayLike, factor: float = 0.5) -> Floats:
    """Noise that shrinks by `factor` with each grade: `d` grades off with probability rate * factor**(d - 1)."""
    factor = as_number("factor", factor, 0.0, 1.0)
    return _from_decay(n_classes, rate, lambda distance: factor ** (distance - 1))


def uniform(n_classes: int, rate: float) -> Floats:
    """Noise that ignores the order: with probability `rate` the label is any of the others, all equally likely."""
    n_classes = as_class_count(n_classes)
    rate = as_number("rate", rate, 0.0, 1.0)
    return np.asarray(power_decay(n_classes, rate / (n_classes - 1), power=0.0))


def adjacent(n_classes: int, up: ArrayLike, down: ArrayLike) -> Floats:
    """Noise between neighbors only: one grade up with probability `up`, one down with probability `down`.

    Parameters
    ----------
    n_classes : int
        Number of ordered grades.
    up, down : float or array of shape (n_classes,)
        Probability that the recorded grade is one above / below the true one. The top grade cannot slip
        up nor the lowest down.

    Examples
    --------
    >>> adjacent(3, up=0.25, down=0.1)
    array([[0.75, 0.25, 0.  ],
           [0.1 , 0.65, 0.25],
           [0.  , 0.1 , 0.9 ]])
    """
    n_classes = as_class_count(n_classes)
    ups, downs = _rate_per_class("up", up, n_classes), _rate_per_class("down", down, n_classes)
    off_diagonal = np.diag(ups[:-1], 1) + np.diag(downs[1:], -1)
    return _with_diagonal(off_diagonal, "up + down")


def _from_decay(n_classes: int, rate: ArrayLike, decay: Callable[[Floats], Floats]) -> Floats:
    n_classes = as_class_count(n_classes)
    rates = _rate_per_class("rate", rate, n_classes)
    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))).astype(float)
    np.fill_diagonal(distance, 1.0)
    shape = decay(distance)
    np.fill_diagonal(shape, 0.0)
    _check_rates(rates, 1 / shape.sum(axis=1))
    return _with_diagonal(rates[:, None] * shape, "rate")


def _rate_per_class(argument: str, rate: ArrayLike, n_classes: int) -> Floats:
    alone = isinstance(rate, (int, float, np.generic)) or (isinstance(rate, np.ndarray) and rate.ndim == 0)
    rates = as_floats(argument, np.array([rate]) if alone else rate, 1)
    if len(rates) not in (1, n_classes):
        raise complain(argument, f"be one number or one for each of the {n_classes} classes", f"{len(rates)} numbers")
    if rates.min() < 0:
        raise complain(argument, "be at least 0", f"{rates.min():g}")
    return np.broadcast_to(rates, (n_classes,))


def _check_rates(rates: Floats, largest: Floats) -> None:
    excess = rates - largest
    worst = int(excess.argmax())
    if excess[worst] > 1e-12:
        rule = f"be at most {np.floor(largest[worst] * 1000) / 1000:g} for class {worst} of {len(rates)}"
        raise complain("rate", rule, f"{rates[worst]:g}")


def _with_diagonal(off_diagonal: Floats, argument: str) -> Floats:
    """The matrix with a diagonal that makes each row sum to one."""
    stays = 1 - off_diagonal.sum(axis=1)
    if stays.min() < -1e-12:
        worst = int(stays.argmin())
        raise complain(argument, "be at most 1 in every class", f"{1 - stays[worst]:g} in class {worst}")
    return off_diagonal + np.diag(stays.clip(min=0))


def from_cleanlab(matrix: ArrayLike) -> Floats:
    """A noise matrix from cleanlab's, which is indexed ``[recorded, true]`` with columns that sum to one."""
    return as_noise_matrix(as_floats("matrix", matrix, 2).T).copy()


@renamed(noise_matrix="noise")
def corrupt(
    labels: ArrayLike, noise: Any, random_state: Any = None, *, classes: Sequence[Any] | NDArray[Any] | None = None
) -> NDArray[Any]:
    """Labels as they might have been recorded: each drawn from its row of the noise matrix.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        True labels: ranks 0..n_classes-1, or grades among `classes`.
    noise : array or Noise of shape (n_classes, n_classes) or (n_samples, n_classes, n_classes)
        ``[true, recorded]``, one for all labels or one per label, as :mod:`ordinoise.noise.items` makes them.
    random_state : int, Generator, RandomState or None
        A whole number stands for a stream of its own: data that `numpy.random.default_rng` drew with the same number
        say nothing about which labels are wrong.
    classes : sequence, optional
        The grades from lowest to highest.

    Returns
    -------
    recorded : array of shape (n_samples,)
        Ranks, or grades among `classes`.

    Examples
    --------
    >>> corrupt([0, 1, 2, 2], adjacent(3, up=1.0, down=0.0), random_state=0)
    array([1, 2, 2, 2])
    """
    given = noise.matrices if getattr(noise, "per", "") == "row" else getattr(noise, "matrix", noise)
    matrices = as_floats("noise", given, 3) if np.ndim(given) == 3 else as_noise_matrix(given)
    n_classes = matrices.shape[-1]
    grades = np.arange(n_classes) if classes is None else as_classes(classes)
    as_same_length("classes", len(grades), "the rows of the noise matrix", n_classes)
    true = _true_ranks(labels, n_classes) if classes is None else as_ranks("labels", labels, grades)
    if matrices.ndim == 3:
        as_same_length("noise", len(matrices), "labels", len(true))
        rows = as_probabilities("noise", matrices[np.arange(len(true)), true])
    else:
        rows = matrices[true]
    draws = _generator(random_state).random(len(true))
    recorded = (draws[:, None] >= rows.cumsum(axis=1)[:, :-1]).sum(axis=1)
    # A draw of 0.999... must not pass the last edge, which rounding can leave below one.
    last_possible = rows.shape[1] - 1 - (rows[:, ::-1] > 0).argmax(axis=1)
    return np.asarray(grades[np.minimum(recorded, last_possible)])


def _true_ranks(labels: ArrayLike, n_classes: int) -> Ints:
    try:
        return as_labels("labels", labels, n_classes)
    except ValueError as error:
        raise ValueError(f"{error}; pass classes=, the grades in order, if they are others") from None


def _generator(random_state: Any) -> np.random.Generator:
    """The generator of the noise: a stream of its own for a whole number, apart from that of data with this seed."""
    rng = as_generator(random_state)
    if isinstance(random_state, (int, np.integer)):
        return np.random.default_rng([int(random_state), STREAM])
    return rng


def correction_matrix(noise_matrix: ArrayLike) -> Floats:
    """The inverse of the noise matrix, which turns averages over recorded labels into averages over true ones.

    Its rows sum to one; with noise some entries are negative.
    """
    matrix = as_noise_matrix(noise_matrix)
    condition = float(np.linalg.cond(matrix))
    if not condition < SINGULAR_CONDITION:
        advice = "use correction='forward', which needs no inverse, or safe_noise_matrix()"
        raise complain("noise_matrix", "be invertible", f"a condition number of {condition:.2g}", advice)
    return np.asarray(np.linalg.inv(matrix))


def safe_noise_matrix(noise_matrix: ArrayLike, largest_m: float = LARGEST_M) -> Floats:
    """The noise matrix, mixed with the smallest share of the identity under which the paper's M is at most `largest_m`.

    A nearly singular matrix has an inverse with huge entries, which would dominate a loss corrected by it. Mixing
    corrects for less noise than there is; a warning says so.
    """
    matrix = as_noise_matrix(noise_matrix)
    largest_m = as_number("largest_m", largest_m, 1.0, np.inf, open_low=True)
    if steepness(matrix)[0] <= largest_m and np.linalg.cond(matrix) < SINGULAR_CONDITION:
        return matrix.copy()
    share = _smallest_safe_share(matrix, largest_m)
    warn_caller(
        f"noise_matrix is nearly singular (M = {steepness(matrix)[0]:.3g}): mixed with {share:.0%} of the identity "
        f"so that M is {largest_m:g}; correction='forward' needs no such mixing",
    )
    return _mixture(matrix, share)


def steepness(matrix: Floats) -> tuple[float, float, float]:
    """M, and the tight constants of the corrected cross-entropy and hinge, from the corrected levels.

    At one threshold the corrected cross-entropy has slopes from -c to 1 - c, and the corrected hinge the
    slopes -c, 1 - 2c and 1 - c, where c is the corrected level.
    """
    if not np.linalg.cond(matrix) < SINGULAR_CONDITION:
        return np.inf, np.inf, np.inf
    inverse = np.linalg.inv(matrix)
    levels = 1 - inverse.cumsum(axis=1)[:, :-1]
    ends = np.maximum(np.abs(levels), np.abs(1 - levels)).max()
    return (
        float(np.abs(inverse).sum(axis=1).max()),
        float(ends),
        float(max(ends, np.abs(1 - 2 * levels).max())),
    )


def _mixture(matrix: Floats, share: float) -> Floats:
    return (1 - share) * matrix + share * np.eye(len(matrix))


def _smallest_safe_share(matrix: Floats, largest_m: float) -> float:
    """Smallest share of the identity such that M is small enough for it and for every larger share."""
    shares = np.linspace(1, 0, 1001)
    unsafe = np.flatnonzero([steepness(_mixture(matrix, share))[0] > largest_m for share in shares])
    low, high = shares[unsafe[0]], shares[unsafe[0] - 1]
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if steepness(_mixture(matrix, middle))[0] <= largest_m else (middle, high)
    return float(high)
