"""The comparison with the paper, on invented results."""

import numpy as np
import pytest

from ordinoise.jobs.store import StoredResult
from ordinoise.paper.comparison import Group, compare, group_of, orders, recovered, summarize
from ordinoise.paper.printed import ESTIMATED_MATRIX, table1


def _stored(group: Group, split: int, error: float) -> StoredResult:
    result = {
        "mean_absolute_error": error, "zero_one_loss": error / 2, "unordered_updates": 1, "n_updates": 10,
        "is_ordered": split != 1, "noise_matrix": np.eye(2).tolist() if group.variant == "estimated" else None,
    }  # fmt: skip
    return StoredResult(f"{group} {split}", {**group._asdict(), "split": split}, result, 1.0)


def _as_printed(shift: float = 0.0) -> list[StoredResult]:
    """Two splits around every printed mean absolute error."""
    errors = {}
    for cell in table1():
        if cell.metric == "mae":
            errors[group_of(cell.dataset, cell.loss, cell.variant, cell.train_on)] = cell.mean
    return [
        _stored(group, split, mean + shift + swing)
        for group, mean in errors.items()
        for split, swing in ((1, 0.01), (0, -0.01))
    ]


def test_the_printed_numbers_agree_with_themselves() -> None:
    found = [one for one in compare(summarize(_as_printed())) if one.printed.metric == "mae"]
    assert len(found) == 72
    # Known and plain share a network on clean labels; the paper prints the same number for both.
    assert max(abs(one.difference) for one in found) < 1e-9
    assert all(one.sd == pytest.approx(0.01) and one.n_splits == 2 for one in found)


def test_a_shift_beyond_the_tolerance_is_seen_in_the_cells_that_are_printed_precisely() -> None:
    found = [one for one in compare(summarize(_as_printed(0.05))) if one.printed.metric == "mae"]
    for one in found:
        assert one.is_within == (one.printed.sd >= 0.025)


def test_splits_come_in_their_order_whatever_the_order_of_the_results() -> None:
    summary = summarize(_as_printed())
    measured = next(iter(summary.values()))
    assert measured.mean_absolute_errors[0] < measured.mean_absolute_errors[1]
    assert not measured.are_ordered


def test_recovered_is_one_where_ours_is_clean_and_zero_where_it_is_noisy() -> None:
    plain = Group("a", "hinge", "none", "plain", "uniform")
    rows = {plain: 0.5, plain._replace(noise="none"): 0.3}
    ours = plain._replace(correction="unbiased", variant="known")
    for error, share in ((0.3, 1.0), (0.5, 0.0), (0.35, 0.75)):
        summary = summarize([_stored(group, 0, at) for group, at in (rows | {ours: error}).items()])
        assert recovered(summary, ours) == pytest.approx(share)


def test_recovered_is_nothing_where_noise_did_no_damage() -> None:
    plain = Group("a", "hinge", "none", "plain", "uniform")
    summary = summarize([_stored(plain, 0, 0.3), _stored(plain._replace(noise="none"), 0, 0.3)])
    assert np.isnan(recovered(summary, plain))


def test_the_orders_of_the_discussion_are_seen_where_the_printed_table_shows_them() -> None:
    found = orders(summarize(_as_printed()))
    # Five sets by two losses without Boston, which is at par, and six sets for the hinge.
    assert len(found) == 5 * 2 + 6
    for order in found:
        assert order.ours == pytest.approx(order.printed)
        assert order.is_seen == order.is_printed


def test_the_printed_sample_matrix_needs_renormalizing() -> None:
    np.testing.assert_allclose(ESTIMATED_MATRIX.sum(axis=1), [0.99, 0.95, 1.0, 1.0])
