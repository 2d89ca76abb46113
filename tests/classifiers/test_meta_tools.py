"""Every tool of scikit-learn that clones or recodes: right or refused, for every kind of ordered labels."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import calibration, ensemble, feature_selection, model_selection, multiclass, multioutput, semi_supervised
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

from ordinoise import NoiseAwareClassifier, OrdinalMLPClassifier, inverse_decay, out_of_fold

GRADES = np.array(["low", "mid", "high", "severe"])  # the alphabet says high, low, mid, severe
RNG = np.random.default_rng(3)
POSITIONS = RNG.uniform(0, 4, 240)
RANKS = POSITIONS.astype(int)
X = np.column_stack([POSITIONS, RNG.normal(size=240)])
KINDS = {
    "whole numbers": RANKS,
    "categorical": pd.Series(pd.Categorical(GRADES[RANKS], categories=GRADES, ordered=True)),
    "text": GRADES[RANKS],
}
REFUSED = r"y must hold .* got whole numbers such as \d; a tool of scikit-learn.*ordinoise\.out_of_fold"

Tool = Callable[[Any, Any, Any], Any]


def fitted(make: Callable[[Any], Any]) -> Tool:
    return lambda model, X, y: make(model).fit(X, y).predict(X)


def predicted_score(cross: Callable[..., Any]) -> Tool:
    """The labels themselves where the tool's mean score is that of a good model, else the lowest grade everywhere."""

    def scored(model: Any, X: Any, y: Any) -> Any:
        found = cross(model, X, y)
        return y if found > 0.8 else np.full(len(y), np.asarray(y)[0])

    return scored


def by_columns(model: Any, X: Any, y: Any) -> Any:
    table = model_selection.cross_val_predict(model, X, y, cv=3, method="predict_proba")
    return np.unique(np.asarray(y))[table.argmax(axis=1)]


def searched(search: Any, **options: Any) -> Tool:
    return fitted(lambda model: search(model, {"decision": ["median", "mode"]}, cv=2, **options))


RIGHT_OR_REFUSED: dict[str, Tool] = {
    "cross_val_predict": lambda model, X, y: model_selection.cross_val_predict(model, X, y, cv=3),
    "cross_val_predict of probabilities": by_columns,
    "cross_val_score": predicted_score(
        lambda *of: model_selection.cross_val_score(*of, cv=3, error_score="raise").mean()
    ),
    "cross_validate": predicted_score(
        lambda *of: model_selection.cross_validate(*of, cv=3, error_score="raise")["test_score"].mean()
    ),
    "learning_curve": predicted_score(
        lambda *of: model_selection.learning_curve(*of, cv=3, train_sizes=[1.0], error_score="raise")[2].mean()
    ),
    "validation_curve": predicted_score(
        lambda *of: model_selection.validation_curve(
            *of, param_name="decision", param_range=["mode"], cv=3, error_score="raise"
        )[1].mean()
    ),
    "permutation_test_score": predicted_score(
        lambda *of: model_selection.permutation_test_score(*of, cv=2, n_permutations=1)[0]
    ),
    "GridSearchCV": searched(model_selection.GridSearchCV, error_score="raise"),
    "RandomizedSearchCV": searched(model_selection.RandomizedSearchCV, n_iter=1, error_score="raise"),
    "HalvingGridSearchCV": searched(model_selection.HalvingGridSearchCV, error_score="raise", random_state=0),
    "HalvingRandomSearchCV": searched(model_selection.HalvingRandomSearchCV, error_score="raise", random_state=0),
    "VotingClassifier": fitted(lambda model: ensemble.VotingClassifier([("a", model), ("b", model)])),
    "VotingClassifier, soft": fitted(lambda model: ensemble.VotingClassifier([("a", model)], voting="soft")),
    "VotingClassifier in processes": fitted(lambda model: ensemble.VotingClassifier([("a", model)], n_jobs=2)),
    "StackingClassifier": fitted(lambda model: ensemble.StackingClassifier([("a", model)], cv=2)),
    "BaggingClassifier": fitted(lambda model: ensemble.BaggingClassifier(model, 3, random_state=0)),
    "AdaBoostClassifier": fitted(lambda model: ensemble.AdaBoostClassifier(model, n_estimators=2, random_state=0)),
    "CalibratedClassifierCV": fitted(lambda model: calibration.CalibratedClassifierCV(model, cv=2)),
    "OneVsRestClassifier": fitted(multiclass.OneVsRestClassifier),
    "OneVsOneClassifier": fitted(multiclass.OneVsOneClassifier),
    "OutputCodeClassifier": fitted(lambda model: multiclass.OutputCodeClassifier(model, code_size=4, random_state=0)),
    "MultiOutputClassifier": lambda model, X, y: (
        multioutput.MultiOutputClassifier(model).fit(X, np.column_stack([y, y])).predict(X)[:, 0]
    ),
    "ClassifierChain": lambda model, X, y: (
        multioutput.ClassifierChain(model).fit(X, np.column_stack([y, y])).predict(X)[:, 0]
    ),
    "RFE": fitted(lambda model: feature_selection.RFE(model, importance_getter=_importances)),
    "RFECV": fitted(lambda model: feature_selection.RFECV(model, cv=2, importance_getter=_importances)),
    "SequentialFeatureSelector": fitted(
        lambda model: make_pipeline(
            feature_selection.SequentialFeatureSelector(model, n_features_to_select=1, cv=2), model
        )
    ),
    "SelectFromModel": fitted(
        lambda model: make_pipeline(feature_selection.SelectFromModel(model, importance_getter=_importances), model)
    ),
    "SelfTrainingClassifier": fitted(semi_supervised.SelfTrainingClassifier),
    "a pipeline": fitted(lambda model: make_pipeline(StandardScaler(), model)),
    "a vote over a pipeline in a cross-validation": lambda model, X, y: model_selection.cross_val_predict(
        ensemble.VotingClassifier([("a", make_pipeline(StandardScaler(), model))]), X, y, cv=2, method="predict"
    ),
}
NOT_FOR_GRADES = {
    "regressors": {
        "AdaBoostRegressor", "BaggingRegressor", "MultiOutputRegressor", "RANSACRegressor", "RegressorChain",
        "StackingRegressor", "TransformedTargetRegressor", "VotingRegressor",
    },
    "two classes only": {"FixedThresholdClassifier", "TunedThresholdClassifierCV"},
    "fits nothing": {"FrozenEstimator"},
    "steps before the classifier": {"ColumnTransformer", "FeatureUnion"},
    "tried as a pipeline": {"Pipeline"},
}  # fmt: skip
WORDS_OF_SCIKIT_LEARN = "y has dtype string. If you wish to predict on string targets"  # SelfTrainingClassifier


