"""How often reviewers err themselves, from rows that were graded twice, blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, Ints, as_count, as_labels, as_same_length

HALF = 0.5
"""Prior slips, and prior right grades, of all reviewers together: Jeffreys' prior of a share."""
LOOKS_IN_COMMON = 20.0
"""Prior grades of each reviewer that err as often as those of all: of whom little is known counts as the others. A
round number, chosen by no run."""
STEPS = 50  # of expectation-maximization, which converges in ten


@dataclass(frozen=True, eq=False)
class Reviewers:
    """Estimated noise of reviewers.

    Attributes
    ----------
    rates : mapping of str to float
        Share of each reviewer's grades that are wrong.
    rate : float
        The same of all reviewers together.
    slips : array of shape (n_classes, n_classes)
        Distribution of a wrong grade, ``[true, given]``, zero on the diagonal.
    agreeing : float
        Chance that two wrong grades of a row agree: the sum of the squares of the slips, averaged over the rows.
    """

    rates: Mapping[str, float]
    rate: float
    slips: Floats
    agreeing: float

    def matrix(self, reviewer: str) -> Floats:
        """Noise matrix of a reviewer, ``[true, given]``; of one who graded no row twice that of all."""
        rate = self.rates.get(reviewer, self.rate)
        return np.asarray((1 - rate) * np.eye(len(self.slips)) + rate * self.slips)

    def agreement(self, first: str, second: str) -> Floats:
        """Noise matrix of a grade that two looks agree on: ``[true, given]``, given that they agree."""
        both = self.matrix(first) * self.matrix(second)
        return np.asarray(both / both.sum(axis=1, keepdims=True))


def reviewers_from_repeats(
    names: Sequence[tuple[str, str]], grades: ArrayLike, n_classes: int, *, decided: ArrayLike | None = None
) -> Reviewers:
    """Noise of reviewers, from rows that were graded twice, blind, by the same reviewer or two.

    Every reviewer errs in a share of the rows, whatever the true grade, and wrong grades are the likelier the nearer
    they are. Two grades of a row then agree in ``(1 - e)^2`` of the rows, nearly, which shows e. Shares and distances
    are fitted by expectation-maximization over the true grades, with weak priors. A bias that all looks share leaves no
    trace.

    Parameters
    ----------
    names : sequence of (str, str)
        Who gave the first and the second grade of each row.
    grades : int array of shape (n_rows, 2)
        Those grades, as ranks.
    n_classes : int
    decided : int array of shape (n_rows,), optional
        The grade that was decided on together where the two differ, as a rank; -1 without one.

    Examples
    --------
    >>> found = reviewers_from_repeats([("Ann", "Ben")] * 20, [[1, 1]] * 19 + [[1, 2]], 4)
    >>> round(found.rate, 3)
    0.037
    """
    n_classes = as_count("n_classes", n_classes, 2)
    given = as_labels("grades", np.ravel(grades), n_classes).reshape(-1, 2)
    as_same_length("names", len(names), "grades", len(given))
    known = np.full(len(given), -1) if decided is None else np.asarray(decided, dtype=np.int64)
    people = sorted({name for pair in names for name in pair})
    who = np.array([[people.index(name) for name in pair] for pair in names])
    rates, rate = np.full(len(people), 0.1), 0.1
    by_distance = _prior_distances(n_classes)
    for _ in range(STEPS):
        true = _true_grades(given, who, rates, _slips(by_distance, n_classes), known)
        wrong = np.stack([1 - true[np.arange(len(given)), given[:, look]] for look in range(2)], axis=1)
        rate = (HALF + wrong.sum()) / (2 * HALF + wrong.size)
        slips, looks = (np.bincount(who.ravel(), some.ravel()) for some in (wrong, np.ones_like(wrong)))
        rates = (LOOKS_IN_COMMON * rate + slips) / (LOOKS_IN_COMMON + looks)
        by_distance = _prior_distances(n_classes) + _distances(true, given)
    shares, final = dict(zip(people, rates.tolist(), strict=True)), _slips(by_distance, n_classes)
    return Reviewers(shares, float(rate), final, float((true @ final**2).sum() / len(true)))


def _prior_distances(n_classes: int) -> Floats:
    """Two prior slips, shared by the distances 1, 2, ... in inverse proportion to their squares."""
    shares = 1 / np.arange(1, n_classes) ** 2
    return np.asarray(2 * shares / shares.sum())


def _slips(by_distance: Floats, n_classes: int) -> Floats:
    """Distribution of wrong grades from the weight of each distance, zero on the diagonal."""
    grades = np.arange(n_classes)
    weights = np.concatenate([[0.0], by_distance])[np.abs(grades[:, None] - grades)]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _true_grades(given: Ints, who: Ints, rates: Floats, slips: Floats, known: Ints) -> Floats:
    """Probability of each true grade given both looks, shape (n_rows, n_classes); certain where it was decided."""
    n_classes = len(slips)
    joint = np.ones((len(given), n_classes))
    for look in range(2):
        rate = rates[who[:, look], None]
        joint *= (1 - rate) * np.eye(n_classes)[given[:, look]] + rate * slips[:, given[:, look]].T
    joint[known >= 0] = np.eye(n_classes)[known[known >= 0]]
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _distances(true: Floats, given: Ints) -> Floats:
    """Expected number of slips by each distance from 1."""
    n_classes = true.shape[1]
    apart = np.abs(given[:, :, None] - np.arange(n_classes))
    weights = np.broadcast_to(true[:, None, :], apart.shape)
    found = np.zeros(n_classes)
    np.add.at(found, apart.ravel(), weights.ravel())
    return found[1:]
