"""Raters with asymmetric matrices, many draws: matrices come back, and the interval of the noise rate covers."""

from __future__ import annotations

import numpy as np
import pytest

from ordinoise import corrupt
from ordinoise.estimation import RepeatedLabels, from_wide

UP = np.array([[0.7, 0.2, 0.08, 0.02], [0.05, 0.65, 0.2, 0.1], [0.02, 0.08, 0.7, 0.2], [0.01, 0.02, 0.07, 0.9]])
DOWN = np.array([[0.95, 0.03, 0.01, 0.01], [0.3, 0.6, 0.07, 0.03], [0.1, 0.3, 0.55, 0.05], [0.05, 0.1, 0.25, 0.6]])
SHARP = np.array([[0.9, 0.07, 0.02, 0.01], [0.1, 0.8, 0.07, 0.03], [0.03, 0.02, 0.85, 0.1], [0.01, 0.04, 0.1, 0.85]])
HABITS = np.stack([UP, DOWN, SHARP, UP, DOWN])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the noise is weakly identified")
def test_matrices_come_back_and_the_interval_of_the_rate_covers() -> None:
    """Of 20 intervals of 95 % 19 should hold the rate; 16 are three standard errors fewer. Entries are held less often:
    class shares are a convention, and rows of a rare class lean towards its neighbors."""
    covered, entries, distances = [], [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = rng.choice(4, 500, p=[0.3, 0.3, 0.25, 0.15])
        table = np.column_stack([corrupt(truth, habit, rng) for habit in HABITS])
        noise = RepeatedLabels(n_bootstrap=60, random_state=seed, classes=range(4)).fit(*from_wide(table)).noise_
        assert noise.rate_interval is not None
        assert noise.interval is not None
        low, high = noise.rate_interval
        covered.append(low <= (table != truth[:, None]).mean() <= high)
        lowest, highest = noise.interval
        entries.append(((lowest <= HABITS.mean(axis=0)) & (HABITS.mean(axis=0) <= highest)).mean())
        distances.append(np.abs(noise.matrices - HABITS).mean())
    assert sum(covered) >= 16
    assert np.mean(entries) > 0.75
    assert np.mean(distances) < 0.03
    # Rater by rater, not all alike: another one's matrix is much farther.
    assert np.abs(UP - DOWN).mean() > 3 * np.mean(distances)
