"""What must not matter does not: the order of rows and columns, the names of the grades, which end is up."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from ordinoise import OrdinalClassifier, ScoreLikelihood, corrupt
from ordinoise.noise import adjacent

# Noise between neighbors is in doubt by its nature; what is believed of it is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
N = 1500
NOISE = adjacent(4, up=0.25, down=0.05)
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 3))
TRUE = np.digitize(X[:, 0] - 0.5 * X[:, 1] + RNG.normal(scale=0.2, size=N), [-1.0, 0.0, 0.8])
NOISY = corrupt(TRUE, NOISE, random_state=4)
TOLERANCE = 0.02
"""Of probabilities and matrix entries between fits that differ by chance alone: folds and starting weights."""


def _front(features: Any, labels: Any, answer: Any = "corrected", **settings: Any) -> OrdinalClassifier:
    """A fit that corrects: whether to do so is decided by evidence near a limit, which the order of rows may tip."""
    return OrdinalClassifier("mlp", answer=answer, n_rounds=1, random_state=0, **settings).fit(features, labels)


@pytest.fixture(scope="module")
def plain() -> OrdinalClassifier:
    return _front(X, NOISY)


@pytest.mark.slow
def test_the_order_of_the_rows_does_not_matter(plain: OrdinalClassifier) -> None:
    order = np.random.default_rng(0).permutation(N)
    shuffled = _front(X[order], NOISY[order])
    assert np.abs(shuffled.predict_proba(X) - plain.predict_proba(X)).mean() < TOLERANCE
    assert np.abs(shuffled.noise_matrix_ - plain.noise_matrix_).mean() < TOLERANCE


@pytest.mark.slow
def test_the_order_of_the_columns_does_not_matter(plain: OrdinalClassifier) -> None:
    turned = _front(X[:, ::-1], NOISY)
    assert np.abs(turned.predict_proba(X[:, ::-1]) - plain.predict_proba(X)).mean() < TOLERANCE
    assert np.abs(turned.noise_matrix_ - plain.noise_matrix_).mean() < TOLERANCE


@pytest.mark.slow
def test_the_names_of_the_grades_do_not_matter_at_all(plain: OrdinalClassifier) -> None:
    names = np.array(["zero", "one", "two", "three"])
    named = _front(X, names[NOISY], classes=list(names))
    np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(named.predict(X), names[plain.predict(X)])
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    np.testing.assert_array_equal(_front(frame, NOISY).predict(frame), plain.predict(X))


@pytest.mark.slow
def test_turning_the_scale_round_mirrors_the_answer(plain: OrdinalClassifier) -> None:
    mirrored = _front(X, 3 - NOISY)
    assert np.abs(mirrored.predict_proba(X)[:, ::-1] - plain.predict_proba(X)).mean() < TOLERANCE
    assert np.abs(mirrored.noise_matrix_[::-1, ::-1] - plain.noise_matrix_).mean() < TOLERANCE
    # The noise is asymmetric: the answer that forgot to turn would be far off.
    assert np.abs(mirrored.noise_matrix_ - plain.noise_matrix_).mean() > 2 * TOLERANCE


@pytest.mark.slow
def test_on_clean_labels_the_estimate_does_no_harm() -> None:
    """Mean absolute error on fresh rows over four splits, against the same learner that trusts the labels."""
    harm = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 9])
        features = rng.normal(size=(1200, 3))
        labels = np.digitize(features[:, 0] - 0.5 * features[:, 1] + rng.normal(scale=0.3, size=1200), [-1, 0, 1])
        train, test = slice(600), slice(600, None)
        errors = [
            np.abs(
                _front(features[train], labels[train], "auto", noise=noise).predict(features[test]) - labels[test]
            ).mean()
            for noise in ("estimate", None)
        ]
        harm.append(errors[0] - errors[1])
    assert np.mean(harm) < 0.01


@pytest.mark.slow
def test_intervals_of_the_noise_rate_cover_it() -> None:
    """12 draws: fewer than 9 covered has a chance of 1 in 300 at the nominal 95 %, and 1 in 60 at 90 %."""
    covered = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        features = rng.normal(size=(800, 2))
        true = np.digitize(features[:, 0] + rng.normal(scale=0.1, size=800), [-1, 0, 1])
        noisy = corrupt(true, NOISE, rng)
        found = ScoreLikelihood(n_bootstrap=40, n_folds=5, random_state=seed).fit(features, noisy)
        low, high = found.noise_.rate_interval or (1, 0)
        covered += low <= (noisy != true).mean() <= high
    assert covered >= 9


@pytest.mark.slow
def test_prediction_sets_cover_the_true_label_although_calibrated_on_noisy_ones() -> None:
    """Known noise gives what was asked for; an estimate that is in doubt gives no less."""
    covered: dict[str, list[float]] = {"known": [], "estimated": [], "trusted": []}
    for seed in range(5):
        rng = np.random.default_rng([seed, 11])
        features = rng.normal(size=(2500, 3))
        true = np.digitize(features[:, 0] + rng.normal(scale=0.5, size=2500), [-1, 0, 1])
        noisy = corrupt(true, NOISE, rng)
        for name, noise in (("known", NOISE), ("estimated", "estimate"), ("trusted", None)):
            sets = _front(features[:1500], noisy[:1500], noise=noise).predict_set(features[1500:], confidence=0.9)
            covered[name].append(sets.mask[np.arange(1000), true[1500:]].mean())
    known, estimated, trusted = (np.mean(shares) for shares in covered.values())
    assert abs(known - 0.9) < 0.02
    assert abs(known - 0.9) < abs(trusted - 0.9)
    assert estimated > 0.88
