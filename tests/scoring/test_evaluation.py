import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from ordinoise import Noise, OrdinalMLPClassifier, corrupt
from ordinoise.scoring.evaluation import evaluate
from ordinoise.scoring.metrics import METRICS, kendall_tau, noise_corrected, noise_corrected_ranked_probability_score
from strategies import Floats, Ints

# Nothing symmetric in it: a transposed use changes every number.
MATRIX = np.array([[0.7, 0.25, 0.05], [0.02, 0.8, 0.18], [0.05, 0.05, 0.9]])


@pytest.fixture(scope="module")
def sample() -> tuple[Floats, Ints, Ints]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    true = np.digitize(X[:, 0] + 0.3 * rng.normal(size=1500), [-0.5, 0.5])
    return X, true, corrupt(true, MATRIX, rng)


@pytest.fixture(scope="module")
def model(sample: tuple[Floats, Ints, Ints]) -> LogisticRegression:
    X, _, recorded = sample
    return LogisticRegression().fit(X[:700], recorded[:700])


def replicates(spread: float, n: int = 40, seed: int = 0) -> Floats:
    """Matrices around MATRIX."""
    weights = MATRIX * np.random.default_rng(seed).uniform(1 - spread, 1 + spread, size=(n, 3, 3))
    return weights / weights.sum(axis=2, keepdims=True)


def fitted(matrices: Floats | None) -> Noise:
    return Noise(MATRIX, source="estimated", replicates=np.empty((0, 3, 3)) if matrices is None else matrices)


