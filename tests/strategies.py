"""Hypothesis strategies: noise matrices that are *not* symmetric, ordered thresholds, logits, labels."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from ordinoise.noise import inverse_decay
from ordinoise.noise.properties import largest_dominant_rate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@st.composite
def noise_matrices(draw: st.DrawFn, min_classes: int = 2, max_classes: int = 6) -> Floats:
    """Invertible matrices with a dominant diagonal and unequal off-diagonal rates: no symmetry to hide behind."""
    n_classes = draw(st.integers(min_classes, max_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    wrong = rng.uniform(0.05, 0.45, size=n_classes)
    off_diagonal = rng.uniform(0.1, 1.0, size=(n_classes, n_classes))
    np.fill_diagonal(off_diagonal, 0.0)
    matrix = off_diagonal / off_diagonal.sum(axis=1, keepdims=True) * wrong[:, None]
    np.fill_diagonal(matrix, 1 - wrong)
    return matrix


@st.composite
def class_conditional_decay(draw: st.DrawFn, max_classes: int = 6) -> Floats:
    """The paper's class-conditional family, one rate per class, within dominance."""
    n_classes = draw(st.integers(3, max_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return inverse_decay(n_classes, rng.uniform(0.02, 0.95, size=n_classes) * largest_dominant_rate(n_classes))


@st.composite
def descending_thresholds(draw: st.DrawFn, n_thresholds: int) -> Floats:
    values = draw(st.lists(st.floats(-4, 4, allow_nan=False), min_size=n_thresholds, max_size=n_thresholds))
    return np.sort(np.array(values))[::-1].copy()


scores = st.floats(-6, 6, allow_nan=False)
