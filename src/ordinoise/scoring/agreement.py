"""How far raters agree, with intervals from resampled items.

Every measure is ``(observed - expected) / (1 - expected)`` of a weighted agreement, from the grades given to each item
(Krippendorff's alpha, Gwet's AC2, share within one grade) or to each pair of raters (weighted kappa):

    alpha   observed: pairs of grades of one item; expected: pairs drawn from all grades of items with two or more
    AC2     observed: as alpha, items equally; expected: sum of weights / (K (K - 1)) * sum_k share_k (1 - share_k)
    kappa   observed and expected of each pair of raters on their common items; averaged over pairs by common items
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_count, as_generator, as_number, as_same_length, complain
from ordinoise.estimate import Estimate
from ordinoise.labels import as_column, ordered_classes, ranks_of

__all__ = ["Agreement", "agreement"]

FEWEST_COMMON = 5
"""Common items below which a pair of raters is left out of the kappas: the kappa of fewer is mostly noise."""


@dataclass(frozen=True)
class Agreement:
    """How far raters agree; 1 is complete, 0 is chance (except `within_one`, a plain share).

    Attributes
    ----------
    alpha_ordinal, alpha_interval : Estimate
        Krippendorff's alpha with ordinal distances (by the grades used between two) or those of ranks.
    ac2 : Estimate
        Gwet's AC2 with quadratic weights, which holds up if most items have the same grade.
    kappa_linear, kappa_quadratic : Estimate or None
        Cohen's weighted kappa, averaged over pairs of raters; None if no pair has enough common items.
    within_one : Estimate
        Share of pairs of grades of one item that are at most one grade apart, items counting equally.
    n_items : int
        Items with two grades or more.
    confidence : float
        Level of the intervals.
    """

    alpha_ordinal: Estimate
    alpha_interval: Estimate
    ac2: Estimate
    kappa_linear: Estimate | None
    kappa_quadratic: Estimate | None
    within_one: Estimate
    n_items: int
    confidence: float

    def __str__(self) -> str:
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        lines = [f"{name:<16}{value}" for name, value in found.items() if isinstance(value, Estimate)]
        return "\n".join([f"Agreement on {self.n_items} items ({self.confidence:.0%} intervals)", *lines])


def agreement(
    items: Any,
    raters: Any,
    labels: Any,
    *,
    classes: Any = None,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    random_state: Any = None,
) -> Agreement:
    """How far raters agree on the items that they share.

    Parameters
    ----------
    items, raters, labels : columns
        One entry per rating, as for `RepeatedLabels`; ``raters=None`` if names are unknown.
    classes : sequence, optional
        The grades from lowest to highest, if the labels are text or lack some.
    n_bootstrap : int, default=200
        Resamples of the items for the intervals.
    confidence : float, default=0.95
        Level of the intervals.
    random_state : int, Generator, RandomState or None
        Randomness of the resamples.

    Examples
    --------
    >>> found = agreement([0, 0, 1, 1, 2, 2], list("ababab"), [1, 1, 2, 3, 3, 3], n_bootstrap=20, random_state=0)
    >>> round(found.within_one.value, 2)
    1.0
    """
    grades = ordered_classes(labels, classes)
    ranks = ranks_of("labels", labels, grades)
    item_numbers = _numbers("items", items, len(ranks))
    given = np.zeros((int(item_numbers.max(initial=-1)) + 1, len(grades)))
    np.add.at(given, (item_numbers, ranks), 1)
    if not (given.sum(axis=1) >= 2).any():
        raise complain("items", "have two ratings or more somewhere", "one rating each")
    level = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    measures = _by_item(given)
    if raters is not None:
        measures |= _by_pair(item_numbers, _numbers("raters", raters, len(ranks)), ranks, len(grades))
    rng, n_items = as_generator(random_state), len(given)
    drawn = rng.multinomial(n_items, np.full(n_items, 1 / n_items), size=as_count("n_bootstrap", n_bootstrap, 1))
    found = {name: _estimate(measure, drawn.astype(np.float64), level) for name, measure in measures.items()}
    linear, quadratic = (found.pop(name, None) for name in ("kappa_linear", "kappa_quadratic"))
    n_shared = int((given.sum(axis=1) >= 2).sum())
    return Agreement(**found, kappa_linear=linear, kappa_quadratic=quadratic, n_items=n_shared, confidence=level)


Measure = Callable[[Floats], float]
"""A measure of agreement for given weights of the items; NaN where it is undefined."""


def _numbers(argument: str, values: Any, n_ratings: int) -> Ints:
    column = as_column(argument, values)
    as_same_length(argument, len(column), "labels", n_ratings)
    return np.asarray(np.unique(column, return_inverse=True)[1], dtype=np.int64)


def _estimate(measure: Measure, drawn: Floats, confidence: float) -> Estimate:
    values = np.array([measure(weights) for weights in drawn])
    return Estimate.from_draws(float(measure(np.ones(drawn.shape[1]))), values, confidence)


def _beyond_chance(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def _by_item(given: Floats) -> dict[str, Measure]:
    """The measures that need no names of raters, from the grades given to each item, (n_items, K)."""
    n_items, n_classes = given.shape
    ranks = np.arange(n_classes)
    size = given.sum(axis=1)
    is_shared = size >= 2
    pairs = given[:, :, None] * given[:, None, :] - given[:, :, None] * np.eye(n_classes)
    pairs = np.where(is_shared, 1 / np.maximum(size - 1, 1), 0.0)[:, None, None] * pairs  # sums to `size` per item
    shares = given / np.maximum(size, 1)[:, None]
    flat = pairs.reshape(n_items, -1)
    quadratic = 1 - ((ranks[:, None] - ranks) / max(n_classes - 1, 1)) ** 2

    def alpha(weights: Floats, distances: Callable[[Floats], Floats]) -> float:
        coincidences = (weights @ flat).reshape(n_classes, n_classes)
        used = coincidences.sum(axis=0)
        square = distances(used)
        expected = used @ square @ used
        return 1 - (used.sum() - 1) * float((coincidences * square).sum() / expected) if expected > 0 else float("nan")

    def pairwise(weights: Floats, table: Floats) -> float:
        shared = weights * is_shared
        of_item = np.einsum("ikl,kl->i", pairs, table) / np.maximum(size, 1)
        return float(shared @ of_item / shared.sum()) if shared.sum() else float("nan")

    def ac2(weights: Floats) -> float:
        share = weights @ shares / weights.sum()
        expected = quadratic.sum() / (n_classes * (n_classes - 1)) * float(share @ (1 - share))
        return _beyond_chance(pairwise(weights, quadratic), expected)

    near = (np.abs(ranks[:, None] - ranks) <= 1).astype(float)
    return {
        "alpha_ordinal": lambda weights: alpha(weights, _ordinal_distances),
        "alpha_interval": lambda weights: alpha(weights, _rank_distances),
        "ac2": ac2,
        "within_one": lambda weights: pairwise(weights, near),
    }


def _ordinal_distances(used: Floats) -> Floats:
    """Squared number of grades used from one to the other, counting half of both ends."""
    middle = used.cumsum() - used / 2
    return np.asarray(np.square(np.subtract.outer(middle, middle)))


def _rank_distances(used: Floats) -> Floats:
    """Squared distance of the ranks."""
    ranks = np.arange(len(used), dtype=np.float64)
    return np.asarray(np.square(np.subtract.outer(ranks, ranks)))


def _by_pair(items: Ints, raters: Ints, ranks: Ints, n_classes: int) -> dict[str, Measure]:
    """Weighted kappas over the pairs of raters with enough common items; empty if there is none."""
    left, right = _rated_together(items)
    pair = np.minimum(raters[left], raters[right]) * (int(raters.max()) + 1) + np.maximum(raters[left], raters[right])
    swapped = raters[left] > raters[right]
    names, pair, common = np.unique(pair, return_inverse=True, return_counts=True)
    is_kept = (common >= FEWEST_COMMON)[pair] & (raters[left] != raters[right])
    if not is_kept.any():
        return {}
    first, second = np.where(swapped, ranks[right], ranks[left]), np.where(swapped, ranks[left], ranks[right])
    cell = ((pair * n_classes + first) * n_classes + second)[is_kept]
    item, n_cells = items[left][is_kept], len(names) * n_classes**2

    def kappa(weights: Floats, table: Floats) -> float:
        joint = np.bincount(cell, weights[item], minlength=n_cells).reshape(-1, n_classes, n_classes)
        total = joint.sum(axis=(1, 2))
        joint, total = joint[total > 0], total[total > 0]
        joint = joint / total[:, None, None]
        observed = (joint * table).sum(axis=(1, 2))
        expected = np.einsum("pk,kl,pl->p", joint.sum(axis=2), table, joint.sum(axis=1))
        defined = expected < 1 - 1e-12
        if not defined.any():
            return float("nan")
        each = (observed[defined] - expected[defined]) / (1 - expected[defined])
        return float(total[defined] @ each / total[defined].sum())

    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))) / max(n_classes - 1, 1)
    return {
        "kappa_linear": lambda weights: kappa(weights, 1 - distance),
        "kappa_quadratic": lambda weights: kappa(weights, 1 - distance**2),
    }


def _rated_together(items: Ints) -> tuple[Ints, Ints]:
    """All pairs of ratings of the same item, as positions."""
    order = np.argsort(items, kind="stable")
    size = np.bincount(items)[items[order]]
    start = np.cumsum(np.bincount(items)) - np.bincount(items)
    place = np.arange(len(items)) - start[items[order]]
    after = size - place - 1  # ratings of the same item that follow
    left = np.repeat(np.arange(len(items)), after)
    ahead = np.arange(len(left)) - np.repeat(after.cumsum() - after, after) + 1
    return order[left], order[left + ahead]
