"""Displays draw what their numbers say, on the axes given, from models and from predictions."""

import builtins
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import Noise, OrdinalClassifier, OrdinalMLPClassifier, RepeatedLabels, adjacent, corrupt, inverse_decay
from ordinoise.audit import grader_effects, issues_from_probabilities
from ordinoise.datasets import synthetic
from ordinoise.displays import GradersDisplay, LabelIssuesDisplay, NoiseMatrixDisplay, RatersDisplay, ReliabilityDisplay
from ordinoise.scoring.reliability import reliability_curve

NOISE = adjacent(4, up=0.2, down=0.1)
ODD: Any = NOISE
TRAIN, TEST = synthetic(60, random_state=0), synthetic(60, random_state=1)
RECORDED = corrupt(TEST.labels, NOISE, random_state=0)


@pytest.fixture(autouse=True)
def _drawn_nowhere() -> Iterator[None]:
    with mpl.rc_context():
        pyplot.switch_backend("agg")
        yield
        pyplot.close("all")


@pytest.fixture(scope="module")
def model() -> OrdinalMLPClassifier:
    network = OrdinalMLPClassifier(noise=NOISE, hidden_layer_sizes=(), max_iter=30, random_state=0)
    return network.fit(TRAIN.features, corrupt(TRAIN.labels, NOISE, random_state=1))


