from __future__ import annotations

import warnings
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
from ordinoise.estimation.raters.estimator import RepeatedLabels, from_wide
from ordinoise.estimation.raters.features import prior_from_features
from ordinoise.estimation.raters.model import Ratings, Settings, Votes, hidden_ratings, maximize
from ordinoise.estimation.raters.ordinal import OrdinalRaters, _slopes, effect_basis
from ordinoise.estimation.raters.summary import bootstrap
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


@pytest.fixture(scope="module")
def ratings() -> Ints:
    table = graded(400, [UP, DOWN, SHARP, UP, SHARP])[1]
    return np.where(np.random.default_rng(1).random(table.shape) < 0.2, -1, table)


def votes_of(table: Ints) -> Votes:
    items, raters, labels = from_wide(table)
    return Votes.of(Ratings(items, raters, labels, (*table.shape, len(PRIOR))))


def literal_dawid_skene(table: Ints, n_classes: int, n_steps: int) -> tuple[Floats, Floats]:
    """Posteriors and matrices by the two sums of Dawid and Skene, one rating at a time."""
    n_items, n_raters = table.shape
    posterior = np.zeros((n_items, n_classes))
    for item in range(n_items):
        seen = [label for label in table[item] if label >= 0]
        for label in seen:
            posterior[item, label] += 1 / len(seen)
    for _ in range(n_steps):
        matrices = np.zeros((n_raters, n_classes, n_classes))
        for item in range(n_items):
            for rater in range(n_raters):
                if table[item, rater] >= 0:
                    matrices[rater, :, table[item, rater]] += posterior[item]
        matrices /= matrices.sum(axis=2, keepdims=True)
        prior = posterior.mean(axis=0)
        for item in range(n_items):
            chance = prior.copy()
            for rater in range(n_raters):
                if table[item, rater] >= 0:
                    chance *= matrices[rater, :, table[item, rater]]
            posterior[item] = chance / chance.sum()
    return posterior, matrices


# Against other ways to the same numbers ------------------------------------------------------------------


def test_without_shrinkage_the_first_steps_are_those_of_dawid_and_skene(ratings: Ints) -> None:
    votes = votes_of(ratings)
    for n_steps in (1, 3):
        posterior, matrices = literal_dawid_skene(ratings, 4, n_steps)
        fit = maximize(votes, Settings(shrinkage=0.0, max_iter=n_steps, tol=0.0), votes.shares())
        np.testing.assert_allclose(fit.matrices, matrices, atol=1e-6)
        np.testing.assert_allclose(fit.posterior, posterior, atol=1e-6)


def test_without_shrinkage_the_end_is_that_of_dawid_and_skene(ratings: Ints) -> None:
    posterior, matrices = literal_dawid_skene(ratings, 4, 150)
    model = quick(shrinkage=0, tol=1e-8).fit(*from_wide(ratings))
    np.testing.assert_allclose(model.posterior_, posterior, atol=1e-3)
    np.testing.assert_allclose(model.noise_.matrices, matrices, atol=1e-3)


def test_slopes_of_the_rater_effects_are_derivatives_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    counts, basis = rng.gamma(2.0, size=(2, 4, 4)), effect_basis(4)
    raters = OrdinalRaters.equal(counts)

    def log_likelihood(effects: Floats) -> float:
        moved = OrdinalRaters(raters.log_pooled, effects, raters.covariance, raters.uncertainty)
        return float((counts * np.log(moved.matrices(basis))).sum())

    gradient, curvature = _slopes(counts, raters.matrices(basis), basis)
    nudges, middle, h = np.eye(7) * 1e-3, log_likelihood(np.zeros((2, 7))), 1e-3
    for effect, nudge in enumerate(nudges):
        above, below = (log_likelihood(np.stack([sign * nudge, np.zeros(7)])) for sign in (1, -1))
        assert gradient[0, effect] == pytest.approx((above - below) / (2 * h), abs=1e-4)
        assert curvature[0, effect, effect] == pytest.approx(-(above - 2 * middle + below) / h**2, abs=1e-2)


