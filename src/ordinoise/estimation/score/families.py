"""Families of noise matrices: free parameters <-> matrix, its derivatives, weak priors and a start.

A family is a table of energies ``E[true, recorded]``, zero on the diagonal, that depends on a few parameters; the row
softmax of ``-E`` is the noise matrix, ``N[i, j] = exp(-E[i, j]) / sum_r exp(-E[i, r])``. So any parameters give a valid
matrix, and ``E[i, j] = log(N[i, i] / N[i, j])``. Energies grow with the distance: far slips are rarer than near ones.
A *level* is the energy of a slip to a neighbor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from ordinoise._validation import Floats, as_choice, as_count

# The weak priors were chosen together, on development seeds of the sets in docs/knowing-the-noise.md; no run is kept
# that chose them one by one.
ODDS_OF_A_SLIP = 0.3
"""Center of the weak prior: 0.3 wrong labels per right one, for any number of classes."""
LEVEL_SD = 0.8
"""Standard deviation of the mean slip level about that center, on the scale of logits."""
LEVEL_SPREAD = 0.7
"""Standard deviation of the classes' slip levels about their mean."""
DIRECTION_SD = 1.0
"""Standard deviation of the mean level of slips up minus that of slips down: a factor of e is usual."""
LOG_POWER_SD = 1.0
"""Standard deviation of the logarithm of the decay's power about 0, which is inverse decay."""
ADJACENT_POWER = 8.0
"""Decay that stands for neighbors only: two grades off is 2 ** 8 = 256 times rarer, yet no label is impossible."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Independent normal priors on linear functions of the parameters: ``rows @ parameters - center ~ N(0, 1)``."""

    rows: Floats
    center: Floats

    @cached_property
    def precision(self) -> Floats:
        """Inverse covariance of the parameters."""
        return self.rows.T @ self.rows

    def residual(self, parameters: Floats) -> Floats:
        """Standard deviations between the parameters and the center, one per row."""
        return self.rows @ parameters - self.center


@dataclass(frozen=True, eq=False)
class NoiseFamily(ABC):
    """A family of noise matrices; a subclass adds `_energies` and `start`."""

    n_classes: int
    prior: Prior

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.prior.rows.shape[1]

    @abstractmethod
    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Energies (K, K), and their derivatives (n_parameters, K, K)."""

    @abstractmethod
    def start(self, rate: float) -> Floats:
        """Parameters whose matrix is inverse decay at `rate`, or as near to it as the family allows."""

    def log_matrix(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Logarithm of the noise matrix (K, K), and its derivatives (n_parameters, K, K)."""
        energies, slopes = self._energies(parameters)
        log_matrix = -energies - np.log(np.exp(-energies).sum(axis=1, keepdims=True))
        # d log N[i, j] = sum_r N[i, r] dE[i, r] - dE[i, j]
        return log_matrix, (slopes * np.exp(log_matrix)).sum(axis=2, keepdims=True) - slopes

    def noise_matrix(self, parameters: Floats) -> Floats:
        """``N[true, recorded]`` at these parameters."""
        return np.exp(self.log_matrix(parameters)[0])


@dataclass(frozen=True, eq=False)
class NoNoise(NoiseFamily):
    """The identity: labels are as recorded. No parameters."""

    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        energies = np.where(np.eye(self.n_classes), 0.0, np.inf)
        return energies, np.zeros((len(parameters), *energies.shape))

    def start(self, rate: float) -> Floats:
        """No parameters."""
        return np.full(0, rate)


@dataclass(frozen=True, eq=False)
class InverseDecay(NoiseFamily):
    """``rate / |i - j|`` with one rate (the paper's uniform noise); the parameter is ``log(1 / rate - max H)``.

    With ``H_i = sum_j 1 / |i - j|`` the diagonal is ``1 - rate H_i``: ``E[i, j] = log(1 / rate - H_i) + log |i - j|``.
    Every real parameter is a rate below ``1 / max H``, under which all diagonals are positive.
    """

    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        size = np.exp(parameters[0])
        odds = size + _row_weights(self.n_classes).max() - _row_weights(self.n_classes)  # 1 / rate - H_i
        off = _off_diagonal(self.n_classes)
        energies = off * (np.log(odds)[:, None] + _log_distance(self.n_classes))
        return energies, (off * (size / odds)[:, None])[None]

    def start(self, rate: float) -> Floats:
        """The paper's matrix at `rate`."""
        return _class_levels(self.n_classes, rate).min(keepdims=True)