def _importances(model: Any) -> Any:
    return np.arange(model.n_features_in_)[::-1]  # the first column is the one that counts


def mlp(**options: Any) -> OrdinalMLPClassifier:
    return OrdinalMLPClassifier(
        hidden_layer_sizes=8, learning_rate_init=0.02, max_iter=60, early_stopping=False, random_state=0, **options
    )


@pytest.mark.filterwarnings("ignore:.*:UserWarning", "ignore:.*:FutureWarning")
@pytest.mark.parametrize("name", RIGHT_OR_REFUSED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_is_right_or_refuses(kind: str, name: str) -> None:
    y = KINDS[kind]
    model = mlp(classes=GRADES if kind == "text" else None)
    try:
        found = np.asarray(RIGHT_OR_REFUSED[name](model, X, y))
    except (ValueError, FitFailedWarning) as error:
        words = " ".join(str(error).split())
        assert kind != "whole numbers" or name in ("MultiOutputClassifier", "ClassifierChain"), words
        assert (" must " in words and ", got " in words) or words.startswith(WORDS_OF_SCIKIT_LEARN), words
        return
    labels = RANKS if kind == "whole numbers" else GRADES[RANKS]
    assert (found == labels).mean() > 0.8


def test_no_tool_of_scikit_learn_is_left_out() -> None:
    wrapping = {"estimator", "estimators", "regressor", "steps", "transformers", "transformer_list"}
    tools = {name for name, kind in all_estimators() if wrapping & set(inspect.signature(kind).parameters)}
    tried = {name.split(",")[0].split(" ")[0] for name in RIGHT_OR_REFUSED}
    # An older scikit-learn calls some arguments otherwise, and has fewer tools by this rule.
    assert tools - tried <= set().union(*NOT_FOR_GRADES.values())


@pytest.mark.parametrize("kind", ["categorical", "text"])
@pytest.mark.parametrize(
    "name",
    ["cross_val_predict of probabilities", "VotingClassifier", "VotingClassifier in processes", "StackingClassifier",
     "BaggingClassifier"],
)  # fmt: skip
def test_a_tool_that_recodes_is_named_in_the_refusal(kind: str, name: str) -> None:
    with pytest.raises(ValueError, match=REFUSED):
        RIGHT_OR_REFUSED[name](mlp(classes=GRADES if kind == "text" else None), X, KINDS[kind])


def test_whole_numbers_with_a_gap_are_ranks_only_where_nobody_names_the_grades() -> None:
    vote = ensemble.VotingClassifier([("a", mlp())], voting="soft").fit(X, RANKS * 2)
    assert (vote.predict(X) == RANKS * 2).mean() > 0.8
    with pytest.raises(ValueError, match=r"y must hold the labels that were passed, \[0, 2, 4, 6\], got whole"):
        ensemble.VotingClassifier([("a", mlp(classes=range(7)))]).fit(X, RANKS * 2)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_models_that_we_fit_to_ranks_inside_a_tool_are_not_refused() -> None:
    inner = NoiseAwareClassifier(mlp(), noise=inverse_decay(4, 0.05), max_iter=1, n_folds=2, classes=GRADES)
    found = calibration.CalibratedClassifierCV(inner, cv=2).fit(X, KINDS["text"]).predict(X)
    assert (found == GRADES[RANKS]).mean() > 0.8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: model,
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: ensemble.VotingClassifier([("a", model)], voting="soft"),
        lambda model: ensemble.BaggingClassifier(model, 2, random_state=0),
    ],
)
def test_out_of_fold_keeps_the_order(kind: str, wrap: Callable[[Any], Any]) -> None:
    model = wrap(mlp(classes=GRADES if kind == "text" else None, class_weight=None))
    found = out_of_fold(model, X, KINDS[kind], cv=3, random_state=0)
    np.testing.assert_array_equal(found, out_of_fold(wrap(mlp()), X, RANKS, cv=3, random_state=0))
    assert (found.argmax(axis=1) == RANKS).mean() > 0.8


