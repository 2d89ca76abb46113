from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from ordinoise.jobs import StoredResult
from studies.accuracy import comparisons, critical_difference, mean_ranks
from studies.accuracy.pictures import _bars, write_ranks
from study_results import stored

SETS = ("boston", "toy", "car", "ERA")
NAMES = ("network, estimated", "mord", "skordinal SVOR", "rounded regression")
ERRORS = np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.3, 0.4], [0.1, 0.2, 0.4, 0.3], [0.1, 0.2, 0.3, 0.4]])


def results(errors: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = ERRORS) -> Iterator[StoredResult]:
    for dataset, row in zip(SETS, errors, strict=True):
        for name, error in zip(NAMES, row.tolist(), strict=True):
            yield stored(name, error, dataset=dataset)
            yield stored(name, 1 - error, dataset=dataset, noise="none")


def test_mean_ranks_are_those_of_a_small_table_by_hand() -> None:
    ranks = mean_ranks(results())
    assert ranks.entries == NAMES
    assert ranks.mean_ranks == (1.25, 1.75, 3.25, 3.75)
    assert ranks.n_blocks == 4
    assert ranks.skipped == ()


def test_noisy_and_clean_labels_are_ranked_apart() -> None:
    noisy, clean = mean_ranks(results()), mean_ranks(results(), noisy=False)
    assert clean.entries == noisy.entries[::-1]
    assert clean.mean_ranks == tuple(5 - rank for rank in reversed(noisy.mean_ranks))


