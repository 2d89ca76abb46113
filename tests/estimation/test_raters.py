from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estimation.made_ratings import DOWN, PRIOR, SHARP, UP, Floats, Ints, graded, perceiving, quick, ratings_of
from ordinoise.datasets import lidc, web_search
from ordinoise.estimation.raters.effects import Effects, effect_basis, slopes
from ordinoise.estimation.raters.estimator import from_wide
from ordinoise.estimation.raters.matrices import Entries, Stop, fit_matrices
from ordinoise.estimation.raters.perception import GRID, Perception, cell_slopes, cells, fit_perception
from ordinoise.estimation.raters.ratings import Known, Votes


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
    fit = fit_perception(votes, Known.nothing(400), Stop(20, 0.0), Perception.of(votes))
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
        fit_perception(votes, known, Stop(n_steps, 0.0), Perception.of(votes)).log_likelihood
        if family == "perception"
        else fit_matrices(votes, known, Effects.of(votes), Stop(n_steps, 0.0)).log_likelihood
        for n_steps in (1, 3, 9, 27)
    ]
    assert reached[0] < reached[1] < reached[2] < reached[3] + 1


# What is estimated ---------------------------------------------------------------------------------------


@pytest.mark.slow
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
    assert model.family_weights_ == {"matrices": 0.0, "perception": 1.0, "types": 0.0}
    pooled = quick(pooled=True).fit(items, raters, labels)
    np.testing.assert_array_equal(pooled.consensus_, model.consensus_)
    np.testing.assert_allclose(pooled.noise_.matrices, np.tile(model.noise_matrix_, (4, 1, 1)))
    np.testing.assert_allclose(model.noise_matrix_, SHARP, atol=0.12)
    assert len(pooled.rater_table()["severity"]) == 4
    matrices = quick(family="matrices").fit(items, None, labels)
    np.testing.assert_allclose(matrices.noise_matrix_, SHARP, atol=0.12)


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