def test_a_plain_matrix_gives_the_scores_of_the_metrics_module(model: Any, sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    weight = np.random.default_rng(1).uniform(0.5, 1.5, len(X))
    found = evaluate(model, X, recorded, MATRIX, sample_weight=weight, confidence=0.9)
    options: dict[str, Any] = {"sample_weight": weight, "confidence": 0.9}
    for name in METRICS:
        score = noise_corrected(name, recorded, model.predict(X), MATRIX, **options)
        assert found[name] == replace(score, high=min(score.high, 1.0))
    ranked = noise_corrected_ranked_probability_score(recorded, model.predict_proba(X), MATRIX, **options)
    assert found["ranked_probability_score"] == ranked
    assert found["kendall_tau"].observed == kendall_tau(recorded, model.predict(X))
    assert set(found.scores) == {*METRICS, "ranked_probability_score", "kendall_tau"}


def test_clean_scores_are_found_and_a_transposed_matrix_misses_them(
    model: Any, sample: tuple[Floats, Ints, Ints]
) -> None:
    X, true, recorded = sample
    clean = np.abs(model.predict(X[700:]) - true[700:]).mean()
    right = evaluate(model, X[700:], recorded[700:], MATRIX)["mean_absolute_error"]
    turned = MATRIX.T / MATRIX.T.sum(axis=1, keepdims=True)
    wrong = evaluate(model, X[700:], recorded[700:], turned)["mean_absolute_error"]
    assert right.low < clean < right.high < right.observed
    assert not wrong.low < clean < wrong.high


def test_an_uncertain_matrix_widens_every_interval_and_moves_no_value(
    model: Any, sample: tuple[Floats, Ints, Ints]
) -> None:
    X, _, recorded = sample
    exact = evaluate(model, X, recorded, fitted(None))
    little, much = (evaluate(model, X, recorded, fitted(replicates(spread))) for spread in (0.2, 0.5))
    for name in [*METRICS, "ranked_probability_score"]:
        assert exact[name].standard_error < little[name].standard_error < much[name].standard_error
        assert exact[name].value == little[name].value == much[name].value
        assert much[name].low < little[name].low < exact[name].low
        assert exact[name].high <= little[name].high <= much[name].high


def test_the_added_variance_is_that_of_the_corrected_score_over_the_replicates(
    model: Any, sample: tuple[Floats, Ints, Ints]
) -> None:
    X, _, recorded = sample
    stack = replicates(0.3)
    exact = evaluate(model, X, recorded, MATRIX)["linear_weighted_kappa"]
    wide = evaluate(model, X, recorded, fitted(stack))["linear_weighted_kappa"]
    values = [noise_corrected("linear_weighted_kappa", recorded, model.predict(X), one).value for one in stack]
    assert wide.standard_error**2 == pytest.approx(exact.standard_error**2 + np.var(values, ddof=1))


def test_that_of_the_ranked_probability_score_too(model: Any, sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    stack, weights = replicates(0.3), np.random.default_rng(2).uniform(0.1, 2, len(recorded))
    exact, wide = (
        evaluate(model, X, recorded, noise, sample_weight=weights)["ranked_probability_score"]
        for noise in (MATRIX, fitted(stack))
    )
    values = [
        noise_corrected_ranked_probability_score(recorded, model.predict_proba(X), one, sample_weight=weights).value
        for one in stack
    ]
    assert wide.standard_error**2 == pytest.approx(exact.standard_error**2 + np.var(values, ddof=1))


def test_intervals_with_an_estimated_matrix_cover_the_clean_score() -> None:
    """Binomial: 120 runs at 95 % fall below 87 % less than once in 3,000."""
    rng = np.random.default_rng(5)
    predict = SimpleNamespace(classes_=np.arange(3), predict=lambda X: X[:, 0].astype(int))
    clean_joint = np.array([[0.25, 0.06, 0.01], [0.05, 0.25, 0.08], [0.01, 0.04, 0.25]])
    clean = METRICS["mean_absolute_error"].of_joint(clean_joint)
    covered = narrow = 0
    for _ in range(120):
        cells = rng.choice(9, size=1000, p=clean_joint.ravel())
        recorded = corrupt(cells // 3, MATRIX, rng)
        estimated = _shares(rng, MATRIX, ())
        noise = Noise(estimated, source="estimated", replicates=_shares(rng, estimated, (30,)))
        options: dict[str, Any] = {"metrics": ["mean_absolute_error"]}
        score = evaluate(predict, cells[:, None] % 3, recorded, noise, **options)["mean_absolute_error"]
        covered += score.low <= clean <= score.high
        bare = evaluate(predict, cells[:, None] % 3, recorded, estimated, **options)["mean_absolute_error"]
        narrow += bare.low <= clean <= bare.high
    assert covered / 120 > 0.87
    assert narrow / 120 < 0.85


def _shares(rng: np.random.Generator, matrix: Floats, size: tuple[int, ...]) -> Floats:
    """Each row as 80 trusted labels of its class would show it."""
    return np.stack([rng.multinomial(80, row, size=size) / 80 for row in matrix], axis=-2)


def test_singular_replicates_are_left_out(model: Any, sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    good = replicates(0.3)
    some_singular = np.concatenate([good, np.full((5, 3, 3), 1 / 3)])
    found = evaluate(model, X, recorded, fitted(some_singular))
    assert found.to_dict() == evaluate(model, X, recorded, fitted(good)).to_dict()
    assert found.n_replicates == len(good)
    none_left = evaluate(model, X, recorded, fitted(np.full((5, 3, 3), 1 / 3)))["zero_one_loss"]
    assert np.isinf(none_left.standard_error)


def test_a_classifier_brings_the_noise_it_estimated() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = OrdinalMLPClassifier(noise=fitted(replicates(0.3)), max_iter=3, random_state=0).fit(X, y)
    assert evaluate(model, X, y).n_replicates == 40
    assert evaluate(model, X, y, MATRIX).n_replicates == 0
    assert evaluate(model, X, y).to_dict() == evaluate(model, X, y, model.noise_).to_dict()


def test_named_grades_give_what_their_ranks_give(sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    names = np.array(["poor", "fair", "good"])
    by_rank = evaluate(LogisticRegression().fit(X, recorded), X, recorded, MATRIX)
    named = LogisticRegression().fit(X, names[recorded])
    by_name = evaluate(named, X, names[recorded], MATRIX, classes=names)
    for name in by_rank.scores:
        assert by_name[name].value == pytest.approx(by_rank[name].value, nan_ok=True)
        assert by_name[name].observed == pytest.approx(by_rank[name].observed)


def test_our_classifiers_state_the_order_themselves(sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    names = np.array(["poor", "fair", "good"])
    model = OrdinalMLPClassifier(classes=names, max_iter=3, random_state=0).fit(X, names[recorded])
    stated = evaluate(model, X, names[recorded], MATRIX, classes=names)
    assert evaluate(model, X, names[recorded], MATRIX).to_dict() == stated.to_dict()


def test_a_class_that_the_model_never_saw_gets_no_probability(sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    low = recorded < 2
    model = LogisticRegression().fit(X[low], recorded[low])
    found = evaluate(model, X, recorded, MATRIX, classes=[0, 1, 2])["ranked_probability_score"]
    padded = np.column_stack([model.predict_proba(X), np.zeros(len(X))])
    assert found == noise_corrected_ranked_probability_score(recorded, padded, MATRIX)


def test_a_model_without_probabilities_is_scored_by_its_labels(sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    found = evaluate(LinearSVC().fit(X, recorded), X, recorded, MATRIX)
    assert set(found.scores) == {*METRICS, "kendall_tau"}


def test_the_table_has_a_line_for_every_metric_and_the_dictionary_is_json(
    model: Any, sample: tuple[Floats, Ints, Ints]
) -> None:
    X, _, recorded = sample
    found = evaluate(model, X, recorded, fitted(replicates(0.2)))
    lines = str(found).splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == list(found.scores)
    assert f"{found['zero_one_loss'].value:.4f}" in str(found)
    assert lines[-1] == "1500 recorded labels; noise matrix uncertain, 40 replicates"
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["kendall_tau"]["value"] is None


Y = np.array([0, 1, 2, 1])
X = np.zeros((4, 1))
GUESS = DummyClassifier().fit(X, Y)
NAMED = DummyClassifier().fit(X, ["a", "b", "c", "b"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: evaluate(object(), X, Y, MATRIX), r"model must be a fitted classifier with classes_, got object"),
        (lambda: evaluate(NAMED, X, ["a", "b", "c", "b"], MATRIX), r"classes must be the grades in order if the model's classes are text"),
        (lambda: evaluate(GUESS, X, Y, np.eye(2)), r"noise_matrix must be 3 x 3, one row per class, got shape \(2, 2\)"),
        (lambda: evaluate(GUESS, X, Y, OrdinalMLPClassifier()), r"noise must be a matrix or a fitted estimator, got OrdinalMLPClassifier before fit"),
        (lambda: evaluate(GUESS, X, Y), r"noise must be given if the model has no noise_, got DummyClassifier"),
        (lambda: evaluate(GUESS, X, Y[:3], MATRIX), r"y must be as long as X \(4\), got 3"),
        (lambda: evaluate(GUESS, X, [0, 1, 7, 1], MATRIX), r"y must hold only the labels \[0, 1, 2\], got 7"),
        (lambda: evaluate(GUESS, X, Y, MATRIX, metrics=["mae"]), r"metrics must be one of .*, got 'mae'"),
        (lambda: evaluate(GUESS, X, Y, MATRIX, metrics="zero_one_loss"), r"metrics must be a list of names, got 'zero_one_loss'; pass \['zero_one_loss'\]"),
        (lambda: evaluate(LinearSVC().fit([[0], [1], [2], [1]], Y), X, Y, MATRIX, metrics=["ranked_probability_score"]), r"model must have predict_proba for 'ranked_probability_score'"),
        (lambda: evaluate(GUESS, X, Y, MATRIX, confidence=0), r"confidence must be above 0"),
        (lambda: evaluate(GUESS, X, Y, MATRIX)["mae"], r"metric must be one of"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
