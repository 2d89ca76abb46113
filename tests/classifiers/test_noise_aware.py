from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordinoise import AnchorPoints, adjacent, corrupt
from ordinoise.classifiers.noise_aware import NoiseAwareClassifier
from sklearn_failures import TEXT_CHECKS

ASYMMETRIC = adjacent(4, up=0.4, down=0.02)


def _data(n: int = 600, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.15, size=n), [-1, 0, 1])


X, Y = _data()
NOISY = corrupt(Y, ASYMMETRIC, 0)
LINEAR = LogisticRegression(max_iter=500)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@parametrize_with_checks(
    [NoiseAwareClassifier(LINEAR, decision="mode", n_folds=2, max_iter=2, n_jobs=1, random_state=0)],
    expected_failed_checks=lambda _: TEXT_CHECKS,
)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [LINEAR, RandomForestClassifier(10, min_samples_leaf=10)],
    ids=["linear", "forest"],
)
def test_known_noise_beats_trust_and_the_mirrored_matrix(estimator: Any) -> None:
    features, labels = _data(900, seed=1)
    noisy = corrupt(labels, ASYMMETRIC, 1)

    def clean_error(noise: Any) -> float:
        model = NoiseAwareClassifier(estimator, noise=noise, max_iter=5, n_jobs=1, random_state=0).fit(features, noisy)
        return float(np.abs(model.predict(X) - Y).mean())

    known = clean_error(ASYMMETRIC)
    assert known < 0.75 * clean_error(None)
    assert known < 0.75 * clean_error(ASYMMETRIC[::-1, ::-1])


def test_no_noise_is_the_estimator_itself() -> None:
    model = NoiseAwareClassifier(LINEAR, noise=None, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), clone(LINEAR).fit(X, Y).predict_proba(X))
    assert model.n_iter_ == 0


def test_the_identity_leaves_every_label_as_recorded() -> None:
    model = NoiseAwareClassifier(LINEAR, noise=np.eye(4), random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.label_probabilities_, np.eye(4)[Y])
    np.testing.assert_allclose(model.predict_proba(X), clone(LINEAR).fit(X, Y).predict_proba(X), atol=1e-6)


def test_turns_raise_the_likelihood_and_most_labels_come_right() -> None:
    model = NoiseAwareClassifier(LINEAR, noise=ASYMMETRIC, random_state=0).fit(X, NOISY)
    curve = model.likelihood_curve_
    assert len(curve) == model.n_iter_ > 1
    assert (np.diff(curve)[:-1] > model.tol).all()
    np.testing.assert_allclose(model.label_probabilities_.sum(axis=1), 1)
    assert (model.label_probabilities_.argmax(axis=1) == Y).mean() > (NOISY == Y).mean() + 0.1


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_estimate_and_an_estimator_of_ones_own_are_kept() -> None:
    features, labels = _data(2000, seed=2)
    noisy = corrupt(labels, ASYMMETRIC, 2)
    model = NoiseAwareClassifier(LINEAR, n_jobs=1, random_state=0).fit(features, noisy)
    assert np.abs(model.noise_matrix_ - ASYMMETRIC).mean() < 0.06
    low, high = model.noise_.rate_interval or (1, 0)
    assert low < (model.noise_.rate or 0) < high
    own = NoiseAwareClassifier(LINEAR, noise=AnchorPoints(n_bootstrap=0), random_state=0).fit(X, NOISY)
    assert own.noise_.method == "AnchorPoints"


def test_a_matrix_for_each_rater_is_used_for_that_raters_rows() -> None:
    raters = np.arange(len(Y)) % 2
    recorded = np.where(raters == 0, Y, corrupt(Y, ASYMMETRIC, 0))
    noise = {"careful": np.eye(4), "hasty": ASYMMETRIC}
    names = np.array(["careful", "hasty"])[raters]
    model = NoiseAwareClassifier(LINEAR, noise=noise, random_state=0).fit(X, recorded, raters=names)
    np.testing.assert_allclose(model.label_probabilities_[raters == 0], np.eye(4)[Y][raters == 0], atol=1e-6)
    assert model.noise_.matrices.shape == (2, 4, 4)


def test_threads_do_not_change_the_model() -> None:
    forest = RandomForestClassifier(5)
    one, two = (
        NoiseAwareClassifier(forest, noise=ASYMMETRIC, max_iter=2, n_jobs=n_jobs, random_state=3).fit(X, NOISY)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_frames_with_gaps_go_to_an_estimator_that_reads_them() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).mask(np.random.default_rng(0).random(X.shape) < 0.1)
    tree = DecisionTreeClassifier(min_samples_leaf=20)
    model = NoiseAwareClassifier(tree, noise=ASYMMETRIC, max_iter=2, random_state=0).fit(frame, NOISY)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.predict(frame).shape == (len(X),)


def test_it_is_searched_and_piped_like_any_classifier() -> None:
    wrapped = NoiseAwareClassifier(LINEAR, noise=ASYMMETRIC, max_iter=2, random_state=0)
    search = GridSearchCV(wrapped, {"estimator__C": [0.1, 10.0]}, cv=2).fit(X, NOISY)
    assert search.best_params_["estimator__C"] in (0.1, 10.0)
    assert make_pipeline(StandardScaler(), wrapped).fit(X, NOISY).score(X, Y) > 0.6


def test_ordered_text_labels_come_back() -> None:
    grades = np.array(["poor", "fair", "good", "best"])
    model = NoiseAwareClassifier(LINEAR, noise=ASYMMETRIC, classes=grades, random_state=0).fit(X, grades[NOISY])
    assert model.classes_.tolist() == grades.tolist()
    reference = NoiseAwareClassifier(LINEAR, noise=ASYMMETRIC, random_state=0).fit(X, NOISY)
    np.testing.assert_array_equal(model.predict(X), grades[reference.predict(X)])


BAD: list[tuple[Any, str]] = [
    (NoiseAwareClassifier(RidgeClassifier()), "estimator must have predict_proba, got RidgeClassifier"),
    (NoiseAwareClassifier(KNeighborsClassifier()), "estimator must take sample_weight in fit, got KNeighborsClassifier"),
    (NoiseAwareClassifier(LINEAR, max_iter=0), "max_iter must be a whole number of at least 1, got 0"),
    (NoiseAwareClassifier(LINEAR, noise=np.eye(3)), "noise_matrix must be 4 x 4"),
    (NoiseAwareClassifier(LINEAR, noise="guess"), "noise must be None, a noise matrix, 'estimate' or an estimator"),
    (NoiseAwareClassifier(LINEAR, decision="middle"), "decision must be one of"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_settings_get_one_sentence(model: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, NOISY)


def test_an_arbitrary_estimator_is_not_saved(tmp_path: Path) -> None:
    model = NoiseAwareClassifier(LINEAR, noise=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"model must be one of ordinoise's own learners to be saved"):
        model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="path must be a model folder"):
        NoiseAwareClassifier.load(tmp_path / "model")
