"""How far the consensus leaves the vote, and how far features are believed: both by hidden ratings."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, RidgeCV

from ordinoise.estimation import RepeatedLabels
from ordinoise.estimation.raters import consensus
from ordinoise.estimation.raters.average import tilted, with_prior
from ordinoise.estimation.raters.consensus import CONFIRMED, consensus_without_names, deferring, within
from ordinoise.estimation.raters.features import prior_of_scores
from ordinoise.estimation.raters.matrices import Stop
from ordinoise.estimation.raters.perception import GRID, Perception, fit_perception
from ordinoise.estimation.raters.ratings import Known, Ratings, Votes

POSTERIOR = np.array([[0.55, 0.4, 0.05], [0.1, 0.3, 0.6], [0.2, 0.45, 0.35]])
GIVEN = np.array([[2.0, 3.0, 0.0], [0.0, 3.0, 2.0], [1.0, 0.0, 1.0]])


def test_the_vote_stands_unless_the_expected_distance_falls_by_more() -> None:
    """The first two items are 0 by .1 and 2 by .2 grades; the vote on both is 1, and any of the third's."""
    assert deferring(POSTERIOR, GIVEN, 0.0).tolist() == [0, 2, 1]
    assert deferring(POSTERIOR, GIVEN, 0.15).tolist()[:2] == [1, 2]
    assert deferring(POSTERIOR, GIVEN, np.inf).tolist() == [1, 1, 2]


def test_the_vote_stands_where_only_a_few_items_would_leave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consensus, "nearer_than_vote", lambda *_: CONFIRMED + 1)
    posterior, given = np.tile([0.1, 0.8, 0.1], (400, 1)), np.tile([1.0, 3.0, 1.0], (400, 1))
    posterior[:1] = [0.9, 0.1, 0.0]
    assert (consensus_without_names(posterior, given, ()) == 1).all()
    posterior[:2] = [0.9, 0.1, 0.0]
    assert consensus_without_names(posterior, given, ()).tolist() == [0, 0, *[1] * 398]
    monkeypatch.setattr(consensus, "nearer_than_vote", lambda *_: CONFIRMED)
    assert (consensus_without_names(posterior, given, ()) == 1).all()


def test_a_posterior_is_kept_in_the_range_of_the_grades_given() -> None:
    inside = within(POSTERIOR, GIVEN, np.array([False, False, True]))
    assert (inside[[0, 1], [2, 0]] == 0).all()
    np.testing.assert_allclose(inside[2], POSTERIOR[2])
    np.testing.assert_allclose(inside.sum(axis=1), 1.0)


def test_a_prior_of_power_zero_says_nothing_and_of_power_one_is_itself() -> None:
    prior = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.5, 0.3]])
    np.testing.assert_allclose(tilted(prior, 1.0), prior)
    np.testing.assert_allclose(with_prior(POSTERIOR, tilted(prior, 0.0)), POSTERIOR, atol=1e-9)


def rated(n_items: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Features, scores ``g(x) + e`` and two uncertain ratings of each item, on a scale with uneven cuts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_items, 3))
    score = X @ [0.8, -0.5, 0.0] + 0.3 * rng.normal(size=n_items)
    return X, score, np.digitize(score[:, None] + 1.2 * rng.normal(size=(n_items, 2)), [-1.0, 0.1, 0.6])


@pytest.mark.filterwarnings("ignore:the noise is weakly identified")
def test_the_prior_of_scores_is_the_literal_normal_between_the_cuts() -> None:
    X, _, ratings = rated(120, 0)
    votes = Votes.of(Ratings(np.repeat(np.arange(120), 2), np.zeros(240, dtype=np.int64), ratings.ravel(), (120, 1, 4)))
    fit = fit_perception(votes, Known.nothing(120), Stop(100, 1e-3), Perception.of(votes))
    fold = np.arange(120) % 3
    found = prior_of_scores(LinearRegression(), X, fit, fold)
    mean = np.array([sum(q * z for q, z in zip(state, GRID, strict=True)) for state in fit.states])
    guess, total = np.empty(120), 0.0
    for item in range(120):
        others = fold != fold[item]
        guess[item] = LinearRegression().fit(X[others], mean[others]).predict(X[item : item + 1])[0]
        total += sum(q * (z - guess[item]) ** 2 for q, z in zip(fit.states[item], GRID, strict=True))
    ends = [-np.inf, *fit.scale_cuts, np.inf]
    for item in (0, 17, 119):
        literal = np.diff(norm(guess[item], np.sqrt(total / 120)).cdf(ends))
        expected = 0.98 * literal + 0.02 * fit.posterior.mean(axis=0)
        np.testing.assert_allclose(found[item], expected, atol=0.01)  # the grid has steps


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the noise is weakly identified")
def test_a_regressor_of_the_score_sharpens_the_consensus_of_few_ratings() -> None:
    X, score, ratings = rated(600, 1)
    truth, items, raters = np.digitize(score, [-1.0, 0.1, 0.6]), np.repeat(np.arange(600), 2), np.tile([0, 1], 600)
    plain, featured = (
        RepeatedLabels(n_bootstrap=0, random_state=0, estimator=learner).fit(items, raters, ratings.ravel(), X=given)
        for learner, given in ((None, None), (RidgeCV(), X))
    )
    errors = [np.abs(fit.posterior_ @ np.arange(4) - truth).mean() for fit in (plain, featured)]
    assert errors[1] < 0.85 * errors[0]


@pytest.mark.filterwarnings("ignore:the noise is weakly identified")
def test_features_that_say_nothing_change_nothing() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=150)
    ratings = np.digitize(score[:, None] + 0.6 * rng.normal(size=(150, 4)), [-0.8, 0.1, 1.0])
    items = np.repeat(np.arange(150), 4)
    plain, featured = (
        RepeatedLabels(n_bootstrap=0, random_state=0).fit(items, None, ratings.ravel(), X=X)
        for X in (None, rng.normal(size=(150, 2)))
    )
    np.testing.assert_array_equal(featured.consensus_, plain.consensus_)
    np.testing.assert_allclose(featured.posterior_, plain.posterior_)