# What is estimated ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shrinkage", ["auto", 0, 30])
def test_asymmetric_matrices_of_the_raters_come_back(shrinkage: str | float) -> None:
    known = [UP, DOWN, SHARP, UP, SHARP]
    truth, table = graded(4000, known)
    model = quick(shrinkage=shrinkage).fit(*from_wide(table))
    error = np.abs(model.noise_.matrices - known)
    # Rows rest on 600 labels or more: four standard errors of a share near a half are .08.
    assert error.max() < 0.08
    assert error.mean() < 0.015
    np.testing.assert_allclose(model.noise_matrix_, np.mean(known, axis=0), atol=0.04)
    np.testing.assert_allclose(np.asarray(model.noise_.class_shares), PRIOR, atol=0.03)
    assert (model.consensus_ == truth).mean() > 0.9
    assert model.noise_.rate == pytest.approx((table != truth[:, None]).mean(), abs=0.02)


def test_raters_with_common_errors_are_distinguished_with_fewer_labels_than_plain_counts_need() -> None:
    """Forty raters of three kinds, about 45 labels each."""
    rng = np.random.default_rng(2)
    known = [(UP, DOWN, SHARP)[rater % 3] for rater in range(40)]
    truth, table = graded(300, known)
    table[rng.random(table.shape) < 0.85] = -1
    table[:, 0] = np.where((table < 0).all(axis=1), 0, table[:, 0])
    plain, shrunk = (quick(shrinkage=strength).fit(*from_wide(table)) for strength in (0, "auto"))
    errors = [np.abs(model.noise_.matrices - known).mean() for model in (plain, shrunk)]
    assert errors[1] < 0.7 * errors[0]
    assert (shrunk.consensus_ != truth).mean() <= (plain.consensus_ != truth).mean()


def test_a_rater_with_three_labels_sits_near_the_pooled_matrix() -> None:
    table = graded(600, [UP] * 4 + [DOWN] * 4)[1].copy()
    table[3:, 7] = -1
    model = quick().fit(*from_wide(table))
    columns = model.rater_table()
    from_pooled = np.abs(model.noise_.matrices - model.noise_matrix_).mean(axis=(1, 2))
    assert columns["n_labels"].tolist() == [600] * 7 + [3]
    assert from_pooled[7] < 0.5 * from_pooled[:7].min()
    assert columns["pooled_share"][7] > 0.8 > 0.3 > columns["pooled_share"][:7].max()


def test_the_ordinal_matrix_alone_tells_raters_apart() -> None:
    known = [UP, DOWN, SHARP, UP, DOWN]
    model = quick(shrinkage=np.inf).fit(*from_wide(graded(1500, known)[1]))
    error, from_pooled = (np.abs(model.noise_.matrices - other).mean() for other in (known, model.noise_matrix_))
    assert error < 0.4 * from_pooled


def test_the_pooled_share_grows_with_the_shrinkage(ratings: Ints) -> None:
    data = from_wide(ratings)
    shares = [quick(shrinkage=strength).fit(*data).rater_table()["pooled_share"] for strength in (1, 30, np.inf)]
    assert (shares[0] < shares[1]).all()
    assert (shares[1] < shares[2]).all()
    assert shares[0].max() < 1 / 60  # one label beside some eighty in a row


def test_the_rater_table_tells_who_grades_up_and_who_down(ratings: Ints) -> None:
    columns = quick().fit(*from_wide(ratings)).rater_table()
    assert columns["rater"].tolist() == [0, 1, 2, 3, 4]
    assert columns["bias"][0] > 0.1 > -0.1 > columns["bias"][1]
    assert columns["too_high"][0] > columns["too_low"][0]
    np.testing.assert_allclose(columns["noise_rate"], columns["too_high"] + columns["too_low"])
    assert columns["noise_rate"].argmax() != 2
    assert len(pd.DataFrame(columns)) == 5


