"""Rows of one group stay on one side of every fold, whoever makes it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ordinoise import (
    NoiseAwareClassifier,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    OrdinalMLPClassifier,
    RepeatedLabels,
    crossfit,
    find_label_issues,
)
from ordinoise.estimation import ConfidentJoint, ScoreLikelihood

N_GROUPS, PER_GROUP = 40, 6
GROUPS = np.repeat(np.arange(N_GROUPS), PER_GROUP)
RANKS = np.random.default_rng(0).integers(3, size=N_GROUPS)[GROUPS]
X = np.random.default_rng(1).normal(size=(N_GROUPS, 4))[GROUPS]
"""Every row of a group is the same: a model that saw one of them knows the label, which nothing else tells."""
NAMES = np.array([f"patient {group}" for group in GROUPS])

pytestmark = [
    pytest.mark.filterwarnings("ignore:the noise matrix is in doubt"),
    pytest.mark.filterwarnings("ignore:.*n_neighbors"),
]


def share_known(probabilities: NDArray[np.float64]) -> float:
    return float((probabilities.argmax(axis=1) == RANKS).mean())


def test_the_front_door_does_not_learn_a_row_from_its_own_group() -> None:
    model = OrdinalClassifier(learner="boosting", noise=None, n_folds=2, n_rounds=1, n_jobs=1, random_state=0)
    leaking, by_group, by_item = (
        share_known(np.asarray(model.fit(X, RANKS, **given).out_of_fold_))
        for given in ({}, {"groups": NAMES}, {"items": NAMES})
    )
    assert leaking > 0.9
    assert by_group < 0.55
    assert by_item < 0.55


@pytest.mark.parametrize("estimator", [ScoreLikelihood, ConfidentJoint])
def test_a_noise_estimator_does_not_learn_a_row_from_its_own_group(estimator: Any, splits: list[Any]) -> None:
    nearest = KNeighborsClassifier(1)
    estimator(base_estimator=nearest, n_folds=5, n_bootstrap=2, n_jobs=1, random_state=0).fit(X, RANKS, groups=NAMES)
    assert len(splits) > 0
    assert all(len(np.unique(each)) == N_GROUPS for each in splits)


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Groups of every division into folds or parts, in the order in which they are made; None where they are lost."""
    seen: list[Any] = []
    make = crossfit._grouped_folds

    def remember(ranks: Any, n_folds: int, rng: Any, groups: Any) -> Any:
        folds = make(ranks, n_folds, rng, groups)
        assert all(np.ptp(folds[groups == group]) == 0 for group in np.unique(groups))
        seen.append(groups)
        return folds

    monkeypatch.setattr(crossfit, "_grouped_folds", remember)
    return seen


CLASSIFIERS = {
    "mlp": (OrdinalMLPClassifier(early_stopping=True, max_iter=2, random_state=0), 1),
    "boosting": (OrdinalBoostingClassifier(n_estimators=3, n_jobs=1, random_state=0), 1),
    # Folds of the estimate, in each of the five a part to stop by, and the model's own part. So few groups show no
    # signal, so its doubts ask for no folds.
    "boosting, noise estimated": (
        OrdinalBoostingClassifier(n_estimators=3, noise="estimate", n_jobs=1, random_state=0),
        7,
    ),
    "any, noise estimated": (
        NoiseAwareClassifier(DecisionTreeClassifier(max_depth=2), max_iter=1, n_jobs=1, random_state=0),
        1,
    ),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_whatever_a_classifier_holds_out_is_held_out_by_group(name: str, splits: list[Any]) -> None:
    model, n_splits = CLASSIFIERS[name]
    model.fit(X, RANKS, groups=NAMES)
    assert len(splits) == n_splits


@pytest.mark.slow
def test_a_torch_classifier_stops_by_whole_groups(splits: list[Any]) -> None:
    pytest.importorskip("torch")
    from ordinoise import OrdinalTorchClassifier

    OrdinalTorchClassifier(max_iter=1, early_stopping=True, random_state=0).fit(X, RANKS, groups=NAMES)
    assert [len(np.unique(each)) for each in splits] == [N_GROUPS]


def test_an_audit_judges_no_row_by_its_own_group(splits: list[Any]) -> None:
    nearest = KNeighborsClassifier(1)
    noise = np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])
    leaking, apart = (
        find_label_issues(X, RANKS, noise=noise, estimator=nearest, groups=groups, n_jobs=1, random_state=0)
        for groups in (None, GROUPS)
    )
    assert leaking.probability_wrong.mean() < 0.1 < apart.probability_wrong.mean()
    assert len(splits) == 1


def test_raters_with_features_keep_groups_of_items_apart(splits: list[Any]) -> None:
    items = np.arange(len(X))
    ratings = np.tile(RANKS, 3)
    model = RepeatedLabels(n_bootstrap=0, random_state=0)
    model.fit(np.tile(items, 3), None, ratings, X=X, groups=GROUPS)
    assert len(splits) == 1


def test_an_item_in_two_groups_is_refused() -> None:
    with pytest.raises(ValueError, match="groups must be the same in all rows of an item, got two groups for b"):
        OrdinalClassifier().fit(np.zeros((4, 1)), [0, 1, 0, 1], items=["a", "a", "b", "b"], groups=[1, 1, 1, 2])


def test_a_group_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="groups must have no missing value, got nan at 1"):
        OrdinalMLPClassifier().fit(np.zeros((3, 1)), [0, 1, 0], groups=[1.0, np.nan, 2.0])


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("wrapped", ["plain", "pipeline", "search"])
def test_scikit_learn_hands_groups_through(wrapped: str, splits: list[Any]) -> None:
    ours = OrdinalMLPClassifier(early_stopping=True, max_iter=1, random_state=0).set_fit_request(groups=True)
    model: Any = ours
    if wrapped == "pipeline":
        model = make_pipeline(StandardScaler(), ours)
    if wrapped == "search":
        model = GridSearchCV(ours, {"max_iter": [1, 2]}, cv=GroupKFold(2))
    cross_validate(model, X, RANKS, cv=GroupKFold(2), params={"groups": GROUPS}, error_score="raise")
    # Two folds outside; in a search four fits to choose by and one at the end, for each of them.
    assert [len(np.unique(each)) for each in splits] == ([20] * 2 if wrapped != "search" else ([10] * 4 + [20]) * 2)


@pytest.mark.usefixtures("routing")
def test_the_front_door_takes_groups_and_items_by_routing(splits: list[Any]) -> None:
    model = OrdinalClassifier(learner="mlp", noise=None, n_folds=2, n_rounds=1, n_jobs=1, random_state=0)
    model.set_fit_request(groups=True, items=True)
    given = {"groups": GROUPS, "items": np.arange(len(X))}
    cross_validate(model, X, RANKS, cv=GroupKFold(2), params=given, error_score="raise")
    assert [len(np.unique(each)) for each in splits] == [20, 20]