@dataclass(frozen=True, eq=False)
class LinearEnergies(NoiseFamily):
    """Energies that are linear in the parameters: a fixed table plus one table of zeros and ones per parameter."""

    design: Floats
    offset: Floats

    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        return self.offset + _weighted_sum(parameters, self.design), self.design

    def start(self, rate: float) -> Floats:
        """All parameters of a class at its level under inverse decay."""
        return _class_levels(self.n_classes, rate)[_row_of(self.design)]


@dataclass(frozen=True, eq=False)
class PowerDecay(NoiseFamily):
    """One slip level per class and direction, and one power of the distance.

    ``E[i, j] = level + power log |i - j|``; the last parameter is the logarithm of the power, which keeps it positive.
    """

    design: Floats

    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        decay = np.exp(parameters[-1]) * _log_distance(self.n_classes)
        energies = _weighted_sum(parameters[:-1], self.design) + decay
        return energies, np.concatenate([self.design, decay[None]])

    def start(self, rate: float) -> Floats:
        """The paper's matrix at `rate`: power one, both directions alike."""
        return np.append(_class_levels(self.n_classes, rate)[_row_of(self.design)], 0.0)


@dataclass(frozen=True, eq=False)
class Unimodal(NoiseFamily):
    """Rows that decrease away from the diagonal, otherwise free.

    The energy at distance d is a sum of d positive steps; parameters are their logarithms, one per class, direction and
    step, and row p of `design` marks the cells that lie beyond step p.
    """

    design: Floats

    def _energies(self, parameters: Floats) -> tuple[Floats, Floats]:
        steps = np.exp(parameters)[:, None, None] * self.design
        return steps.sum(axis=0), steps

    def start(self, rate: float) -> Floats:
        """The paper's matrix at `rate`."""
        levels = np.maximum(_class_levels(self.n_classes, rate), 0.1)
        first = _step_of(self.design) == 0
        return np.where(first, np.log(levels[_row_of(self.design)]), _log_step(_step_of(self.design)))


@cache
def noise_family(name: str, n_classes: int) -> NoiseFamily:
    """The family called `name` for `n_classes` classes; `FAMILY_NAMES` lists them."""
    as_count("n_classes", n_classes, 2)
    return _MAKERS[as_choice("family", name, FAMILY_NAMES)](n_classes)


def _no_noise(n_classes: int) -> NoiseFamily:
    return NoNoise(n_classes, Prior(np.zeros((0, 0)), np.zeros(0)))


def _inverse_decay(n_classes: int) -> NoiseFamily:
    return InverseDecay(n_classes, _hierarchy(np.ones((1, 1)), _usual_level(n_classes, 1.0)))


def _uniform(n_classes: int) -> NoiseFamily:
    prior = _hierarchy(np.ones((1, 1)), _usual_level(n_classes, 0.0))
    return LinearEnergies(n_classes, prior, _off_diagonal(n_classes)[None], np.zeros((n_classes, n_classes)))


def _class_inverse_decay(n_classes: int) -> NoiseFamily:
    design = np.eye(n_classes)[:, :, None] * _off_diagonal(n_classes)
    prior = _hierarchy(np.eye(n_classes), _usual_level(n_classes, 1.0))
    return LinearEnergies(n_classes, prior, design, _log_distance(n_classes))


def _power_decay(n_classes: int) -> NoiseFamily:
    design = _directions(n_classes)
    levels = _directed_prior(design, _usual_level(n_classes, 1.0))
    rows = np.pad(levels.rows, ((0, 1), (0, 1)))
    rows[-1, -1] = 1 / LOG_POWER_SD
    return PowerDecay(n_classes, Prior(rows, np.append(levels.center, 0.0)), design)


def _adjacent(n_classes: int) -> NoiseFamily:
    design = _directions(n_classes)
    prior = _directed_prior(design, _usual_level(n_classes, ADJACENT_POWER))
    return LinearEnergies(n_classes, prior, design, ADJACENT_POWER * _log_distance(n_classes))


def _unimodal(n_classes: int) -> NoiseFamily:
    sides = [(row, side, step) for row in range(n_classes) for side in (-1, 1) for step in range(n_classes)]
    sides = [(row, side, step) for row, side, step in sides if 0 <= row + side * (step + 1) < n_classes]
    design = np.zeros((len(sides), n_classes, n_classes))
    for index, (row, side, step) in enumerate(sides):
        beyond = side * (np.arange(n_classes) - row) > step
        design[index, row, beyond] = 1
    first = _step_of(design) == 0
    usual = np.log(max(_usual_level(n_classes, 1.0), 0.5))
    center = np.where(first, usual, _log_step(_step_of(design)))
    sd = np.where(first, LEVEL_SPREAD / 2, LOG_POWER_SD)
    return Unimodal(n_classes, Prior(np.diag(1 / sd), center / sd), design)