def test_out_of_fold_takes_folds_of_ones_own_and_refuses_overlapping_ones() -> None:
    folds = [(np.flatnonzero(np.arange(240) % 2), np.arange(0, 240, 2)), (np.arange(0, 240, 2), np.arange(1, 240, 2))]
    found = out_of_fold(mlp(), X, RANKS, cv=folds)
    np.testing.assert_array_equal(found[::2], mlp(classes=range(4)).fit(X[1::2], RANKS[1::2]).predict_proba(X[::2]))
    with pytest.raises(ValueError, match=r"cv must test every row once, got row 1 tested 0 times"):
        out_of_fold(mlp(), X, RANKS, cv=folds[:1])
    with pytest.raises(ValueError, match=r"model must be a classifier .*, got the class OrdinalMLPClassifier, not an"):
        out_of_fold(OrdinalMLPClassifier, X, RANKS)


def test_out_of_fold_keeps_groups_apart_and_weighs_by_the_names_of_grades() -> None:
    groups = np.arange(240) // 4
    parts = model_selection.GroupKFold(3)
    model = ensemble.RandomForestClassifier(
        5, class_weight=dict.fromkeys(GRADES, 1.0) | {"severe": 3.0}, random_state=0
    )
    found = out_of_fold(model, X, KINDS["text"], cv=parts, groups=groups, classes=GRADES)
    assert found.shape == (240, 4)
    same = out_of_fold(model.set_params(class_weight={0: 1, 1: 1, 2: 1, 3: 3}), X, RANKS, cv=parts, groups=groups)
    np.testing.assert_array_equal(found, same)
    memory = ensemble.RandomForestClassifier(5, bootstrap=False, random_state=0)
    of_group = np.random.default_rng(0).integers(4, size=60)[groups]
    apart = out_of_fold(memory, groups[:, None], of_group, cv=3, groups=groups, random_state=0)
    mixed = out_of_fold(memory, groups[:, None], of_group, cv=3, random_state=0)
    assert (mixed.argmax(axis=1) == of_group).mean() > 0.9
    assert (apart.argmax(axis=1) == of_group).mean() < 0.6


def test_classes_may_not_contradict_a_categorical() -> None:
    with pytest.raises(
        ValueError, match=r"classes must keep the order of the categories of y, \['low', 'mid', 'high', "
    ):
        mlp(classes=sorted(GRADES)).fit(X, KINDS["categorical"])
    assert mlp(classes=[*GRADES, "fatal"]).fit(X, KINDS["categorical"]).classes_[-1] == "fatal"
