"""Verified labels as a column, names that are nearly right, saving again, and what a notebook shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ordinoise
from ordinoise import (
    NoiseAwareClassifier,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    OrdinalMLPClassifier,
    load_model,
)
from ordinoise.classifiers._network_base import CORRECTIONS, LOSSES, THRESHOLDS
from ordinoise.classifiers.ordinal import LEARNERS
from ordinoise.labels import verified_among
from ordinoise.learners.boosting import OBJECTIVES
from ordinoise.noise.record import ANSWERS

GRADES = np.array(["low", "mid", "top"])
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=120)
X = TRUE[:, None] + RNG.normal(0, 0.3, (120, 2))
ROWS = np.array([3, 50, 90])
MASK = np.isin(np.arange(120), ROWS)
NUMBERS = np.where(MASK, TRUE, np.nan)
WORDS = [GRADES[TRUE[row]] if row in ROWS else None for row in range(120)]


@pytest.mark.parametrize(
    ("trusted", "classes"),
    [
        ((ROWS, TRUE[ROWS]), np.arange(3)),
        ((MASK, TRUE[ROWS]), np.arange(3)),
        ((MASK, TRUE), np.arange(3)),
        (NUMBERS, np.arange(3)),
        (pd.Series(NUMBERS).astype("Int64"), np.arange(3)),
        (pl.Series([None if np.isnan(value) else int(value) for value in NUMBERS]), np.arange(3)),
        (WORDS, GRADES),
        (pd.Series(pd.Categorical(WORDS, categories=GRADES, ordered=True)), GRADES),
    ],
)
def test_verified_labels_are_a_pair_a_mask_or_a_column(trusted: Any, classes: Any) -> None:
    found = verified_among(trusted, classes, 120)
    assert found is not None
    assert found.rows.tolist() == ROWS.tolist()
    assert found.labels.tolist() == TRUE[ROWS].tolist()


def test_a_part_without_verified_labels_has_none() -> None:
    assert verified_among(np.full(120, np.nan), np.arange(3), 120) is None
    with pytest.raises(ValueError, match=r"trusted must be as long as y \(120\), got 3"):
        verified_among([0, 1, 2], np.arange(3), 120)
    with pytest.raises(ValueError, match="trusted labels must hold only the labels"):
        verified_among(np.where(MASK, 7.0, np.nan), np.arange(3), 120)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_column_of_verified_labels_teaches_as_the_pair_does() -> None:
    fits = [
        OrdinalClassifier("mlp", noise=None, n_folds=2, random_state=0).fit(X, TRUE[::-1], trusted=trusted)
        for trusted in (NUMBERS, (ROWS, TRUE[ROWS]))
    ]
    np.testing.assert_array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))


def test_a_name_that_is_nearly_right_is_named() -> None:
    with pytest.raises(AttributeError, match="no attribute 'find_label_issue'; did you mean 'find_label_issues'"):
        ordinoise.find_label_issue  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'polynomial'$"):
        ordinoise.polynomial  # noqa: B018


def test_what_fit_learns_is_missed_in_a_sentence_and_other_names_as_ever() -> None:
    model = OrdinalMLPClassifier()
    for name in ("noise_", "noise_matrix_", "classes_"):
        assert not hasattr(model, name)
        with pytest.raises(NotFittedError, match=r"OrdinalMLPClassifier has no (noise|classes)_ before it is fitted"):
            getattr(model, name)
    with pytest.raises(AttributeError, match="has no thresholds before it is fitted"):
        model.thresholds_  # noqa: B018
    with pytest.raises(AttributeError, match="object has no attribute 'colour'"):
        model.colour  # noqa: B018


def test_a_model_is_saved_over_a_model_and_over_nothing_else(tmp_path: Path) -> None:
    first, second = (OrdinalMLPClassifier(max_iter=epochs, random_state=0).fit(X, TRUE) for epochs in (2, 3))
    first.save(tmp_path / "model")
    with pytest.raises(ValueError, match="must not exist"):
        second.save(tmp_path / "model")
    second.save(tmp_path / "model", overwrite=True)
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), second.predict_proba(X))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(ValueError, match="path must"):
        second.save(tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["mine", "model"]


def test_prediction_sets_are_shown_as_a_sentence_and_a_table() -> None:
    model = OrdinalMLPClassifier(max_iter=60, learning_rate_init=0.02, random_state=0).fit(X[:60], TRUE[:60])
    sets = model.calibrate_sets(X[60:], TRUE[60:]).predict_set(X, 0.8)
    assert str(sets).startswith("120 sets that contain the true grade with probability 0.8: ")
    assert repr(sets) == str(sets)
    assert sets._repr_html_().count("<tr") == 11  # ten rows and the heading


def test_a_pipeline_is_trained_on_what_the_labels_should_have_been() -> None:
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    options: dict[str, Any] = {"noise": 0.8 * np.eye(3) + 0.2 / 3, "random_state": 0, "max_iter": 2, "n_folds": 3}
    inside = NoiseAwareClassifier(scaled, **options).fit(X, TRUE)
    assert (inside.predict(X) == TRUE).mean() > 0.9
    assert hasattr(inside.estimator_, "steps")
    weighted = inside.fit(X, TRUE, sample_weight=np.where(TRUE == 0, 0.01, 1.0)).predict(X)
    assert (weighted == 0).sum() <= (TRUE == 0).sum()
    with pytest.raises(
        ValueError, match=r"estimator must be a classifier, got the class LogisticRegression; pass an ins"
    ):
        NoiseAwareClassifier(LogisticRegression).fit(X, TRUE)


def test_the_words_that_a_type_checker_accepts_are_those_that_fit_accepts() -> None:
    network, front, trees = (
        get_type_hints(kind) for kind in (OrdinalMLPClassifier, OrdinalClassifier, OrdinalBoostingClassifier)
    )
    assert get_args(network["correction"]) == CORRECTIONS
    assert get_args(network["loss"]) == LOSSES
    assert get_args(network["thresholds"]) == THRESHOLDS
    assert get_args(front["learner"]) == LEARNERS
    assert get_args(front["answer"]) == ("auto", *ANSWERS)
    assert set(get_args(trees["head"])) == set(OBJECTIVES)
