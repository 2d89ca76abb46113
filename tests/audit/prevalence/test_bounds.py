"""Floor, ceilings, forecast, check and gate: against literal forms, and what each of them must never say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

from ordinoise import corrupt
from ordinoise._validation import Floats, Ints
from ordinoise.audit.prevalence.ceiling import most_by_chosen, most_unlike, upper_share
from ordinoise.audit.prevalence.floor import LEVELS, far_chances, fewest_wrong, overlap_of
from ordinoise.audit.prevalence.forecast import most_of_next
from ordinoise.audit.prevalence.gate import gate, rows_that_tell
from ordinoise.audit.prevalence.verdicts import Tally
from ordinoise.estimate import Estimate
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.estimation.score.predictive import contradicts

FAR = np.array([[0.94, 0, 0.06, 0, 0], [0, 0.94, 0, 0.06, 0], [0.03, 0, 0.94, 0, 0.03], [0, 0.06, 0, 0.94, 0],
                [0.03, 0, 0.03, 0, 0.94]])  # fmt: skip


def table(n_rows: int, seed: int) -> tuple[Floats, Ints]:
    """Exact chances of five grades, and grades."""
    rng = np.random.default_rng(seed)
    score, error = rng.uniform(-3.5, 3.5, size=n_rows), stats.logistic(scale=0.3)
    cuts = np.array([-2.0, -0.7, 0.7, 2.0])
    above = np.column_stack([np.ones(n_rows), error.sf(cuts - score[:, None]), np.zeros(n_rows)])
    grades = (score + error.rvs(n_rows, random_state=rng))[:, None] > cuts
    return -np.diff(above, axis=1), grades.sum(axis=1)


def records_of(chances: Floats, recorded: Ints) -> tuple[ScoreCells, Ints]:
    cells = ScoreCells.from_sample(chances)
    return cells, cells.counts(chances, recorded)


def literal_floor(overlap: Floats, recorded: Ints, verified: NDArray[np.bool_], right: NDArray[np.bool_]) -> int | None:
    """The floor row by row; `overlap` has a row for each label."""
    mine = overlap[np.arange(len(recorded)), recorded][:, None]
    chances = np.where(overlap <= mine * (1 + 1e-9), overlap, 0).sum(1)
    by_rank = np.sort(overlap, 1)
    tail, found = by_rank.cumsum(1), 0
    for level in LEVELS:
        most_right = stats.poisson.isf(0.025 / len(LEVELS), np.where(tail <= level, by_rank, 0).sum())
        seen_right = ((chances <= level) & verified & right).sum()
        if seen_right > most_right:
            return None
        found = max(found, ((chances <= level) & ~verified).sum() - (most_right - seen_right))
    return int(found)


@pytest.mark.parametrize("n_verified", [0, 20, 60])
def test_the_floor_by_cells_is_the_floor_by_rows(n_verified: int) -> None:
    chances, true = table(1500, 0)
    recorded = corrupt(true, FAR, 1)
    mixed = chances @ FAR
    cells, records = records_of(mixed, recorded)
    overlap = overlap_of(cells, records)
    assert overlap is not None
    by_row = overlap[cells.of(mixed)]
    far = far_chances(by_row)[np.arange(1500), recorded]
    verified, is_right = np.argsort(np.argsort(far)) < n_verified, recorded == true
    sums = [cells.counts(mixed[some], recorded[some]) for some in (~verified, verified & is_right)]
    found = fewest_wrong(overlap, records, *sums)
    assert found.n_wrong == literal_floor(by_row, recorded, verified, is_right)
    assert (n_verified < 60) <= found.n_wrong <= (~is_right & ~verified).sum()
    assert not found.is_refuted


def test_clean_labels_have_no_floor_and_far_ones_do() -> None:
    clean, noisy = [], []
    for seed in range(12):
        chances, true = table(1500, seed)
        cells, records = records_of(chances, true)
        overlap = overlap_of(cells, records)
        assert overlap is not None
        clean.append(fewest_wrong(overlap, records, records, 0 * records).n_wrong)
        recorded = corrupt(true, FAR, seed + 100)
        cells, records = records_of(chances @ FAR, recorded)
        overlap = overlap_of(cells, records)
        assert overlap is not None
        noisy.append((fewest_wrong(overlap, records, records, 0 * records).n_wrong, (recorded != true).sum()))
    assert max(clean) == 0
    assert all(3 <= found <= wrong for found, wrong in noisy)


def test_far_records_found_right_refute_the_floor_unless_reviewers_err() -> None:
    overlap = np.tile([0.9999, 5e-5, 5e-5], (10, 1))
    records = np.tile([100, 0, 3], (10, 1))
    right = np.where(np.arange(3) == 2, 2, 0) * np.ones((10, 1), dtype=np.int64)
    assert fewest_wrong(overlap, records, records, 0 * records).n_wrong > 20
    assert fewest_wrong(overlap, records, records - right, right).is_refuted
    assert not fewest_wrong(overlap, records, records - right, right, slip_rate=0.9).is_refuted


def test_rows_in_groups_lower_the_floor() -> None:
    overlap, records = np.tile([0.99, 0.005, 0.005], (10, 1)), np.tile([100, 0, 3], (10, 1))
    alone = fewest_wrong(overlap, records, records, 0 * records).n_wrong
    assert fewest_wrong(overlap, records, records, 0 * records, design_effect=4.0).n_wrong < alone


def test_nothing_is_fitted_to_few_rows_or_one_score() -> None:
    chances, true = table(40, 0)
    assert overlap_of(*records_of(chances, true)) is None
    assert overlap_of(*records_of(np.tile([0.2, 0.5, 0.3], (200, 1)), np.arange(200) % 3)) is None


@given(st.integers(0, 50), st.integers(1, 200))
def test_the_upper_limit_is_that_of_clopper_and_pearson(n_found: int, n_more: int) -> None:
    n_rows = n_found + n_more
    limit = upper_share(n_found, n_rows)
    exact = stats.binomtest(n_found, n_rows).proportion_ci(0.975 * 2 - 1, "exact")
    assert limit == pytest.approx(exact.high)
    assert stats.binom.cdf(n_found, n_rows, limit) == pytest.approx(0.025)


@given(st.integers(0, 2**31))
def test_what_differs_from_the_most_likely_record_is_a_ceiling_if_no_grade_prefers_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, noise = rng.dirichlet(np.ones(4), 50), rng.dirichlet(np.ones(4), (50, 4))
    # The largest entry of each line on the diagonal: every row of the table has a matrix of its own.
    best, at = noise.argmax(axis=2), np.arange(4)
    rows = np.arange(50)[:, None]
    noise[rows, at, at], noise[rows, at, best] = noise[rows, at, best], noise[rows, at, at].copy()
    is_dominant = np.einsum("nkr->nk", noise * (noise > np.einsum("nkk->nk", noise)[:, :, None] + 1e-12)) == 0
    recorded = np.einsum("nk,nkr->nr", true, noise)
    wrong = 1 - np.einsum("nk,nkk->n", true, noise)
    assert (wrong <= 1 - recorded.max(axis=1) + 1e-12)[is_dominant.all(axis=1)].all()


def test_the_ceiling_takes_the_larger_disagreement() -> None:
    assert most_unlike(np.array([10, 30]), 100) == 100 * upper_share(30, 100)
    assert most_unlike(np.array([10, 30]), 100, design_effect=4.0) > most_unlike(np.array([10, 30]), 100)


def test_thirty_suspects_found_right_leave_at_most_every_ninth_row_wrong() -> None:
    clean = most_by_chosen(1470, Tally(30, 0)) / 1500
    assert clean == pytest.approx(0.1134, abs=1e-3)
    for worse in (Tally(30, 1), Tally(29, 0, 1), Tally(30, 0, 0, 0.05)):
        assert most_by_chosen(1470, worse) / 1500 > clean
    assert most_by_chosen(1470, Tally(30, 0), design_effect=3.0) == pytest.approx(most_by_chosen(1470, Tally(10, 0)))
    assert most_by_chosen(100, Tally(3, 3)) == 100


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**31))
def test_chosen_rows_that_are_no_cleaner_bound_the_rest(seed: int) -> None:
    """Hoeffding: unequal chances make the number found less variable; 400 samples of one table."""
    rng = np.random.default_rng(seed)
    chances = np.sort(rng.beta(0.3, 3, size=300))[::-1]
    k = 30
    held = [chances[k:].sum() <= most_by_chosen(270, Tally(k, int((rng.random(k) < chances[:k]).sum())))
            for _ in range(400)]  # fmt: skip
    assert np.mean(held) >= 0.95


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 40))
def test_a_forecast_is_the_upper_point_of_what_the_verdicts_predict(n_right: int, n_wrong: int, n_next: int) -> None:
    most = most_of_next(n_right + n_wrong, n_wrong, n_next)
    if n_right == 0:
        assert most == n_next
        return
    shares = np.linspace(0, 1, 4001)[1:-1]
    density = stats.beta(n_wrong + 1, n_right).pdf(shares)
    above = (density * stats.binom.sf(np.array([[most], [most - 1]]), n_next, shares)).sum(axis=1) / density.sum()
    assert above[0] <= 0.025 + 1e-3
    assert most == 0 or above[1] > 0.025 - 1e-3


def test_twenty_rows_all_right_contradict_93_wrong_in_100() -> None:
    rows, right = np.arange(20), np.zeros(20, dtype=bool)
    assert contradicts(np.full(980, 0.93), (827, 980), rows, right)
    assert not contradicts(np.full(980, 0.93), (0, 980), rows, right)
    assert contradicts(np.full(980, 0.01), (0, 30), rows, ~right)
    assert not contradicts(np.full(980, 0.01), (0, 30), rows, right)


def test_an_estimate_whose_interval_is_right_is_hardly_ever_contradicted() -> None:
    rng, refuted = np.random.default_rng(0), 0
    for _ in range(300):
        chances = rng.beta(0.3, 2, size=600)
        is_wrong = rng.random(600) < chances
        ends = 0.8 * is_wrong.sum(), 1.2 * is_wrong.sum()
        rows = np.argsort(-chances)[:20] if rng.random() < 0.5 else rng.choice(600, 20, replace=False)
        refuted += contradicts(np.clip(1.1 * chances, 0, 1), ends, rows, is_wrong[rows])
    assert refuted / 300 <= 0.01


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [
        (Estimate(30, 10, 49), "passed"),
        (Estimate(np.nan, 0, 50), "passed"),
        (Estimate(80, 51, 120), "failed"),
        (Estimate(40, 20, 70), "cannot be told"),
        (Estimate(np.nan, 0, 300), "cannot be told"),
    ],
)
def test_a_file_passes_on_an_upper_end_and_fails_on_a_lower_one(wrong: Estimate, answer: str) -> None:
    found = gate(wrong, 1000, 0.05)
    assert found.answer == answer
    assert (found.n_rows == 0) == (answer != "cannot be told")


@pytest.mark.parametrize(("share", "limit"), [(0.0, 0.05), (0.02, 0.05), (0.1, 0.05), (1.0, 0.5)])
def test_so_many_random_rows_tell(share: float, limit: float) -> None:
    n_rows = rows_that_tell(share, limit)
    ends = stats.binomtest(round(share * n_rows), n_rows).proportion_ci(0.95, "exact")
    assert (ends.high <= limit + 0.01) if share < limit else (ends.low >= limit - 0.01)


def test_an_absurdly_large_sample_is_not_proposed() -> None:
    assert rows_that_tell(0.05, 0.05) == rows_that_tell(0.049, 0.05) == -1


def test_far_chances_sum_what_is_no_likelier() -> None:
    overlap = np.array([[0.5, 0.2, 0.2, 0.1]])
    assert_allclose(far_chances(overlap), [[1.0, 0.5, 0.5, 0.1]])