def test_pooled_raters_share_one_matrix() -> None:
    table = graded(1500, [DOWN] * 4)[1]
    model = quick(pooled=True).fit(*from_wide(table))
    np.testing.assert_allclose(model.noise_.matrices, np.tile(model.noise_matrix_, (4, 1, 1)))
    np.testing.assert_allclose(model.noise_matrix_, DOWN, atol=0.08)
    assert model.rater_table()["pooled_share"].tolist() == [1, 1, 1, 1]
    shuffled = np.random.default_rng(0).permuted(table, axis=1)
    again = quick(pooled=True).fit(*from_wide(shuffled))
    np.testing.assert_allclose(again.noise_matrix_, model.noise_matrix_, atol=1e-9)


def test_features_sharpen_the_consensus_of_few_ratings() -> None:
    truth, table = graded(600, [UP, DOWN, UP], seed=3)
    rng = np.random.default_rng(0)
    features = np.column_stack([truth + 0.5 * rng.normal(size=600), rng.normal(size=600)])
    alone, helped = quick().fit(*from_wide(table)), quick().fit(*from_wide(table), features)
    bayes = quick(estimator=GaussianNB()).fit(*from_wide(table), features)
    errors = [(model.consensus_ != truth).mean() for model in (alone, helped, bayes)]
    assert max(errors[1:]) < errors[0] - 0.03
    useless = quick().fit(*from_wide(table), rng.normal(size=(600, 2)))
    assert (useless.consensus_ != truth).mean() < errors[0] + 0.03


