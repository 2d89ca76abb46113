"""Slopes and losses of the forward likelihood under both heads, each in one compiled pass over the samples."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ordinoise._compiling import compiled_and_kept
from ordinoise._validation import Floats, Ints

Float32s = NDArray[np.float32]

LEAST = 1e-300  # stands in for a probability that has underflown
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

_SOURCE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def entry(function: Any) -> Any:
    """`function`, compiled: cached on disk under a name that changes with this file, without the interpreter's lock."""
    function.__qualname__ += f"_{_SOURCE}"
    return compiled_and_kept(function, **OPTIONS)


def inlined(function: Any) -> Any:
    """`function`, written into the compiled functions that call it."""
    return njit(**OPTIONS, inline="always")(function)


@inlined
def fill_posterior(probabilities: Floats, likelihood: Floats, out: Floats) -> float:
    """Probability of each true class once the record is known; returns that of the record."""
    evidence = 0.0
    for k in range(len(out)):
        out[k] = probabilities[k] * likelihood[k]
        evidence += out[k]
    if evidence > LEAST:
        for k in range(len(out)):
            out[k] /= evidence
    else:  # the features hold impossible what the record says: believe the record
        total = max(likelihood.sum(), LEAST)
        for k in range(len(out)):
            out[k] = likelihood[k] / total
    return max(evidence, LEAST)


@inlined
def fill_softmax(scores: Floats, i: int, offsets: Floats, out: Floats) -> None:
    """Class probabilities of row i, one score a class."""
    largest = -np.inf
    for k in range(len(out)):
        out[k] = scores[i, k] + offsets[k]
        largest = max(largest, out[k])
    total = 0.0
    for k in range(len(out)):
        out[k] = np.exp(out[k] - largest)
        total += out[k]
    for k in range(len(out)):
        out[k] /= total


@entry
def softmax_slopes(
    scores: Floats,
    offsets: Floats,
    cells: Ints,
    weights: Floats,
    likelihood: Floats,
    gradient: Float32s,
    curvature: Float32s,
) -> None:
    """Fill gradient ``P - posterior`` and curvature ``P (1 - P) K / (K - 1)``, both of shape (n_samples, n_classes)."""
    n_samples, n_classes = scores.shape
    probabilities, posterior = np.empty(n_classes), np.empty(n_classes)
    factor = n_classes / (n_classes - 1.0)
    for i in range(n_samples):
        fill_softmax(scores, i, offsets, probabilities)
        fill_posterior(probabilities, likelihood[cells[i]], posterior)
        for k in range(n_classes):
            p = probabilities[k]
            gradient[i, k] = weights[i] * (p - posterior[k])
            curvature[i, k] = weights[i] * factor * p * (1.0 - p)


@entry
def softmax_losses(scores: Floats, offsets: Floats, cells: Ints, likelihood: Floats, losses: Floats) -> None:
    """Fill minus the log-likelihood of what was recorded, shape (n_samples,)."""
    probabilities, posterior = np.empty(len(offsets)), np.empty(len(offsets))
    for i in range(len(losses)):
        fill_softmax(scores, i, offsets, probabilities)
        losses[i] = -np.log(fill_posterior(probabilities, likelihood[cells[i]], posterior))


@inlined
def class_widths(thresholds: Floats) -> Floats:
    """``1 - exp(-distance)`` of the cuts on both sides of each class; one for the classes at the ends."""
    widths = np.ones(len(thresholds) + 1)
    for j in range(1, len(thresholds)):
        widths[j] = -np.expm1(thresholds[j] - thresholds[j - 1])
    return widths


@inlined
def fill_ordered(score: float, thresholds: Floats, widths: Floats, above: Floats, below: Floats, out: Floats) -> None:
    """Class probabilities of one score: products of what lies above the lower cut and below the upper one.

    ``above[k]`` is the probability of exceeding class k's lower cut and ``below[k]`` that of not exceeding its upper
    one; a product of both does not cancel where their difference would.
    """
    n_classes = len(out)
    above[0], below[n_classes - 1] = 1.0, 1.0
    for j in range(n_classes - 1):
        logit = score + thresholds[j]
        tail = np.exp(-abs(logit))
        large, small = 1.0 / (1.0 + tail), tail / (1.0 + tail)
        above[j + 1], below[j] = (large, small) if logit > 0 else (small, large)
    for k in range(n_classes):
        out[k] = max(above[k] * below[k] * widths[k], LEAST)


@entry
def ordered_slopes(
    scores: Floats,
    thresholds: Floats,
    cells: Ints,
    weights: Floats,
    likelihood: Floats,
    gradient: Float32s,
    curvature: Float32s,
    threshold_slopes: Floats,
    information: Floats,
) -> None:
    """Fill the slopes of one score, shape (n_samples,), and of the thresholds, with the latter's information matrix.

    Curvatures are those of the likelihood of the true class, weighed by its posterior: they are never negative.
    """
    n_classes = likelihood.shape[1]
    probabilities, posterior = np.empty(n_classes), np.empty(n_classes)
    above, below = np.empty(n_classes), np.empty(n_classes)
    widths = class_widths(thresholds)
    threshold_slopes[:], information[:] = 0.0, 0.0
    for i in range(len(gradient)):
        fill_ordered(scores[i], thresholds, widths, above, below, probabilities)
        fill_posterior(probabilities, likelihood[cells[i]], posterior)
        slope, bend = 0.0, 0.0
        for k in range(n_classes):
            rising, falling = 1.0 - above[k], 1.0 - below[k]
            slope += posterior[k] * (rising - falling)
            bend += posterior[k] * (above[k] * rising + below[k] * falling)
        gradient[i] = -weights[i] * slope
        curvature[i] = weights[i] * bend
        for j in range(n_classes - 1):
            p, q = probabilities[j], probabilities[j + 1]
            density = weights[i] * above[j + 1] * below[j]
            threshold_slopes[j] += density * (posterior[j + 1] / q - posterior[j] / p)
            information[j, j] += density * above[j + 1] * below[j] * (1.0 / p + 1.0 / q)
            if j > 0:
                information[j, j - 1] -= density * above[j] * below[j - 1] / p


@entry
def ordered_losses(scores: Floats, thresholds: Floats, cells: Ints, likelihood: Floats, losses: Floats) -> None:
    """Fill minus the log-likelihood of what was recorded, shape (n_samples,)."""
    n_classes = likelihood.shape[1]
    probabilities, posterior = np.empty(n_classes), np.empty(n_classes)
    above, below = np.empty(n_classes), np.empty(n_classes)
    widths = class_widths(thresholds)
    for i in range(len(losses)):
        fill_ordered(scores[i], thresholds, widths, above, below, probabilities)
        losses[i] = -np.log(fill_posterior(probabilities, likelihood[cells[i]], posterior))
