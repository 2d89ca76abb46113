"""A synthetic set of MSLR's full size, which cannot be shipped: features and grades of any number of rows."""

from __future__ import annotations

import numpy as np

from ordinoise.datasets import OrdinalDataset, to_ordinal

CHUNK_ROWS = 50_000
"""Rows drawn at a time, which bounds the temporary arrays: a round number, chosen by no run."""
SCORE_NOISE = 0.7
"""Standard deviation of the noise in the score, so that grades cannot be learned exactly: chosen by no run."""


def synthetic_mslr(n_samples: int, n_features: int, n_classes: int, seed: int = 0) -> OrdinalDataset:
    """Gaussian float32 features, and equally frequent grades cut from a noisy, nonlinear score.

    The score is ``a @ x + |b @ x|`` with random directions `a` and `b`, plus Gaussian noise. Rows are drawn in chunks,
    so that only the features themselves take memory.
    """
    rng = np.random.default_rng(seed)
    line, bend = rng.normal(size=(2, n_features)) / np.sqrt(n_features)
    features = np.empty((n_samples, n_features), dtype=np.float32)
    score = np.empty(n_samples)
    for start in range(0, n_samples, CHUNK_ROWS):
        chunk = slice(start, start + CHUNK_ROWS)
        features[chunk] = rng.standard_normal(features[chunk].shape, dtype=np.float32)
        score[chunk] = features[chunk] @ line + np.abs(features[chunk] @ bend)
        score[chunk] += SCORE_NOISE * rng.normal(size=len(score[chunk]))
    return OrdinalDataset(
        "made",
        features,
        to_ordinal(score, n_classes),
        tuple(f"x{column}" for column in range(1, n_features + 1)),
        tuple(f"grade {grade}" for grade in range(n_classes)),
        note=f"Synthetic: {n_samples:,} rows.",
    )
