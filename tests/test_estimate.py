"""A number with its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from ordinoise.estimate import Estimate


def test_a_range_has_no_number_and_prints_only_its_ends() -> None:
    known, range_ = Estimate(0.5, 0.25, 0.75), Estimate(math.nan, 0.25, 0.75)
    assert (known.is_range, str(known)) == (False, "0.50 (0.25 to 0.75)")
    assert (range_.is_range, str(range_)) == (True, "0.25 to 0.75")


def test_a_format_applies_to_the_number_and_both_ends() -> None:
    share = Estimate(0.126, 0.04, 0.2)
    assert f"{share:%}" == "13% (4.0% to 20%)"
    assert f"{share:+.1f}" == "+0.1 (+0.0 to +0.2)"
    assert share.words(lambda end: f"<{end:g}>", "-") == "<0.126> (<0.04>-<0.2>)"
    assert f"{share.times(100):,.0f}" == "13 (4 to 20)"
    assert f"{Estimate(0.126, math.nan, math.nan):%}" == "13%"


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1.0])
def test_a_normal_interval_has_the_quantiles_of_the_normal_distribution_within_its_bounds(confidence: float) -> None:
    found = Estimate.normal(3.0, 2.0, confidence, least=0.0)
    reach = 2 * norm.ppf((1 + confidence) / 2)
    assert found.high == pytest.approx(3 + reach)
    assert found.low == pytest.approx(max(0.0, 3 - reach))
    assert Estimate.normal(3.0, 0.0, confidence).ends == (3.0, 3.0)


def test_draws_give_their_quantiles_and_missing_ones_are_ignored() -> None:
    draws = np.append(np.arange(101.0), np.nan)
    assert Estimate.from_draws(7.0, draws, 0.9).ends == pytest.approx((5.0, 95.0))


def test_what_is_not_known_is_null_in_json() -> None:
    assert Estimate(math.nan, 1.0, math.inf, 0.9).to_dict() == {
        "value": None, "low": 1.0, "high": None, "confidence": 0.9,
    }  # fmt: skip
