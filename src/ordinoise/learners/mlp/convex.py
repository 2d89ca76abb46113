"""A linear network fitted to many sparse columns: the penalized likelihood is maximized by L-BFGS, not by mini-batches.

With more columns than rows, stochastic steps need hundreds of passes and a schedule; L-BFGS needs some tens of products
with the matrix. Strengths of the penalty go from strong to weak, each fit starting from the one before, until held-out
rows say that it went too far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from .layout import Architecture
from .network import Network, initial_network

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTHS = tuple(float(strength) for strength in 10.0 ** np.arange(-2.5, -5.1, -0.25))
"""Penalties on the squared weights, times half the mean squared length of a row. The best lay near 10^-3 on three text
sets of 2000 rows; the ends are round numbers."""
PATIENCE = 1  # strengths without improvement after which the path ends
PRECISION: Any = {"maxiter": 100, "ftol": 1e-6, "gtol": 1e-6}
BEND = 0.5
"""Size of the second direction of the softmax head beside the first. On splits 100 of three text sets 0.5 had a better
held-out likelihood than 1, and than one free direction per class."""
FLOOR = 1e-300  # of a probability, so that its logarithm is finite


@dataclass(frozen=True)
class LinearFit:
    """The network with the least held-out loss, and the held-out loss at each strength."""

    network: Network
    strength: float
    curve: list[float]


@dataclass(frozen=True, eq=False)
class Records:
    """Rows of standardised features, with the probability of each row's record under every true class."""

    features: Any  # CSR, shape (n_samples, n_features)
    likelihood: Floats  # (n_samples, K)
    weights: Floats  # (n_samples,), summing to one


def directions(head: str, n_classes: int) -> Floats:
    """How the fitted scores enter the outputs, shape (n_scores, n_outputs).

    The ordered head has one score. The logits of the softmax head follow two: one that grows with the class, and one
    that bends, high at both ends, for what speaks for the extremes or for the middle. One free score per class would
    be plain softmax regression, which knows no order.
    """
    if head == "ordered":
        return np.ones((1, 1))
    line = np.linspace(-1, 1, n_classes)
    bend = line**2 - (line**2).mean()
    unit = [part / np.sqrt((part**2).mean()) for part in (line, bend) if (part**2).mean() > 1e-9]
    return np.stack([unit[0], *(BEND * part for part in unit[1:])])


def linear_start(architecture: Architecture, class_frequencies: Floats, *, center: Floats, scale: Floats) -> Network:
    """The linear network that predicts the frequencies of the classes for every row."""
    network = initial_network(
        architecture, np.random.default_rng(0), center=center, scale=scale, class_frequencies=class_frequencies
    )
    network.parameters[: -architecture.n_offsets] = 0
    if architecture.head == "softmax":
        network.arrays["offsets"][...] = np.log(class_frequencies / class_frequencies.sum())
    return network


def fit_linear(
    start: Network, training: Records, held_out: Records, strengths: Sequence[float] = STRENGTHS
) -> LinearFit:
    """The linear network of least forward loss plus penalty, its strength chosen by the held-out rows.

    Parameters
    ----------
    start : Network
        Without hidden layer, with the head "ordered" or "softmax": where the fit starts.
    training, held_out : Records
        Features before the network's own standardisation, which must not shift sparse columns.
    strengths : sequence of float
        Decreasing.
    """
    objective = _Objective(start, training)
    free, best, curve = objective.start, (np.inf, objective.start, 0.0), []
    for strength in strengths:
        penalty = strength * objective.mean_square / 2
        free = minimize(partial(objective, penalty=penalty), free, jac=True, method="L-BFGS-B", options=PRECISION).x
        loss = forward_loss(objective.network(free), held_out)
        curve.append(loss)
        if loss < best[0]:
            best = (loss, free, strength)
        elif len(curve) - 1 - int(np.argmin(curve)) >= PATIENCE:
            break
    return LinearFit(objective.network(best[1]), best[2], curve)


