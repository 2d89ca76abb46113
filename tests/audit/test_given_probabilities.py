"""Wrong labels from probabilities of a model of your own, with the noise estimated from them."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier

from ordinoise import Noise, adjacent, corrupt, inverse_decay
from ordinoise.audit import find_label_issues, issues_from_probabilities
from ordinoise.datasets import synthetic
from ordinoise.levels import class_probabilities
from strategies import Floats


def ordered_probabilities(score: Floats, spread: float) -> Floats:
    """Four grades that overlap by `spread` along a score."""
    above = expit((score[:, None] - np.array([-1.0, 0.0, 1.0])) / spread)
    return -np.diff(np.column_stack([np.ones(len(score)), above, np.zeros(len(score))]), axis=1)


@pytest.mark.parametrize("seed", [3, 4])
def test_grades_that_overlap_unevenly_are_not_called_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = 1.5 * rng.normal(size=(1500, 2))[:, 0]
    is_wide = rng.random(1500) < 0.4
    true = np.where(is_wide[:, None], ordered_probabilities(score, 1.4), ordered_probabilities(score, 0.35))
    labels = (rng.random(1500)[:, None] > true.cumsum(axis=1)).sum(axis=1)
    issues = issues_from_probabilities(ordered_probabilities(score, 0.6), labels, random_state=0)
    assert not issues.noise.doubts  # only the held-out labels speak against the estimate
    assert issues.noise.answer == "trusting"
    assert "held-out labels" in issues.noise.reason
    assert issues.expected_wrong is not None
    assert issues.expected_wrong.value is None
    assert issues.expected_wrong.low == 0


def test_a_model_that_is_too_sure_of_itself_ranks_as_its_calibrated_twin() -> None:
    rng = np.random.default_rng(0)
    right = ordered_probabilities(1.5 * rng.normal(size=800), 0.5)
    labels = (rng.random(800)[:, None] > right.cumsum(axis=1)).sum(axis=1)
    sure = right**3 / (right**3).sum(axis=1, keepdims=True)
    doubted = Noise(np.eye(4), source="estimated", answer="trusting")
    ranks = [
        issues_from_probabilities(table, labels, doubted, of="recorded").rank.astype(float) for table in (right, sure)
    ]
    as_it_is = issues_from_probabilities(sure, labels, doubted, of="recorded", calibrate=False).rank.astype(float)
    assert np.corrcoef(ranks[0], ranks[1])[0, 1] > max(0.99, np.corrcoef(ranks[0], as_it_is)[0, 1])


def test_a_model_of_your_own_is_asked_for_the_noise_of_its_labels() -> None:
    data, noise = synthetic(150, random_state=0), inverse_decay(4, 0.15)
    recorded = corrupt(data.labels, noise, random_state=0)
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    issues = find_label_issues(data.features, recorded, estimator=forest, random_state=0)
    assert issues.noise.answer == "corrected"
    assert "z = " in issues.noise.reason  # held-out labels were asked
    assert (recorded != data.labels)[issues.worst[:50]].mean() > 0.9


def test_the_noise_is_estimated_from_the_probabilities_of_a_model_of_your_own() -> None:
    rng = np.random.default_rng(0)
    place, noise = rng.uniform(-1.5, 1.5, size=(600, 1)), adjacent(3, up=0.2, down=0.1)
    right = class_probabilities(30 * (place - np.array([-0.5, 0.5])))  # a model that knows the truth ...
    truth = (rng.random((600, 1)) > right.cumsum(axis=1)[:, :-1]).sum(axis=1)
    recorded = corrupt(truth, noise, rng)
    issues = issues_from_probabilities(right @ noise, recorded, random_state=0)  # ... but predicts what is recorded
    assert issues.noise.is_estimated
    np.testing.assert_allclose(issues.noise.matrix, noise, atol=0.1)
    assert (recorded != truth)[issues.worst[:50]].mean() > 0.9
    with pytest.raises(
        ValueError, match=r"^of must be 'recorded' where the noise is estimated, got 'true'; pass the noise"
    ):
        issues_from_probabilities(right, recorded, of="true")
    with pytest.raises(
        ValueError, match=r"^noise must be 'estimate', a noise matrix or a fitted estimator, got 'guess'$"
    ):
        issues_from_probabilities(right, recorded, "guess")
