"""Noise matrices: how likely each grade is recorded in place of each true one.

Everywhere in ordinoise ``noise_matrix[true, recorded]``: a row is a true label, and rows sum to one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import (
    Floats,
    Ints,
    as_class_count,
    as_floats,
    as_generator,
    as_labels,
    as_noise_matrix,
    as_number,
    as_same_length,
    complain,
)

SINGULAR_CONDITION = 1e12

__all__ = [
    "NoiseProperties",
    "adjacent",
    "correction_matrix",
    "corrupt",
    "exponential_decay",
    "from_cleanlab",
    "inverse_decay",
    "largest_dominant_rate",
    "largest_invertible_rate",
    "noise_matrix",
    "noise_properties",
    "power_decay",
    "safe_noise_matrix",
    "uniform",
]


def inverse_decay(n_classes: int, rate: ArrayLike) -> Floats:
    """Noise that falls with distance: a label is recorded `d` grades off with probability rate / d.

    The paper's inversely decaying noise (rho): one rate makes it uniform, one a class class-conditional.

    Parameters
    ----------
    n_classes : int
        Number of ordered grades.
    rate : float or array of shape (n_classes,)
        Probability of slipping to a neighbour, for all classes or for each true class.

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
    """Noise that falls as a power of distance: `d` grades off with probability rate / d**power.

    A power of 1 is :func:`inverse_decay`; a large one leaves only slips to neighbours.
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
    """Slips to the next grade only: `up` with one probability, `down` with another.

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
    return _completed(off_diagonal, "up + down")


def _from_decay(n_classes: int, rate: ArrayLike, decay: Callable[[Floats], Floats]) -> Floats:
    n_classes = as_class_count(n_classes)
    rates = _rate_per_class("rate", rate, n_classes)
    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))).astype(float)
    np.fill_diagonal(distance, 1.0)
    shape = decay(distance)
    np.fill_diagonal(shape, 0.0)
    _check_rates(rates, 1 / shape.sum(axis=1))
    return _completed(rates[:, None] * shape, "rate")


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


def _completed(off_diagonal: Floats, argument: str) -> Floats:
    """Put on the diagonal what each row lacks to one."""
    stays = 1 - off_diagonal.sum(axis=1)
    if stays.min() < -1e-12:
        worst = int(stays.argmin())
        raise complain(argument, "be at most 1 in every class", f"{1 - stays[worst]:g} in class {worst}")
    return off_diagonal + np.diag(stays.clip(min=0))


def noise_matrix(matrix: ArrayLike, n_classes: int | None = None) -> Floats:
    """A checked copy of any matrix ``[true, recorded]`` with non-negative entries and rows that sum to one."""
    return as_noise_matrix(matrix, n_classes).copy()


def from_cleanlab(matrix: ArrayLike) -> Floats:
    """A noise matrix from cleanlab's, which is indexed ``[recorded, true]`` with columns that sum to one."""
    return noise_matrix(as_floats("matrix", matrix, 2).T)


def corrupt(labels: ArrayLike, noise_matrix: ArrayLike, random_state: int | np.random.Generator | None = None) -> Ints:
    """Labels as they might have been recorded: each drawn from its row of the noise matrix.

    Examples
    --------
    >>> corrupt([0, 1, 2, 2], adjacent(3, up=1.0, down=0.0), random_state=0)
    array([1, 2, 2, 2])
    """
    matrix = as_noise_matrix(noise_matrix)
    true = as_labels("labels", labels, len(matrix))
    draws = as_generator(random_state).random(len(true))
    # A draw of 0.999... must not pass the last edge, which rounding can leave below one.
    edges = matrix.cumsum(axis=1)[:, :-1]
    recorded = (draws[:, None] >= edges[true]).sum(axis=1)
    last_possible = len(matrix) - 1 - (matrix[:, ::-1] > 0).argmax(axis=1)
    return np.minimum(recorded, last_possible[true])


def correction_matrix(noise_matrix: ArrayLike) -> Floats:
    """The inverse of the noise matrix: what turns averages over recorded labels into averages over true ones.

    Its rows sum to one; each holds a negative number unless its class is never recorded wrong.
    """
    matrix = as_noise_matrix(noise_matrix)
    condition = float(np.linalg.cond(matrix))
    if not condition < SINGULAR_CONDITION:
        advice = "use correction='forward', which needs no inverse, or safe_noise_matrix()"
        raise complain("noise_matrix", "be invertible", f"a condition number of {condition:.2g}", advice)
    return np.asarray(np.linalg.inv(matrix))


@dataclass(frozen=True)
class NoiseProperties:
    """What a noise matrix says about the labels and about learning from them.

    Attributes
    ----------
    noise_rate : float
        Share of labels recorded wrong, for the given class frequencies.
    expected_distance : float
        Mean number of grades between the true and the recorded label.
    is_symmetric : bool
        Whether slips up and down between any two grades are equally likely.
    is_dominant : bool
        Whether every label is right more often than wrong, which the paper assumes.
    condition_number : float
        How much the inverse can enlarge an error; infinite where there is no inverse.
    m : float
        The paper's M, the largest absolute row sum of the inverse; infinite where there is none.
    lipschitz_cross_entropy, lipschitz_hinge : float
        By how much the correction steepens the two losses at most; never above `m`.
    dominance_limit, invertibility_limit : float
        By what factor all rates together may grow before dominance / the inverse is lost.
    """

    noise_rate: float
    expected_distance: float
    is_symmetric: bool
    is_dominant: bool
    condition_number: float
    m: float
    lipschitz_cross_entropy: float
    lipschitz_hinge: float
    dominance_limit: float
    invertibility_limit: float


