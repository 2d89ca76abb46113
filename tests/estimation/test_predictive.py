"""An estimate that verified rows contradict is doubted, whichever rows they are, and is not corrected for."""

from __future__ import annotations

import numpy as np
import pytest

from ordinoise._validation import Floats, Ints
from ordinoise.audit import issues_from_probabilities
from ordinoise.estimation.score.estimator import noise_from_probabilities
from ordinoise.labels import Verified, trusted_ranks

CUTS = np.array([-1.5, -0.5, 0.5, 1.5])
N_ROWS = 2000


def hidden_cause(share: float) -> tuple[Floats, Ints]:
    """Right labels; some rows are moved by a cause that the probabilities do not know, which looks like noise."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=N_ROWS) * 2
    below = 1 / (1 + np.exp((score[:, None] - CUTS) * 3))
    moved = score + (rng.random(N_ROWS) < share) * rng.choice([-3.0, 3.0], N_ROWS)
    labels = np.searchsorted(CUTS, moved + rng.logistic(size=N_ROWS) / 3)
    return np.diff(below, axis=1, prepend=0.0, append=1.0), labels


@pytest.fixture(scope="module")
def clean() -> tuple[Floats, Ints]:
    return hidden_cause(0.12)


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize("n_verified", [120, 400])
def test_right_labels_refute_an_estimate_of_noise(clean: tuple[Floats, Ints], n_verified: int) -> None:
    probabilities, labels = clean
    before = noise_from_probabilities(probabilities, labels, random_state=0)
    assert before.rate_interval is not None
    assert before.rate_interval[0] > 0.04  # no label is wrong
    rows = np.random.default_rng(1).choice(N_ROWS, n_verified, replace=False)
    trusted = trusted_ranks(Verified(rows, labels[rows], drawn="random"), np.arange(5), N_ROWS)
    after = noise_from_probabilities(probabilities, labels, trusted=trusted, random_state=0)
    is_moved = after.rate is not None and after.rate < 0.5 * before.rate_interval[0]
    assert "verified-disagree" in after.doubt_codes or is_moved
    issues = issues_from_probabilities(probabilities, labels, trusted=Verified(rows, labels[rows], drawn="random"))
    assert issues.expected_wrong is not None
    assert issues.expected_wrong.high < 0.05 * N_ROWS
    assert issues.noise.answer == "trusting"
