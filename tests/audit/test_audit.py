from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ordinoise import Noise, OrdinalClassifier, OrdinalMLPClassifier, corrupt
from ordinoise import _frames as frames_module
from ordinoise.audit import LabelIssues, WrongCount, find_label_issues, issues_from_probabilities, search
from ordinoise.audit.count import wrong_count
from ordinoise.audit.folds import out_of_fold_probabilities
from ordinoise.audit.issues import issues_from
from ordinoise.audit.posterior import Posterior, calibrated, likelihood_of
from ordinoise.classifiers.blend.evidence import NOTHING_LEARNED
from ordinoise.estimation import AnchorPoints
from ordinoise.noise.deconvolution import deconvolved
from strategies import Floats, Ints, noise_matrices

# Nothing symmetric in it: a transposed use changes every number.
MATRIX = np.array([[0.7, 0.25, 0.05], [0.02, 0.8, 0.18], [0.05, 0.05, 0.9]])
NETWORK = OrdinalMLPClassifier(max_iter=25, learning_rate_init=0.01)


@pytest.fixture(scope="module")
def sample() -> tuple[Floats, Ints, Ints]:
    """Features, true labels, recorded labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    true = np.digitize(X[:, 0] + 0.2 * rng.normal(size=600), [-0.5, 0.5])
    return X, true, corrupt(true, MATRIX, rng)


def drawn(rng: np.random.Generator, n_samples: int, matrix: Floats) -> tuple[Floats, Ints, Ints]:
    """Probabilities of the true label, labels drawn from them, and those labels as recorded."""
    probabilities = rng.dirichlet(np.full(len(matrix), 0.4), size=n_samples)
    true = (rng.random((n_samples, 1)) > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return probabilities, true, corrupt(true, matrix, rng)


def precision(issues: LabelIssues, true: Ints, recorded: Ints) -> float:
    return float(average_precision_score(true != recorded, -issues.rank))


# From probabilities ------------------------------------------------------------------------------------


@given(matrix=noise_matrices(), seed=st.integers(0, 2**32 - 1))
def test_every_column_is_a_literal_sum_over_the_true_label(matrix: Floats, seed: int) -> None:
    rng, k = np.random.default_rng(seed), len(matrix)
    probabilities, _, recorded = drawn(rng, 5, matrix)
    issues = issues_from_probabilities(probabilities, recorded, matrix, calibrate=False, classes=range(k))
    for n, label in enumerate(recorded):
        total = sum(probabilities[n, j] * matrix[j, label] for j in range(k))
        after = [probabilities[n, j] * matrix[j, label] / total for j in range(k)]
        assert issues.posterior[n] == pytest.approx(after, abs=1e-6)
        assert issues.probability_wrong[n] == pytest.approx(sum(after) - after[label], abs=1e-6)
        assert issues.expected_distance[n] == pytest.approx(sum(after[j] * abs(j - label) for j in range(k)), abs=1e-5)
        costs = [sum(after[j] * abs(j - guess) for j in range(k)) for guess in range(k)]
        assert costs[issues.suggested[n]] == pytest.approx(min(costs), abs=1e-5)
    assert sorted(issues.rank) == [1, 2, 3, 4, 5]
    assert np.all(np.diff(issues.expected_distance[issues.worst]) <= 0)


def test_labels_can_be_ranked_by_the_probability_that_they_are_wrong() -> None:
    probabilities, _, recorded = drawn(np.random.default_rng(0), 50, MATRIX)
    issues = issues_from_probabilities(probabilities, recorded, MATRIX, rank_by="probability_wrong")
    assert np.all(np.diff(issues.probability_wrong[issues.worst]) <= 0)
    assert not np.all(np.diff(issues.expected_distance[issues.worst]) <= 0)


@pytest.mark.parametrize(
    ("rank_by", "worst"),
    [("large_error", [1, 2, 0]), ("expected_distance", [0, 1, 2]), ("probability_wrong", [2, 1, 0])],
)
def test_large_errors_count_as_two_grades(rank_by: str, worst: list[int]) -> None:
    """Perhaps four grades off, probably two, and surely one: each ranking puts another one first."""
    after = np.array([[0.4, 0, 0, 0, 0.6], [0.1, 0, 0.9, 0, 0], [0, 1.0, 0, 0, 0]])
    recorded, noise, verified = np.zeros(3, dtype=np.int64), Noise.of(None, 5), np.zeros(3, dtype=np.bool_)
    found = Posterior(after, recorded)
    of_rows = found.probability_wrong
    issues = issues_from(found, of_rows, of_rows, np.arange(5), noise, None, rank_by, None, verified)
    assert issues.worst.tolist() == worst


def test_large_errors_are_ranked_by_their_distance_and_a_little_by_surprise() -> None:
    probabilities = np.random.default_rng(0).dirichlet(np.ones(5), size=40)
    recorded, noise = np.arange(40) % 5, replace(Noise.of(np.eye(5), 5), answer="trusting", source="estimated")
    issues = issues_from_probabilities(probabilities, recorded, noise, rank_by="large_error")
    scores = []
    for after, label in zip(issues.posterior, recorded.tolist(), strict=True):
        distance = sum(chance * min(abs(grade - label), 2) for grade, chance in enumerate(after))
        usual = -sum(chance * np.log(max(chance, 0.01)) for chance in after)
        scores.append(distance * np.exp(0.15 * (-np.log(max(after[label], 0.01)) - usual)))
    assert issues.worst.tolist() == np.argsort(-np.array(scores)).tolist()


def counted(issues: LabelIssues) -> WrongCount:
    assert issues.expected_wrong is not None
    return issues.expected_wrong


@pytest.mark.parametrize("of", ["true", "recorded"])
@pytest.mark.parametrize("calibrate", [True, False])
def test_without_noise_no_label_is_suspicious(of: str, calibrate: bool) -> None:
    probabilities, _, recorded = drawn(np.random.default_rng(0), 40, MATRIX)
    probabilities[0] = np.eye(3)[(recorded[0] + 1) % 3]  # also not where the model is sure of another
    issues = issues_from_probabilities(probabilities, recorded, np.eye(3), of=of, calibrate=calibrate)
    assert (issues.probability_wrong == 0).all()
    assert (issues.expected_distance == 0).all()
    assert (issues.suggested == recorded).all()
    assert (counted(issues).low, counted(issues).high) == (0, 0)


def test_a_transposed_matrix_finds_fewer_of_the_wrong_labels() -> None:
    one_way = np.array([[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]])
    probabilities, true, recorded = drawn(np.random.default_rng(1), 2000, one_way)
    found = issues_from_probabilities(probabilities, recorded, one_way)
    turned = issues_from_probabilities(probabilities, recorded, np.array([[1, 0, 0], [0.4, 0.6, 0], [0, 0.4, 0.6]]))
    assert precision(found, true, recorded) > precision(turned, true, recorded) + 0.2
    assert np.abs(found.suggested - true).mean() < np.abs(recorded - true).mean()
    assert (found.suggested <= recorded).all()


@pytest.mark.parametrize("of", ["true", "recorded"])
def test_the_order_of_the_rows_does_not_matter(of: str) -> None:
    probabilities, _, recorded = drawn(np.random.default_rng(2), 300, MATRIX)
    noise = Noise(MATRIX, source="estimated", replicates=_replicates(0.3))
    order = np.random.default_rng(3).permutation(300)
    issues = issues_from_probabilities(probabilities, recorded, noise, of=of)
    shuffled = issues_from_probabilities(probabilities[order], recorded[order], noise, of=of)
    assert shuffled.suspicion == pytest.approx(issues.suspicion[order], abs=1e-4)
    assert np.isnan(shuffled.probability_wrong).all()
    assert counted(shuffled).high == pytest.approx(counted(issues).high, abs=0.05)
    assert np.corrcoef(shuffled.rank, issues.rank[order])[0, 1] > 0.9999


def _replicates(spread: float) -> Floats:
    weights = MATRIX * np.random.default_rng(0).uniform(1 - spread, 1 + spread, size=(30, 3, 3))
    return weights / weights.sum(axis=2, keepdims=True)


def test_a_class_thought_impossible_can_be_the_true_one() -> None:
    """Recorded 2, sure of 0, and only neighbors are confused: nothing fits, and nothing may be NaN."""
    adjacent = np.array([[0.8, 0.2, 0], [0.1, 0.8, 0.1], [0, 0.2, 0.8]])
    issues = issues_from_probabilities([[1.0, 0, 0]], [2], adjacent, calibrate=False)
    assert issues.posterior.sum() == pytest.approx(1)
    assert issues.posterior[0, 0] == 0


# Probabilities of the true label from those of the recorded one ----------------------------------------


@settings(max_examples=15)
@given(matrix=noise_matrices(max_classes=4), seed=st.integers(0, 2**32 - 1))
def test_deconvolution_undoes_the_noise(matrix: Floats, seed: int) -> None:
    true = np.random.default_rng(seed).dirichlet(np.full(len(matrix), 2.0), size=6)
    recovered = deconvolved(true @ matrix, matrix, n_iter=5000)
    assert recovered @ matrix == pytest.approx(true @ matrix, abs=2e-3)
    # An error in what is recorded grows by at most the inverse's size.
    growth = np.abs(np.linalg.inv(matrix)).sum(axis=1).max()
    assert recovered == pytest.approx(true, abs=2e-3 * growth)


def test_deconvolution_stays_a_distribution_where_the_inverse_does_not() -> None:
    sure = np.eye(3)
    assert (sure @ np.linalg.inv(MATRIX)).min() < -0.01
    recovered = deconvolved(sure, MATRIX)
    assert recovered.min() >= 0
    assert recovered.sum(axis=1) == pytest.approx(1)


def test_deconvolution_without_noise_changes_nothing() -> None:
    probabilities = np.random.default_rng(0).dirichlet([1, 1, 1], size=20)
    assert deconvolved(probabilities, np.eye(3)) == pytest.approx(probabilities, abs=1e-6)


@pytest.mark.parametrize("power", [0.4, 2.5])
def test_calibration_mends_a_model_that_is_too_sure_or_too_unsure(power: float) -> None:
    probabilities, true, recorded = drawn(np.random.default_rng(4), 3000, MATRIX)
    distorted = (probabilities + 1e-3) ** power * [3, 1, 1]
    distorted /= distorted.sum(axis=1, keepdims=True)
    mended = calibrated(distorted, likelihood_of(recorded, MATRIX))

    best = log_loss(true, probabilities)
    assert log_loss(true, mended) - best < 0.2 * (log_loss(true, distorted) - best)


def test_calibration_leaves_the_right_probabilities_as_they_are() -> None:
    probabilities, _, recorded = drawn(np.random.default_rng(5), 3000, MATRIX)
    assert np.abs(calibrated(probabilities, likelihood_of(recorded, MATRIX)) - probabilities).mean() < 0.02


def test_probabilities_of_the_recorded_label_say_nearly_what_those_of_the_true_one_say() -> None:
    probabilities, true, recorded = drawn(np.random.default_rng(6), 2000, MATRIX)
    informed = issues_from_probabilities(probabilities, recorded, MATRIX, calibrate=False)
    inferred = issues_from_probabilities(probabilities @ MATRIX, recorded, MATRIX, of="recorded", calibrate=False)
    mistaken = issues_from_probabilities(probabilities @ MATRIX, recorded, MATRIX, of="true", calibrate=False)
    assert precision(inferred, true, recorded) == pytest.approx(precision(informed, true, recorded), abs=0.01)
    gap = np.abs(inferred.posterior - informed.posterior).mean()
    assert gap < 0.1 * np.abs(mistaken.posterior - informed.posterior).mean()


@pytest.mark.parametrize("of", ["true", "recorded"])
def test_calibration_finds_more_of_the_wrong_labels_where_the_model_is_off(of: str) -> None:
    probabilities, true, recorded = drawn(np.random.default_rng(7), 2000, MATRIX)
    distorted = ((probabilities if of == "true" else probabilities @ MATRIX) + 1e-3) ** 0.3 * [4, 1, 1]
    distorted /= distorted.sum(axis=1, keepdims=True)
    plain, mended = (
        issues_from_probabilities(distorted, recorded, MATRIX, of=of, calibrate=calibrate)
        for calibrate in (False, True)
    )
    assert precision(mended, true, recorded) > precision(plain, true, recorded) + 0.02
    n_wrong = (true != recorded).sum()
    assert abs(counted(mended).value - n_wrong) < abs(counted(plain).value - n_wrong)


# How many are wrong ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_interval_covers_the_number_of_wrong_labels() -> None:
    """Binomial: 300 runs at 95 % fall outside 90.0..99.5 % less than once in 10,000."""
    rng, covered = np.random.default_rng(7), 0
    for _ in range(300):
        probabilities, true, recorded = drawn(rng, 200, MATRIX)
        count = counted(issues_from_probabilities(probabilities, recorded, MATRIX, calibrate=False))
        covered += count.low <= (true != recorded).sum() <= count.high
    assert 0.90 < covered / 300 < 0.995


@pytest.mark.slow
def test_the_interval_covers_with_an_estimated_matrix_only_because_of_its_replicates() -> None:
    """Each row of the matrix as 60 trusted labels show it; the same tolerance as above for 100 runs."""
    rng = np.random.default_rng(8)
    covered, bare = 0, 0
    for _ in range(100):
        probabilities, true, recorded = drawn(rng, 500, MATRIX)
        estimated = _shares(rng, MATRIX)
        seen = deconvolved(probabilities @ MATRIX, estimated, start=probabilities)
        counts = [
            wrong_count(seen, recorded, Noise(estimated, source="estimated", replicates=replicates))
            for replicates in (np.stack([_shares(rng, estimated) for _ in range(12)]), np.empty((0, 3, 3)))
        ]
        n_wrong = (true != recorded).sum()
        covered += counts[0].low <= n_wrong <= counts[0].high
        bare += counts[1].low <= n_wrong <= counts[1].high
    assert covered / 100 > 0.87
    assert bare / 100 < 0.8


def _shares(rng: np.random.Generator, matrix: Floats) -> Floats:
    return np.stack([rng.multinomial(60, row) / 60 for row in matrix])


def test_sure_probabilities_do_not_hide_what_is_unknown_about_the_matrix() -> None:
    """Where every label is certain no replicate changes a count, but the rate that the replicates imply varies."""
    true = np.arange(300) % 3
    recorded = corrupt(true, MATRIX, 0)
    replicates = _replicates(0.5)
    found = wrong_count(np.eye(3)[true], recorded, Noise(MATRIX, source="estimated", replicates=replicates))
    rate, *rates = (1 - np.mean(one.diagonal()) for one in (MATRIX, *replicates))
    n_wrong = (true != recorded).sum()
    assert found.value == pytest.approx(n_wrong, abs=0.01)
    assert found.standard_error == pytest.approx(n_wrong * np.std(rates, ddof=1) / rate, rel=0.01)


def test_more_rows_do_not_mend_an_error_of_the_model_that_told_noise_from_overlap() -> None:
    probabilities, _, recorded = drawn(np.random.default_rng(3), 300, MATRIX)
    exact = Noise(MATRIX, source="estimated", replicates=np.stack([MATRIX, MATRIX]))
    modeled = replace(exact, rate_range=(0.1, 0.4))
    for n_times in (1, 2000):
        many = np.tile(probabilities, (n_times, 1)), np.tile(recorded, n_times)
        bare, found = wrong_count(*many, exact), wrong_count(*many, modeled)
        assert bare.value is not None
        assert found.value == bare.value
        reach = np.hypot(bare.high - bare.value, 0.1 * bare.value)  # a tenth at 95 %, as in the range of the rate
        assert found.high - found.value == pytest.approx(reach, rel=1e-6)
        if n_times > 1:  # what many rows alone would claim
            assert bare.high < 1.01 * bare.value


def test_many_rows_are_represented_by_some_when_the_matrix_varies() -> None:
    probabilities, _, recorded = drawn(np.random.default_rng(9), 6000, MATRIX)
    noise = Noise(MATRIX, source="estimated", replicates=_replicates(0.5))
    tripled, third = (
        wrong_count(probabilities, recorded, noise),
        wrong_count(probabilities[:2000], recorded[:2000], noise),
    )
    assert tripled.standard_error is not None
    assert third.standard_error is not None
    assert tripled.standard_error == pytest.approx(3 * third.standard_error, rel=0.1)
    assert tripled.share == pytest.approx(third.share, abs=0.02)
    assert str(tripled).startswith(f"about {tripled.value:,.0f} of 6,000 labels are wrong (95% interval")


# From features -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        NETWORK,
        make_pipeline(StandardScaler(), NETWORK),
        make_pipeline(StandardScaler(), LogisticRegression()),
        BaggingClassifier(LogisticRegression(), n_estimators=3),
    ],
    ids=["ours", "ours in a pipeline", "a pipeline", "an ensemble"],
)
def test_planted_errors_are_found_and_mended(estimator: Any, sample: tuple[Floats, Ints, Ints]) -> None:
    X, true, recorded = sample
    issues = find_label_issues(X, recorded, noise=MATRIX, estimator=estimator, random_state=0)
    assert precision(issues, true, recorded) > 0.75 > 3 * (true != recorded).mean()
    assert np.abs(issues.suggested - true).mean() < 0.6 * np.abs(recorded - true).mean()
    assert counted(issues).low <= (true != recorded).sum() <= counted(issues).high
    again = find_label_issues(X, recorded, noise=MATRIX, estimator=estimator, random_state=0, n_jobs=2)
    assert np.array_equal(issues.rank, again.rank)


def test_the_noise_can_be_estimated(sample: tuple[Floats, Ints, Ints]) -> None:
    X, true, recorded = sample
    method = AnchorPoints(max_iter=20, learning_rate_init=0.01, random_state=0)
    issues = find_label_issues(X, recorded, noise=method, estimator=NETWORK, random_state=0)
    assert precision(issues, true, recorded) > 2 * (true != recorded).mean()
    assert not hasattr(method, "noise_matrix_")
    fitted = method.fit(X, recorded)
    assert np.array_equal(
        find_label_issues(X, recorded, noise=fitted, estimator=NETWORK).noise.matrix, fitted.noise_matrix_
    )


def test_no_label_is_judged_by_a_model_that_saw_it() -> None:
    """With a memory for a model, any leak would make every recorded label certain."""

    class Memory(LogisticRegression):
        def fit(self, X: Any, y: Any) -> Any:
            self.seen_ = set(X[:, 0])
            return super().fit(X, y)

        def predict_proba(self, X: Any) -> Any:
            assert not self.seen_ & set(X[:, 0])
            return super().predict_proba(X)

    recorded = np.arange(60) % 3
    X = np.random.default_rng(0).normal(size=(60, 1))
    assert out_of_fold_probabilities(Memory(), X, recorded, MATRIX, 4, np.random.default_rng(0)).shape == (60, 3)


@pytest.mark.parametrize("ours", [NETWORK, make_pipeline(StandardScaler(), NETWORK)], ids=["bare", "in a pipeline"])
def test_our_classifiers_are_given_the_noise_matrix_and_predict_the_true_label(
    ours: Any, sample: tuple[Floats, Ints, Ints]
) -> None:
    X, true, recorded = sample
    foreign = make_pipeline(StandardScaler(), LogisticRegression())
    informed, trusting, one, same = (
        out_of_fold_probabilities(model, X, recorded, matrix, 3, np.random.default_rng(0))
        for model in (ours, foreign)
        for matrix in (MATRIX, np.eye(3))
    )
    assert log_loss(true, informed) < log_loss(true, trusting) - 0.1
    assert np.array_equal(one, same)


def test_a_class_with_one_label_does_no_harm() -> None:
    X = np.random.default_rng(0).normal(size=(61, 1))
    recorded = np.append(np.arange(60) % 2, 2)
    issues = find_label_issues(X, recorded, noise=MATRIX, estimator=LogisticRegression(), random_state=0)
    assert np.isfinite(issues.posterior).all()


def test_grades_may_be_text_in_a_stated_order(sample: tuple[Floats, Ints, Ints]) -> None:
    X, _, recorded = sample
    names = np.array(["poor", "fair", "good"])
    options: dict[str, Any] = {"noise": MATRIX, "estimator": LogisticRegression(), "random_state": 0}
    by_rank = find_label_issues(X, recorded, **options)
    by_name = find_label_issues(X, names[recorded], classes=names, **options)
    categorical = find_label_issues(X, pd.Categorical(names[recorded], categories=names, ordered=True), **options)
    for issues in (by_name, categorical):
        assert np.array_equal(issues.suggested, names[by_rank.suggested])
        assert np.array_equal(issues.recorded, names[recorded])
        assert np.array_equal(issues.rank, by_rank.rank)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("estimator", [None, NETWORK], ids=["default", "stated"])
def test_a_frame_comes_back_in_the_library_it_came_from(
    make: Any, estimator: Any, sample: tuple[Floats, Ints, Ints], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "OrdinalClassifier", partial(OrdinalClassifier, n_folds=2, n_rounds=1))
    X, _, recorded = (part[:100] for part in sample)
    table = make({"width": X[:, 0], "height": X[:, 1]})
    if estimator is not None and make is pa.table:
        estimator = make_pipeline(StandardScaler(), LogisticRegression())
    issues = find_label_issues(table, recorded, noise=MATRIX, estimator=estimator, n_folds=2, random_state=0)
    frame = issues.to_frame()
    assert type(frame) is type(table)
    rows = {name: list(frame[name].to_pylist() if make is pa.table else frame[name]) for name in issues_columns()}
    assert rows["rank"] == list(range(1, 101))
    assert rows["row"] == issues.worst.tolist()
    assert rows["recorded"] == recorded[issues.worst].tolist()
    assert rows["probability_wrong"] == issues.probability_wrong[issues.worst].tolist()


def issues_columns() -> list[str]:
    return ["row", "recorded", "suggested", "suspicion", "rank", "probability_wrong", "expected_distance"]


def test_an_array_gives_a_pandas_frame_and_no_library_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    issues = issues_from_probabilities([[0.9, 0.1]], [1], np.array([[0.8, 0.2], [0.1, 0.9]]))
    assert list(issues.to_frame().columns) == issues_columns()
    assert isinstance(issues.to_frame(), pd.DataFrame)
    monkeypatch.setattr(frames_module, "find_spec", lambda name: name == "polars" or None)
    assert isinstance(issues.to_frame(), pl.DataFrame)
    monkeypatch.setattr(frames_module, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"to_frame must find one of \['pandas', 'polars', 'pyarrow'\], got none"):
        issues.to_frame()


P = np.full((3, 3), 1 / 3)
X, Y = np.zeros((6, 1)), np.array([0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: issues_from_probabilities(P, [0, 1], MATRIX), r"y must be as long as probabilities \(3\), got 2"),
        (lambda: issues_from_probabilities(P, [0, 1, 5], MATRIX, classes=[0, 1, 2]), r"y must hold only the labels \[0, 1, 2\], got 5"),
        (lambda: issues_from_probabilities(P, [4, 4, 5], MATRIX), r"classes must name all 3 columns of probabilities, got \[4, 5\]; pass classes="),
        (lambda: issues_from_probabilities(P, [0, 1, 2], MATRIX, classes=[0, 1]), r"classes must name all 3 columns of probabilities, got \[0, 1\]$"),
        (lambda: issues_from_probabilities(P * 2, [0, 1, 2], MATRIX), r"probabilities rows must be non-negative and sum to 1, got .* in row 0"),
        (lambda: issues_from_probabilities(P, [0, 1, 2], np.eye(4)), r"noise_matrix must be 3 x 3"),
        (lambda: issues_from_probabilities(P, [0, 1, 2], MATRIX.T), r"noise_matrix rows must sum to 1 .*pass its transpose"),
        (lambda: issues_from_probabilities(P, [0, 1, 2], [[1, 0, 0], [0, 1, 0], [0, 1, 0]]), r"noise_matrix must allow every label in y, got a column of zeros for 2"),
        (lambda: issues_from_probabilities(P, [0, 1, 2], MATRIX, of="noisy"), r"of must be one of \['true', 'recorded'\], got 'noisy'"),
        (lambda: issues_from_probabilities(P, [0, 1, 2], MATRIX, rank_by="distance"), r"rank_by must be one of .*did you mean 'expected_distance'"),
        (lambda: issues_from_probabilities(P, [0, 1, 2], MATRIX, confidence=2), r"confidence must be above 0 and at most 1, got 2"),
        (lambda: find_label_issues(X, Y[:4]), r"y must be as long as X \(6\), got 4"),
        (lambda: find_label_issues(X, Y, noise=None), r"noise must be 'estimate', a noise matrix or an estimator, got None; labels without noise"),
        (lambda: find_label_issues(X, Y, noise="guess"), r"noise must be .*, got 'guess'"),
        (lambda: find_label_issues(X, Y, noise=MATRIX, estimator=NETWORK, n_folds=1), r"n_folds must be a whole number of at least 2, got 1"),
        (lambda: find_label_issues(X, Y, noise=MATRIX, estimator=NETWORK, n_folds=7), r"n_folds must be at most the number of samples \(6\), got 7"),
        (lambda: find_label_issues(X, Y, noise=MATRIX, estimator=LinearSVC()), r"estimator must have predict_proba, got LinearSVC"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_verified_labels_are_known_ranked_last_and_not_counted() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, 400)
    recorded = corrupt(true, MATRIX, random_state=1)
    probabilities = 0.7 * np.eye(3)[true] + 0.1
    verified = np.sort(rng.choice(400, 100, replace=False))
    before = issues_from_probabilities(probabilities, recorded, MATRIX)
    after = issues_from_probabilities(probabilities, recorded, MATRIX, trusted=(verified, true[verified]))
    assert before.verified is None
    assert after.verified is not None
    np.testing.assert_array_equal(np.flatnonzero(after.verified), verified)
    np.testing.assert_array_equal(after.probability_wrong[verified], (recorded != true)[verified])
    assert set(after.worst[-100:]) == set(verified)
    assert after.expected_wrong is not None
    assert before.expected_wrong is not None
    assert after.expected_wrong.n_samples == 300
    left = ~after.verified
    assert after.expected_wrong.value == pytest.approx(after.probability_wrong[left].sum())
    whole = issues_from_probabilities(probabilities, recorded, MATRIX, trusted=(np.arange(400), true))
    assert whole.expected_wrong is not None
    assert whole.expected_wrong.high == 0


def test_verified_labels_take_part_in_the_calibration() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, 600)
    recorded = corrupt(true, MATRIX, random_state=1)
    moved = 0.7 * np.eye(3)[(true + 1) % 3] + 0.1  # a classifier that is mostly a grade off
    known = (np.arange(400), true[:400])
    matrix = np.full((3, 3), 0.33) + 0.01 * np.eye(3)  # records say nothing, so verified labels alone can tell
    found = issues_from_probabilities(moved, recorded, matrix, trusted=known)
    assert (found.posterior[400:].argmax(axis=1) == true[400:]).mean() > 0.9


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_probabilities_that_say_nothing_are_answered_by_the_class_shares() -> None:
    rng = np.random.default_rng(0)
    recorded = rng.choice(3, size=300, p=[0.5, 0.3, 0.2])
    issues = issues_from_probabilities(rng.dirichlet([5.0, 3.0, 2.0], size=300), recorded, random_state=0)
    assert (issues.noise.answer, issues.noise.reason) == ("trusting", NOTHING_LEARNED)
    for label in range(3):  # what is known of a row is its record alone
        assert np.ptp(issues.posterior[recorded == label], axis=0) == pytest.approx(0, abs=1e-12)
