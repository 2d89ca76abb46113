"""Measures of agreement, against the package krippendorff and literal sums."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from ordinoise.estimation.raters.estimator import from_wide
from ordinoise.scoring.agreement import Agreement, agreement

krippendorff = pytest.importorskip("krippendorff")


def rated(n_items: int = 60, seed: int = 3) -> NDArray[np.float64]:
    """Four raters who err upwards more often than downwards; a quarter of the grades is missing."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, n_items, p=[0.1, 0.15, 0.2, 0.25, 0.3])
    table = np.clip(truth[:, None] + rng.choice([-1, 0, 0, 0, 1, 2], size=(n_items, 4)), 0, 4).astype(float)
    table[rng.random(table.shape) < 0.25] = np.nan
    return table


def found(table: NDArray[np.float64], **settings: object) -> Agreement:
    options = {"n_bootstrap": 20, "random_state": 0, "classes": range(5), **settings}
    return agreement(*from_wide(table), **options)  # type: ignore[arg-type]


def literal_ac2(table: NDArray[np.float64]) -> float:
    """Gwet (2014), chapter 5, one item and one pair of grades at a time, quadratic weights."""
    weight = np.array([[1 - ((k - m) / 4) ** 2 for m in range(5)] for k in range(5)])
    observed, share, n_shared, n_rated = 0.0, np.zeros(5), 0, 0
    for row in table:
        grades = [int(grade) for grade in row if not np.isnan(grade)]
        if not grades:
            continue
        n_rated += 1
        for grade in grades:
            share[grade] += 1 / len(grades)
        if len(grades) > 1:
            n_shared += 1
            pairs = [weight[one, two] for i, one in enumerate(grades) for j, two in enumerate(grades) if i != j]
            observed += sum(pairs) / len(pairs)
    share /= n_rated
    expected = weight.sum() / 20 * sum(each * (1 - each) for each in share)
    return (observed / n_shared - expected) / (1 - expected)


@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_is_that_of_the_package(level: str, seed: int) -> None:
    table = rated(seed=seed)
    expected = krippendorff.alpha(table.T, level_of_measurement=level, value_domain=list(range(5)))
    assert getattr(found(table), f"alpha_{level}").value == pytest.approx(expected, abs=1e-9)


def test_ac2_is_the_literal_sum_and_the_number_of_irrcac() -> None:
    """irrCAC pins numpy below 2, so its number for this table was computed apart (version 0.4.4)."""
    assert found(rated()).ac2.value == pytest.approx(literal_ac2(rated()), abs=1e-12)
    assert found(rated()).ac2.value == pytest.approx(0.74436, abs=1e-5)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_kappa_is_the_mean_over_pairs_of_raters(weights: str) -> None:
    table, kappas, common = rated(), [], []
    for one in range(4):
        for two in range(one):
            both = ~np.isnan(table[:, one]) & ~np.isnan(table[:, two])
            pair = table[both][:, [one, two]].astype(int)
            kappas.append(cohen_kappa_score(pair[:, 0], pair[:, 1], weights=weights, labels=range(5)))
            common.append(both.sum())
    assert getattr(found(table), f"kappa_{weights}").value == pytest.approx(np.average(kappas, weights=common))


def test_within_one_counts_pairs_of_grades() -> None:
    within = found(np.array([[0, 1, 3], [2, 2, np.nan], [4, np.nan, np.nan]]), n_bootstrap=5).within_one
    assert within.value == pytest.approx((1 / 3 + 1) / 2)


def test_complete_agreement_is_one_and_chance_is_none() -> None:
    same = np.repeat(np.arange(100)[:, None] % 5, 3, axis=1).astype(float)
    perfect, chance = found(same), found(np.random.default_rng(0).integers(5, size=(400, 3)).astype(float))
    for name in ("alpha_ordinal", "alpha_interval", "ac2", "kappa_linear", "kappa_quadratic"):
        assert getattr(perfect, name).value == pytest.approx(1)
    for name in ("alpha_ordinal", "alpha_interval", "kappa_linear", "kappa_quadratic"):
        assert abs(getattr(chance, name).value) < 4 / np.sqrt(1200)  # four standard errors of a correlation of pairs


@pytest.mark.slow
def test_the_interval_covers_what_more_items_show() -> None:
    """Of 40 sets of 60 items, 95 % intervals hold the alpha of 6000 items in 33 or more, three standard errors below."""
    truth = found(rated(6000, seed=99)).alpha_ordinal.value
    ends = [found(rated(60, seed), n_bootstrap=100).alpha_ordinal for seed in range(40)]
    assert sum(each.low <= truth <= each.high for each in ends) >= 33


def test_ratings_without_names_have_no_kappa() -> None:
    items, _, labels = from_wide(rated())
    unnamed = agreement(items, None, labels, n_bootstrap=5, random_state=0)
    assert unnamed.kappa_linear is None
    assert unnamed.ac2 == found(rated(), n_bootstrap=5).ac2
    assert "ac2" in str(unnamed)
    assert "kappa" not in str(unnamed)


def test_single_ratings_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^items must have two ratings or more somewhere"):
        agreement([0, 1], ["a", "b"], [1, 2])
