"""A linear network fitted to many sparse columns: the penalized likelihood is maximized by L-BFGS, not by mini-batches.

With more columns than rows, stochastic steps need hundreds of passes and a schedule; L-BFGS needs some tens of products
with the matrix. Strengths of the penalty go from strong to weak, each fit starting from the one before, until held-out
rows say that it went too far.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from ordinoise._sparse import slices

from ._descent import Loss, Vector, descend
from .layout import Architecture
from .network import Network, initial_network

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTHS = tuple(float(strength) for strength in 10.0 ** np.arange(-1.5, -5.1, -0.25))
"""Penalties on the squared weights, times half the mean squared length of a row. The best lay near 10^-3 on three text
sets of 2000 rows, the ends are round numbers; small tables of useless text need the strong end."""
SQUARED_STRENGTHS = tuple(4 * strength for strength in STRENGTHS)
"""Penalties for a squared loss, whose curvature is that of a logistic one four times."""
N_PROBES = 2  # random vectors that estimate a trace: a round number, chosen by no run
MOST_FITTED = 0.95  # of the rows that the fitted scores may count for, so that a residual is stretched 20 times at most
PATIENCE = 1  # strengths without improvement after which the path ends
RATIO = 0.6
"""Size of each degree of the softmax head beside the degree below it. On splits 100 of four text sets, blended with the
ordered head, 0.6 had the best mean held-out likelihood of 0.5, 0.6 and 0.7; 0.85 and 1 were worse on three of them."""
MANY_ROWS, SAMPLE = 20_000, 10_000
"""Above this many training rows, strengths are first tried on a sample of them, products are taken in float32, and the
held-out rows alone say how far a score can be believed. Round numbers, chosen by no run."""
MOST_DEGREES = 9  # of scales with many classes; a round number, chosen by no run
FLOOR = 1e-300  # of a probability, so that its logarithm is finite
LARGEST_LOG = 100.0
"""Of the scale of scores that tell the grades apart without an error, whose best scale is infinite; above it no
probability changes, and its exponential is still a number."""


@dataclass(frozen=True)
class LinearFit:
    """The network with the least held-out loss, and the held-out loss at each strength."""

    network: Network
    strength: float
    curve: list[float]


@dataclass(frozen=True, eq=False)
class Records:
    """Rows of standardized features, with the probability of each row's record under every true class."""

    features: Any  # CSR, shape (n_samples, n_features)
    likelihood: Floats  # (n_samples, K)
    weights: Floats  # (n_samples,), summing to one

    def rows(self, rows: Ints) -> Records:
        """Some of the rows, their weights again summing to one."""
        weights = self.weights[rows]
        return Records(self.features[rows], self.likelihood[rows], weights / weights.sum())


