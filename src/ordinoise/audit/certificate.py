"""How many labels are wrong by a random sample that somebody verified: exact, whatever any model believes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln
from scipy.stats import beta

from ordinoise._text import percent
from ordinoise._validation import Floats, Ints, as_count, as_floats, as_generator, as_number, as_same_length, complain
from ordinoise.estimate import Estimate

NUISANCE = 0.05
"""Part of the error probability that is spent on how the wrong labels are shared between two strata, as in Berger and
Boos (1994). A round number, chosen by no run."""
MOST_CELLS = 64  # of the shares that are tried; larger ones are bounded cell by cell; a round number, chosen by no run
# Least probability in the more suspicious stratum, and share of the sample drawn from it, that a plan tries; by no run.
CUTS, PARTS = (0.5, 0.3, 0.2, 0.1, 0.05), (0.15, 0.25, 0.4, 0.55)
LEAST_GAIN = 0.05
"""How much nearer to the expected number the bound must be for two strata. A round number, chosen by no run."""


@dataclass(frozen=True)
class SpotCheck:
    """The number of wrong labels by a random sample that was verified.

    Attributes
    ----------
    n_labels : int
        Labels that the sample was drawn from.
    n_checked, n_wrong : int
        Labels verified, and those of them that were wrong.
    n_undecided : int
        Labels drawn but not verified; taken to be wrong for the upper ends, and right for the lower ones.
    at_most, at_least : int
        One-sided bounds of the number of wrong labels, each of level `confidence`.
    low, high : int
        Two-sided interval of level `confidence`.
    confidence : float
    """

    n_labels: int
    n_checked: int
    n_wrong: int
    n_undecided: int
    at_most: int
    at_least: int
    low: int
    high: int
    confidence: float

    def __str__(self) -> str:
        undecided = f", {self.n_undecided:,} not decided" if self.n_undecided else ""
        share = percent(self.at_most / max(self.n_labels, 1))
        found = f"{self.n_checked:,} checked, {self.n_wrong:,} wrong{undecided}"
        return f"{found}: at most {share}, with {percent(self.confidence)} confidence"


def spot_check(
    sizes: ArrayLike, checked: ArrayLike, wrong: ArrayLike, *, undecided: ArrayLike = 0, confidence: float = 0.95
) -> SpotCheck:
    """How many labels are wrong, by verified random samples of one stratum or of two.

    The bounds are exact for samples without replacement: with one stratum the hypergeometric form of Clopper and
    Pearson, with two a test inverted over every way to share the wrong labels between them.

    Parameters
    ----------
    sizes : int or sequence of one or two int
        Number of labels in each stratum.
    checked, wrong : same shape
        Labels drawn at random from it and verified, and those of them that were wrong.
    undecided : same shape, default=0
        Labels drawn from it that nobody could verify.
    confidence : float, default=0.95
        Level of the bounds.

    Examples
    --------
    >>> from ordinoise.audit import spot_check
    >>> print(spot_check(100_000, 60, 0))
    60 checked, 0 wrong: at most 4.9%, with 95% confidence
    """
    level = as_number("confidence", confidence, 0.0, 0.999999, open_low=True)
    n_labels, n_checked, n_wrong, n_open = _as_strata(sizes, checked, wrong, undecided)
    drawn = n_checked + n_open
    total = int(n_labels.sum())

    def most(found: Ints, error: float) -> int:
        return _most_wrong(n_labels, drawn, found, error)

    def least(error: float) -> int:  # the right ones are at most so many
        return total - most(drawn - n_wrong, error)

    error = 1 - level
    return SpotCheck(
        total, int(n_checked.sum()), int(n_wrong.sum()), int(n_open.sum()),
        most(n_wrong + n_open, error), least(error), least(error / 2), most(n_wrong + n_open, error / 2), level,
    )  # fmt: skip


def _as_strata(sizes: ArrayLike, checked: ArrayLike, wrong: ArrayLike, undecided: ArrayLike) -> list[Ints]:
    names = ("sizes", "checked", "wrong", "undecided")
    columns = [np.atleast_1d(np.asarray(one)) for one in (sizes, checked, wrong, undecided)]
    columns[3] = np.broadcast_to(columns[3], columns[0].shape) if columns[3].size == 1 else columns[3]
    for name, column in zip(names, columns, strict=True):
        as_same_length(name, len(column), "sizes", len(columns[0]))
        for count in column.tolist():
            as_count(name, count, 0)
    if len(columns[0]) not in (1, 2):
        raise complain("sizes", "be of one stratum or of two", len(columns[0]))
    whole = [column.astype(np.int64) for column in columns]
    if (whole[2] > whole[1]).any() or (whole[1] + whole[3] > whole[0]).any():
        raise complain("checked", "lie between wrong and sizes in every stratum", f"{whole[1]} of {whole[0]}")
    return whole


def _most_wrong(sizes: Ints, drawn: Ints, wrong: Ints, error: float) -> int:
    """The largest number of wrong labels that the samples do not refute."""
    known = drawn == sizes  # nothing is uncertain about a stratum that was checked whole
    surely = int(wrong[known].sum())
    left = [(int(n), int(m), int(x)) for n, m, x in zip(sizes[~known], drawn[~known], wrong[~known], strict=True)]
    if not left:
        return surely
    if len(left) == 1:
        return surely + _largest_in_one(*left[0], error)
    return surely + _largest_in_two(left, error)


def _largest_in_one(size: int, drawn: int, wrong: int, error: float) -> int:
    """The largest number of wrong labels with ``P(at most as many wrong in the sample) > error``."""
    low, high = wrong, size - (drawn - wrong)
    while low < high:
        middle = (low + high + 1) // 2
        if _chances(size, drawn, middle)[: wrong + 1].sum() > error:
            low = middle
        else:
            high = middle - 1
    return low


def _largest_in_two(strata: Sequence[tuple[int, int, int]], error: float) -> int:
    """The largest number by the weighted sum of two samples, in the worst case over the shares they do not refute."""
    spent = error * NUISANCE
    ends = [(_smallest_in_one(*one, spent / 4), _largest_in_one(*one, spent / 4)) for one in strata]
    low, high = (sum(pair[at] for pair in ends) for at in (0, 1))
    while low < high:
        middle = (low + high + 1) // 2
        if _worst_chance(strata, ends, middle) > error - spent:
            low = middle
        else:
            high = middle - 1
    return low


def _smallest_in_one(size: int, drawn: int, wrong: int, error: float) -> int:
    return size - _largest_in_one(size, drawn, drawn - wrong, error)


def _worst_chance(strata: Sequence[tuple[int, int, int]], ends: Sequence[tuple[int, int]], total: int) -> float:
    """Largest probability of a weighted sum as small as the observed one, over all ways to share `total`.

    It falls with the wrong labels of either stratum. So the ends of a cell of shares, the fewest in both strata, bound
    the probability of all shares in it.
    """
    (size, drawn, wrong), (other_size, other_drawn, other_wrong) = strata
    weights = size / max(drawn, 1), other_size / max(other_drawn, 1)
    observed = weights[0] * wrong + weights[1] * other_wrong
    first = max(ends[0][0], total - ends[1][1]), min(ends[0][1], total - ends[1][0])
    width = -(-(first[1] - first[0] + 1) // MOST_CELLS)
    fewest = np.arange(first[0], first[1] + 1, width)
    others = np.maximum(total - np.minimum(fewest + width - 1, first[1]), 0)
    found = np.arange(drawn + 1)
    room = np.floor((observed - weights[0] * found) / weights[1] + 1e-9)  # most wrong ones in the other sample
    below = np.cumsum(_chances(other_size, other_drawn, others[:, None]), axis=1)
    at_most = np.where(room < 0, 0.0, below[:, np.clip(room, 0, other_drawn).astype(np.int64)])
    return float((_chances(size, drawn, fewest[:, None]) * at_most).sum(axis=1).max())


def _chances(size: int, drawn: int, wrong: int | Ints) -> Floats:
    """Probability of 0, 1, ... `drawn` wrong labels in a sample, in the last axis: the hypergeometric distribution."""
    found, wrong = np.arange(drawn + 1), np.asarray(wrong, dtype=np.int64)
    logs = _log_choose(wrong, found) + _log_choose(size - wrong, drawn - found) - _log_choose(size, np.array(drawn))
    return np.asarray(np.exp(logs))


def _log_choose(among: int | Ints, chosen: Ints) -> Floats:
    """Logarithm of the number of ways to choose; minus infinity where there is none."""
    rest = np.asarray(among) - chosen
    ways = gammaln(np.asarray(among) + 1.0) - gammaln(chosen + 1.0) - gammaln(np.maximum(rest, 0) + 1.0)
    return np.where(rest < 0, -np.inf, ways)


def repeat_error(n_repeated: int, n_differing: int, confidence: float = 0.95, *, agreeing: float = 0.0) -> Estimate:
    """Share of a person's labels that are wrong, with its interval, from labels that were given twice, blind.

    With independent errors in a share e two labels agree if both are right, ``(1 - e)^2``, or if both are wrong in the
    same way, ``e^2`` times the chance `agreeing` of that, which is 1 for two classes. The share that differs is then
    ``2 e - (1 + agreeing) e^2``, and its interval that of Clopper and Pearson. Of the two errors that explain it the
    smaller one is meant, at most ``1 / (1 + agreeing)``. Errors that gather on the same rows, such as hard ones, are
    not independent and make it too small.
    """
    tail, differing = (1 - confidence) / 2, n_differing / n_repeated
    low = float(beta.ppf(tail, n_differing, n_repeated - n_differing + 1)) if n_differing else 0.0
    high = float(beta.isf(tail, n_differing + 1, n_repeated - n_differing)) if n_differing < n_repeated else 1.0
    twice = 1 + agreeing
    value, low, high = (float(1 - np.sqrt(max(1 - twice * share, 0))) / twice for share in (differing, low, high))
    return Estimate(value, low, high, confidence)


@dataclass(frozen=True, eq=False)
class Stratum:
    """Labels of similar suspicion: the numbers of all its rows, and of those drawn from it at random."""

    rows: Ints
    drawn: Ints


def spot_check_sample(
    probability_wrong: ArrayLike, n_checks: int, *, confidence: float = 0.95, random_state: object = None
) -> tuple[Stratum, ...]:
    """Rows to verify for a spot check: of one stratum, or of two where that makes the bound smaller.

    Parameters
    ----------
    probability_wrong : array of shape (n_labels,)
        Of every label by some model, which decides the strata; the bounds do not depend on it.
    n_checks : int
        Rows to draw.
    confidence : float, default=0.95
        Level of the bound that the plan makes small.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    tuple of Stratum
        One or two, the more suspicious one first.
    """
    chances = as_floats("probability_wrong", probability_wrong, 1)
    n_checks = min(as_count("n_checks", n_checks, 1), len(chances))
    rng, order = as_generator(random_state), np.argsort(-chances, kind="stable")
    cut, n_first = _plan(chances[order], n_checks, confidence)
    parts = ((order[:cut], n_first), (order[cut:], n_checks - n_first)) if cut else ((order, n_checks),)
    return tuple(Stratum(np.sort(rows), rng.choice(rows, n_drawn, replace=False)) for rows, n_drawn in parts)


def _plan(chances: Floats, n_checks: int, confidence: float) -> tuple[int, int]:
    """Size of the more suspicious stratum and of its sample with the least expected bound; zero for one stratum."""
    n_labels, best = len(chances), (0, 0)
    expected = float(chances.sum())
    least = expected + (1 - LEAST_GAIN) * (_expected_most([chances], [n_checks], confidence) - expected)
    for cut in dict.fromkeys(int((chances >= chance).sum()) for chance in CUTS):
        for n_first in dict.fromkeys(min(round(part * n_checks), cut) for part in PARTS):
            drawn = [n_first, n_checks - n_first]
            if min(drawn) < 1 or drawn[1] > n_labels - cut:
                continue
            most = _expected_most([chances[:cut], chances[cut:]], drawn, confidence)
            if most < least:
                least, best = most, (cut, n_first)
    return best


def _expected_most(strata: Sequence[Floats], drawn: Sequence[int], confidence: float) -> float:
    """The bound if the samples hold as many wrong labels as the model expects, rounded up."""
    sizes = np.array([len(part) for part in strata])
    wrong = np.array([int(np.ceil(n * part.mean() - 1e-9)) for part, n in zip(strata, drawn, strict=True)])
    return _most_wrong(sizes, np.array(drawn), np.minimum(wrong, drawn), 1 - confidence)
