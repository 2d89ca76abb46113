"""What scikit-learn hands through: weights, raters, groups, items and the names of columns arrive with their rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import NoiseAwareClassifier, OrdinalBoostingClassifier, OrdinalClassifier, OrdinalMLPClassifier

N = 60
X = pd.DataFrame({"row": np.arange(N, dtype=float), "other": np.ones(N)})
Y = np.arange(N) % 3
METADATA = {
    "sample_weight": np.arange(N) + 1.0,
    "raters": np.array([f"rater {row}" for row in range(N)]),
    "groups": np.arange(N) + 1000,
    "items": np.arange(N) + 2000,
}
CLASSIFIERS: dict[type, tuple[str, ...]] = {
    OrdinalClassifier: ("sample_weight", "raters", "groups", "items"),
    OrdinalMLPClassifier: ("sample_weight", "raters", "groups"),
    OrdinalBoostingClassifier: ("sample_weight", "raters", "groups"),
    NoiseAwareClassifier: ("sample_weight", "raters", "groups"),
}
Given = list[tuple[np.ndarray[Any, Any], dict[str, Any]]]


@pytest.fixture(params=CLASSIFIERS, ids=lambda one: one.__name__)
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Given]]:
    """A classifier that asks for all it can take, and what its fits are given: the rows, and the rest by name."""
    kind, given = request.param, []

    def fit(self: Any, X: Any, y: Any, **more: Any) -> Any:
        given.append((np.asarray(X)[:, 0], {name: value for name, value in more.items() if value is not None}))
        self.classes_, self.noise_ = np.unique(y), None
        return self

    monkeypatch.setattr(kind, "fit", fit)
    monkeypatch.setattr(kind, "predict", lambda _, X: np.zeros(len(X), dtype=np.int64))
    with sklearn.config_context(enable_metadata_routing=True):
        model = kind(estimator=None) if kind is NoiseAwareClassifier else kind()
        yield (
            model.set_fit_request(**dict.fromkeys(CLASSIFIERS[kind], True)).set_score_request(sample_weight=True),
            given,
        )


def _arrived(given: Given, names: tuple[str, ...]) -> None:
    assert given
    for rows, more in given:
        assert set(more) == set(names)
        for name in names:
            np.testing.assert_array_equal(more[name], METADATA[name][np.rint(rows).astype(int)])


def _metadata(model: Any) -> dict[str, Any]:
    return {name: METADATA[name] for name in CLASSIFIERS[type(model)]}


def _whole() -> Any:
    """A step that leaves the rows as they are."""
    return StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False)


def test_a_pipeline_hands_everything_through(asked: tuple[Any, Given]) -> None:
    model, given = asked
    make_pipeline(_whole(), model).fit(X, Y, **_metadata(model))
    _arrived(given, CLASSIFIERS[type(model)])


def test_cross_validation_hands_the_part_of_each_fold(asked: tuple[Any, Given]) -> None:
    model, given = asked
    # A score of its own, as pipelines of scikit-learn 1.6 ask for weights to score by themselves.
    cross_validate(make_pipeline(_whole(), model), X, Y, cv=3, params=_metadata(model), scoring=lambda *_: 0.0)
    assert len(given) == 3
    _arrived(given, CLASSIFIERS[type(model)])


def test_a_grid_search_hands_it_to_every_candidate(asked: tuple[Any, Given]) -> None:
    model, given = asked
    GridSearchCV(model, {"decision": ["median", "mode"]}, cv=2).fit(X, Y, **_metadata(model))
    assert len(given) == 5  # two candidates on two folds, and the better one on all rows
    _arrived(given, CLASSIFIERS[type(model)])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_of_the_steps_before_gives_the_classifier_names(library: str) -> None:
    network = OrdinalMLPClassifier(hidden_layer_sizes=(), max_iter=2, random_state=0)
    model = make_pipeline(StandardScaler(), network).set_output(transform=library).fit(X, Y)
    assert network.feature_names_in_.tolist() == ["row", "other"]
    assert model.feature_names_in_.tolist() == ["row", "other"]
    with pytest.raises(ValueError, match="feature names"):
        network.predict(X.rename(columns={"other": "another"}))