def directions(head: str, n_classes: int) -> Floats:
    """How the fitted scores enter the outputs, shape (n_scores, n_outputs).

    The ordered head has one score. The logits of the softmax head follow one score for each degree of polynomials of
    the class: one that grows with it, one that bends, high at both ends, and so on. The higher the degree, the smaller
    it is and the more it costs under the penalty, so that words may speak for any one class but rather speak for
    neighbors together. With all degrees of one size this would be softmax regression, which knows no order.
    """
    if head == "ordered":
        return np.ones((1, 1))
    powers = np.vander(np.linspace(-1, 1, n_classes), min(n_classes, MOST_DEGREES + 1), increasing=True)
    polynomials = np.linalg.qr(powers)[0].T[1:] * np.sqrt(n_classes)
    return np.asarray(polynomials * RATIO ** np.arange(len(polynomials))[:, None])


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
        Features before the network's own standardization, which must not shift sparse columns.
    strengths : sequence of float
        Decreasing.
    """
    problem = _Likelihood(start, training, held_out)
    found, strength, curve = _path(problem, strengths)
    return LinearFit(problem.network(found.own), strength, curve)


def _path(problem: _Problem, strengths: Sequence[float]) -> tuple[Vector, float, list[float]]:
    """The coefficients of the strength with the least held-out loss, that strength, and the held-out losses."""
    found = problem.start
    if problem.n_rows > MANY_ROWS:  # a sample needs no weaker penalty than all rows do
        some = _drawn(problem.n_rows)
        few, strength, _ = _path(problem.rows(some), strengths)
        found, strengths = problem.among_all(few, some), strengths[list(strengths).index(strength) :: 2]
    best, curve = (np.inf, found, 0.0), []
    for strength in strengths:
        found = descend(problem.loss, problem.image, found, problem.penalty(strength))
        curve.append(problem.held_out_loss(found.own))
        if curve[-1] < best[0]:
            best = (curve[-1], found, strength)
        elif len(curve) - 1 - int(np.argmin(curve)) >= PATIENCE:
            break
    return best[1], best[2], curve


def _drawn(n_rows: int) -> Ints:
    """At most `SAMPLE` random rows."""
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:SAMPLE])


def forward_loss(network: Network, records: Records) -> float:
    """Weighted mean of ``-log sum_k likelihood_k P(k)``."""
    outputs, offsets = network.outputs(records.features), network.arrays["offsets"].astype(np.float64)
    return _loss(network.architecture.head)(outputs, offsets, records)[0]


def fit_least_squares(
    start: Network,
    training: Records,
    held_out: Records,
    grades: tuple[Floats, Floats],
    strengths: Sequence[float] = SQUARED_STRENGTHS,
) -> LinearFit:
    """The ordered network whose score is a ridge regression of the grades, cut and scaled by the forward loss.

    With thousands of columns the likelihood of the training rows says little about how far the score can be believed;
    a regression needs no such scale. Its strength is chosen by the squared error of the held-out rows. Then each
    training row is scored as if it had been left out: residuals grow to the size of the held-out ones, and at least by
    ``1 / (1 - trace / n)``, the factor of generalized cross-validation, with the trace of the map from grades to
    scores. Few held-out rows may be easier by chance. Scale and thresholds are fitted to these scores.

    Parameters
    ----------
    start : Network
        Without hidden layer, with the head "ordered".
    training, held_out : Records
    grades : pair of arrays
        The expected rank of every training and held-out row, given its record.
    strengths : sequence of float
        Decreasing.
    """
    problem = _Squares(start, training, held_out, grades)
    chosen, strength, curve = _path(problem, strengths)
    residuals = problem.wanted - problem.scores(chosen)
    stretch = np.sqrt(min(curve) / max(float(training.weights @ residuals**2), FLOOR))
    if problem.n_rows <= MANY_ROWS:
        stretch = max(stretch, 1 / (1 - min(_trace(problem, strength) / problem.n_rows, MOST_FITTED)))
    left_out = problem.wanted - stretch * residuals
    scale, offsets = _cuts(left_out, start.arrays["offsets"].astype(np.float64), training)
    own = np.concatenate([scale * chosen.own[: problem.n_rows], offsets])
    own[problem.n_rows] += scale * chosen.own[-1]
    return LinearFit(problem.network(own), strength, curve)


def _trace(problem: _Squares, strength: float) -> float:
    """The trace of the map from grades to fitted scores, by its product with random signs."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(N_PROBES, problem.n_rows))
    fits = [descend(problem.loss_of(some), problem.image, problem.start, problem.penalty(strength)) for some in signs]
    return float(np.mean([some @ problem.scores(fit) for some, fit in zip(signs, fits, strict=True)]))


def _padded(slopes: Floats, length: int) -> Floats:
    """Slopes by score and by the last offset, which is the intercept; the other offsets have none."""
    found = np.zeros(length)
    found[: len(slopes)], found[-1] = slopes, slopes.sum()
    return found


def _cuts(scores: Floats, offsets: Floats, records: Records) -> tuple[float, Floats]:
    """Scale of the scores and offsets of the ordered head with the least forward loss."""

    def loss_and_slope(free: Floats) -> tuple[float, Floats]:
        scale = np.exp(min(free[0], LARGEST_LOG))
        loss, by_output, by_offset = _ordered_loss(scale * scores[:, None], free[1:], records)
        return loss, np.concatenate([[scale * float(by_output[:, 0] @ scores)], by_offset])

    free = minimize(loss_and_slope, np.concatenate([[0.0], offsets]), jac=True, method="L-BFGS-B").x
    return float(np.exp(min(free[0], LARGEST_LOG))), free[1:]