def test_the_cells_of_the_matrix_are_the_noise_of_the_model(model: OrdinalMLPClassifier) -> None:
    _, axes = pyplot.subplots()
    display = NoiseMatrixDisplay.from_estimator(make_pipeline(StandardScaler(), model), ax=axes)
    assert display.ax_ is axes
    assert [text.get_text() for text in display.text_[1]] == ["10", "70", "20", "0"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2", "3"]


def test_the_matrix_of_verified_labels_is_counted_with_intervals_that_hold_it() -> None:
    true, seen = np.array(["a"] * 8 + ["b"] * 4), np.array(["a"] * 6 + ["b"] * 2 + ["b"] * 4)
    noise = NoiseMatrixDisplay.from_predictions(true, seen, labels=["a", "b"]).noise
    np.testing.assert_allclose(noise.matrix, np.array([[0.75, 0.25], [0, 1]]))
    assert noise.interval is not None
    low, high = noise.interval
    assert (low <= noise.matrix).all()
    assert (noise.matrix <= high).all()
    assert high[1, 0] == pytest.approx(0.49, abs=0.01)  # Wilson, none of four


def test_one_rater_has_the_raters_own_matrix() -> None:
    each = {"ann": inverse_decay(3, 0.1), "ben": np.eye(3)}
    holder = RepeatedLabels()
    holder.noise_, holder.classes_ = Noise.of(each), np.arange(3)
    np.testing.assert_array_equal(NoiseMatrixDisplay.from_estimator(holder, rater="ben").noise.matrix, np.eye(3))
    with pytest.raises(ValueError, match=r"^rater must be one of \['ann', 'ben'\], got 'eve'$"):
        NoiseMatrixDisplay.from_estimator(holder, rater="eve")


def test_labels_found_are_the_summed_probabilities_of_the_worst_first(model: OrdinalMLPClassifier) -> None:
    display = LabelIssuesDisplay.from_estimator(model, TEST.features, RECORDED)
    expected = issues_from_probabilities(model.predict_proba(TEST.features), RECORDED, NOISE)
    np.testing.assert_allclose(display.found[-1], expected.probability_wrong.sum())
    np.testing.assert_allclose(display.found[5], expected.probability_wrong[expected.worst[:5]].sum())
    line = np.asarray(display.ax_.lines[1].get_xydata())
    np.testing.assert_allclose(line[-1], np.array([len(RECORDED), display.found[-1]]))


def test_a_model_of_another_library_predicts_the_recorded_label() -> None:
    other = LogisticRegression(max_iter=1000).fit(TRAIN.features, TRAIN.labels)
    display = LabelIssuesDisplay.from_estimator(other, TEST.features, RECORDED, noise=NOISE)
    expected = LabelIssuesDisplay.from_predictions(RECORDED, other.predict_proba(TEST.features), NOISE, of="recorded")
    np.testing.assert_array_equal(display.found, expected.found)
    with pytest.raises(ValueError, match="noise must be given if the estimator has no noise_, got LogisticRegression"):
        ReliabilityDisplay.from_estimator(other, TEST.features, RECORDED)


def test_the_dots_of_reliability_are_the_curve(model: OrdinalMLPClassifier) -> None:
    _, axes = pyplot.subplots()
    display = ReliabilityDisplay.from_estimator(model, TEST.features, RECORDED, n_bins=5, ax=axes)
    table = model.predict_proba(TEST.features)
    curve = reliability_curve(table, RECORDED, NOISE, 5)
    dots = axes.collections[-1].get_offsets()
    np.testing.assert_allclose(np.asarray(dots), np.column_stack([curve.predicted, curve.observed]))
    same = ReliabilityDisplay.from_predictions(RECORDED, table, NOISE, n_bins=5)
    np.testing.assert_array_equal(display.reliability.observed, same.reliability.observed)


def _table(**guessing_low: float) -> dict[str, Any]:
    """What `rater_table` returns for raters of whom only guessing differs."""
    ends = [(name, end) for name in ("severity", "consistency", "guessing") for end in ("", "_low", "_high")]
    table: dict[str, Any] = {name + end: np.full(len(guessing_low), {"_low": -0.1}.get(end, 0.2)) for name, end in ends}
    names = {"rater": np.array(list(guessing_low)), "guessing_low": np.array(list(guessing_low.values()))}
    return table | names | {"n_labels": np.arange(len(guessing_low))}


def test_the_rater_who_guesses_stands_out_and_a_dollar_starts_no_formula() -> None:
    display = RatersDisplay(_table(**{"idle": 0.0, "ann": 0.1, "a $x$ b": 0.6})).plot(most=2)
    severity, _, guessing = display.axes_
    assert [label.get_text() for label in severity.get_yticklabels()] == ["ann", "a $x$ b"]
    conspicuous = guessing.collections[-1].get_offsets()
    assert np.asarray(conspicuous)[:, 1].tolist() == [1]
    display.figure_.canvas.draw()


def test_raters_take_the_place_of_the_axes_given() -> None:
    figure, (left, _) = pyplot.subplots(1, 2)
    display = RatersDisplay(_table(ann=0.1)).plot(left)
    assert display.figure_ is figure
    assert all(axes.get_position().x1 < 0.5 for axes in display.axes_)
    with pytest.raises(ValueError, match=r"^ax must be one of subplots"):
        display.plot(figure.add_axes((0.1, 0.1, 0.2, 0.2)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_raters_are_estimated_from_their_grades() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=60)
    habits = {"ann": inverse_decay(4, 0.05), "ben": inverse_decay(4, 0.1), "eve": np.full((4, 4), 0.25)}
    labels = np.concatenate([corrupt(truth, matrix, rng) for matrix in habits.values()])
    display = RatersDisplay.from_predictions(np.tile(np.arange(60), 3), np.repeat(list(habits), 60), labels)
    assert display.table["guessing"].argmax() == 2


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: NoiseMatrixDisplay(NOISE).plot(ODD), "ax must be an Axes of matplotlib, got ndarray"),
        (lambda: NoiseMatrixDisplay(NOISE, ["a"]), "classes must name all 4 grades, got 1"),
        (lambda: NoiseMatrixDisplay.from_estimator(OrdinalMLPClassifier()), "estimator must be fitted, got OrdinalMLP"),
        (lambda: NoiseMatrixDisplay.from_predictions([0, 0], [0, 1]), "y_true must hold every grade, got none of 1"),
        (lambda: LabelIssuesDisplay(ODD), "issues must be what find_label_issues returns, got ndarray"),
        (lambda: ReliabilityDisplay(ODD), "reliability must be what reliability_curve returns, got ndarray"),
        (lambda: ReliabilityDisplay.from_predictions([0, 1], [[1, 0, 0]] * 2), "labels must name all 3 columns"),
        (lambda: RatersDisplay({}), "table must be what rater_table returns, got dict"),
        (lambda: RatersDisplay.from_estimator(NOISE), "estimator must be a RepeatedLabels, got ndarray"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(draw: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        draw()


def test_without_matplotlib_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        ImportError, match=r"^displays need matplotlib, which is not installed: pip install matplotlib$"
    ):
        NoiseMatrixDisplay(NOISE).plot()


def test_graders_are_drawn_in_order_with_those_of_the_most_rows() -> None:
    rng = np.random.default_rng(0)
    who, x = rng.choice(4, p=[0.5, 0.3, 0.19, 0.01], size=600), rng.normal(size=(600, 1))
    table = np.full((600, 4), 0.25)
    labels = np.clip(rng.integers(4, size=600) + 2 * (who == 1), 0, 3)
    effects = grader_effects(table, labels, who, x)
    display = GradersDisplay(effects).plot()
    names = [effect.grader for effect in effects if effect.shift is not None]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [str(name) for name in names]
    assert 3 not in names
    marks = display.ax_.get_xticks()
    np.testing.assert_allclose(marks, marks.round(1), atol=1e-12)  # no mark is rounded by its label
    few = GradersDisplay.from_predictions(labels, table, who, x, most=2)
    assert {text.get_text() for text in few.ax_.get_yticklabels()} == {"0", "1"}
    model = OrdinalClassifier("mlp", noise=None, random_state=0).fit(x, labels)
    drawn = GradersDisplay.from_estimator(model, x, labels, who)
    assert drawn.effects[1].differs
    with pytest.raises(ValueError, match="effects must be what grader_effects returns, got int"):
        GradersDisplay(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="estimator must be a fitted OrdinalClassifier, got str"):
        GradersDisplay.from_estimator("x", x, labels, who)
