"""Ordered grades from a numeric target.

A cut point belongs to the grade above it: grade j holds the targets in ``[edge[j-1], edge[j])``, so equal targets
always share a grade.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, Ints, as_choice, as_class_count, as_floats, complain
from ordinoise.datasets.records import OrdinalDataset

STRATEGIES = ("equal_frequency", "equal_width", "edges")


def to_ordinal(
    target: ArrayLike,
    n_classes: int | None = None,
    strategy: str = "equal_frequency",
    edges: ArrayLike | None = None,
) -> Ints:
    """Grades 0..n_classes-1 of a numeric target: the number of cut points that are at most the target.

    Parameters
    ----------
    target : array-like of shape (n_samples,)
        Finite numbers.
    n_classes : int
        Number of grades; optional with `edges`.
    strategy : {"equal_frequency", "equal_width", "edges"}
        ``"equal_frequency"`` puts cut j between two distinct values, where the share of samples below is nearest to
        ``j / n_classes`` (the lower place if two are equally near); ``"equal_width"`` puts it at
        ``min + j (max - min) / n_classes``; ``"edges"`` takes the cut points from `edges`.
    edges : array-like of shape (n_classes - 1,), optional
        Ascending cut points, for ``strategy="edges"``. Only then may a grade be empty, so that the cut points of one
        sample can be used on another.

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
    """The n_classes - 1 ascending cut points of :func:`to_ordinal`.

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
    """Names of the grades, such as ``("rings < 8", "8 <= rings < 10", "rings >= 10")``."""
    cuts = [f"{edge:.15g}" for edge in as_floats("edges", edges, 1)]
    middle = [f"{low} <= {quantity} < {high}" for low, high in pairwise(cuts)]
    return (f"{quantity} < {cuts[0]}", *middle, f"{quantity} >= {cuts[-1]}")


def cut_dataset(
    name: str,
    features: Floats,
    target: Floats,
    feature_names: tuple[str, ...],
    *,
    quantity: str,
    n_classes: int | None,
    strategy: str,
    edges: ArrayLike | None,
    note: str,
) -> OrdinalDataset:
    """A dataset whose grades are the target cut by :func:`to_ordinal`, named by their intervals of `quantity`."""
    return OrdinalDataset(
        name=name,
        features=features,
        labels=to_ordinal(target, n_classes, strategy, edges),
        feature_names=feature_names,
        class_names=interval_names(cut_points(target, n_classes, strategy, edges), quantity),
        target=target,
        note=note,
    )


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
    below = np.cumsum(counts)[:-1]  # samples below each of distinct[1:], the possible cut points
    # Compared in integers (times n_classes), so that ties do not depend on rounding.
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
    # Multiplied before dividing, so that cut points that should be whole are exactly whole.
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