def forward_loss(network: Network, records: Records) -> float:
    """Weighted mean of ``-log sum_k likelihood_k P(k)``."""
    outputs, offsets = network.outputs(records.features), network.arrays["offsets"].astype(np.float64)
    return _loss(network.architecture.head)(outputs, offsets, records)[0]


class _Objective:
    """Penalized loss and its gradient by the free numbers: one line of weights per score, then the offsets."""

    def __init__(self, start: Network, records: Records) -> None:
        architecture = start.architecture
        self._network, self._records, self._loss = start, records, _loss(architecture.head)
        self._directions = directions(architecture.head, architecture.n_classes)
        self._shape = len(self._directions), architecture.n_features
        self.start = np.concatenate([np.zeros(self._shape).ravel(), start.arrays["offsets"].astype(np.float64)])
        squares = records.features.multiply(1 / start.scale).power(2).sum(axis=1)
        self.mean_square = max(float(records.weights @ np.asarray(squares).ravel()), FLOOR)

    def network(self, free: Floats) -> Network:
        weights, offsets = self._split(free)
        parameters = np.concatenate([(self._directions.T @ weights).ravel(), offsets])
        return replace(self._network, parameters=parameters.astype(np.float32))

    def __call__(self, free: Floats, penalty: float) -> tuple[float, Floats]:
        weights, offsets = self._split(free)
        features, scale = self._records.features, self._network.scale
        shift = self._network.center / scale
        scores = features @ np.ascontiguousarray((weights / scale).T) - weights @ shift
        loss, by_output, by_offset = self._loss(scores @ self._directions, offsets, self._records)
        by_score = by_output @ self._directions.T
        slopes = (features.T @ by_score).T / scale - np.outer(by_score.sum(axis=0), shift) + penalty * weights
        return loss + penalty / 2 * float((weights**2).sum()), np.concatenate([slopes.ravel(), by_offset])

    def _split(self, free: Floats) -> tuple[Floats, Floats]:
        n_weights = self._shape[0] * self._shape[1]
        return free[:n_weights].reshape(self._shape), free[n_weights:]


def _loss(head: str) -> Any:
    return _ordered_loss if head == "ordered" else _softmax_loss


def _ordered_loss(outputs: Floats, offsets: Floats, records: Records) -> tuple[float, Floats, Floats]:
    """Loss, slopes by output (n_samples, 1) and by offset; the formulas of `_heads.forward_loss`."""
    falls = np.logaddexp(0, offsets[1:])
    thresholds = offsets[0] - np.concatenate([[0.0], np.cumsum(falls)])
    logits = outputs + thresholds
    upper, lower = expit(logits), expit(-logits)
    noise = records.likelihood
    chances = np.empty_like(noise)
    chances[:, 0], chances[:, -1] = lower[:, 0], upper[:, -1]
    chances[:, 1:-1] = upper[:, :-1] * lower[:, 1:] * -np.expm1(-falls)
    recorded = np.maximum((noise * chances).sum(axis=1), FLOOR)
    slopes = (noise[:, :-1] - noise[:, 1:]) * (upper * lower) * (records.weights / recorded)[:, None]
    tails = np.cumsum(slopes.sum(axis=0)[::-1])[::-1]
    by_offset = np.concatenate([tails[:1], -tails[1:] * expit(offsets[1:])])
    return float(-records.weights @ np.log(recorded)), slopes.sum(axis=1, keepdims=True), by_offset


def _softmax_loss(outputs: Floats, offsets: Floats, records: Records) -> tuple[float, Floats, Floats]:
    """Loss, slopes by output (n_samples, K) and by offset: ``P(k) - P(k | record)``."""
    logits = outputs + offsets
    with np.errstate(divide="ignore"):
        joint = logits + np.log(records.likelihood)
    recorded, everything = logsumexp(joint, axis=1), logsumexp(logits, axis=1)
    difference = np.exp(logits - everything[:, None]) - np.exp(joint - recorded[:, None])
    slopes = difference * records.weights[:, None]
    return float(records.weights @ (everything - recorded)), slopes, slopes.sum(axis=0)
