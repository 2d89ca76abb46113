from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from estimation.made_ratings import DOWN, SHARP, UP, Ints, graded, perceiving, quick, ratings_of
from ordinoise.estimation.raters.effects import Effects
from ordinoise.estimation.raters.estimator import from_wide
from ordinoise.estimation.raters.features import prior_of_classes
from ordinoise.estimation.raters.matrices import Entries, MatrixFit, Stop, fit_matrices
from ordinoise.estimation.raters.perception import Perception, fit_perception
from ordinoise.estimation.raters.ratings import Known, Ratings, Votes, split_items


def extremes(table: Ints) -> tuple[Ints, Ints]:
    return np.where(table < 0, 9, table).min(axis=1), table.max(axis=1)


@pytest.mark.parametrize("decision", ["median", pytest.param("mode", marks=pytest.mark.slow)])
def test_the_consensus_stays_in_the_range_of_the_grades_given(decision: str) -> None:
    """The last items have one grade each, by a careless rater, and features that tell the truth."""
    careless = 0.5 * np.eye(4) + 0.125
    truth, table = graded(400, [SHARP, SHARP, SHARP, careless], seed=4)
    table[300:, :3] = -1
    features = truth[:, None] + 0.1 * np.random.default_rng(0).normal(size=(400, 1))
    model = quick(decision=decision, family="matrices").fit(*from_wide(table), features)
    low, high = extremes(table)
    likeliest = model.posterior_.argmax(axis=1)
    assert ((likeliest < low) | (likeliest > high)).sum() > 10
    assert not model.by_guessers_.any()
    assert ((model.consensus_ >= low) & (model.consensus_ <= high)).all()


def test_only_guessers_may_be_contradicted_and_are_marked() -> None:
    """Three raters guess by one habit on 300 items that careful raters grade too, and alone on the last 30."""
    habit = np.tile([0.1, 0.1, 0.1, 0.7], (4, 1))
    _, table = graded(330, [SHARP] * 4 + [habit] * 3)
    table[300:, :4] = -1
    model = quick().fit(*from_wide(table))
    assert all(model.rater_summaries_[rater].guessing.high > 0.8 for rater in (4, 5, 6))
    assert all(model.rater_summaries_[rater].guessing.high < 0.5 for rater in (0, 1, 2, 3))
    np.testing.assert_array_equal(np.flatnonzero(model.by_guessers_), np.arange(300, 330))
    assert model.confidence_[300:].mean() < 0.6 < 0.9 < model.confidence_[:300].mean()


