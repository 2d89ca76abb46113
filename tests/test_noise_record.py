"""The one record of noise: made from anything, saved without loss, read by everything."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from ordinoise import Noise, OrdinalMLPClassifier, RepeatedLabels, evaluate
from ordinoise.estimation import AnchorPoints, ConfidentJoint, IdentifiabilityWarning, ScoreLikelihood, from_wide
from ordinoise.noise import Doubt, adjacent, corrupt, uniform
from ordinoise.noise.record import ARRAYS, estimated_noise
from strategies import Floats, noise_matrices

UP = np.array([[0.7, 0.2, 0.1], [0.05, 0.75, 0.2], [0.0, 0.1, 0.9]])
DOWN = UP[::-1, ::-1]


def _whole() -> Noise:
    """A record with everything in it."""
    rng = np.random.default_rng(0)
    replicates = rng.dirichlet([3.0, 2.0, 1.0], size=(20, 3))
    return estimated_noise(
        np.stack([UP, DOWN]), np.array([0.2, 0.5, 0.3]), replicates=replicates, rates=rng.random(20), confidence=0.9,
        method="Anything", doubts=[Doubt("flat-likelihood", "it is flat; really")], per="rater", raters=("a", "b"),
        counts=np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    )  # fmt: skip


def _same(one: Noise, other: Noise) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("source", "per", "raters", "rate_interval", "confidence", "method", "doubts", "rate"):
        assert getattr(one, name) == getattr(other, name)


def test_the_dictionary_survives_json_bit_for_bit() -> None:
    whole = _whole()
    _same(Noise.of(json.loads(json.dumps(whole.to_dict(), allow_nan=False))), whole)
    assert len(Noise.from_dict(whole.to_dict(replicates=False)).replicates) == 0


@given(matrix=noise_matrices())
def test_it_is_made_from_an_array_a_mapping_a_record_and_whatever_keeps_one(matrix: Floats) -> None:
    alone = Noise.of(matrix)
    assert alone.source == "given"
    assert Noise.of(alone) is alone
    keeper = type("Keeper", (), {"noise_": alone, "fit": None})()
    assert Noise.of(keeper) is alone
    stranger = type("Stranger", (), {"noise_matrix_": matrix, "fit": None})()
    assert Noise.of(stranger).source == "estimated"
    pair = Noise.of({"ann": matrix, "bob": np.eye(len(matrix))})
    assert (pair.per, pair.raters) == ("rater", ("ann", "bob"))
    np.testing.assert_allclose(pair.matrix, (matrix + np.eye(len(matrix))) / 2)
    np.testing.assert_array_equal(Noise.of(np.stack([matrix, matrix])).matrices[1], matrix)


def test_trust_has_a_rate_of_nothing_and_too_few_rows_have_none_at_all() -> None:
    ranks = np.array([0, 1, 1, 2])
    assert Noise.of(None, 3).seen_in(ranks).rate == 0
    assert Noise(np.eye(3), source="too few rows").seen_in(ranks).rate is None


def test_the_average_weighs_each_rater_by_the_labels_of_each_class() -> None:
    whole = _whole()
    first, second = whole.matrices
    expected = [(a * m + b * n) / (a + b) for a, b, m, n in zip([1, 2, 3], [4, 5, 6], first, second, strict=True)]
    np.testing.assert_allclose(whole.matrix, expected)
    assert whole.average.per == "all"
    np.testing.assert_array_equal(whole.average.matrix, whole.matrix)
    shares = np.array([0.2, 0.5, 0.3])
    assert whole.rate == pytest.approx(1 - shares @ np.diag(whole.matrix))


def test_labels_find_the_matrix_of_their_rater_or_row() -> None:
    pair = Noise.of({"ann": UP, "bob": DOWN})
    np.testing.assert_array_equal(pair.index_of(["bob", "ann"], 2), [1, 0])
    rows = Noise(np.stack([UP, DOWN, UP]), per="row")
    np.testing.assert_array_equal(rows.index_of(None, 3), [0, 1, 2])
    assert Noise.of(UP).index_of(None, 5) is None


def test_nobody_can_write_to_it() -> None:
    noise = Noise.of(UP)
    with pytest.raises(ValueError, match="read-only"):
        noise.matrices[0, 0, 0] = 1.0
    with pytest.raises(AttributeError):
        noise.source = "trusted"  # type: ignore[misc]


def test_words_say_where_it_comes_from() -> None:
    assert "estimated by Anything: if one matrix describes the noise, about" in _whole().words
    assert "too few rows" in Noise(np.eye(3), source="too few rows").words
    assert "in doubt: it is flat; really" in str(_whole())


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Noise.of(None), "n_classes must be given if noise is None"),
        (lambda: Noise.of(UP, 4), "noise_matrix must be 4 x 4"),
        (lambda: Noise.of(UP.T), "noise_matrix rows must sum to 1"),
        (lambda: Noise.of({}), "noise must hold at least one matrix"),
        (lambda: Noise.of({"a": UP, "b": np.eye(2)}), "noise must hold matrices of one size"),
        (lambda: Noise.of(ScoreLikelihood()), "noise must be a matrix or a fitted estimator, got ScoreLikelihood before fit"),
        (lambda: Noise(UP, source="guessed"), "source must be one of"),
        (lambda: Noise(np.stack([UP, UP])), "matrices must be one matrix unless"),
        (lambda: Noise(np.stack([UP, UP]), per="rater", raters=("a",)), "raters must name all 2 matrices"),
        (lambda: Noise(UP, class_shares=np.ones(2)), r"class_shares must hold finite numbers of shape \(3,\)"),
        (lambda: Noise(UP, interval=np.full((2, 3, 3), np.nan)), "interval must hold finite numbers"),
        (lambda: Noise.of({"a": UP}).index_of(None, 3), "raters must name the rater of each sample"),
        (lambda: Noise.of(UP).index_of(["a"], 1), "noise must hold one matrix per rater when raters are given"),
        (lambda: Noise(np.stack([UP, UP]), per="row").index_of(None, 3), r"noise must be as long as y \(3\), got 2"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


# Everything that knows of noise keeps one --------------------------------------------------------------

RNG = np.random.default_rng(1)
X = RNG.normal(size=(300, 2))
Y = np.digitize(X[:, 0], [-0.5, 0.5])
RECORDED = corrupt(Y, UP, RNG)


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        AnchorPoints(n_bootstrap=5, max_iter=5, random_state=0),
        ConfidentJoint(n_bootstrap=5, random_state=0),
        ScoreLikelihood(n_bootstrap=5, max_iter=5, n_folds=2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_gives_one(estimator: Any) -> None:
    noise = estimator.fit(X, RECORDED).noise_
    assert (noise.source, noise.method) == ("estimated", type(estimator).__name__)
    assert len(noise.replicates) == 5
    assert noise.rate_interval[0] <= noise.rate_interval[1]
    np.testing.assert_array_equal(estimator.noise_matrix_, noise.matrix)


def test_ratings_give_one_whose_uncertainty_an_evaluation_counts() -> None:
    """The intervals that several raters give are not thrown away."""
    ratings = np.column_stack([corrupt(Y, matrix, RNG) for matrix in (UP, DOWN, UP)])
    repeated = RepeatedLabels(n_bootstrap=20, random_state=0).fit(*from_wide(ratings))
    assert repeated.noise_.per == "rater"
    np.testing.assert_allclose(repeated.noise_.matrix, repeated.noise_matrix_)
    model = OrdinalMLPClassifier(max_iter=5, random_state=0).fit(X, RECORDED)
    found = evaluate(model, X, RECORDED, repeated)
    exact = evaluate(model, X, RECORDED, repeated.noise_matrix_)
    assert "noise matrix uncertain, 20 replicates" in str(found)
    assert found["zero_one_loss"].standard_error > exact["zero_one_loss"].standard_error


def test_labels_that_say_nothing_are_refused_and_moved_grades_doubted() -> None:
    for useless in (np.full((4, 4), 0.25), np.tile([0.5, 0.3, 0.2], (3, 1)), uniform(4, 0.75)):
        with pytest.raises(
            ValueError, match=r"noise_matrix must have rows that differ, got \d equal rows; such labels"
        ):
            Noise.of(useless)
    noise = Noise.of(np.eye(4)[::-1])
    assert noise.doubt_codes == ("moved-grade",)
    assert "4 of 4 grades would be recorded as another one" in noise.doubt_text
    assert not Noise.of(adjacent(4, 0.3, 0.2)).is_in_doubt
    assert not Noise.of([[0.5, 0.5], [0.1, 0.9]]).is_in_doubt


def test_a_rate_alone_is_told_what_to_pass() -> None:
    with pytest.raises(
        ValueError, match=r"noise_matrix must be a matrix.*got 0\.2; a rate alone is uniform\(n_classes, r"
    ):
        Noise.of(0.2)


def test_a_classifier_warns_of_reversed_grades() -> None:
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1, 2, 3], 10)
    model = OrdinalMLPClassifier(noise=np.eye(4)[::-1], max_iter=2, early_stopping=False)
    with pytest.warns(IdentifiabilityWarning, match="in doubt: 4 of 4 grades would be recorded as another"):
        model.fit(X, y)