class _Problem(ABC):
    """Training rows as `descend` needs them. Coefficients are A, one line per row, flat, then the offsets.

    Rows are read in the order of their columns: those that are read most often should lie together.
    """

    def __init__(self, start: Network, training: Records, held_out: Records) -> None:
        self._network, self._training, self._held_out = start, training, held_out
        self._directions = directions(start.architecture.head, start.architecture.n_classes)
        self.n_rows = len(training.weights)
        self._rows, self._new_rows = self._scaled(training.features), self._scaled(held_out.features)
        self._shift = start.center / start.scale
        offsets = start.arrays["offsets"].astype(np.float64)
        n_coefficients = self.n_rows * len(self._directions)
        self.start = Vector(*(np.concatenate([np.zeros(n_coefficients), offsets]) for _ in range(2)))
        self._is_penalized = np.arange(n_coefficients + len(offsets)) < n_coefficients
        self._mean_square = max(self._mean_squared_length(), FLOOR)

    @abstractmethod
    def loss(self, image: Floats) -> tuple[float, Floats]:
        """The loss of these scores and offsets, and its slope."""

    @abstractmethod
    def held_out_loss(self, own: Floats) -> float:
        """The loss of the held-out rows under these coefficients."""

    @abstractmethod
    def rows(self, rows: Ints) -> _Problem:
        """The problem of some of the training rows, and of at most as many held-out rows as a sample has."""

    def among_all(self, few: Vector, rows: Ints) -> Vector:
        """What some rows of this problem found, with no coefficient for the others."""
        coefficients, offsets = self._split(few.own, len(rows))
        own = np.zeros((self.n_rows, len(self._directions)))
        own[rows] = coefficients
        flat = np.concatenate([own.ravel(), offsets])
        return Vector(flat, self.image(flat))

    def penalty(self, strength: float) -> Floats:
        """What `descend` adds per squared coefficient."""
        return np.where(self._is_penalized, strength * self._mean_square / 2, 0.0)

    def image(self, own: Floats) -> Floats:
        """The scores of the weights that these coefficients make, flat, then the offsets."""
        coefficients, offsets = self._split(own, self.n_rows)
        return np.concatenate([self._scores(self._rows, coefficients).ravel(), offsets])

    def network(self, own: Floats) -> Network:
        coefficients, offsets = self._split(own, self.n_rows)
        weights = (self._weights(coefficients) @ self._directions).T
        return replace(self._network, parameters=np.concatenate([weights.ravel(), offsets]).astype(np.float32))

    def _scaled(self, features: Any) -> Any:
        """Rows as products read them; those that need no change are not copied."""
        factors = 1 / self._network.scale
        is_scaled = bool((factors != 1).any())
        rows = features.astype(np.float32 if self.n_rows > MANY_ROWS else np.float64, copy=is_scaled)
        for some in slices(rows.nnz, rows.nnz) if is_scaled else ():  # what numpy indexes by is copied as int64
            rows.data[some] *= factors[rows.indices[some]]
        return rows

    def _scores(self, rows: Any, coefficients: Floats) -> Floats:
        """The scores of scaled rows under the weights of these coefficients, shape (n_rows, n_scores)."""
        weights = self._weights(coefficients)
        scores = (rows @ weights.astype(rows.dtype, copy=False)).astype(np.float64)
        return np.asarray(scores - self._shift @ weights if self._shift.any() else scores)

    def _weights(self, coefficients: Floats) -> NDArray[np.floating]:
        """Sums of standardized rows, shape (n_columns, n_scores)."""
        weights = self._rows.T @ coefficients.astype(self._rows.dtype)
        return np.asarray(weights - np.outer(self._shift, coefficients.sum(axis=0)) if self._shift.any() else weights)

    def _mean_squared_length(self) -> float:
        """The mean squared length of a standardized row."""
        weights, shift = self._training.weights, self._shift
        parts = (self._rows[some] for some in slices(self.n_rows, self._rows.nnz))
        squares = np.concatenate([np.asarray(some.power(2).sum(axis=1)).ravel() for some in parts])
        cross = self._rows @ shift.astype(self._rows.dtype)
        return float(weights @ (squares - 2 * cross + shift @ shift))

    def _split(self, flat: Floats, n_rows: int) -> tuple[Floats, Floats]:
        n_scores = len(self._directions)
        return flat[: n_rows * n_scores].reshape(-1, n_scores), flat[n_rows * n_scores :]


