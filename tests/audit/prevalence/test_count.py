"""The count as a whole: what each stage says, and that parts and the order of rows make no difference."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from scipy import stats

from ordinoise import corrupt
from ordinoise._validation import Floats, Ints
from ordinoise.audit.posterior import credit_in_doubt, posterior
from ordinoise.audit.prevalence.count import Count, Table, count_wrong
from ordinoise.audit.prevalence.sums import GRID, Sums, Traits, levels_of, shape_of
from ordinoise.audit.prevalence.verdicts import Verdicts
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.labels import Verified, trusted_ranks
from ordinoise.noise import inverse_decay

CUTS = np.array([-2.0, -0.7, 0.7, 2.0])
DECAY = inverse_decay(5, 0.05)


class Made:
    """Rows whose chances are exact: clean, or recorded under a matrix."""

    def __init__(self, noise: Floats | None = None, n_rows: int = 1200, seed: int = 0, spread: float = 0.3) -> None:
        rng = np.random.default_rng(seed)
        score, error = rng.uniform(-3.5, 3.5, size=n_rows), stats.logistic(scale=spread)
        above = np.column_stack([np.ones(n_rows), error.sf(CUTS - score[:, None]), np.zeros(n_rows)])
        self.true = ((score + error.rvs(n_rows, random_state=rng))[:, None] > CUTS).sum(axis=1)
        matrix = np.eye(5) if noise is None else noise
        self.chances = -np.diff(above, axis=1) @ matrix
        self.recorded = corrupt(self.true, matrix, seed + 1000)
        after = posterior(self.chances, self.recorded, credit_in_doubt(5))
        self.suspicion = 1 - after[np.arange(n_rows), self.recorded]
        self.is_wrong = self.true != self.recorded
        self.order = np.argsort(-self.suspicion, kind="stable")
        self.rng = rng

    def verdicts(self, rows: Ints, drawn: str) -> Verdicts:
        verified = trusted_ranks(Verified(rows, self.true[rows], drawn=drawn), np.arange(5), len(self.true))
        return Verdicts.of(verified, self.recorded)

    def count(self, verdicts: Verdicts | None = None, **options: Any) -> tuple[Count, Floats]:
        return count_wrong(self.chances, self.recorded, self.suspicion, verdicts, **options)

    def left(self, rows: Ints) -> int:
        return int(self.is_wrong.sum() - self.is_wrong[rows].sum())


def test_with_nothing_verified_there_is_a_range_that_holds_and_no_number() -> None:
    for noise in (None, DECAY):
        made = Made(noise)
        found, chances = made.count()
        assert (found.stage, found.curve, found.n_next, found.doubts) == ("nothing", None, None, ())
        assert found.left.is_range
        assert found.left.low <= made.is_wrong.sum() <= found.left.high
        assert np.isnan(chances).all()
        assert found.left.high == found.most_unlike < found.most_by_chosen


def test_suspects_found_right_clear_a_clean_table_and_give_no_number() -> None:
    made, ends = Made(), []
    for k in (30, 50, 100):
        found, chances = made.count(made.verdicts(made.order[:k], "chosen"))
        assert found.stage == "chosen"
        assert found.left.is_range
        assert np.isnan(chances).all()
        assert found.n_left == 1200 - k
        ends.append(found.left.high / 1200)
    assert ends == pytest.approx([0.113, 0.068, 0.033], abs=0.002)


def test_clean_rows_of_a_user_do_not_clear_a_file() -> None:
    made = Made(DECAY)
    nothing, _ = made.count()
    found, _ = made.count(made.verdicts(made.order[-200:], "chosen"))
    assert [doubt.code for doubt in found.doubts] == ["chosen-unsuspicious"]
    assert found.most_by_chosen == np.inf
    assert found.left.high == found.most_unlike == pytest.approx(nothing.left.high, rel=0.01)


def test_right_rows_of_a_user_that_look_like_the_others_do_not_clear_a_file() -> None:
    made, right = Made(DECAY), np.flatnonzero(~Made(DECAY).is_wrong)
    cleared = 0
    for _ in range(60):
        found, _ = made.count(made.verdicts(made.rng.choice(right, 100, replace=False), "chosen"))
        cleared += found.most_by_chosen < np.inf
    assert cleared <= 2


@pytest.mark.parametrize("confidence", [0.5, 0.999999, 1.0])
def test_every_level_of_confidence_has_ends(confidence: float) -> None:
    made = Made(DECAY)
    rows = made.rng.choice(1200, 60, replace=False)
    for verdicts in (None, made.verdicts(made.order[:30], "chosen"), made.verdicts(rows, "random")):
        low, high = made.count(verdicts, confidence=confidence)[0].left.ends
        assert 0 <= low <= high <= 1200


def test_the_ceiling_is_that_of_all_rows_less_what_was_found() -> None:
    """Once all rows that differ from their prediction are verified, the rest agrees with it, right or wrong."""
    made = Made(DECAY, n_rows=300)
    nothing, _ = made.count()
    unlike = np.flatnonzero(made.chances.argmax(axis=1) != made.recorded)
    found, _ = made.count(made.verdicts(unlike, "chosen"))
    assert found.most_unlike == pytest.approx(nothing.most_unlike - made.is_wrong[unlike].sum())
    assert found.left.high >= made.left(unlike)


@pytest.mark.parametrize("n_chosen", [0, 30])
def test_a_random_sample_gives_a_number_and_chances_that_sum_to_it(n_chosen: int) -> None:
    made = Made(DECAY)
    chosen, others = made.order[:n_chosen], made.order[n_chosen:]
    random = made.rng.choice(others, 60, replace=False)
    rows = np.concatenate([chosen, random])
    drawn = np.repeat(["chosen", "random"], [n_chosen, 60])
    verified = trusted_ranks(Verified(rows, made.true[rows], drawn=drawn), np.arange(5), 1200)
    found, chances = made.count(Verdicts.of(verified, made.recorded))
    assert found.stage == "random"
    assert found.left.low <= made.left(rows) <= found.left.high
    unverified = np.setdiff1d(np.arange(1200), rows)
    assert chances[unverified].sum() == pytest.approx(found.left.value, abs=1e-9)
    assert_array_equal(chances[rows], made.is_wrong[rows])
    assert chances.sum() == pytest.approx(found.left.value + found.n_found)
    assert (found.chosen.n_decided, found.random.n_decided) == (n_chosen, 60)


def test_a_few_random_rows_count_as_chosen_ones() -> None:
    made = Made()
    assert made.count(made.verdicts(np.arange(9), "random"))[0].stage == "chosen"
    assert made.count(made.verdicts(np.arange(10), "random"))[0].stage == "random"


def test_open_rows_stay_unverified_and_widen_the_interval() -> None:
    made = Made(DECAY)
    rows = made.rng.choice(1200, 60, replace=False)
    whole, _ = made.count(made.verdicts(rows, "random"))
    verified = trusted_ranks(Verified(rows[5:], made.true[rows[5:]], drawn="random"), np.arange(5), 1200)
    found, chances = made.count(Verdicts.of(verified, made.recorded, open_rows=rows[:5]))
    assert found.n_left == 1145
    assert found.left.high - found.left.low > whole.left.high - whole.left.low
    assert chances[np.setdiff1d(np.arange(1200), rows[5:])].sum() == pytest.approx(found.left.value)


def test_reviewers_who_err_widen_every_route() -> None:
    made = Made(DECAY)
    for drawn, rows in (("chosen", made.order[:30]), ("random", made.rng.choice(1200, 60, replace=False))):
        ends = []
        for slip_rate in (0.0, 0.1):
            noise = (1 - slip_rate) * np.eye(5) + slip_rate / 4 * (1 - np.eye(5))
            labels = made.recorded[rows]
            verified = trusted_ranks(Verified(rows, labels, noise, drawn=drawn), np.arange(5), 1200)
            ends.append(made.count(Verdicts.of(verified, made.recorded))[0].left.ends)
        assert ends[1][0] <= ends[0][0]
        assert ends[1][1] > ends[0][1]


def test_hidden_causes_look_like_far_errors_until_suspects_are_found_right() -> None:
    made = Made()
    moved = np.random.default_rng(5).random(1200) < 0.05
    made.recorded = np.where(moved, (made.true + 2) % 5, made.true)
    made.true = made.recorded
    after = posterior(made.chances, made.recorded, credit_in_doubt(5))
    suspicion = 1 - after[np.arange(1200), made.recorded]
    before, _ = count_wrong(made.chances, made.recorded, suspicion)
    found, _ = count_wrong(
        made.chances, made.recorded, suspicion, made.verdicts(np.argsort(-suspicion)[:50], "chosen")
    )  # fmt: skip
    assert before.floor > 0
    assert not before.is_refuted
    assert found.is_refuted
    assert (found.floor, found.left.low) == (0, 0)


def parts_of(made: Made, cuts: list[int], verified: NDArray[Any]) -> tuple[Table, Traits]:
    """The table from the sums of its parts, in cells of its first rows."""
    cells = ScoreCells.from_sample(made.chances[:500])
    ends = zip([0, *cuts], [*cuts, len(made.true)], strict=True)
    parts = [
        Traits.of(cells, made.chances[a:b], made.recorded[a:b], made.suspicion[a:b]) for a, b in ends
    ]  # fmt: skip
    shape = shape_of(cells, 5)
    rows = Traits.of(cells, made.chances[verified], made.recorded[verified], made.suspicion[verified])
    return Table.of(cells, reduce(add, (Sums.of(part, *shape) for part in parts))), rows


@pytest.mark.parametrize("drawn", ["chosen", "random"])
def test_parts_of_a_table_add_up_to_its_count(drawn: str) -> None:
    made = Made(DECAY)
    rows = made.order[:40] if drawn == "chosen" else made.rng.choice(1200, 60, replace=False)
    verdicts = made.verdicts(rows, drawn)
    counts = []
    for cuts in ([], [300, 301, 900]):
        table, traits = parts_of(made, cuts, rows)
        counts.append(table.count(verdicts, traits))
    assert counts[0].left == counts[1].left if drawn == "random" else counts[0].left.ends == counts[1].left.ends


@pytest.mark.parametrize("drawn", ["chosen", "random"])
def test_the_order_of_the_rows_makes_no_difference(drawn: str) -> None:
    made = Made(DECAY)
    rows = made.order[:40] if drawn == "chosen" else made.rng.choice(1200, 60, replace=False)
    found, _ = made.count(made.verdicts(rows, drawn))
    order = np.argsort(made.recorded, kind="stable")
    place = np.argsort(order)
    verdicts = made.verdicts(rows, drawn)
    moved = Verdicts(place[verdicts.rows], *verdicts._parts[1:])
    again, _ = count_wrong(made.chances[order], made.recorded[order], made.suspicion[order], moved)
    assert again.left.ends == found.left.ends
    assert again.floor == found.floor


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_suspicion_is_rounded_by_a_hundredth_of_its_logit_at_most(suspicions: list[float]) -> None:
    logits = GRID[levels_of(np.array(suspicions))]
    clipped = np.clip(suspicions, 1e-6, 1 - 1e-6)
    inside = (clipped == suspicions) & (np.abs(logits) < 13.8)
    assert (np.abs(logits - np.log(clipped / (1 - clipped)))[inside] <= 1 / 128 + 1e-9).all()


def test_a_table_that_nothing_can_be_fitted_to_has_a_range_all_the_same() -> None:
    recorded = np.arange(30) % 3
    found, _ = count_wrong(np.tile([0.2, 0.5, 0.3], (30, 1)), recorded, np.full(30, 0.5))
    assert found.left.low == 0
    assert 20 <= found.left.high <= 30


def test_everything_verified_leaves_nothing() -> None:
    made = Made(DECAY, n_rows=200)
    for drawn in ("chosen", "random"):
        found, _ = made.count(made.verdicts(np.arange(200), drawn))
        assert found.left.ends == (0, 0)
        assert found.n_left == 0


def test_the_gate_is_about_all_rows_and_what_is_left() -> None:
    made = Made()
    found, _ = made.count(made.verdicts(made.order[:30], "chosen"))
    assert found.gate(0.12).answer == "passed"
    assert found.gate(0.05).answer == "cannot be told"
    assert found.gate(0.05).n_rows == 72


def test_random_rows_that_would_have_been_chosen_since_are_set_aside() -> None:
    made = Made(DECAY)
    random = made.rng.choice(1200, 60, replace=False)
    chosen = made.order[~np.isin(made.order, random)][:50]
    cut = made.suspicion[chosen].min()
    rows, drawn = np.concatenate([random, chosen]), np.repeat(["random", "chosen"], [60, 50])
    verified = trusted_ranks(Verified(rows, made.true[rows], drawn=drawn), np.arange(5), 1200)
    found, _ = made.count(Verdicts.of(verified, made.recorded))
    above = int((made.suspicion[random] > cut).sum())
    assert above > 0
    assert found.random.n_decided == pytest.approx(60 - above, abs=1)
    assert found.n_found == made.is_wrong[rows].sum()
    assert found.left.low <= made.left(rows) <= found.left.high


@pytest.mark.parametrize("are_suspects", [True, False])
def test_random_rows_stand_for_the_rest_after_suspects_and_beside_rows_of_any_suspicion(are_suspects: bool) -> None:
    made = Made(DECAY)
    chosen = made.order[:50] if are_suspects else made.rng.choice(1200, 400, replace=False)
    random = made.rng.choice(np.setdiff1d(np.arange(1200), chosen), 60, replace=False)
    rows, drawn = np.concatenate([chosen, random]), np.repeat(["chosen", "random"], [len(chosen), 60])
    verified = trusted_ranks(Verified(rows, made.true[rows], drawn=drawn), np.arange(5), 1200)
    assert made.count(Verdicts.of(verified, made.recorded))[0].random.n_decided == 60
