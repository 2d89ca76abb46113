"""The tilt: its chances against brute force, its ends against a literal transcription, and what widens it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import binom, norm

from ordinoise._validation import Floats
from ordinoise.audit.prevalence.tilt import Sample, curve_of, half_below, slopes, wrong_by_sample
from ordinoise.estimation.score.predictive import poisson_binomial


def sample_of(logits: Floats, n_wrong: int, n_open: int = 0, slip_rate: float = 0.0) -> Sample:
    """The most suspicious rows are wrong, the next ones open."""
    place = np.argsort(np.argsort(-logits))
    is_open = (place >= n_wrong) & (place < n_wrong + n_open)
    return Sample(logits, place < n_wrong, is_open, np.full(len(logits), slip_rate))


@given(st.lists(st.floats(0, 1), min_size=0, max_size=9))
def test_the_distribution_of_a_number_of_events_is_that_of_all_their_outcomes(chances: list[float]) -> None:
    brute = np.zeros(len(chances) + 1)
    for happened in product((0, 1), repeat=len(chances)):
        terms = [chance if one else 1 - chance for one, chance in zip(happened, chances, strict=True)]
        brute[sum(happened)] += float(np.prod(terms))
    assert_allclose(poisson_binomial(np.array(chances)), brute, atol=1e-12)


@pytest.mark.parametrize(("n_rows", "n_found"), [(1, 0), (7, 7), (60, 3), (240, 100)])
def test_equal_chances_make_a_binomial_number(n_rows: int, n_found: int) -> None:
    expected = binom.cdf(n_found, n_rows, 0.3) - binom.pmf(n_found, n_rows, 0.3) / 2
    assert half_below(np.full(n_rows, 0.3), n_found) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 40), st.data())
def test_a_sample_of_doubled_rows_says_as_much_as_half_of_it(n_rows: int, data: st.DataObject) -> None:
    n_found = data.draw(st.integers(0, n_rows))
    once, twice = np.full(n_rows, 0.3), np.full(2 * n_rows, 0.3)
    assert half_below(twice, 2 * n_found, 2.0) == pytest.approx(half_below(once, n_found), abs=1e-9)


def test_the_slope_is_the_penalized_likelihoods() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(-2, 2, size=80)
    is_wrong = rng.random(80) < expit(0.5 + 1.7 * logits)

    def loss(at: Floats) -> float:
        chances = expit(at[0] + at[1] * logits)
        likelihood = np.where(is_wrong, np.log(chances), np.log1p(-chances)).sum()
        return float(-likelihood + 0.5 * ((at[0] + 4) / 5) ** 2 + 0.5 * ((at[1] - 1.2) / 0.6) ** 2)

    best, flat = slopes(logits, is_wrong)
    found = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000})
    assert best == pytest.approx(found.x[1], abs=1e-5)
    step = 1e-3
    here = np.array([[loss(found.x + step * np.array(s) + step * np.array(t)) for t in ((1, 0), (0, 1), (0, 0))]
                     for s in ((1, 0), (0, 1), (0, 0))])  # fmt: skip
    curvature = (here[:2, :2] - here[:2, 2:] - here[2:, :2] + here[2, 2]) / step**2
    assert best - flat == pytest.approx(np.sqrt(np.linalg.inv(curvature)[1, 1]), rel=0.02)


def test_a_slope_is_found_where_suspicion_says_little_over_a_wide_scale() -> None:
    """Plain Newton steps ran in circles here, and left the slope of the prior."""
    rng = np.random.default_rng(0)
    logits = -14 * rng.beta(0.8, 1.5, size=1200) + 1
    is_wrong = rng.random(1200) < expit(-0.9 + 0.1 * logits)
    best, flat = slopes(logits, is_wrong)
    assert best == pytest.approx(0.1, abs=0.05)
    assert 0.05 < flat < best


def test_no_slope_is_negative() -> None:
    logits = np.linspace(-3, 3, 200)
    assert slopes(logits, logits < 0) == (0.0, 0.0)


def literal(drawn: Floats, wrong: NDArray[np.bool_], other: Floats, flat: float, error: float) -> tuple[float, float]:
    """The ends, row by row and term by term."""
    n_found, n_drawn, reach = int(wrong.sum()), len(wrong), norm.isf(error / 2)

    def below(level: float) -> float:
        found = np.ones(1)
        for chance in expit(level + flat * drawn):
            found = np.append(found, 0) * (1 - chance) + np.append(0, found) * chance
        return float(found[:n_found].sum() + found[n_found] / 2)

    def sums(level: float) -> tuple[float, float]:
        chances = expit(level + flat * other)
        return float(chances.sum()), float((chances * (1 - chances)).sum())

    least, most = -40.0, 40.0
    low = brentq(lambda a: below(a) - (1 - error / 2), least, most) if n_found else least
    high = brentq(lambda a: below(a) - error / 2, least, most) if n_found < n_drawn else most
    best = brentq(lambda a: expit(a + flat * drawn).sum() - n_found, least, most) if 0 < n_found < n_drawn else (
        least if n_found == 0 else most)  # fmt: skip
    (value, _), (fewest, chance), (largest, chance_high) = sums(best), sums(low), sums(high)
    return (
        max(value - np.hypot(value - fewest, reach * np.sqrt(chance)), 0),
        min(value + np.hypot(largest - value, reach * np.sqrt(chance_high)), len(other)),
    )


@pytest.mark.parametrize("n_wrong", [0, 1, 5, 29, 30])
def test_the_ends_are_those_of_the_literal_procedure(n_wrong: int) -> None:
    rng = np.random.default_rng(n_wrong)
    drawn, other = rng.normal(-2, 1.5, 30).round(2), rng.normal(-2, 1.5, 400).round(2)
    sample = sample_of(drawn, n_wrong)
    at, n_rows = np.unique(other, return_counts=True)
    found = wrong_by_sample(sample, at, n_rows, curve_of(sample, 1.0), 0.7)
    ends = literal(drawn, sample.is_wrong, other, 0.7, 0.045)
    assert found.ends == pytest.approx((min(ends[0], found.value), max(ends[1], found.value)), abs=0.01)
    assert (found.low == 0) == (n_wrong == 0)
    assert (found.high == 400) == (n_wrong == 30)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 40), st.floats(0, 3), st.integers(0, 2**31))
def test_the_curve_expects_what_the_sample_holds_and_half_a_row_more(n_wrong: int, slope: float, seed: int) -> None:
    sample = sample_of(np.random.default_rng(seed).normal(-2, 2, 40), n_wrong)
    chances = curve_of(sample, slope).of(sample.logits)
    assert chances.sum() == pytest.approx((n_wrong + 0.5) * 40 / 41, abs=1e-3)
    assert ((chances > 0) & (chances < 1)).all()


def ends_of(sample: Sample, logits: Floats) -> tuple[float, float]:
    return wrong_by_sample(sample, logits, np.ones(len(logits), dtype=np.int64), curve_of(sample, 1.0), 0.7).ends


@pytest.mark.parametrize("n_wrong", [0, 3, 20])
def test_open_rows_erring_reviewers_and_drawn_groups_widen_both_ends(n_wrong: int) -> None:
    rng = np.random.default_rng(4)
    drawn, other = rng.normal(-2, 1.5, 60), rng.normal(-2, 1.5, 500)
    sample = sample_of(drawn, n_wrong)
    low, high = ends_of(sample, other)
    for wider in (
        sample_of(drawn, n_wrong, n_open=4),
        sample_of(drawn, n_wrong, slip_rate=0.05),
        replace(sample, design_effect=3.0),
    ):
        further = ends_of(wider, other)
        assert further[0] <= low
        assert further[1] > high
    assert ends_of(replace(sample, design_effect=3.0), other)[0] < low or low == 0


def test_open_rows_are_wrong_for_the_upper_end_and_right_for_the_lower_one() -> None:
    rng = np.random.default_rng(5)
    drawn, other = rng.normal(-2, 1.5, 60), rng.normal(-2, 1.5, 500)
    found = ends_of(sample_of(drawn, 3, n_open=4), other)
    assert found[0] == pytest.approx(ends_of(sample_of(drawn, 3), other)[0])
    assert found[1] == pytest.approx(ends_of(sample_of(drawn, 7), other)[1])


def test_slips_of_reviewers_explain_a_few_wrong_rows_but_not_many() -> None:
    logits = np.full(200, -1.0)
    few, many = (ends_of(sample_of(logits, n, slip_rate=0.05), np.full(1000, -1.0)) for n in (8, 60))
    assert few[0] == 0
    assert many[0] > 100


@pytest.mark.slow
def test_intervals_hold_in_95_of_100_samples_where_the_curve_is_right_and_where_it_is_wrong() -> None:
    rng = np.random.default_rng(6)
    for curve in (lambda s: expit(-1 + 1.1 * s), lambda s: 0.02 + 0.3 * (s > 1), lambda s: np.full(len(s), 0.1)):
        held = 0
        for _ in range(300):
            logits = rng.normal(-2, 2, 1500)
            is_wrong = rng.random(1500) < curve(logits)
            drawn = rng.permutation(1500) < 60
            best, flat = slopes(logits[drawn], is_wrong[drawn])
            sample = Sample(logits[drawn], is_wrong[drawn], np.zeros(60, dtype=bool), np.zeros(60))
            other = logits[~drawn]
            found = wrong_by_sample(sample, other, np.ones(len(other), dtype=np.int64), curve_of(sample, best), flat)
            held += found.low <= is_wrong[~drawn].sum() <= found.high
        assert held / 300 >= 0.93