def test_verified_grades_repair_a_bias_that_all_share() -> None:
    """All raters grade down, so no disagreement shows it."""
    truth, table = graded(600, [DOWN @ DOWN] * 5, seed=5)
    data = from_wide(table)
    verified = np.random.default_rng(0).choice(600, 100, replace=False)
    others = np.setdiff1d(np.arange(600), verified)
    alone = quick().fit(*data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        helped = quick().fit(*data, trusted=(verified, truth[verified]))
    wrong = [(model.consensus_ != truth)[others].mean() for model in (alone, helped)]
    assert wrong[1] < wrong[0] - 0.1
    np.testing.assert_array_equal(helped.consensus_[verified], truth[verified])
    assert "shared-bias" in alone.noise_.doubt_codes
    assert "shared-bias" not in helped.noise_.doubt_codes
    claimed = helped.confidence_[others].mean()
    assert claimed == pytest.approx(1 - wrong[1], abs=0.1)


@pytest.mark.parametrize("kind", ["matrices", "perception"])
def test_the_confidence_is_the_share_right(kind: str) -> None:
    if kind == "matrices":
        truth, table = graded(1500, [UP, DOWN, SHARP, UP, DOWN])
        data = from_wide(table)
    else:
        (items, raters, labels, truth), _ = perceiving(1500, 20, seed=1)
        data = items, raters, labels
    model = quick().fit(*data)
    assert model.confidence_.mean() == pytest.approx((model.consensus_ == truth).mean(), abs=0.04)


@pytest.mark.slow
def test_the_family_is_told_by_hidden_ratings() -> None:
    named = quick().fit(*from_wide(graded(800, [UP, DOWN, SHARP, UP])[1]))
    (items, raters, labels, _), _ = perceiving(800, 12, seed=2)
    perceived = quick().fit(items, raters, labels)
    assert named.family_weights_["matrices"] > 0.9
    assert perceived.family_weights_["perception"] > 0.9


@pytest.mark.slow
def test_features_sharpen_the_consensus_of_few_ratings() -> None:
    truth, table = graded(600, [UP, DOWN, UP], seed=3)
    rng = np.random.default_rng(0)
    features = np.column_stack([truth + 0.5 * rng.normal(size=600), rng.normal(size=600)])
    alone, helped = (
        quick(family="matrices").fit(*from_wide(table)),
        quick(family="matrices").fit(*from_wide(table), features),
    )
    bayes = quick(family="matrices", estimator=GaussianNB()).fit(*from_wide(table), features)
    errors = [(model.consensus_ != truth).mean() for model in (alone, helped, bayes)]
    assert max(errors[1:]) < errors[0] - 0.03
    useless = quick(family="matrices").fit(*from_wide(table), rng.normal(size=(600, 2)))
    assert (useless.consensus_ != truth).mean() < errors[0] + 0.03


def test_features_are_read_out_of_fold() -> None:
    """A tree that memorizes its items predicts nothing about others if the features are random."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=200)
    prior = prior_of_classes(
        DecisionTreeClassifier(random_state=0), rng.normal(size=(200, 2)), np.eye(4)[truth], np.arange(200) % 5
    )
    np.testing.assert_allclose(prior.sum(axis=1), 1)
    assert (prior.argmax(axis=1) == truth).mean() < 0.4


@pytest.mark.slow
def test_intervals_hold_the_estimate_and_narrow_with_more_items() -> None:
    widths = []
    for n_items in (300, 2700):
        model = quick(n_bootstrap=30).fit(*from_wide(graded(n_items, [UP, DOWN, SHARP, SHARP])[1]))
        low, high = np.asarray(model.noise_.interval)
        assert low.shape == high.shape == (4, 4)
        assert (low <= model.noise_matrix_ + 0.02).all()
        assert (high >= model.noise_matrix_ - 0.02).all()
        least, most = np.asarray(model.noise_.rate_interval)
        assert least < np.float64(model.noise_.rate or 0) < most
        widths.append((high - low).mean())
    assert 1.8 < widths[0] / widths[1] < 5  # three, if widths go with one over the root


@pytest.mark.parametrize("family", ["effects", "entries", "perception"])
def test_an_item_of_weight_two_counts_as_two_items(ratings: Ints, family: str) -> None:
    weight = np.random.default_rng(0).integers(0, 3, size=400)
    reached = []
    for table, weights in ((ratings, weight), (np.repeat(ratings, weight, axis=0), np.ones(weight.sum()))):
        votes = Votes.of(ratings_of(table))
        known = replace(Known.nothing(len(table)), weight=weights.astype(float))
        if family == "perception":
            first = Perception.of(Votes.of(ratings_of(ratings)))
            reached.append(fit_perception(votes, known, Stop(4, 0.0), first).log_likelihood)
        else:
            both = Votes.of(ratings_of(ratings))
            structure = Effects.of(both) if family == "effects" else Entries.of(both, 4.0)
            start = MatrixFit(votes.vote_shares(), structure, both.recorded_shares(), 0.0)
            reached.append(fit_matrices(votes, known, structure, Stop(4, 0.0), start).log_likelihood)
    assert reached[0] == pytest.approx(reached[1], rel=1e-9)


def test_no_resamples_leave_the_intervals_unknown(ratings: Ints) -> None:
    model = quick(family="matrices").fit(*from_wide(ratings))
    assert model.noise_.interval is None
    assert model.noise_.rate_interval is None
    assert len(model.noise_.replicates) == 0


@pytest.mark.slow
def test_the_likelihood_ratio_is_against_chance_agreement(ratings: Ints) -> None:
    items, raters, labels = from_wide(ratings)
    shuffled = labels.copy()
    rng = np.random.default_rng(0)
    for rater in range(5):
        shuffled[raters == rater] = rng.permutation(labels[raters == rater])
    real = quick().fit(items, raters, labels)
    with pytest.warns(UserWarning, match="weakly identified"):
        unrelated = quick(family="matrices", shrinkage=1).fit(items, raters, shuffled)
    assert real.likelihood_ratio_ > 1000
    # Nothing but the parameters' own freedom: about as many as five matrices have.
    assert unrelated.likelihood_ratio_ < 150


def test_the_decision_is_read_off_the_posterior(ratings: Ints) -> None:
    mode = quick(decision="mode").fit(*from_wide(ratings))
    likeliest = mode.posterior_.argmax(axis=1)
    low, high = extremes(ratings)
    inside = (likeliest >= low) & (likeliest <= high)
    assert inside.mean() > 0.95
    np.testing.assert_array_equal(mode.consensus_[inside], likeliest[inside])
    np.testing.assert_array_equal(mode.confidence_[inside], mode.posterior_.max(axis=1)[inside])


def test_another_seed_moves_next_to_no_grade_of_sparse_items() -> None:
    """The final fit starts from no trial, whose parameters depend on what it hid."""
    items, raters, labels, _ = perceiving(120, 60, 3)[0]
    one, other = (quick(family="perception", random_state=seed).fit(items, raters, labels) for seed in (1, 2))
    np.testing.assert_array_equal(one.posterior_, other.posterior_)


def test_two_raters_who_differ_leave_nobody_to_say_who_is_right() -> None:
    ratings = Ratings(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0]), np.array([3, 0, 2, 2, 1]), (3, 2, 4))
    assert split_items(ratings).tolist() == [True, False, False]
    of_ten = Ratings(ratings.items, ratings.raters * 9, ratings.grades, (3, 10, 4))
    assert not split_items(of_ten).any()  # the other ratings of ten raters say who is careful
    nameless = Ratings(ratings.items, ratings.raters * 0, ratings.grades, (3, 1, 4))
    assert split_items(nameless).tolist() == [True, False, False]
    triple = np.append(ratings.items, 1), np.zeros(6, dtype=np.int64), np.append(ratings.grades, 2)
    assert not split_items(Ratings(*triple, (3, 1, 4))).any()
