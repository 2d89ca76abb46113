"""One interface for noise and grades: every function takes the same things, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import Noise, OrdinalMLPClassifier, corrupt, inverse_decay
from ordinoise.noise.record import estimated_noise
from ordinoise.scoring import (
    calibrate_sets,
    evaluate_probabilities,
    fit_scaling,
    mean_absolute_error,
    noise_corrected,
    ranked_probability_score,
    reliability_curve,
    scorer,
)

GRADES = ["low", "mid", "top"]
MATRIX = inverse_decay(3, 0.1)
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=300)
RANKS = corrupt(TRUE, MATRIX, random_state=1)
PROBABILITIES = 0.7 * np.eye(3)[TRUE] + 0.1
ESTIMATED = estimated_noise(
    MATRIX, np.full(3, 1 / 3), replicates=np.stack([inverse_decay(3, rate) for rate in (0.05, 0.1, 0.15)]),
    rates=np.array([0.1, 0.2, 0.3]),
)  # fmt: skip


class Fitted:
    noise_ = Noise.of(MATRIX)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "noise_corrected": lambda y, noise: (
        noise_corrected("mean_absolute_error", y, _as(y, TRUE), noise, classes=_names(y)).value
    ),
    "fit_scaling": lambda y, noise: fit_scaling(PROBABILITIES, y, noise, classes=_names(y)).sharpness,
    "reliability_curve": lambda y, noise: reliability_curve(PROBABILITIES, y, noise, classes=_names(y)).observed,
    "calibrate_sets": lambda y, noise: calibrate_sets(PROBABILITIES, y, noise, classes=_names(y)).thresholds,
    "evaluate_probabilities": lambda y, noise: (
        evaluate_probabilities(PROBABILITIES, y, noise, classes=_names(y))["mean_absolute_error"].value
    ),
}


def _names(y: Any) -> Any:
    return GRADES if np.asarray(y).dtype.kind in "OUST" else None


def _as(y: Any, ranks: Any) -> Any:
    return np.array(GRADES)[ranks] if _names(y) else ranks


@pytest.mark.parametrize("name", FUNCTIONS)
def test_noise_is_a_matrix_a_record_an_estimator_or_nothing(name: str) -> None:
    call = FUNCTIONS[name]
    expected = call(RANKS, MATRIX)
    for noise in (Noise.of(MATRIX), Fitted(), Noise.of(MATRIX).to_dict(), MATRIX.tolist()):
        np.testing.assert_array_equal(call(RANKS, noise), expected)
    np.testing.assert_array_equal(call(RANKS, None), call(RANKS, np.eye(3)))
    np.testing.assert_array_equal(call(RANKS, replace(ESTIMATED, answer="trusting")), call(RANKS, None))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_grades_may_be_text(name: str) -> None:
    np.testing.assert_array_equal(FUNCTIONS[name](np.array(GRADES)[RANKS], MATRIX), FUNCTIONS[name](RANKS, MATRIX))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("noise", "sentence"),
    [
        (
            "estimate",
            r"noise must be known here: a matrix, Noise or fitted estimator, got 'estimate'; estimate it first",
        ),
        (
            0.2,
            r"noise_matrix must be a matrix, \[true, recorded\], got 0\.2; a rate alone is uniform\(n_classes, rate\)",
        ),
        (np.full((3, 3), 1 / 3), r"noise_matrix must have rows that differ"),
    ],
)
def test_other_noise_gets_one_sentence(name: str, noise: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        FUNCTIONS[name](RANKS, noise)


def test_a_metric_reads_the_columns_of_a_frame_by_the_grades() -> None:
    frame = pd.DataFrame(PROBABILITIES[:, ::-1], columns=GRADES[::-1])
    y = np.array(GRADES)[RANKS]
    assert ranked_probability_score(y, frame, classes=GRADES) == ranked_probability_score(RANKS, PROBABILITIES)


def test_replicates_widen_the_interval_of_a_single_score() -> None:
    given = noise_corrected("mean_absolute_error", RANKS, TRUE, MATRIX)
    uncertain = noise_corrected("mean_absolute_error", RANKS, TRUE, ESTIMATED)
    assert uncertain.value == given.value
    assert uncertain.standard_error > 1.5 * given.standard_error
    both = evaluate_probabilities(PROBABILITIES, RANKS, ESTIMATED)["mean_absolute_error"]
    assert uncertain.standard_error == pytest.approx(both.standard_error)


def test_former_names_warn_and_work() -> None:
    expected = noise_corrected("zero_one_loss", RANKS, TRUE, MATRIX, classes=[0, 1, 2])
    with pytest.warns(FutureWarning, match="noise_matrix= is called noise= now"):
        assert noise_corrected("zero_one_loss", RANKS, TRUE, noise_matrix=MATRIX) == expected  # type: ignore[call-arg]
    with pytest.warns(FutureWarning, match="labels= is called classes= now"):
        mean_absolute_error([1], [2], labels=[1, 2])  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", ["text", "categorical"])
@pytest.mark.parametrize("metric", ["mean_absolute_error", "ranked_probability_score"])
def test_a_scorer_asks_the_model_for_the_order(kind: str, metric: str) -> None:
    X = TRUE[:, None] + RNG.normal(0, 0.2, (300, 1))
    y: Any = np.array(GRADES)[RANKS]
    y = pd.Series(pd.Categorical(y, categories=GRADES, ordered=True)) if kind == "categorical" else y
    options: dict[str, Any] = {"noise": MATRIX, "max_iter": 30, "random_state": 0}
    named = make_pipeline(StandardScaler(), OrdinalMLPClassifier(classes=GRADES, **options))
    plain = make_pipeline(StandardScaler(), OrdinalMLPClassifier(**options))
    scores = cross_val_score(named, X, y, cv=2, scoring=scorer(metric, noise=MATRIX), error_score="raise")
    np.testing.assert_allclose(scores, cross_val_score(plain, X, RANKS, cv=2, scoring=scorer(metric, noise=MATRIX)))


def test_labels_are_corrupted_in_their_own_words() -> None:
    names = np.array(GRADES)[TRUE]
    np.testing.assert_array_equal(corrupt(names, MATRIX, 1, classes=GRADES), np.array(GRADES)[RANKS])
    np.testing.assert_array_equal(corrupt(TRUE + 1, Noise.of(MATRIX), 1, classes=[1, 2, 3]), RANKS + 1)
    with pytest.raises(ValueError, match=r"labels must hold whole numbers from 0 to 2, got 3 at \d+; pass classes="):
        corrupt(TRUE + 1, MATRIX)


def test_half_stars_are_grades() -> None:
    stars = 0.5 + TRUE / 2
    model = OrdinalMLPClassifier(max_iter=60, learning_rate_init=0.02, random_state=0).fit(TRUE[:, None], stars)
    assert model.classes_.tolist() == [0.5, 1.0, 1.5]
    assert (model.predict(TRUE[:, None]) == stars).mean() > 0.9
    with pytest.raises(ValueError, match="Unknown label type"):
        OrdinalMLPClassifier().fit(TRUE[:, None], RNG.normal(size=300))
