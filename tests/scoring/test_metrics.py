from collections.abc import Callable

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from ordinoise.noise import adjacent, corrupt
from ordinoise.scoring import metrics
from strategies import Floats, Ints, noise_matrices

MEANS = ["mean_absolute_error", "zero_one_loss", "accuracy_off1_score"]


@st.composite
def gradings(draw: st.DrawFn) -> tuple[Ints, Ints, Floats]:
    n_classes, n = draw(st.integers(2, 6)), draw(st.integers(5, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    true = rng.integers(0, n_classes, n)
    true[:2] = 0, n_classes - 1
    return true, rng.integers(0, n_classes, n), rng.uniform(0.1, 2, n)


@given(gradings())
def test_metrics_agree_with_scikit_learn_on_shared_ground(grading: tuple[Ints, Ints, Floats]) -> None:
    true, predicted, weight = grading
    given_weight = {"sample_weight": weight}
    assert metrics.mean_absolute_error(true, predicted, **given_weight) == pytest.approx(
        sklearn.metrics.mean_absolute_error(true, predicted, **given_weight)
    )
    assert metrics.zero_one_loss(true, predicted, **given_weight) == pytest.approx(
        sklearn.metrics.zero_one_loss(true, predicted, **given_weight)
    )
    for weights in ("linear", "quadratic"):
        labels = np.arange(max(true.max(), predicted.max()) + 1)
        theirs = sklearn.metrics.cohen_kappa_score(true, predicted, labels=labels, weights=weights, **given_weight)
        ours = getattr(metrics, f"{weights}_weighted_kappa")
        assert ours(true, predicted, **given_weight) == pytest.approx(theirs)
    assert metrics.kendall_tau(true, predicted) == pytest.approx(kendalltau(true, predicted).statistic, nan_ok=True)


@given(gradings())
def test_average_mean_absolute_error_is_the_mean_over_true_classes(
    grading: tuple[Ints, Ints, Floats],
) -> None:
    true, predicted, _ = grading
    by_class = [np.abs(predicted[true == k] - k).mean() for k in np.unique(true)]
    assert metrics.average_mean_absolute_error(true, predicted) == pytest.approx(np.mean(by_class))


def test_within_one_counts_neighbors() -> None:
    assert metrics.accuracy_off1_score([0, 1, 2, 3], [0, 2, 0, 0]) == 0.5


def test_two_classes_make_the_ranked_probability_score_a_brier_score() -> None:
    true, chance = np.array([0, 1, 1, 0]), np.array([0.1, 0.8, 0.3, 0.6])
    ours = metrics.ranked_probability_score(true, np.column_stack([1 - chance, chance]))
    assert ours == pytest.approx(sklearn.metrics.brier_score_loss(true, chance))


def test_ranked_probability_score_of_certain_predictions_is_the_mean_absolute_error() -> None:
    true, predicted = np.array([0, 1, 2, 3, 1]), np.array([1, 1, 0, 3, 2])
    assert metrics.ranked_probability_score(true, np.eye(4)[predicted]) == pytest.approx(
        metrics.mean_absolute_error(true, predicted)
    )


def test_labels_give_the_order_of_strings() -> None:
    order = ["low", "medium", "high"]
    true, predicted = ["low", "high", "medium"], ["high", "high", "low"]
    assert metrics.mean_absolute_error(true, predicted, classes=order) == pytest.approx(1.0)
    assert metrics.mean_absolute_error([1, 5, 3], [5, 5, 1], classes=[1, 3, 5]) == pytest.approx(1.0)
    assert metrics.mean_absolute_error([1, 5, 3], [5, 5, 1]) == pytest.approx(2.0)


@pytest.mark.parametrize("metric", MEANS)
@given(matrix=noise_matrices(), seed=st.integers(0, 2**32 - 1))
def test_corrected_metric_is_unbiased_exactly(metric: str, matrix: Floats, seed: int) -> None:
    """For one sample the expectation over the noise is a finite sum: no simulation."""
    true, predicted = np.random.default_rng(seed).integers(0, len(matrix), 2)
    expected = sum(
        matrix[true, recorded] * metrics.noise_corrected(metric, [recorded], [predicted], matrix).value
        for recorded in range(len(matrix))
    )
    clean = metrics.METRICS[metric].of_joint(_cell(true, predicted, len(matrix)))
    assert expected == pytest.approx(clean, abs=1e-8)


def _cell(true: int, predicted: int, n_classes: int) -> Floats:
    joint = np.zeros((n_classes, n_classes))
    joint[true, predicted] = 1
    return joint


@given(matrix=noise_matrices(), seed=st.integers(0, 2**32 - 1))
def test_corrected_ranked_probability_score_is_unbiased_exactly(matrix: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, probabilities = rng.integers(len(matrix)), rng.dirichlet(np.ones(len(matrix)), 1)
    expected = sum(
        matrix[true, recorded]
        * metrics.noise_corrected_ranked_probability_score([recorded], probabilities, matrix).value
        for recorded in range(len(matrix))
    )
    assert expected == pytest.approx(metrics.ranked_probability_score([true], probabilities), abs=1e-8)


@given(matrix=noise_matrices(min_classes=3), seed=st.integers(0, 2**32 - 1))
def test_corrected_table_of_expected_counts_gives_every_clean_metric(matrix: Floats, seed: int) -> None:
    """Also the ratios: weights set to the expected share of each recorded label make the noise exact."""
    rng = np.random.default_rng(seed)
    k = len(matrix)
    joint = rng.dirichlet(np.ones(k * k)).reshape(k, k)
    recorded, predicted = (cells.ravel() for cells in np.indices((k, k)))
    expected_share = (matrix.T @ joint).ravel()
    for metric, kind in metrics.METRICS.items():
        score = metrics.noise_corrected(metric, recorded, predicted, matrix, sample_weight=expected_share)
        assert score.value == pytest.approx(kind.of_joint(joint), abs=1e-8)
        assert score.observed == pytest.approx(kind.of_joint(matrix.T @ joint), abs=1e-8)


@pytest.mark.parametrize("metric", list(metrics.METRICS))
def test_without_noise_the_corrected_score_is_the_observed_one(metric: str) -> None:
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    score = metrics.noise_corrected(metric, true, predicted, np.eye(4))
    assert score.value == pytest.approx(score.observed)
    assert score.low < score.value < score.high


@pytest.mark.slow
@pytest.mark.parametrize("metric", list(metrics.METRICS))
def test_intervals_cover_the_clean_score(metric: str) -> None:
    """Binomial: 400 runs at 95 % miss by more than 4 standard errors (4.4 points) once in 15,000."""
    rng = np.random.default_rng(3)
    matrix = np.array([[0.7, 0.2, 0.1], [0.05, 0.85, 0.1], [0.1, 0.25, 0.65]])
    joint = np.array([[0.2, 0.05, 0.02], [0.08, 0.25, 0.05], [0.01, 0.09, 0.25]])
    clean = metrics.METRICS[metric].of_joint(joint)
    covered = 0
    for _ in range(400):
        cells = rng.choice(9, size=800, p=joint.ravel())
        score = metrics.noise_corrected(metric, corrupt(cells // 3, matrix, rng), cells % 3, matrix)
        covered += score.low <= clean <= score.high
    assert 0.906 < covered / 400 < 0.994


def test_weights_that_repeat_samples_give_the_value_of_the_repetition() -> None:
    rng = np.random.default_rng(1)
    matrix = np.array([[0.8, 0.2], [0.1, 0.9]])
    recorded, predicted, times = rng.integers(0, 2, 30), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    weighted = metrics.noise_corrected("zero_one_loss", recorded, predicted, matrix, sample_weight=times)
    repeated = metrics.noise_corrected("zero_one_loss", recorded.repeat(times), predicted.repeat(times), matrix)
    assert weighted.value == pytest.approx(repeated.value)


@pytest.mark.parametrize("metric", [*metrics.METRICS, "ranked_probability_score"])
def test_scorers_work_in_grid_search(metric: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.digitize(X[:, 0], [-1, 0, 1])
    matrix = adjacent(4, up=0.15, down=0.05)
    scoring = metrics.scorer(metric, noise=matrix)
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 10.0]}, scoring=scoring).fit(X, corrupt(y, matrix, 0))
    assert search.best_params_ == {"C": 10.0}
    plain = cross_val_score(LogisticRegression(), X, y, scoring=metrics.scorer(metric))
    assert np.isfinite(plain).all()


def test_scorers_read_named_grades() -> None:
    X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]] * 5)
    y = np.array(["low", "low", "mid", "mid", "top", "top"] * 5)
    model = LogisticRegression(C=100).fit(X, y)
    score = metrics.scorer("mean_absolute_error", classes=["low", "mid", "top"], noise=np.eye(3))
    assert score(model, X, y) == 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.mean_absolute_error([0, 1], [0]), r"y_pred must be as long as y_true \(2\), got 1"),
        (lambda: metrics.mean_absolute_error([], []), r"y_true must not be empty"),
        (lambda: metrics.mean_absolute_error([], [], classes=[1, 2]), r"y_true must not be empty"),
        (lambda: metrics.mean_absolute_error(["a"], ["b"]), r"got 'a'; pass classes="),
        (lambda: metrics.mean_absolute_error([0.5], [1]), r"y_true must hold whole numbers, got 0.5"),
        (lambda: metrics.zero_one_loss(["c"], ["a"], classes=["a", "b"]), r"y_true must hold only the labels \['a', 'b'\], got 'c'"),
        (lambda: metrics.ranked_probability_score([0], [[0.5, 0.6]]), r"y_proba rows must be non-negative and sum to 1"),
        (lambda: metrics.noise_corrected("mae", [0], [0], np.eye(2)), r"metric must be one of .*, got 'mae'"),
        (lambda: metrics.noise_corrected("zero_one_loss", [0, 2], [0, 1], np.eye(2)), r"noisy_labels must hold whole numbers from 0 to 1, got 2 at 1"),
        (lambda: metrics.noise_corrected("zero_one_loss", [0], [1], np.full((2, 2), 0.5)), r"noise_matrix must have rows that differ"),
        (lambda: metrics.noise_corrected("zero_one_loss", [0], [1], np.eye(2), confidence=0), r"confidence must be above 0"),
        (lambda: metrics.noise_corrected("zero_one_loss", ["a"], ["a"], np.eye(2), classes=["a"]), r"classes must name all 2 grades, got 1"),
        (lambda: metrics.zero_one_loss([0, 1], [0, 1], sample_weight=[-1, 1]), r"sample_weight must be non-negative"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_every_metric_is_called_as_its_function() -> None:
    for name, metric in metrics.METRICS.items():
        assert getattr(metrics, name)([0, 1, 2, 1], [0, 2, 2, 1]) == metric.of_joint(
            np.array([[0.25, 0, 0], [0, 0.25, 0.25], [0, 0, 0.25]])
        )