def noise_properties(noise_matrix: ArrayLike, class_frequencies: ArrayLike | None = None) -> NoiseProperties:
    """All that follows from a noise matrix alone: rates, dominance, and what the correction costs.

    Parameters
    ----------
    noise_matrix : array of shape (n_classes, n_classes)
        ``noise_matrix[true, recorded]``.
    class_frequencies : array of shape (n_classes,), optional
        How common each true grade is; all equally common if not given.
    """
    matrix = as_noise_matrix(noise_matrix)
    frequencies = _as_frequencies(class_frequencies, len(matrix))
    ranks = np.arange(len(matrix))
    m, cross_entropy, hinge = _steepness(matrix)
    return NoiseProperties(
        noise_rate=float(frequencies @ (1 - matrix.diagonal())),
        expected_distance=float(frequencies @ (matrix * np.abs(ranks[:, None] - ranks)).sum(axis=1)),
        is_symmetric=bool(np.allclose(matrix, matrix.T, atol=1e-12)),
        is_dominant=bool(matrix.diagonal().min() > 0.5),
        condition_number=float(np.linalg.cond(matrix)),
        m=m,
        lipschitz_cross_entropy=cross_entropy,
        lipschitz_hinge=hinge,
        dominance_limit=_dominance_limit(matrix),
        invertibility_limit=_invertibility_limit(matrix),
    )


def _as_frequencies(class_frequencies: ArrayLike | None, n_classes: int) -> Floats:
    if class_frequencies is None:
        return np.full(n_classes, 1 / n_classes)
    frequencies = as_floats("class_frequencies", class_frequencies, 1)
    as_same_length("class_frequencies", len(frequencies), "the noise matrix", n_classes)
    if frequencies.min() < 0 or frequencies.sum() <= 0:
        raise complain("class_frequencies", "be non-negative with a positive sum", frequencies)
    return frequencies / frequencies.sum()


def _steepness(matrix: Floats) -> tuple[float, float, float]:
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


def _dominance_limit(matrix: Floats) -> float:
    wrong = 1 - matrix.diagonal().min()
    return float(0.5 / wrong) if wrong > 0 else np.inf


def _invertibility_limit(matrix: Floats) -> float:
    """``I - s (I - N)`` is singular first at s = 1 / (largest real positive eigenvalue of I - N)."""
    eigenvalues = np.linalg.eigvals(np.eye(len(matrix)) - matrix)
    real: NDArray[np.float64] = eigenvalues.real[np.abs(eigenvalues.imag) < 1e-9]
    largest = float(real.max(initial=0.0))
    return 1 / largest if largest > 1e-12 else np.inf


def largest_dominant_rate(n_classes: int) -> float:
    """The uniform inverse-decay rate at which the middle grade is right only half the time.

    With H the harmonic numbers this is ``1 / (2 (H_i + H_{K-1-i}))`` at the middle class i.
    """
    middle = (as_class_count(n_classes) - 1) // 2
    return 1 / (2 * (_harmonic(middle) + _harmonic(n_classes - 1 - middle)))


def largest_invertible_rate(n_classes: int) -> float:
    """The least uniform inverse-decay rate at which the noise matrix has no inverse: ``1 / (2 H_{K-1})``.

    For more than two classes this lies at or above :func:`largest_dominant_rate`.
    """
    return 1 / (2 * _harmonic(as_class_count(n_classes) - 1))


def _harmonic(n: int) -> float:
    return float(sum(1 / i for i in range(1, n + 1)))


def safe_noise_matrix(noise_matrix: ArrayLike, largest_m: float = 6.0) -> Floats:
    """The noise matrix, mixed with the identity as little as keeps the paper's M at most `largest_m`.

    A nearly singular matrix has an inverse with huge entries, and a loss corrected by it learns nothing but
    those. Mixing corrects for less noise than there is, and a warning says so.
    """
    matrix = as_noise_matrix(noise_matrix)
    largest_m = as_number("largest_m", largest_m, 1.0, np.inf, open_low=True)
    if _steepness(matrix)[0] <= largest_m and np.linalg.cond(matrix) < SINGULAR_CONDITION:
        return matrix.copy()
    share = _smallest_safe_share(matrix, largest_m)
    warnings.warn(
        f"noise_matrix is nearly singular (M = {_steepness(matrix)[0]:.3g}): mixed with {share:.0%} of the identity "
        f"so that M is {largest_m:g}; correction='forward' needs no such mixing",
        stacklevel=2,
    )
    return _mixed(matrix, share)


def _mixed(matrix: Floats, share: float) -> Floats:
    return (1 - share) * matrix + share * np.eye(len(matrix))


def _smallest_safe_share(matrix: Floats, largest_m: float) -> float:
    """The end of the range of shares, reached from the identity, that are safe throughout."""
    shares = np.linspace(1, 0, 1001)
    unsafe = np.flatnonzero([_steepness(_mixed(matrix, share))[0] > largest_m for share in shares])
    low, high = shares[unsafe[0]], shares[unsafe[0] - 1]
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _steepness(_mixed(matrix, middle))[0] <= largest_m else (middle, high)
    return float(high)