class _Likelihood(_Problem):
    """The forward loss of the records."""

    def loss(self, image: Floats) -> tuple[float, Floats]:
        """The loss of these scores and offsets, and its slope."""
        scores, offsets = self._split(image, self.n_rows)
        of_head = _loss(self._network.architecture.head)
        loss, by_output, by_offset = of_head(scores @ self._directions, offsets, self._training)
        return loss, np.concatenate([(by_output @ self._directions.T).ravel(), by_offset])

    def held_out_loss(self, own: Floats) -> float:
        """Mean loss of the held-out rows under these coefficients."""
        coefficients, offsets = self._split(own, self.n_rows)
        outputs = self._scores(self._new_rows, coefficients) @ self._directions
        return float(_loss(self._network.architecture.head)(outputs, offsets, self._held_out)[0])

    def rows(self, rows: Ints) -> _Likelihood:
        """The problem of some of the training rows, and of at most as many held-out rows as a sample has."""
        some = _drawn(len(self._held_out.weights))
        return _Likelihood(self._network, self._training.rows(rows), self._held_out.rows(some))


class _Squares(_Problem):
    """Squared errors of the grades; the last offset is the intercept, the other offsets do nothing."""

    def __init__(self, start: Network, training: Records, held_out: Records, grades: tuple[Floats, Floats]) -> None:
        super().__init__(start, training, held_out)
        self._grades, self._mean = grades, float(training.weights @ grades[0])
        self.wanted = grades[0] - self._mean
        self.start.own[-1:], self.start.image[-1:] = 0.0, 0.0

    def scores(self, found: Vector) -> Floats:
        """The fitted scores of the training rows."""
        return np.asarray(found.image[: self.n_rows] + found.image[-1])

    def loss(self, image: Floats) -> tuple[float, Floats]:
        """The loss of these scores and intercept, and its slope."""
        return self.loss_of(self.wanted)(image)

    def loss_of(self, wanted: Floats) -> Loss:
        """Loss and slope as functions of the scores, for other grades of mean zero."""
        weights = self._training.weights

        def loss_and_slope(image: Floats) -> tuple[float, Floats]:
            surplus = image[: self.n_rows] + image[-1] - wanted
            return float(weights @ surplus**2) / 2, _padded(weights * surplus, len(image))

        return loss_and_slope

    def held_out_loss(self, own: Floats) -> float:
        """The mean squared error of the held-out rows."""
        scores = self._scores(self._new_rows, self._split(own, self.n_rows)[0])[:, 0]
        return float(self._held_out.weights @ (scores + own[-1] + self._mean - self._grades[1]) ** 2)

    def rows(self, rows: Ints) -> _Squares:
        """The problem of some of the training rows, and of at most as many held-out rows as a sample has."""
        some = _drawn(len(self._held_out.weights))
        grades = self._grades[0][rows], self._grades[1][some]
        return _Squares(self._network, self._training.rows(rows), self._held_out.rows(some), grades)


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
    true = np.exp(logits - logits.max(axis=1, keepdims=True))
    joint = true * records.likelihood
    everything, recorded = true.sum(axis=1), np.maximum(joint.sum(axis=1), FLOOR)
    slopes = (true / everything[:, None] - joint / recorded[:, None]) * records.weights[:, None]
    return float(records.weights @ np.log(everything / recorded)), slopes, slopes.sum(axis=0)
