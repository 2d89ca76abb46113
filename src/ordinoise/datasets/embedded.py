"""Data sets without files: the paper's synthetic set, and the diabetes study of scikit-learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, as_choice, as_count, as_generator
from ordinoise.datasets.cuts import STRATEGIES, cut_dataset, interval_names
from ordinoise.datasets.records import OrdinalDataset

# The mixtures are those of the paper.
SYNTHETIC_WEIGHTS = (0.45, 0.5, 0.05)
"""Probabilities of the three boxes of each class."""

SYNTHETIC_BOXES = (
    (((-1, 0), (-1, 1)), ((-4, -3), (0, 1)), ((-10, 0), (-5, 5))),
    (((0, 1), (-1, 1)), ((6, 7), (-1, 0)), ((0, 10), (-5, 5))),
    (((19, 20), (-1, 1)), ((16, 17), (-2, -1)), ((10, 20), (-5, 5))),
    (((20, 21), (-1, 1)), ((26, 27), (-3, -2)), ((20, 30), (-5, 5))),
)
"""Three boxes per class, each as (range of x1, range of x2)."""

SYNTHETIC_EDGES = (0.0, 10.0, 20.0)
"""The true rule: cut points of x1."""


def synthetic(n_per_class: int = 2000, random_state: int | np.random.Generator | None = None) -> OrdinalDataset:
    """The paper's synthetic set: four grades in the plane, each a mixture of uniform distributions on three boxes.

    The grade is exactly x1 cut at 0, 10 and 20. Each mixture has a dense box next to a cut, a dense one away from it,
    and a wide one with few points. Rows are sorted by grade.

    Parameters
    ----------
    n_per_class : int
        Rows per grade; the paper has 2000.
    random_state : int, numpy Generator or None
        Seed or generator.

    Examples
    --------
    >>> synthetic(50, random_state=0).features.shape
    (200, 2)
    """
    as_count("n_per_class", n_per_class, 1, 10_000_000)
    rng = as_generator(random_state)
    boxes = np.array(SYNTHETIC_BOXES, dtype=np.float64)
    return OrdinalDataset(
        name="synthetic",
        features=np.concatenate([_mixture(mixture, n_per_class, rng) for mixture in boxes]),
        labels=np.repeat(np.arange(len(boxes)), n_per_class),
        feature_names=("x1", "x2"),
        class_names=interval_names(SYNTHETIC_EDGES, "x1"),
        note="Drawn from the paper's mixtures of uniforms; the true grade is x1 cut at 0, 10 and 20.",
    )


def diabetes(
    n_classes: int | None = None, strategy: str = "equal_frequency", edges: ArrayLike | None = None
) -> OrdinalDataset:
    """Diabetes progression after one year, cut into ordered grades: 442 patients, 10 measurements.

    It comes with scikit-learn, so it needs neither file nor network. `n_classes` (5 by default), `strategy` and `edges`
    are those of :func:`to_ordinal`.

    Examples
    --------
    >>> diabetes(n_classes=3).n_classes
    3
    """
    from sklearn.datasets import load_diabetes

    as_choice("strategy", strategy, STRATEGIES)
    bunch = load_diabetes(scaled=False)
    return cut_dataset(
        "diabetes",
        np.asarray(bunch.data, dtype=np.float64),
        np.asarray(bunch.target, dtype=np.float64),
        tuple(bunch.feature_names),
        quantity="progression",
        n_classes=5 if n_classes is None and strategy != "edges" else n_classes,
        strategy=strategy,
        edges=edges,
        note="The diabetes study of scikit-learn, features in their original units.",
    )


def _mixture(boxes: Floats, n: int, rng: np.random.Generator) -> Floats:
    """`n` points, each uniform on one of the boxes ``boxes[component, axis, (low, high)]``."""
    chosen = boxes[rng.choice(len(SYNTHETIC_WEIGHTS), size=n, p=SYNTHETIC_WEIGHTS)]
    return rng.uniform(chosen[:, :, 0], chosen[:, :, 1])