def _free(n_classes: int) -> NoiseFamily:
    cells = np.argwhere(_off_diagonal(n_classes))
    design = np.zeros((len(cells), n_classes, n_classes))
    design[np.arange(len(cells)), cells[:, 0], cells[:, 1]] = 1
    prior = _hierarchy(np.eye(len(cells)), _usual_level(n_classes, 1.0))
    return LinearEnergies(n_classes, prior, design, _log_distance(n_classes))


def _hierarchy(levels: Floats, usual: float) -> Prior:
    """``level_i ~ N(mean, LEVEL_SPREAD)`` and ``mean ~ N(usual, LEVEL_SD)``: classes share strength."""
    count = len(levels)
    rows = np.vstack([(levels - levels.mean(axis=0)) / LEVEL_SPREAD, levels.mean(axis=0) / LEVEL_SD])
    return Prior(rows, np.append(np.zeros(count), usual / LEVEL_SD))


def _directed_prior(design: Floats, usual: float) -> Prior:
    """As `_hierarchy`, and ``mean of the levels up - mean of those down ~ N(0, DIRECTION_SD)``."""
    common = _hierarchy(np.eye(len(design)), usual)
    n_classes = design.shape[1]
    up = np.array([np.triu(table).any() for table in design])
    direction = np.where(up, 1.0, -1.0) / (n_classes - 1) / DIRECTION_SD
    return Prior(np.vstack([common.rows, direction]), np.append(common.center, 0.0))


def _directions(n_classes: int) -> Floats:
    """One table per class and direction, with ones at the slips of that class in that direction."""
    ones = np.ones((n_classes, n_classes))
    tables = np.eye(n_classes)[:, :, None] * np.stack([np.triu(ones, 1), np.tril(ones, -1)])[:, None]
    tables = tables.reshape(-1, n_classes, n_classes)
    return np.asarray(tables[tables.any(axis=(1, 2))])


def _weighted_sum(parameters: Floats, design: Floats) -> Floats:
    """Sum of the tables, each times its parameter; a plain product is several times faster than tensordot here."""
    return np.asarray((parameters @ design.reshape(len(design), -1)).reshape(design.shape[1:]))


@cache
def _off_diagonal(n_classes: int) -> Floats:
    return 1 - np.eye(n_classes)


@cache
def _log_distance(n_classes: int) -> Floats:
    grades = np.arange(n_classes)
    return np.log(np.maximum(np.abs(grades[:, None] - grades), 1))


@cache
def _row_weights(n_classes: int, power: float = 1.0) -> Floats:
    """Sum of ``|i - j| ** -power`` over the wrong labels of each class."""
    return np.asarray((_off_diagonal(n_classes) * np.exp(-power * _log_distance(n_classes))).sum(axis=1))


def _usual_level(n_classes: int, power: float) -> float:
    """Level at which the odds of a wrong label, ``exp(-level) sum_j |i - j| ** -power``, are `ODDS_OF_A_SLIP`."""
    return float(np.log(_row_weights(n_classes, power).mean() / ODDS_OF_A_SLIP))


def _class_levels(n_classes: int, rate: float) -> Floats:
    """Level of each class under inverse decay, ``log(1 / rate - H_i)``; a rate too large for K classes is lowered."""
    weights = _row_weights(n_classes)
    return np.asarray(np.log(1 / min(rate, 0.9 / weights.max()) - weights))


def _row_of(design: Floats) -> Floats:
    """True class that each table is about."""
    return np.asarray(design.any(axis=2).argmax(axis=1))


def _step_of(design: Floats) -> Floats:
    """Distance, less one, from the diagonal to the first cell of each table."""
    n_classes = design.shape[1]
    distance = np.where(design > 0, np.exp(_log_distance(n_classes)), np.inf)
    return np.asarray(np.rint(distance.min(axis=(1, 2)) - 1))


def _log_step(step: Floats) -> Floats:
    """Logarithm of the energy that inverse decay adds from `step` to ``step + 1`` grades."""
    return np.asarray(np.log(np.log1p(1 / np.maximum(step, 1))))


_MAKERS: dict[str, Callable[[int], NoiseFamily]] = {
    "none": _no_noise,
    "uniform": _uniform,
    "inverse_decay": _inverse_decay,
    "class_inverse_decay": _class_inverse_decay,
    "power_decay": _power_decay,
    "adjacent": _adjacent,
    "unimodal": _unimodal,
    "free": _free,
}
FAMILY_NAMES = tuple(_MAKERS)
AVERAGED_FAMILIES = tuple(name for name in FAMILY_NAMES if name not in ("unimodal", "free"))
