"""Links of the clean model: exact in the tails, closed forms against scipy, and what each of them makes of overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score import doubts
from ordinoise.estimation.score.bootstrap import posterior_draws
from ordinoise.estimation.score.doubts import doubts_about_columns, saved_error
from ordinoise.estimation.score.likelihood import score_likelihood
from ordinoise.estimation.score.links import LINKS, STUDENT_T3
from ordinoise.estimation.score.specification import predictable_surprise
from ordinoise.noise import corrupt, inverse_decay

ORACLES: dict[str, Any] = {
    "logit": stats.logistic,
    "probit": stats.norm,
    "cloglog": stats.gumbel_l,
    "loglog": stats.gumbel_r,
    "heavy": stats.t(2),
    "t3": stats.t(3),
}
EVERY_LINK = LINKS | {"t3": STUDENT_T3}


@pytest.mark.parametrize("name", EVERY_LINK)
def test_every_link_is_the_distribution_it_names(name: str) -> None:
    link, oracle, x = EVERY_LINK[name], ORACLES[name], np.linspace(-6, 3, 37)
    assert_allclose(link.log_cdf(x), oracle.logcdf(x), rtol=1e-9, atol=1e-12)
    assert_allclose(link.log_tail(x), oracle.logsf(x), rtol=1e-9, atol=1e-12)
    assert_allclose(link.log_density(x), oracle.logpdf(x), rtol=1e-9)
    low, high = np.array([-5.0, -1.0, 0.5, 2.0]), np.array([-4.0, 1.0, 0.7, 2.5])
    assert_allclose(link.log_between(low, high), np.log(oracle.cdf(high) - oracle.cdf(low)), rtol=1e-6)


@pytest.mark.parametrize("name", EVERY_LINK)
def test_no_link_is_lost_far_out(name: str) -> None:
    ends = np.array([-300.0, 300.0])
    link = EVERY_LINK[name]
    for values in (link.log_cdf(ends), link.log_tail(ends), link.log_between(ends - 1, ends)):
        assert not np.isnan(values).any()
        assert (values <= 0).all()


def drawn(overlap: Any, n_rows: int = 4000, n_classes: int = 5) -> tuple[Floats, Ints, Floats]:
    """Features, grades of a linear score plus `overlap`, and the exact chances of the grades."""
    features = np.random.default_rng(0).uniform(-1, 1, size=(n_rows, 4))
    scores = 3 * features[:, :1]
    positions = scores[:, 0] + overlap.rvs(n_rows, random_state=1)
    cuts = np.quantile(positions, np.arange(1, n_classes) / n_classes)
    ends = np.hstack([np.zeros((n_rows, 1)), overlap.cdf(cuts - scores), np.ones((n_rows, 1))])
    return features, np.digitize(positions, cuts), np.diff(ends, axis=1)


@pytest.mark.slow
def test_heavy_overlap_is_not_called_noise() -> None:
    """One fixed logistic link took the tails for slips: .09 with an interval that excluded 0."""
    _, labels, chances = drawn(stats.t(2, scale=0.5))
    fit = score_likelihood(chances, labels)
    found = fit.noise(posterior_draws(fit, random_state=0))
    assert found.rate_range is not None
    assert found.rate_range[0] < 1e-3
    assert "maybe-clean" in found.doubt_codes
    assert fit.link_weights["heavy"] > 0.9
    noisy = score_likelihood(chances @ inverse_decay(5, 0.15), corrupt(labels, inverse_decay(5, 0.15), 1))
    assert 1 - noisy.class_shares @ noisy.noise_matrix.diagonal() == pytest.approx(0.38, abs=0.08)
    # However many rows make the interval narrow, the clean model may be wrong: the range stays.
    exact = noisy.noise((np.stack([noisy.noise_matrix] * 2), np.array([0.38, 0.38])))
    assert not exact.doubts
    assert exact.rate_interval == (0.38, 0.38)
    assert exact.rate_range is not None
    assert exact.rate_range[0] <= 0.35
    assert exact.rate_range[1] >= 0.38


def test_columns_that_predict_surprises_are_a_doubt() -> None:
    features, labels, chances = drawn(stats.logistic(scale=0.5))
    wrong = corrupt(labels, inverse_decay(5, 0.15), 1)
    some = np.where(features[:, 3] > 0.3, wrong, labels)
    mixed = 0.65 * chances + 0.35 * chances @ inverse_decay(5, 0.15)
    values = {}
    for name, recorded, table in (("all", wrong, chances @ inverse_decay(5, 0.15)), ("some", some, mixed)):
        fit = score_likelihood(table, recorded)
        values[name] = predictable_surprise(features, fit.recorded[fit.cells], recorded, 0)
        codes = [doubt.code for doubt in doubts_about_columns(features, fit, table, recorded, 0)]
        assert codes == (["predicted-surprise"] if name == "some" else [])
    assert values["some"] > 4 > 2 > values["all"]


@pytest.mark.parametrize(
    ("n_rows", "value", "is_doubt"), [(2000, 3.5, True), (12_000, 3.5, False), (12_000, 5.0, True)]
)
def test_with_many_rows_surprises_must_be_predicted_well_to_be_a_doubt(
    n_rows: int, value: float, is_doubt: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doubts, "predictable_surprise", lambda *_: value)
    features, labels, chances = drawn(stats.logistic(scale=0.5), n_rows)
    noise = inverse_decay(5, 0.15)
    recorded = corrupt(labels, noise, 1)
    fit = score_likelihood(chances @ noise, recorded)
    codes = [doubt.code for doubt in doubts_about_columns(features, fit, chances @ noise, recorded, 0)]
    assert codes == (["predicted-surprise"] if is_doubt else [])


def test_columns_that_say_nothing_are_a_doubt() -> None:
    rng = np.random.default_rng(2)
    labels, chances = rng.integers(3, size=600), rng.dirichlet([30.0, 30.0, 30.0], 600)
    fit = score_likelihood(chances, labels)
    found = doubts_about_columns(rng.normal(size=(600, 2)), fit, chances, labels, 0)
    assert [doubt.code for doubt in found] == ["no-signal"]


@pytest.mark.parametrize(("strength", "codes"), [(0.3, ["weak-columns"]), (1.0, [])])
def test_columns_that_explain_little_are_a_doubt(strength: float, codes: list[str]) -> None:
    rng = np.random.default_rng(4)
    score = strength * rng.normal(size=2000)
    labels = np.digitize(score + rng.logistic(scale=0.5, size=2000), [-1, -0.3, 0.3, 1])
    above = stats.logistic(scale=0.5).cdf(score[:, None] - [-1, -0.3, 0.3, 1])
    chances = -np.diff(np.column_stack([np.ones(2000), above, np.zeros(2000)]), axis=1)
    fit = score_likelihood(chances, labels)
    assert [doubt.code for doubt in doubts_about_columns(None, fit, chances, labels, 0)] == codes
    predicted = (np.cumsum(chances, axis=1) < 0.5).sum(axis=1)
    oracle = 1 - np.abs(predicted - labels).mean() / np.abs(np.median(labels) - labels).mean()
    assert saved_error(chances, labels) == pytest.approx(oracle)


def test_a_learner_that_is_too_sure_of_itself_still_says_something() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(3, size=600)
    guesses = np.where(rng.random(600) < 0.5, labels, rng.integers(3, size=600))
    chances = 0.001 + 0.997 * np.eye(3)[guesses]
    fit = score_likelihood(chances, labels)
    assert "no-signal" not in [doubt.code for doubt in doubts_about_columns(None, fit, chances, labels, 0)]
