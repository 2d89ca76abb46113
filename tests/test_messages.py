"""More than a hundred mistakes of a new user: each gets one sentence that helps, or is rightly accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge

from ordinoise import (
    Noise,
    NoiseAwareClassifier,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    OrdinalMLPClassifier,
    RepeatedLabels,
    ScoreLikelihood,
    adjacent,
    corrected_levels,
    correction_matrix,
    corrupt,
    evaluate,
    exponential_decay,
    find_label_issues,
    inverse_decay,
    issues_from_probabilities,
    load_model,
    noise_corrected,
    out_of_fold,
    power_decay,
    uniform,
)
from ordinoise.datasets import synthetic
from ordinoise.labels import Verified
from ordinoise.scoring import (
    calibrate_sets,
    evaluate_probabilities,
    fit_scaling,
    judge,
    mean_absolute_error,
    quadratic_weighted_kappa,
    ranked_probability_score,
    reliability_curve,
    scorer,
)

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = Y[:, None] + RNG.normal(0, 0.3, (60, 2))
P = 0.7 * np.eye(3)[Y] + 0.1
N = adjacent(3, up=0.2, down=0.1)
WORDS = np.array(["low", "mid", "top"])[Y]
MIXED = pd.DataFrame({"size": X[:, 0], "color": np.array(["red", "blue"])[Y % 2]})
FAST: dict[str, Any] = {"max_iter": 2, "early_stopping": False, "random_state": 0}


def mlp(**options: Any) -> OrdinalMLPClassifier:
    return OrdinalMLPClassifier(**(FAST | options))


def trees(**options: Any) -> OrdinalBoostingClassifier:
    return OrdinalBoostingClassifier(**({"n_estimators": 2, "n_jobs": 1, "early_stopping": False} | options))


def front(**options: Any) -> OrdinalClassifier:
    return OrdinalClassifier("mlp", **({"noise": None, "n_folds": 2} | options))


FITTED = mlp().fit(X, Y)


class Duck:
    def fit(self, X: Any, y: Any) -> Any:  # noqa: ARG002
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 3), 1 / 3)


WITH_GAP = np.where(np.arange(120).reshape(60, 2) == 7, np.nan, X)
LOST = np.where(np.arange(60) == 3, np.iinfo(np.int64).min, Y)

# What a user does, and a part of what the sentence says.
MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    # noise
    "a rate for a matrix": (lambda: mlp(noise=0.2).fit(X, Y), r"a rate alone is uniform\(n_classes, rate\)"),
    "True for a matrix": (lambda: mlp(noise=True).fit(X, Y), "noise_matrix must be a matrix"),
    "a misspelled estimate": (lambda: mlp(noise="estimte").fit(X, Y), "'estimate' or an estimator, got 'estimte'"),
    "a transposed matrix": (lambda: mlp(noise=N.T).fit(X, Y), "pass its transpose"),
    "a matrix of another size": (lambda: mlp(noise=np.eye(4)).fit(X, Y), "noise_matrix must be 3 x 3"),
    "a matrix that is not square": (lambda: mlp(noise=N[:2]).fit(X, Y), "noise_matrix must be square"),
    "negative noise": (lambda: Noise.of([[1.2, -0.2], [0, 1]]), "no negative entry, got -0.2 in row 0"),
    "rows that sum to more": (lambda: Noise.of([[0.9, 0.2], [0, 1]]), "rows must sum to 1"),
    "percent for probabilities": (lambda: Noise.of([[90, 10], [10, 90]]), "rows must sum to 1"),
    "NaN in the matrix": (lambda: Noise.of([[np.nan, 1], [0, 1]]), "must be finite, got nan at"),
    "labels that say nothing": (lambda: mlp(noise=np.full((3, 3), 1 / 3)).fit(X, Y), "must have rows that differ"),
    "a matrix per rater without raters": (lambda: mlp(noise={"a": N, "b": N}).fit(X, Y), "raters must name the rater"),
    "raters without matrices": (lambda: mlp(noise=N).fit(X, Y, raters=WORDS), r"pass noise=\{rater: matrix\}"),
    "an unknown rater": (lambda: mlp(noise={"a": N}).fit(X, Y, raters=["b"] * 60), "raters must hold only"),
    "an estimator before fit": (lambda: evaluate_probabilities(P, Y, ScoreLikelihood()), "ScoreLikelihood before fit"),
    "an empty mapping": (lambda: Noise.of({}), "must hold at least one matrix"),
    "a rate too large": (lambda: inverse_decay(3, 0.9), "rate must be at most"),
    "a negative rate": (lambda: inverse_decay(3, -0.1), "rate must be at least 0"),
    "rates for other classes": (lambda: inverse_decay(3, [0.1, 0.2]), "one for each of the 3 classes, got 2 numbers"),
    "one class": (lambda: uniform(1, 0.1), "n_classes must be a whole number of at least 2"),
    "a fraction of a class": (lambda: uniform(2.5, 0.1), "n_classes must be a whole number"),  # type: ignore[arg-type]
    "text for a rate": (lambda: adjacent(3, up="a", down=0.1), "up must be"),
    "up and down above one": (lambda: adjacent(3, up=0.7, down=0.7), r"up \+ down must be at most 1"),
    "a negative power": (lambda: power_decay(3, 0.1, power=-1), "power must be at least 0"),
    "a factor above one": (lambda: exponential_decay(3, 0.1, factor=2), "factor must be at least 0 and at most 1"),
    "no inverse": (lambda: correction_matrix([[0.5, 0.5], [0.5, 0.5]]), "must be invertible"),
    "levels without an inverse": (lambda: corrected_levels(np.full((2, 2), 0.5)), "must be invertible"),
    # corrupt
    "stars for ranks": (lambda: corrupt(Y + 1, N), "pass classes=, the grades in order"),
    "text for ranks": (lambda: corrupt(WORDS, N), "pass classes=, the grades in order"),
    "a grade that is not named": (lambda: corrupt(WORDS, N, classes=["low", "mid", "high"]), "got 'top'"),
    "fewer classes than rows": (lambda: corrupt(WORDS, N, classes=["low", "mid"]), "classes must be as long as"),
    "a negative seed": (lambda: corrupt(Y, N, -1), "random_state must be a non-negative seed"),
    "text for a seed": (lambda: corrupt(Y, N, "seed"), "random_state must be a non-negative seed"),
    # labels
    "text without an order": (lambda: mlp().fit(X, WORDS), r"pass classes=\[lowest, \.\.\., highest\]"),
    "a class too few": (lambda: mlp(classes=[0, 1]).fit(X, Y), r"only the labels \[0, 1\], got 2"),
    "a class twice": (lambda: mlp(classes=[0, 1, 1, 2]).fit(X, Y), "classes must name every grade once"),
    "ranks where classes are text": (lambda: mlp(classes=["low", "mid", "top"]).fit(X, Y), r"ordinoise\.out_of_fold"),
    "an order against the categorical": (
        lambda: mlp(classes=["top", "mid", "low"]).fit(X, pd.Categorical(WORDS, ["low", "mid", "top"], ordered=True)),
        "keep the order of the categories of y",
    ),
    "one grade only": (lambda: mlp().fit(X, np.zeros(60, int)), "at least 2 classes"),
    "no labels": (lambda: mlp().fit(X, None), "y must be the recorded labels, got None"),
    "fewer labels than rows": (lambda: mlp().fit(X, Y[:50]), r"y must be as long as X \(60\), got 50"),
    "NaN among grades": (lambda: mlp().fit(X, np.where(Y == 1, np.nan, Y)), "y must not hold NaN"),
    "None among grades": (lambda: mlp().fit(X, [None, *Y[1:]]), "have a label in every row, got None in row 0"),
    "grades that pandas made of NaN": (lambda: mlp().fit(X, LOST), "drop such rows if it marks a missing grade"),
    "99 for a missing grade": (lambda: mlp().fit(X, np.where(Y == 1, 99, Y)), "got 99 beside 0 to 2"),
    "-1 for a missing grade": (lambda: mlp().fit(X, [-1, *Y[1:]]), "got -1 beside 0 to 2"),
    "dates for grades": (lambda: mlp().fit(X, pd.date_range("2026", periods=60)), "y must hold grades, got dates"),
    "numbers and text": (lambda: mlp().fit(X, [*Y[:-1].tolist(), "x"]), r"pass classes=\[lowest, \.\.\., highest\]"),
    "lists for grades": (lambda: mlp().fit(X, [[1], [1, 2]] * 30), "y must be one column"),
    "two columns of grades": (lambda: mlp().fit(X, np.stack([Y, Y], axis=1)), "y must be one column"),
    "complex grades": (lambda: mlp().fit(X, Y * 1j), "y must hold whole numbers or text"),
    "huge grades": (lambda: mlp().fit(X, [2**70, *Y[1:].tolist()]), "at most 64 bits"),
    # features
    "text columns in a network": (lambda: mlp().fit(MIXED, Y), "OrdinalClassifier and OrdinalBoostingClassifier take"),
    "texts for X": (lambda: mlp().fit(WORDS, Y), r"1D array|one row per sample"),
    "columns of one name": (
        lambda: trees().fit(pd.DataFrame(X, columns=["a", "a"]), Y),
        "name every column differently",
    ),
    "complex features": (lambda: mlp().fit(X * 1j, Y), "X must hold real numbers"),
    "a frame that is not read": (lambda: mlp().fit(pl.DataFrame(X).lazy(), Y), "X must be in memory"),
    "a class for a classifier": (
        lambda: NoiseAwareClassifier(LogisticRegression).fit(X, Y),
        r"pass an instance, LogisticRegression\(\)",
    ),
    "a class for an estimator": (
        lambda: find_label_issues(X, Y, estimator=RandomForestClassifier),
        r"pass an instance, RandomForestClassifier",
    ),
    "a class for a model": (lambda: out_of_fold(LogisticRegression, X, Y), "not an instance"),
    "a regression": (lambda: NoiseAwareClassifier(Ridge()).fit(X, Y), "estimator must have predict_proba, got Ridge"),
    "a regression for issues": (lambda: find_label_issues(X, Y, estimator=Ridge()), "have predict_proba, got Ridge"),
    "pictures": (lambda: find_label_issues(np.zeros((60, 1, 4, 4)), Y), "OrdinalTorchClassifier, or embeddings"),
    "an estimator of no library": (
        lambda: find_label_issues(X, Y, estimator=Duck()),
        "have get_params, got Duck; derive",
    ),
    "gaps in a network": (lambda: mlp().fit(WITH_GAP, Y), "OrdinalClassifier and OrdinalBoostingClassifier take gaps"),
    "a query that was not run": (
        lambda: front().fit(pl.DataFrame(X).lazy(), Y),
        r"got a LazyFrame; pass X.collect\(\)",
    ),
    # settings
    "a misspelled correction": (lambda: mlp(noise=N, correction="foward").fit(X, Y), "did you mean 'forward'"),
    "a misspelled loss": (lambda: mlp(loss="cross").fit(X, Y), "did you mean 'cross_entropy'"),
    "hinge with forward": (lambda: mlp(noise=N, loss="hinge").fit(X, Y), "correction='unbiased' takes any loss"),
    "misspelled thresholds": (lambda: mlp(thresholds="order").fit(X, Y), "did you mean 'ordered'"),
    "an unknown decision": (lambda: mlp(decision="meidan").fit(X, Y), "did you mean 'median'"),
    "costs of another size": (lambda: mlp(decision=np.eye(4)).fit(X, Y), "decision must"),
    "an unknown learner": (lambda: OrdinalClassifier("svm").fit(X, Y), "learner must be one of"),
    "an unknown answer": (lambda: front(answer="correct").fit(X, Y), "did you mean 'corrected'"),
    "an unknown head": (lambda: trees(head="soft").fit(X, Y), "did you mean 'softmax'"),
    "no epochs": (lambda: mlp(max_iter=0).fit(X, Y), "max_iter must be a whole number of at least 1"),
    "half an epoch": (lambda: mlp(max_iter=2.5).fit(X, Y), "max_iter must be a whole number"),
    "a negative rate of learning": (
        lambda: mlp(learning_rate_init=-1.0).fit(X, Y),
        "learning_rate_init must be above 0",
    ),
    "one fold": (lambda: front(n_folds=1).fit(X, Y), "n_folds must be a whole number of at least 2"),
    "more folds than rows": (lambda: find_label_issues(X, Y, estimator=mlp(), n_folds=99), "at most the number of"),
    "trees without rounds": (lambda: trees(n_estimators=0).fit(X, Y), "n_estimators must be a whole number"),
    "negative weights": (lambda: trees().fit(X, Y, sample_weight=-np.ones(60)), "Negative values"),
    "weights of zero": (
        lambda: mlp().fit(X, Y, sample_weight=np.zeros(60)),
        "(at least one non-zero number|positive for some sample)",
    ),
    "a constraint of two": (
        lambda: trees(monotone_constraints=[2, 0]).fit(X, Y),
        "must hold one of -1, 0, 1 for each of 2 columns",
    ),
    "a text for a flag": (
        lambda: find_label_issues(X, Y, noise=N, calibrate=cast(Any, "no")),
        "calibrate must be True or False",
    ),
    "noise of no labels": (lambda: find_label_issues(X, Y, noise=None), "labels without noise have no issues"),
    "an unknown ranking": (lambda: find_label_issues(X, Y, noise=N, rank_by="wrong"), "rank_by must be one of"),
    # verified labels and groups
    "verified rows that do not exist": (lambda: front().fit(X, Y, trusted=([99], [1])), "row numbers from 0 to 59"),
    "verified rows twice": (lambda: front().fit(X, Y, trusted=([1, 1], [1, 1])), "name every row once"),
    "an unknown verified grade": (lambda: front().fit(X, Y, trusted=([1], [7])), "trusted labels must hold only"),
    "verified labels of another length": (
        lambda: front().fit(X, Y, trusted=([1, 2], [1])),
        "trusted labels must be as long as",
    ),
    "a mask of another length": (
        lambda: front().fit(X, Y, trusted=([True, False], [1])),
        r"trusted mask must be as long as y \(60\), got 2",
    ),
    "a column of another length": (lambda: front().fit(X, Y, trusted=[1, 2, None]), "trusted must be as long as y"),
    "rows drawn oddly": (
        lambda: front().fit(X, Y, trusted=Verified([1], [1], drawn="randomly")),
        "did you mean 'random'",
    ),
    "groups of another length": (lambda: mlp().fit(X, Y, groups=[1, 2]), "groups must be as long as X"),
    "one group": (lambda: find_label_issues(X, Y, estimator=mlp(), groups=[1] * 60, noise=N), "at least 2 distinct"),
    "a missing group": (lambda: mlp().fit(X, Y, groups=[None, *WORDS[1:]]), "groups must have no missing value"),
    # probabilities
    "columns of other names": (
        lambda: issues_from_probabilities(pd.DataFrame(P, columns=list("abc")), WORDS, classes=["low", "mid", "top"]),
        r"columns must be named \['low', 'mid', 'top'\], got \['a', 'b', 'c'\]",
    ),
    "rounded probabilities": (lambda: issues_from_probabilities(P - 0.005, Y), "divide every row by its sum"),
    "scores for probabilities": (lambda: issues_from_probabilities(P * 5, Y), "be non-negative and sum to 1"),
    "expected grades for probabilities": (lambda: issues_from_probabilities(X[:, 0], Y), r"must have 2 dimension\(s\)"),
    "labels before probabilities": (lambda: issues_from_probabilities(Y, P), r"must have 2 dimension\(s\)"),
    "a grade without a column": (lambda: issues_from_probabilities(P[:, :2], Y), "probabilities"),
    "a column without a grade": (
        lambda: issues_from_probabilities(P, np.array(["a", "b"])[Y % 2], classes=["a", "b"]),
        "name all 3 columns",
    ),
    "of something else": (lambda: issues_from_probabilities(P, Y, of="both"), "of must be one of"),
    "confidence in percent": (lambda: issues_from_probabilities(P, Y, N, confidence=95), "confidence must be above 0"),
    "an estimate for given probabilities": (lambda: evaluate_probabilities(P, Y, "estimate"), "estimate it first"),
    "an estimate for a score": (lambda: noise_corrected("zero_one_loss", Y, Y, "estimate"), "estimate it first"),
    "a rate for a calibration": (lambda: fit_scaling(P, Y, 0.2), "a rate alone is uniform"),
    "stars for a calibration": (lambda: fit_scaling(P, Y + 1, N), "pass classes=, the grades in order"),
    "text for a curve": (lambda: reliability_curve(P, WORDS, N), "pass classes="),
    "stars for sets": (lambda: calibrate_sets(P, Y + 1, N), "pass classes=, the grades in order"),
    "stars for an evaluation": (lambda: evaluate_probabilities(P, Y + 1, N), "pass classes=, the grades in order"),
    "assurance in percent": (lambda: calibrate_sets(P, Y, N, assurance=90), "assurance must be at least 0.5"),
    # scores
    "an unknown metric": (lambda: noise_corrected("mae", Y, Y, N), "metric must be one of"),
    "an unknown scorer": (lambda: scorer("accuracy"), "metric must be one of"),
    "text for a metric": (lambda: mean_absolute_error(WORDS, WORDS), "pass classes=, the grades in order"),
    "halves for a metric": (lambda: mean_absolute_error([0.5], [1.0]), "y_true must hold whole numbers"),
    "an unknown grade for a metric": (lambda: quadratic_weighted_kappa(["x"], ["x"], classes=["a", "b"]), "got 'x'"),
    "unequal lengths": (lambda: mean_absolute_error([1], [1, 2]), "y_pred must be as long as y_true"),
    "probabilities for a label": (lambda: ranked_probability_score(Y, Y), r"must have 2 dimension\(s\)"),
    "an evaluation of no model": (lambda: evaluate(LogisticRegression(), X, Y, N), "be a fitted classifier"),
    "an evaluation of another's model": (
        lambda: evaluate(LogisticRegression().fit(X, Y), X, Y),
        "pass noise=None if the labels are right",
    ),
    "text classes in another's model": (
        lambda: evaluate(LogisticRegression().fit(X, WORDS), X, WORDS, N),
        "classes must be the grades in order",
    ),
    "one metric as a text": (
        lambda: evaluate(FITTED, X, Y, metrics="mean_absolute_error"),
        r"pass \['mean_absolute_error'\]",
    ),
    "sets without a calibration": (lambda: FITTED.predict_set(X), "call calibrate_sets"),
    "a decision at prediction": (lambda: FITTED.predict(X, decision="mod"), "did you mean 'mode'"),
    # raters, judges, models
    "lost ratings": (lambda: RepeatedLabels().fit(np.arange(60) // 3, Y, LOST), "drop such rows if it marks a missing"),
    "a table of ratings": (lambda: RepeatedLabels().fit(np.stack([Y, Y], axis=1)), r"fit\(\*from_wide\(table\)\)"),
    "a family that is a function": (
        lambda: ScoreLikelihood(family=inverse_decay).fit(X, Y),
        "goes into noise= as it is",
    ),
    "ratings of unequal length": (lambda: RepeatedLabels().fit(np.arange(60), Y[:5], Y), "raters must be as long as"),
    "a judge of other rows": (lambda: judge(Y, Y[:5].astype(float), classes=[0, 1, 2]), "must be as long as"),
    "a model that is not there": (lambda: load_model("nowhere"), "path must"),
    "a model without an inverse": (lambda: NoiseAwareClassifier(mlp(), noise=None).fit(X, Y).save("x"), "model must"),
    "a table that nobody knows": (lambda: synthetic(0), "must be a whole number of at least 1|must be"),
    "folds that overlap": (lambda: out_of_fold(mlp(), X, Y, cv=[(Y == 0, np.arange(60))] * 2), "test every row once"),
    "an estimate of one family": (lambda: ScoreLikelihood(family="binomial").fit(X, Y), "family must"),
}

# What looks like a mistake and is none.
ACCEPTED: dict[str, Callable[[], Any]] = {
    "half stars": lambda: mlp().fit(X, 0.5 + Y / 2),
    "booleans": lambda: mlp().fit(X, Y > 0),
    "grades with a gap": lambda: mlp().fit(X, Y * 10),
    "a grade nobody got": lambda: mlp(classes=range(5)).fit(X, Y),
    "a list of lists": lambda: mlp().fit(X.tolist(), Y.tolist()),
    "floats for grades": lambda: mlp().fit(X, Y.astype(float)),
    "gaps in trees": lambda: trees().fit(WITH_GAP, Y),
    "categories in trees": lambda: trees().fit(MIXED, Y),
    "an ordered categorical": lambda: mlp().fit(X, pd.Categorical(WORDS, ["low", "mid", "top"], ordered=True)),
    "no noise": lambda: mlp(noise=np.eye(3)).fit(X, Y),
    "the dictionary of a record": lambda: mlp(noise=Noise.of(N).to_dict()).fit(X, Y),
    "a fitted classifier as noise": lambda: mlp(noise=FITTED).fit(X, Y),
    "99 that is named": lambda: mlp(classes=[0, 1, 2, 99]).fit(X, np.where(np.arange(60) == 7, 99, Y)),
}
WELL_KNOWN = (
    "Expected 2D array",
    "Negative values in data",
    "Input X contains",
    "Found",
    "Sample weights must",
)  # scikit-learn's own


def test_there_are_more_than_a_hundred_and_none_twice() -> None:
    assert len(MISTAKES) + len(ACCEPTED) > 120
    assert not set(MISTAKES) & set(ACCEPTED)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_sentence(name: str) -> None:
    call, part = MISTAKES[name]
    with pytest.raises((ValueError, TypeError, AttributeError), match=part) as caught:
        call()
    words = str(caught.value)
    assert (" must " in words and ", got " in words) or words.startswith(WELL_KNOWN), words
    assert "\n" not in words or words.startswith(WELL_KNOWN), words
    assert len(words) < 700


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_no_mistake_is_accepted(name: str) -> None:
    ACCEPTED[name]()
