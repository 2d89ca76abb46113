from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ordinoise.datasets import lidc, web_search
from ordinoise.estimation.raters.effects import Effects, effect_basis, slopes
from ordinoise.estimation.raters.estimator import RepeatedLabels, from_wide
from ordinoise.estimation.raters.features import prior_of_classes
from ordinoise.estimation.raters.matrices import Entries, MatrixFit, Stop, fit_matrices
from ordinoise.estimation.raters.perception import GRID, Perception, cell_slopes, cells, fit_perception
from ordinoise.estimation.raters.ratings import Known, Ratings, Votes, hiding_folds
from ordinoise.noise import corrupt

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UP = np.array([[0.7, 0.2, 0.08, 0.02], [0.05, 0.65, 0.2, 0.1], [0.02, 0.08, 0.7, 0.2], [0.01, 0.02, 0.07, 0.9]])
DOWN = np.array([[0.95, 0.03, 0.01, 0.01], [0.3, 0.6, 0.07, 0.03], [0.1, 0.3, 0.55, 0.05], [0.05, 0.1, 0.25, 0.6]])
SHARP = np.array([[0.9, 0.07, 0.02, 0.01], [0.1, 0.8, 0.07, 0.03], [0.03, 0.02, 0.85, 0.1], [0.0, 0.05, 0.1, 0.85]])
PRIOR = np.array([0.35, 0.3, 0.2, 0.15])


