"""The two kinds of data sets: one grade per row, or grades by several raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints, as_same_length

# float32 only for MSLR, to halve its memory; float64 everywhere else.
Features = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class OrdinalDataset:
    """Features with one ordered grade per row.

    Attributes
    ----------
    name : str
        The name of the set in :func:`load`.
    features : array of shape (n_samples, n_features)
    labels : int array of shape (n_samples,)
        Grades 0..n_classes-1.
    feature_names, class_names : tuple of str
        One per column, and one per grade from the lowest up.
    target : float array of shape (n_samples,), or None
        The number that was cut into grades, if there is one.
    groups : int array of shape (n_samples,), or None
        Rows of one group (a query) belong on the same side of a split.
    note : str
        One sentence on where the rows come from.
    """

    name: str
    features: Features
    labels: Ints
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    target: Floats | None = None
    groups: Ints | None = None
    note: str = ""

    def __post_init__(self) -> None:
        as_same_length("labels", len(self.labels), "features", len(self.features))
        as_same_length("feature_names", len(self.feature_names), "a row of features", self.features.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of grades."""
        return len(self.class_names)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class RatedDataset:
    """Grades of the same items by several raters, one entry per rating.

    Attributes
    ----------
    name : str
        The name of the set in :func:`load`.
    items, raters, labels : int arrays of shape (n_ratings,)
        In rating r, rater ``raters[r]`` gave item ``items[r]`` the grade ``labels[r]``.
    n_items, n_raters : int
        Items are 0..n_items-1 and raters 0..n_raters-1.
    class_names : tuple of str
        One per grade, from the lowest up.
    features : array of shape (n_items, n_features), or None
    feature_names : tuple of str
    groups : int array of shape (n_items,), or None
        Items of one group (a scan) belong on the same side of a split.
    truth : int array of shape (n_items,), or None
        The gold grade of each item, -1 where there is none.
    note : str
        One sentence on where the ratings come from.
    """

    name: str
    items: Ints
    raters: Ints
    labels: Ints
    n_items: int
    n_raters: int
    class_names: tuple[str, ...]
    features: Features | None = None
    feature_names: tuple[str, ...] = ()
    groups: Ints | None = None
    truth: Ints | None = None
    note: str = ""

    def __post_init__(self) -> None:
        as_same_length("items", len(self.items), "labels", len(self.labels))
        as_same_length("raters", len(self.raters), "labels", len(self.labels))

    @property
    def n_classes(self) -> int:
        """Number of grades."""
        return len(self.class_names)

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return len(self.labels)

    def wide(self) -> Ints:
        """Grades as a table of shape (n_items, n_raters), -1 where a rater did not rate the item."""
        table = np.full((self.n_items, self.n_raters), -1, dtype=np.int64)
        table[self.items, self.raters] = self.labels
        return table
