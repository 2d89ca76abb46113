"""From a number to an ordered grade.

A cut point belongs to the grade above it: grade j holds the targets in ``[edge[j-1], edge[j])``, so
equal targets always share a grade.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, Ints, as_choice, as_class_count, as_floats, complain

STRATEGIES = ("equal_frequency", "equal_width", "edges")


def to_ordinal(
    target: ArrayLike,
    n_classes: int | None = None,
    strategy: str = "equal_frequency",
    edges: ArrayLike | None = None,
) -> Ints:
    """Grades 0..n_classes-1 of a numeric target: how many cut points each number reaches.

    Parameters
    ----------
    target : array-like of shape (n_samples,)
        Finite numbers.
    n_classes : int
        How many grades; may be left out when `edges` say it.
    strategy : {"equal_frequency", "equal_width", "edges"}
        How to cut; see :func:`cut_points`.
    edges : array-like of shape (n_classes - 1,), optional
        The cut points themselves, ascending, for ``strategy="edges"``. Only then may a grade stay empty,
        so that the cuts of one sample can be used on another.

    Returns
    -------
    int array of shape (n_samples,)

    Examples
    --------
    >>> to_ordinal([1, 7, 8, 9, 10, 29], strategy="edges", edges=[8, 10, 13]).tolist()
    [0, 0, 1, 1, 2, 3]
    """
    values = as_floats("target", target, 1)
    cuts = cut_points(values, n_classes, strategy, edges)
    labels = np.searchsorted(cuts, values, side="right").astype(np.int64)
    if strategy != "edges":
        _refuse_empty_classes(labels, len(cuts) + 1)
    return labels


def cut_points(
    target: ArrayLike,
    n_classes: int | None = None,
    strategy: str = "equal_frequency",
    edges: ArrayLike | None = None,
) -> Floats:
    """The n_classes - 1 ascending cut points of :func:`to_ordinal`; each belongs to the grade above it.

    ``"equal_frequency"`` puts cut j between two distinct values, where the number of samples below is nearest
    to ``j / n_classes`` of all (the lower place if two are equally near); ``"equal_width"`` at
    ``min + j (max - min) / n_classes``; ``"edges"`` gives back `edges`, checked.

    Examples
    --------
    >>> cut_points([5, 1, 4, 2, 3, 6], 3).tolist()
    [3.0, 5.0]
    """
    values = as_floats("target", target, 1)
    as_choice("strategy", strategy, STRATEGIES)
    if strategy == "edges":
        return _given_edges(edges, n_classes)
    if edges is not None:
        raise complain("edges", "be left out unless strategy is 'edges'", f"strategy {strategy!r}")
    if n_classes is None:
        raise complain("n_classes", "be given unless strategy is 'edges'", None)
    k = as_class_count(n_classes)
    n_distinct = len(np.unique(values))
    if n_distinct < k:
        raise complain("target", f"have at least {k} distinct values for {k} classes", n_distinct, "ask for fewer")
    return _frequency_edges(values, k) if strategy == "equal_frequency" else _width_edges(values, k)


def interval_names(edges: ArrayLike, quantity: str) -> tuple[str, ...]:
    """The grades in words, such as ``("rings < 8", "8 <= rings < 10", "rings >= 10")``."""
    cuts = [f"{edge:.15g}" for edge in as_floats("edges", edges, 1)]
    middle = [f"{low} <= {quantity} < {high}" for low, high in pairwise(cuts)]
    return (f"{quantity} < {cuts[0]}", *middle, f"{quantity} >= {cuts[-1]}")


def _given_edges(edges: ArrayLike | None, n_classes: int | None) -> Floats:
    if edges is None:
        raise complain("edges", "be given when strategy is 'edges'", None)
    cuts = as_floats("edges", edges, 1)
    falls = np.flatnonzero(np.diff(cuts) <= 0)
    if falls.size:
        at = int(falls[0])
        raise complain("edges", "rise strictly", f"{cuts[at]:g} before {cuts[at + 1]:g} at {at}")
    if n_classes is not None and as_class_count(n_classes) != len(cuts) + 1:
        raise complain(
            "n_classes",
            f"be one more than the {len(cuts)} edges",
            n_classes,
            "leave it out or change strategy",
        )
    return cuts


def _frequency_edges(values: Floats, n_classes: int) -> Floats:
    distinct, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts)[:-1]  # samples below distinct[1:], the only places where a cut can lie
    # Compared in whole numbers (times n_classes), so that "equally near" does not hang on rounding.
    wanted = np.arange(1, n_classes) * len(values)
    places = np.abs(below[None, :] * n_classes - wanted[:, None]).argmin(axis=1)
    repeated = np.flatnonzero(np.diff(places) == 0)
    if repeated.size:
        value = distinct[1:][places[repeated[0]]]
        raise complain(
            "target",
            f"have few enough ties for {n_classes} classes of equal frequency",
            f"class {repeated[0] + 1} empty, with two cuts at {value:g}",
            "ask for fewer classes or pass strategy='edges'",
        )
    return distinct[1:][places]


def _width_edges(values: Floats, n_classes: int) -> Floats:
    low, high = float(values.min()), float(values.max())
    # Multiplied before dividing: cuts of whole numbers that should be whole are then exactly so.
    return np.array([low + j * (high - low) / n_classes for j in range(1, n_classes)])


def _refuse_empty_classes(labels: Ints, n_classes: int) -> None:
    empty = np.flatnonzero(np.bincount(labels, minlength=n_classes) == 0)
    if empty.size:
        raise complain(
            "target",
            f"have a value in each of the {n_classes} classes of equal width",
            f"none in class {empty[0]}",
            "ask for fewer classes or pass strategy='equal_frequency'",
        )
