"""A made set as large as one likes, to show that size is no obstacle."""

from __future__ import annotations

import numpy as np

from ordinoise.datasets import OrdinalDataset, to_ordinal

ROWS_AT_A_TIME = 50_000
SPREAD = 0.7


def made_set(n_samples: int, n_features: int, n_classes: int, seed: int = 0) -> OrdinalDataset:
    """Gaussian features in float32, graded by a bent score with some spread, each grade equally frequent.

    Drawn in parts, so that nothing but the features themselves takes memory.
    """
    rng = np.random.default_rng(seed)
    line, bend = rng.normal(size=(2, n_features)) / np.sqrt(n_features)
    features = np.empty((n_samples, n_features), dtype=np.float32)
    score = np.empty(n_samples)
    for start in range(0, n_samples, ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        features[part] = rng.standard_normal(features[part].shape, dtype=np.float32)
        score[part] = features[part] @ line + np.abs(features[part] @ bend)
        score[part] += SPREAD * rng.normal(size=len(score[part]))
    return OrdinalDataset(
        "made",
        features,
        to_ordinal(score, n_classes),
        tuple(f"x{column}" for column in range(1, n_features + 1)),
        tuple(f"grade {grade}" for grade in range(n_classes)),
        note=f"Made: {n_samples:,} rows.",
    )