def graded(n_items: int, matrices: list[Floats], seed: int = 0) -> tuple[Ints, Ints]:
    """True labels and a table of shape (n_items, n_raters) of what every rater made of them."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(PRIOR), size=n_items, p=PRIOR)
    return truth, np.column_stack([corrupt(truth, matrix, rng) for matrix in matrices])


def quick(**settings: Any) -> RepeatedLabels:
    return RepeatedLabels(**{"n_bootstrap": 0, "random_state": 0, **settings})


def perceiving(n_items: int, n_raters: int, seed: int) -> tuple[tuple[Ints, Ints, Ints, Ints], dict[str, Floats]]:
    """Five ratings per item by raters with own cuts, noise and chance of guessing, the truth, and what they are."""
    rng = np.random.default_rng(seed)
    score, cuts = rng.normal(size=n_items), np.array([-0.9, -0.1, 0.8])
    severity, sigma = rng.normal(scale=0.3, size=n_raters), rng.uniform(0.3, 0.9, n_raters)
    severity -= severity.mean()  # the scale is that of the typical rater
    guessing = np.where(np.arange(n_raters) == 3, 0.6, 0.05)
    items = np.repeat(np.arange(n_items), 5)
    raters = np.argsort(rng.random((n_items, n_raters)), axis=1)[:, :5].ravel()
    seen = score[items] + sigma[raters] * rng.normal(size=len(items)) - severity[raters]
    labels = (seen[:, None] > cuts).sum(axis=1)
    labels = np.where(rng.random(len(items)) < guessing[raters], rng.integers(4, size=len(items)), labels)
    truth = (score[:, None] > cuts).sum(axis=1)
    return (items, raters, labels, truth), {"severity": severity, "sigma": sigma, "guessing": guessing}


@pytest.fixture(scope="module")
def ratings() -> Ints:
    table = graded(400, [UP, DOWN, SHARP, UP, SHARP])[1]
    return np.where(np.random.default_rng(1).random(table.shape) < 0.2, -1, table)


def ratings_of(table: Ints) -> Ratings:
    items, raters, labels = from_wide(table)
    return Ratings(items, raters, labels, (*table.shape, len(PRIOR)))


def literal_entries(table: Ints, n_steps: int, shrinkage: float) -> tuple[Floats, Floats]:
    """Posteriors and matrices one rating at a time: Dawid and Skene with pseudo-counts and informed class shares."""
    n_items, n_raters = table.shape
    recorded = np.array([(table == grade).sum() + 0.5 for grade in range(4)]) / ((table >= 0).sum() + 2)
    used = np.array([[(table[:, rater] == grade).sum() for grade in range(4)] for rater in range(n_raters)])
    own = np.array([(row + 4 * recorded) / (row.sum() + 4) for row in used])
    posterior = np.array([[(row == grade).sum() / (row >= 0).sum() for grade in range(4)] for row in table])
    prior = recorded
    for _ in range(n_steps):
        matrices = np.tile(shrinkage * own[:, None, :], (1, 4, 1))
        for item in range(n_items):
            for rater in range(n_raters):
                if table[item, rater] >= 0:
                    matrices[rater, :, table[item, rater]] += posterior[item]
        matrices /= matrices.sum(axis=2, keepdims=True)
        voice = np.zeros(n_raters)
        for rater in range(n_raters):
            overall = prior @ matrices[rater]
            told = sum(prior[c] * matrices[rater, c] @ np.log(matrices[rater, c] / overall) for c in range(4))
            voice[rater] = used[rater].sum() * told**2
        prior = voice @ (used / used.sum(axis=1, keepdims=True)) / voice.sum()
        for item in range(n_items):
            chance = prior.copy()
            for rater in range(n_raters):
                if table[item, rater] >= 0:
                    chance *= matrices[rater, :, table[item, rater]]
            posterior[item] = chance / chance.sum()
    return posterior, matrices


# Against other ways to the same numbers ------------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [1, 3])
def test_free_entries_are_the_literal_sums(ratings: Ints, n_steps: int) -> None:
    votes = Votes.of(ratings_of(ratings))
    posterior, matrices = literal_entries(ratings, n_steps, 3.0)
    fit = fit_matrices(votes, Known.nothing(400), Entries.of(votes, 3.0), Stop(n_steps, 0.0))
    np.testing.assert_allclose(fit.matrices, matrices, atol=1e-9)
    np.testing.assert_allclose(fit.posterior, posterior, atol=1e-9)


def test_slopes_of_the_rater_effects_are_derivatives_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    counts, basis = rng.gamma(2.0, size=(2, 4, 4)), effect_basis(4)
    base = np.log(PRIOR)

    def log_likelihood(effects: Floats) -> float:
        return float((counts * np.log(Effects(basis, base, effects, np.eye(7)).matrices)).sum())

    gradient, curvature = slopes(counts, Effects(basis, base, np.zeros((2, 7)), np.eye(7)).matrices, basis)
    nudges, middle, h = np.eye(7) * 1e-3, log_likelihood(np.zeros((2, 7))), 1e-3
    for effect, nudge in enumerate(nudges):
        above, below = (log_likelihood(np.stack([sign * nudge, np.zeros(7)])) for sign in (1, -1))
        assert gradient[0, effect] == pytest.approx((above - below) / (2 * h), abs=1e-4)
        assert curvature[0, effect, effect] == pytest.approx(-(above - 2 * middle + below) / h**2, abs=1e-2)


def test_slopes_of_the_perception_table_are_its_derivatives(ratings: Ints) -> None:
    votes = Votes.of(ratings_of(ratings))
    deviations = np.random.default_rng(0).normal(scale=0.1, size=(5, 4))
    model = replace(Perception.of(votes), deviations=deviations)
    found = cell_slopes(model.attentive()[0], model.sigmas)
    for each in range(4):
        nudge = 1e-5 * np.eye(4)[each]
        above, below = (replace(model, deviations=deviations + sign * nudge).attentive()[1] for sign in (1, -1))
        np.testing.assert_allclose(found[:, each], (above - below) / 2e-5, atol=1e-6)


def test_a_table_of_perception_holds_probabilities_and_its_grid_is_cut_without_loss(ratings: Ints) -> None:
    votes = Votes.of(ratings_of(ratings))
    fit = fit_perception(votes, Known.nothing(400), Stop(20, 0.0))
    np.testing.assert_allclose(fit.parameters.table.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(cells(np.array([-0.31, 0.02, 0.5])).sum(axis=1), 1)
    below = (GRID < -0.31).mean()
    assert cells(np.array([-0.31, 0.02, 0.5]))[:, 0].mean() == pytest.approx(below, abs=1 / len(GRID))
    np.testing.assert_allclose(fit.matrices.sum(axis=2), 1, atol=1e-6)


@pytest.mark.parametrize("family", ["matrices", "perception"])
def test_steps_make_the_ratings_likelier(ratings: Ints, family: str) -> None:
    """Shares and scale are conventions, not estimates, so the rise may end a little below the top."""
    votes, known = Votes.of(ratings_of(ratings)), Known.nothing(400)
    reached = [
        fit_perception(votes, known, Stop(n_steps, 0.0)).log_likelihood
        if family == "perception"
        else fit_matrices(votes, known, Effects.of(votes), Stop(n_steps, 0.0)).log_likelihood
        for n_steps in (1, 3, 9, 27)
    ]
    assert reached[0] < reached[1] < reached[2] < reached[3] + 1


# What is estimated ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shrinkage", ["auto", pytest.param(1, marks=pytest.mark.slow)])
def test_asymmetric_matrices_of_the_raters_come_back(shrinkage: str | float) -> None:
    known = [UP, DOWN, SHARP, UP, SHARP]
    truth, table = graded(3000, known)
    model = quick(shrinkage=shrinkage).fit(*from_wide(table))
    error = np.abs(model.noise_.matrices - known)
    assert model.family_weights_["matrices"] > 0.95
    # Rows rest on 450 labels or more: four standard errors of a share near a half are .09.
    assert error.max() < 0.09
    assert error.mean() < 0.02
    np.testing.assert_allclose(model.noise_matrix_, np.mean(known, axis=0), atol=0.05)
    np.testing.assert_allclose(np.asarray(model.noise_.class_shares), PRIOR, atol=0.05)
    assert (model.consensus_ == truth).mean() > 0.9
    assert model.noise_.rate == pytest.approx((table != truth[:, None]).mean(), abs=0.03)


def test_a_rater_with_three_labels_counts_as_one_who_ignores_the_items() -> None:
    table = graded(600, [SHARP] * 8)[1].copy()
    table[3:, 7] = -1
    matrices = quick(family="matrices").fit(*from_wide(table)).noise_.matrices
    told = np.ptp(matrices, axis=1).mean(axis=1)  # how much a grade depends on the truth
    assert told[7] < 0.7 * told[:7].min()


def test_raters_who_perceive_come_back_and_their_intervals_cover() -> None:
    drawn, known = perceiving(1500, 20, seed=0)
    model = quick().fit(drawn[0], drawn[1], drawn[2])
    assert model.family_weights_["perception"] > 0.95
    summaries = model.rater_summaries_
    assert [summary.n_grades for summary in summaries] == np.bincount(drawn[1]).tolist()
    severity = np.array([summary.severity.value for summary in summaries])
    assert np.corrcoef(severity, known["severity"])[0, 1] > 0.9
    consistency = [1 / (1 + known["sigma"] ** 2), known["guessing"]]
    for name, true in zip(("consistency", "guessing"), consistency, strict=True):
        ends = [getattr(summary, name) for summary in summaries]
        covered = sum(each.low <= value <= each.high for each, value in zip(ends, true, strict=True))
        assert covered >= 16  # 19 of 20 expected; three standard errors below
    careless = int(np.argmax(known["guessing"]))
    assert summaries[careless].guessing.low > 0.3
    assert f"guesses {summaries[careless].guessing.value:.0%}" in summaries[careless].sentence


def test_the_rater_table_tells_who_grades_up_and_who_down(ratings: Ints) -> None:
    columns = quick().fit(*from_wide(ratings)).rater_table()
    assert columns["rater"].tolist() == [0, 1, 2, 3, 4]
    assert columns["bias"][0] > 0.1 > -0.1 > columns["bias"][1]
    assert columns["severity"][1] > 0.1 > -0.1 > columns["severity"][0]
    assert (columns["severity_low"] <= columns["severity"]).all()
    assert columns["too_high"][0] > columns["too_low"][0]
    np.testing.assert_allclose(columns["noise_rate"], columns["too_high"] + columns["too_low"])
    assert len(pd.DataFrame(columns)) == 5


def test_ratings_without_names_are_those_of_one_rater() -> None:
    table = graded(800, [SHARP] * 4)[1]
    items, raters, labels = from_wide(table)
    model = quick().fit(items, None, labels)
    assert model.noise_.raters == (0,)
    assert model.family_weights_ == {"matrices": 0.0, "perception": 1.0}
    pooled = quick(pooled=True).fit(items, raters, labels)
    np.testing.assert_array_equal(pooled.consensus_, model.consensus_)
    np.testing.assert_allclose(pooled.noise_.matrices, np.tile(model.noise_matrix_, (4, 1, 1)))
    np.testing.assert_allclose(model.noise_matrix_, SHARP, atol=0.12)
    assert len(pooled.rater_table()["severity"]) == 4
    matrices = quick(family="matrices").fit(items, None, labels)
    np.testing.assert_allclose(matrices.noise_matrix_, SHARP, atol=0.12)


# The consensus -------------------------------------------------------------------------------------------


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


# What must not matter ------------------------------------------------------------------------------------

# What holds of every step of a fit is tested after a few of them.
unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@unfinished
def test_the_order_of_ratings_does_not_matter(ratings: Ints) -> None:
    items, raters, labels = from_wide(ratings)
    order = np.random.default_rng(5).permutation(len(items))
    one = quick(family="matrices", n_bootstrap=3, max_iter=3).fit(items, raters, labels)
    other = quick(family="matrices", n_bootstrap=3, max_iter=3).fit(items[order], raters[order], labels[order])
    np.testing.assert_array_equal(one.posterior_, other.posterior_)
    np.testing.assert_array_equal(one.noise_.interval, other.noise_.interval)


def test_renamed_items_and_raters_only_move_the_answer(ratings: Ints) -> None:
    """Perception starts from a trial, which hides others of the renamed ratings: only the matrices are exact."""
    items, raters, labels = from_wide(ratings)
    new_items, new_raters = np.random.default_rng(6).permutation(400), np.array(["d", "a", "e", "c", "b"])
    for family in ("matrices", "perception"):
        one = quick(family=family, shrinkage=4).fit(items, raters, labels)
        other = quick(family=family, shrinkage=4).fit(new_items[items], new_raters[raters], labels)
        assert other.raters_.tolist() == list("abcde")
        assert (other.consensus_[new_items] == one.consensus_).mean() > 0.95
        if family == "matrices":
            np.testing.assert_allclose(other.posterior_[new_items], one.posterior_, atol=1e-6)
            moved = other.noise_.matrices[np.argsort(np.argsort(new_raters))]
            np.testing.assert_allclose(moved, one.noise_.matrices, atol=1e-6)


@unfinished
@pytest.mark.parametrize("family", ["matrices", "perception"])
def test_reversed_grades_mirror_the_answer(ratings: Ints, family: str) -> None:
    items, raters, labels = from_wide(ratings)
    one = quick(family=family, shrinkage=4, max_iter=3).fit(items, raters, labels)
    other = quick(family=family, shrinkage=4, max_iter=3).fit(items, raters, 3 - labels)
    np.testing.assert_allclose(other.noise_.matrices[:, ::-1, ::-1], one.noise_.matrices, atol=1e-6)
    np.testing.assert_array_equal(3 - other.consensus_, one.consensus_)


@unfinished
def test_the_same_seed_gives_the_same_answer_and_another_seed_other_resamples(ratings: Ints) -> None:
    one, same, other = (
        quick(family="matrices", n_bootstrap=4, max_iter=3, random_state=seed).fit(*from_wide(ratings))
        for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(one.noise_.interval, same.noise_.interval)
    assert (np.asarray(one.noise_.interval) != np.asarray(other.noise_.interval)).any()


@unfinished
@pytest.mark.parametrize(
    "grades", [[1, 2, 3, 4], [0, 10, 20, 90], ["poor", "fair", "good", "best"], [0.5, 1.0, 1.5, 2.0]]
)
def test_grades_of_any_kind_give_the_same_consensus(ratings: Ints, grades: list[Any]) -> None:
    items, raters, labels = from_wide(ratings)
    names = np.array(grades)
    plain = quick(family="matrices", max_iter=3).fit(items, raters, labels)
    named = quick(family="matrices", max_iter=3, classes=grades).fit(items, raters, names[labels])
    ordered = quick(family="matrices", max_iter=3).fit(
        items, raters, pd.Series(pd.Categorical(names[labels], categories=grades, ordered=True))
    )
    assert named.consensus_.tolist() == ordered.consensus_.tolist() == names[plain.consensus_].tolist()


def test_a_class_that_nobody_used_is_kept() -> None:
    items, raters, labels = from_wide(graded(300, [UP, SHARP, SHARP])[1])
    with pytest.warns(UserWarning, match="labels fall on true class 4, too few for its row"):
        model = quick(family="matrices", classes=range(5)).fit(items, raters, labels)
    assert model.noise_.matrices.shape == (3, 5, 5)
    np.testing.assert_allclose(model.noise_.matrices.sum(axis=2), 1)


def test_the_decision_is_read_off_the_posterior(ratings: Ints) -> None:
    mode = quick(decision="mode").fit(*from_wide(ratings))
    likeliest = mode.posterior_.argmax(axis=1)
    low, high = extremes(ratings)
    inside = (likeliest >= low) & (likeliest <= high)
    assert inside.mean() > 0.95
    np.testing.assert_array_equal(mode.consensus_[inside], likeliest[inside])
    np.testing.assert_array_equal(mode.confidence_[inside], mode.posterior_.max(axis=1)[inside])


# From wide to long ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["minus one", "nan", "frame", "nullable"])
def test_every_kind_of_blank_is_no_rating(kind: str) -> None:
    wide: Any = np.array([[2, -1, 0], [-1, 1, 1]])
    if kind != "minus one":
        wide = np.where(wide < 0, np.nan, wide)
    if kind in {"frame", "nullable"}:
        wide = pd.DataFrame(wide, columns=["ann", "bob", "cid"])
    if kind == "nullable":
        wide = wide.astype("Int64")
    items, raters, labels = from_wide(wide)
    names = ["ann", "bob", "cid"] if kind in {"frame", "nullable"} else [0, 1, 2]
    assert items.tolist() == [0, 0, 1, 1]
    assert raters.tolist() == [names[column] for column in (0, 2, 1, 2)]
    assert labels.tolist() == [2, 0, 1, 1]
    assert labels.dtype.kind == "i"


def test_minus_one_may_be_a_grade() -> None:
    labels = from_wide([[-1, 0], [1, -1]], missing=None)[2]
    assert labels.tolist() == [-1, 0, 1, -1]


def test_hidden_ratings_leave_every_item_one_and_each_is_hidden_once() -> None:
    items = np.repeat(np.arange(60), np.arange(60) % 9 + 1)
    fold = hiding_folds(items, 5, np.random.default_rng(0))
    for hidden in range(5):
        assert set(items[fold != hidden]) == set(range(60))
    assert ((fold == -1) == (np.bincount(items)[items] == 1)).all()
    assert np.bincount(fold[fold >= 0]).min() > 40


# Warnings and errors -------------------------------------------------------------------------------------


def test_single_ratings_are_called_unidentified() -> None:
    truth = graded(200, [UP])[0]
    with pytest.warns(UserWarning, match="weakly identified: no item has two ratings"):
        model = quick().fit(np.arange(200), np.arange(200) % 4, truth)
    assert "no item has two ratings" in model.noise_.doubt_text


def test_two_ratings_an_item_are_called_too_few() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quick(shrinkage=50, tol=1e-3).fit(*from_wide(graded(200, [UP, SHARP])[1]))
    assert any("only 0% of the items have three ratings" in str(warning.message) for warning in caught)


def test_enough_ratings_leave_only_the_doubt_that_none_can_settle(ratings: Ints) -> None:
    noise = quick().fit(*from_wide(ratings)).noise_
    assert noise.doubt_codes == ("shared-bias",)
    assert "only verified grades" in noise.doubt_text


def test_an_unfinished_fit_says_so(ratings: Ints) -> None:
    with pytest.warns(ConvergenceWarning, match=r"more than tol=1e-06 after 3 steps; raise max_iter"):
        quick(max_iter=3, tol=1e-6).fit(*from_wide(ratings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shrinkage": -1}, "shrinkage must be at least 0 and at most .*, got -1"),
        ({"shrinkage": "strong"}, "shrinkage must be 'auto' or a number of at least 0, got 'strong'"),
        ({"family": "matrix"}, "family must be one of .*; did you mean 'matrices'?"),
        ({"n_bootstrap": -1}, "n_bootstrap must be a whole number of at least 0, got -1"),
        ({"confidence": 1.5}, "confidence must be above 0 and at most 1, got 1.5"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"tol": -1.0}, "tol must be at least 0, got -1.0"),
        ({"classes": [0, 1]}, r"labels must hold only the labels \[0, 1\], got 2"),
        ({"estimator": GaussianNB()}, "X must be given where estimator is, got None"),
        ({"decision": "medium"}, "decision must be one of .*; did you mean 'median'?"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        quick(**settings).fit([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 2])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (([], [], []), "labels must not be empty, got no rating"),
        (([0, 1], [0, 0, 0], [0, 1, 1]), r"items must be as long as labels \(3\), got 2"),
        (([0, 1, 1], [0, 0], [0, 1, 1]), r"raters must be as long as labels \(3\), got 2"),
        (([0, 1], [0, 0], [0, np.nan]), "labels must have no missing value, got nan at 1; drop the rating"),
        (([0, 1], np.array(["a", None]), [0, 1]), "raters must have no missing value, got None at 1"),
        ((np.array([0, "a"], dtype=object), [0, 0], [0, 1]), "items must be all numbers or all text, got a mixture"),
        (([0, 1], [0, 0], [2, 2]), r"labels must hold at least 2 classes, got \[2\]"),
        (([0, 1], [0, 0], [0, 1], [[1.0]]), r"X must be as long as the distinct items \(2\), got 1"),
        (([0, 1], [0, 0], [0, 1], [[1.0], [2.0]]), "X must have at least 5 rows, to predict out of fold, got 2"),
        (([0, 1], [0, 0], [0, 1], [[1.0], [np.inf]]), r"X must be finite, got inf at \(1, 0\)"),
    ],
)
def test_bad_ratings_are_refused_in_one_sentence(data: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        quick().fit(*data)


@pytest.mark.parametrize(
    ("trusted", "message"),
    [
        ([[0, 1], [1, 1], [2, 2]], "trusted must be a pair of items and verified grades"),
        (([0, 9], [1, 1]), "trusted items must be among the items, got 9"),
        (([0, 0], [1, 1]), "trusted items must name every item once, got some twice"),
        (([0, 1], [1]), r"trusted grades must be as long as the trusted items \(2\), got 1"),
        (([0], [7]), r"trusted grades must hold only the labels \[0, 1, 2\], got 7"),
    ],
)
def test_bad_verified_grades_are_refused_in_one_sentence(trusted: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        quick().fit([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 2], trusted=trusted)


def test_progress_is_reported(ratings: Ints) -> None:
    steps: list[int] = []
    quick(callback=lambda: steps.append(1)).fit(*from_wide(ratings))
    assert len(steps) > 50


def test_a_flat_table_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"ratings must have one row per item and one column per rater, got shape \(2,\)"
    ):
        from_wide([0, 1])


# Real ratings --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_web_search_consensus_is_as_near_to_gold_as_the_best_published(data_dir: Path) -> None:
    data = web_search(data_dir)
    model = quick().fit(data.items, data.raters, data.labels)
    assert data.truth is not None
    gold, found = data.truth[data.truth >= 0], model.consensus_[data.truth >= 0]
    assert (found != gold).mean() <= 0.110
    assert np.abs(found - gold).mean() <= 0.125


@pytest.mark.slow
def test_readers_of_lidc_are_not_contradicted(data_dir: Path) -> None:
    """The four columns are places in a list, not persons."""
    data = lidc(data_dir)
    assert data.features is not None
    third = data.items % 3 == 0
    items, labels = data.items[third], data.labels[third]
    model = quick(n_bootstrap=2).fit(items, None, labels, data.features[::3])
    low, high = (
        ufunc.reduceat(labels, np.flatnonzero(np.diff(items, prepend=-1))) for ufunc in (np.minimum, np.maximum)
    )
    assert ((model.consensus_ >= low) & (model.consensus_ <= high)).all()
    assert model.likelihood_ratio_ > 600
    np.testing.assert_allclose(model.noise_matrix_.sum(axis=1), 1)