def test_the_test_is_that_of_friedman() -> None:
    ranks, expected = mean_ranks(results()), friedmanchisquare(*ERRORS.T)
    assert (ranks.statistic, ranks.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_equal_scores_share_a_rank() -> None:
    tied = ERRORS.copy()
    tied[:, 1] = tied[:, 0]
    ranks = mean_ranks(results(tied))
    assert ranks.entries == NAMES
    assert ranks.mean_ranks[:2] == (1.5, 1.5)


def test_splits_are_averaged_before_they_are_ranked() -> None:
    # Ahead in two splits of three by little, behind in the third by much.
    tables = [ERRORS, ERRORS, np.where(ERRORS == 0.1, 0.9, ERRORS)]
    many = [
        stored(name, float(table[at, place]), dataset=dataset, split=split)
        for split, table in enumerate(tables)
        for at, dataset in enumerate(SETS)
        for place, name in enumerate(NAMES)
    ]
    averaged = mean_ranks(results(np.mean(tables, axis=0)))
    assert mean_ranks(many).mean_ranks == averaged.mean_ranks
    assert averaged.mean_ranks != mean_ranks(results()).mean_ranks


def test_an_entry_that_lacks_a_block_is_skipped_by_name() -> None:
    some = [result for result in results() if (result.trial["dataset"], result.trial["contestant"]) != ("toy", "mord")]
    ranks = mean_ranks(some)
    assert ranks.skipped == ("mord",)
    assert ranks.n_blocks == 4


def test_an_entry_that_lacks_a_split_is_skipped_and_compared_on_the_splits_it_has() -> None:
    # All find the second split harder; mord, which has not run on it, must gain nothing by that.
    harder = [stored(name, 0.9, split=1) for name in NAMES if name != "mord"]
    ranks = mean_ranks([*results(), *harder])
    assert ranks.skipped == ("mord",)
    both, easy = (comparisons(some, NAMES[0])["mord"] for some in ([*results(), *harder], results()))
    assert both == easy


def test_the_noises_of_one_set_count_as_one_set() -> None:
    twice = [*results(), *(stored(name, 0.1 * place, noise="adjacent") for place, name in enumerate(NAMES[::-1]))]
    ranks = mean_ranks(twice)
    assert (ranks.n_blocks, ranks.n_sets) == (5, 4)
    # Boston: ranks 1, 2, 3, 4 and 4, 3, 2, 1 are 2.5 each; the other three sets are those of the table.
    assert dict(zip(ranks.entries, ranks.mean_ranks, strict=True)) == {
        NAMES[0]: (2.5 + 2 + 1 + 1) / 4,
        NAMES[1]: (2.5 + 1 + 2 + 2) / 4,
        NAMES[2]: (2.5 + 3 + 4 + 3) / 4,
        NAMES[3]: (2.5 + 4 + 3 + 4) / 4,
    }
    assert ranks.critical_difference == critical_difference(4, 4)


def test_two_cuts_of_one_target_are_one_set() -> None:
    cuts = [
        stored(name, 0.1 * place, dataset="california", cut=cut)
        for cut in ("equal_width", "equal_frequency")
        for place, name in enumerate(NAMES)
    ]
    assert mean_ranks([*results(), *cuts]).n_sets == 5


def test_one_entry_is_compared_with_every_other_by_the_means_of_sets() -> None:
    found = comparisons(
        [*results(), *(stored("mord", 0.7, noise="adjacent"), stored(NAMES[0], 0.2, noise="adjacent"))], NAMES[0]
    )
    assert list(found) == list(NAMES[1:])
    assert found["mord"].mean == pytest.approx(((0.1 + 0.5) / 2 - 0.1 + 0.1 + 0.1) / 4)
    assert found["mord"].n_sets == 4
    assert found["rounded regression"].better > 0.9
    assert comparisons(results(), "ordinoise") == {}


def test_too_few_entries_to_rank_are_refused_with_a_sentence() -> None:
    two = [result for result in results() if result.trial["contestant"] in NAMES[:2]]
    with pytest.raises(ValueError, match="results must hold 3 entries with 2 sets in common, got 2 with 4"):
        mean_ranks(two)


def test_entries_that_are_given_the_matrix_are_not_ranked() -> None:
    with_oracle = [*results(), *(stored("network, known", 0.01, dataset=dataset) for dataset in SETS)]
    assert mean_ranks(with_oracle) == mean_ranks(results())


@pytest.mark.parametrize(
    ("n_entries", "alpha", "quantile"),
    [(2, 0.05, 1.960), (5, 0.05, 2.728), (10, 0.05, 3.164), (2, 0.10, 1.645), (5, 0.10, 2.459), (10, 0.10, 2.920)],
)
def test_the_critical_difference_has_the_quantiles_of_the_published_table(
    n_entries: int, alpha: float, quantile: float
) -> None:
    # Demsar (2006), table 5.
    expected = quantile * np.sqrt(n_entries * (n_entries + 1) / (6 * 20))
    assert critical_difference(n_entries, 20, alpha) == pytest.approx(expected, rel=1e-3)


def test_bars_join_the_longest_runs_within_reach() -> None:
    assert _bars([1.0, 1.5, 2.4, 4.0, 4.2], 1.0) == [(0, 1), (1, 2), (3, 4)]
    assert _bars([1.0, 1.5, 2.0], 1.0) == [(0, 2)]
    assert _bars([1.0, 3.0, 5.0], 1.0) == []


def test_every_pair_within_reach_is_under_one_bar_and_no_other() -> None:
    ranks = np.sort(np.random.default_rng(0).uniform(1, 12, 12)).tolist()
    bars = _bars(ranks, 2.5)
    for low in range(12):
        for high in range(low + 1, 12):
            joined = any(first <= low and high <= last for first, last in bars)
            assert joined == (ranks[high] - ranks[low] <= 2.5)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_picture_is_written_whole(tmp_path: Path, suffix: str) -> None:
    ranks = mean_ranks(results())
    path = tmp_path / f"ranks.{suffix}"
    write_ranks(path, ranks.entries, ranks.mean_ranks, ranks.critical_difference, title="Ranks", highlighted=["mord"])
    assert path.read_bytes()[:5] == {"png": b"\x89PNG\r", "svg": b"<?xml"}[suffix]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_picture_of_ranks_without_their_entries_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mean_ranks must be as long as entries \(3\), got 2"):
        write_ranks(tmp_path / "ranks.png", ["a", "b", "c"], [1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="entries must be at least two, got 1"):
        write_ranks(tmp_path / "ranks.png", ["a"], [1.0], 1.0)
