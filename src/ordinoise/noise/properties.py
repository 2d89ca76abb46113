"""What follows from a noise matrix alone: rates, dominance, and what its correction costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import Floats, as_class_count, as_floats, as_noise_matrix, as_same_length, complain
from ordinoise.noise.matrices import steepness


@dataclass(frozen=True)
class NoiseProperties:
    """What follows from a noise matrix for the labels and for learning from them.

    Attributes
    ----------
    noise_rate : float
        Share of wrong labels, for the given class frequencies.
    expected_distance : float
        Mean number of grades between the true and the recorded label.
    is_symmetric : bool
        Whether slips up and down between any two grades are equally likely.
    is_dominant : bool
        Whether every label is right more often than wrong, which the paper assumes.
    condition_number : float
        How much the inverse can amplify an error; infinite without an inverse.
    m : float
        The paper's M, the largest absolute row sum of the inverse; infinite without an inverse.
    lipschitz_cross_entropy, lipschitz_hinge : float
        Lipschitz constants of the corrected losses; never above `m`.
    dominance_limit, invertibility_limit : float
        Factor by which all rates may be multiplied before dominance / the inverse is lost.
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
    """Rates, dominance and the cost of the correction, from a noise matrix alone.

    Parameters
    ----------
    noise_matrix : array of shape (n_classes, n_classes)
        ``noise_matrix[true, recorded]``.
    class_frequencies : array of shape (n_classes,), optional
        Frequency of each true grade; equal by default.
    """
    matrix = as_noise_matrix(noise_matrix)
    frequencies = _as_frequencies(class_frequencies, len(matrix))
    ranks = np.arange(len(matrix))
    m, cross_entropy, hinge = steepness(matrix)
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
    """The uniform inverse-decay rate at which the middle grade is right half the time.

    With H the harmonic numbers this is ``1 / (2 (H_i + H_{K-1-i}))`` at the middle class i.
    """
    middle = (as_class_count(n_classes) - 1) // 2
    return 1 / (2 * (_harmonic(middle) + _harmonic(n_classes - 1 - middle)))


def largest_invertible_rate(n_classes: int) -> float:
    """The lowest uniform inverse-decay rate at which the noise matrix has no inverse: ``1 / (2 H_{K-1})``.

    For more than two classes this lies at or above :func:`largest_dominant_rate`.
    """
    return 1 / (2 * _harmonic(as_class_count(n_classes) - 1))


def _harmonic(n: int) -> float:
    return float(sum(1 / i for i in range(1, n + 1)))