def test_features_are_read_out_of_fold() -> None:
    """A tree that memorizes its items predicts nothing about others if the features are random."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=200)
    prior = prior_from_features(
        DecisionTreeClassifier(random_state=0), rng.normal(size=(200, 2)), np.eye(4)[truth], np.arange(200) % 5
    )
    np.testing.assert_allclose(prior.sum(axis=1), 1)
    assert (prior.argmax(axis=1) == truth).mean() < 0.4


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


@pytest.mark.parametrize("shrinkage", [0.0, 20.0])
def test_an_item_of_weight_two_counts_as_two_items(ratings: Ints, shrinkage: float) -> None:
    weight = np.random.default_rng(0).integers(0, 3, size=400)
    settings = Settings(shrinkage, max_iter=3, tol=0.0)
    weighed, repeated = (
        maximize(votes, settings, votes.shares(), item_weight=item_weight)
        for votes, item_weight in [
            (votes_of(ratings), weight.astype(float)),
            (votes_of(np.repeat(ratings, weight, axis=0)), None),
        ]
    )
    np.testing.assert_allclose(weighed.average_matrix, repeated.average_matrix, atol=1e-9)
    assert weighed.log_likelihood == pytest.approx(repeated.log_likelihood)


def test_a_resample_is_followed_to_its_own_optimum() -> None:
    votes = votes_of(graded(250, [UP, DOWN, UP])[1])
    settings = Settings(shrinkage=64.0, max_iter=2000, tol=1e-6)
    fit = maximize(votes, settings, votes.shares())
    quick_matrix = bootstrap(votes, settings, fit, None, 1, np.random.default_rng(3))[0][0]
    weight = np.bincount(np.random.default_rng(3).integers(250, size=250), minlength=250).astype(float)
    exact = maximize(votes, settings, fit.posterior, fit.raters, item_weight=weight).average_matrix
    moved = np.abs(exact - fit.average_matrix).mean()
    assert np.abs(quick_matrix - exact).mean() < 0.2 * moved


def test_no_resamples_leave_the_intervals_unknown(ratings: Ints) -> None:
    model = quick().fit(*from_wide(ratings))
    assert model.noise_.interval is None
    assert model.noise_.rate_interval is None
    assert len(model.noise_.replicates) == 0


def test_the_likelihood_ratio_is_against_chance_agreement(ratings: Ints) -> None:
    items, raters, labels = from_wide(ratings)
    shuffled = labels.copy()
    rng = np.random.default_rng(0)
    for rater in range(5):
        shuffled[raters == rater] = rng.permutation(labels[raters == rater])
    real = quick().fit(items, raters, labels)
    with pytest.warns(UserWarning, match="weakly identified"):
        unrelated = quick(shrinkage=0, tol=1e-4).fit(items, raters, shuffled)
    assert real.likelihood_ratio_ > 1000
    # Nothing but the parameters' own freedom: about as many as five matrices have.
    assert unrelated.likelihood_ratio_ < 150


# What must not matter ------------------------------------------------------------------------------------


def test_the_order_of_ratings_does_not_matter(ratings: Ints) -> None:
    items, raters, labels = from_wide(ratings)
    order = np.random.default_rng(5).permutation(len(items))
    one = quick(n_bootstrap=3).fit(items, raters, labels)
    other = quick(n_bootstrap=3).fit(items[order], raters[order], labels[order])
    np.testing.assert_array_equal(one.posterior_, other.posterior_)
    np.testing.assert_array_equal(one.noise_.interval, other.noise_.interval)


@pytest.mark.parametrize("shrinkage", [0, 20, np.inf])
def test_renamed_items_and_raters_only_move_the_answer(ratings: Ints, shrinkage: float) -> None:
    items, raters, labels = from_wide(ratings)
    new_items, new_raters = np.random.default_rng(6).permutation(400), np.array(["d", "a", "e", "c", "b"])
    one = quick(shrinkage=shrinkage).fit(items, raters, labels)
    other = quick(shrinkage=shrinkage).fit(new_items[items], new_raters[raters], labels)
    assert other.raters_.tolist() == list("abcde")
    np.testing.assert_allclose(other.posterior_[new_items], one.posterior_, atol=1e-6)
    np.testing.assert_allclose(
        other.noise_.matrices[np.argsort(np.argsort(new_raters))], one.noise_.matrices, atol=1e-6
    )


@pytest.mark.parametrize("shrinkage", [0, 20, np.inf])
def test_reversed_grades_mirror_the_answer(ratings: Ints, shrinkage: float) -> None:
    items, raters, labels = from_wide(ratings)
    one = quick(shrinkage=shrinkage).fit(items, raters, labels)
    other = quick(shrinkage=shrinkage).fit(items, raters, 3 - labels)
    np.testing.assert_allclose(other.noise_.matrices[:, ::-1, ::-1], one.noise_.matrices, atol=1e-6)
    np.testing.assert_array_equal(3 - other.consensus_, one.consensus_)


def test_the_same_seed_gives_the_same_answer_and_another_seed_other_resamples(ratings: Ints) -> None:
    one, same, other = (quick(n_bootstrap=4, random_state=seed).fit(*from_wide(ratings)) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.noise_.interval, same.noise_.interval)
    assert (np.asarray(one.noise_.interval) != np.asarray(other.noise_.interval)).any()


@pytest.mark.parametrize(
    "grades", [[1, 2, 3, 4], [0, 10, 20, 90], ["poor", "fair", "good", "best"], [0.5, 1.0, 1.5, 2.0]]
)
def test_grades_of_any_kind_give_the_same_consensus(ratings: Ints, grades: list[Any]) -> None:
    items, raters, labels = from_wide(ratings)
    names = np.array(grades)
    plain = quick().fit(items, raters, labels)
    named = quick(classes=grades).fit(items, raters, names[labels])
    ordered = quick().fit(items, raters, pd.Series(pd.Categorical(names[labels], categories=grades, ordered=True)))
    assert named.consensus_.tolist() == ordered.consensus_.tolist() == names[plain.consensus_].tolist()


def test_a_class_that_nobody_used_is_kept() -> None:
    items, raters, labels = from_wide(graded(300, [UP, SHARP, SHARP])[1])
    with pytest.warns(UserWarning, match="labels fall on true class 4, too few for its row"):
        model = quick(classes=range(5)).fit(items, raters, labels)
    assert model.noise_.matrices.shape == (3, 5, 5)
    np.testing.assert_allclose(model.noise_.matrices.sum(axis=2), 1)


def test_the_decision_is_read_off_the_posterior(ratings: Ints) -> None:
    mode = quick(decision="mode").fit(*from_wide(ratings))
    np.testing.assert_array_equal(mode.consensus_, mode.posterior_.argmax(axis=1))
    np.testing.assert_array_equal(mode.confidence_, mode.posterior_.max(axis=1))


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


def test_hidden_ratings_leave_every_item_one() -> None:
    items = np.array([0, 1, 1, 2, 2, 2] * 50)
    hidden = hidden_ratings(items, 0.9, np.random.default_rng(0))
    assert set(items[~hidden]) == {0, 1, 2}
    assert not hidden_ratings(np.arange(9), 0.9, np.random.default_rng(0)).any()


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


def test_enough_ratings_are_called_identified(ratings: Ints) -> None:
    assert not quick().fit(*from_wide(ratings)).noise_.is_in_doubt


def test_an_unfinished_fit_says_so(ratings: Ints) -> None:
    with pytest.warns(ConvergenceWarning, match=r"more than tol=1e-05 after 3 steps; raise max_iter"):
        quick(max_iter=3, shrinkage=50).fit(*from_wide(ratings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shrinkage": -1}, "shrinkage must be at least 0, got -1"),
        ({"shrinkage": "strong"}, "shrinkage must be 'auto' or a number of at least 0, got 'strong'"),
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


def test_a_flat_table_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"ratings must have one row per item and one column per rater, got shape \(2,\)"
    ):
        from_wide([0, 1])


# Real ratings --------------------------------------------------------------------------------------------


def test_the_web_search_consensus_is_nearer_to_gold_than_dawid_and_skene(data_dir: Path) -> None:
    data = web_search(data_dir)
    model = quick(n_bootstrap=5).fit(data.items, data.raters, data.labels)
    assert data.truth is not None
    gold, found = data.truth[data.truth >= 0], model.consensus_[data.truth >= 0]
    assert np.abs(found - gold).mean() <= 0.205
    assert (found != gold).mean() <= 0.170
    # The average matrix and rate against those that gold shows, which the fit never saw.
    known = data.truth[data.items] >= 0
    joint = np.zeros((5, 5))
    np.add.at(joint, (data.truth[data.items][known], data.labels[known]), 1)
    assert np.abs(model.noise_matrix_ - joint / joint.sum(axis=1, keepdims=True)).max() < 0.07
    assert model.noise_.rate == pytest.approx(1 - np.trace(joint) / joint.sum(), abs=0.03)


def test_lidc_runs_with_features_and_missing_opinions(data_dir: Path) -> None:
    """The four columns are places in a list, not persons: one matrix serves all."""
    data = lidc(data_dir)
    assert data.features is not None
    third = data.items % 3 == 0
    with pytest.warns(UserWarning, match="mostly have another label"):
        model = quick(pooled=True, shrinkage=16, n_bootstrap=2, tol=1e-4).fit(
            data.items[third], data.raters[third], data.labels[third], data.features[::3]
        )
    assert model.posterior_.shape == (884, 5)
    np.testing.assert_allclose(model.noise_matrix_.sum(axis=1), 1)
    assert model.likelihood_ratio_ > 600
    means = (np.bincount(data.items, data.labels) / np.bincount(data.items))[::3]
    assert np.corrcoef(model.consensus_, means)[0, 1] > 0.7
