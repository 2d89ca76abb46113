"""Automatic grades corrected by human ones: limits where the answer is known, relations, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ordinoise.noise import Noise, corrupt, inverse_decay
from ordinoise.scoring import Judgment, judge
from ordinoise.scoring.judges.estimate import Counts, _third_moment
from ordinoise.scoring.judges.matrix import probability_of_one_matrix

N = 1200


def graded(lean: float = 0.0, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A judge of systems a and b on a scale from 1 to 5 who errs, and people's grades of all rows."""
    rng = np.random.default_rng(seed)
    system = rng.choice(["a", "b"], N)
    human = np.clip(np.round(rng.normal(3.2, 1.1, N) + 0.4 * (system == "a")), 1, 5)
    judged = corrupt(human - 1, inverse_decay(5, np.array([0.05, 0.1, 0.15, 0.1, 0.2])), random_state=seed) + 1
    return np.where((system == "b") & (rng.random(N) < lean), np.minimum(judged + 1, 5), judged), human, system


def some(human: NDArray[Any], n_human: int = 200, seed: int = 1) -> NDArray[Any]:
    """The grades of `n_human` rows, drawn at random; NaN elsewhere."""
    few = np.full(len(human), np.nan)
    rows = np.random.default_rng(seed).permutation(len(human))[:n_human]
    few[rows] = human[rows]
    return few


def found(judged: Any, human: Any, system: Any = None, **settings: Any) -> Judgment:
    return judge(judged, human, system, **{"random_state": 0, **settings})


def ends(one: Judgment) -> NDArray[np.float64]:
    return np.array([(each.mean.value, each.mean.low, each.mean.high) for each in one.systems])


def test_with_all_rows_graded_by_people_the_mean_is_theirs() -> None:
    judged, human, system = graded()
    result = found(judged, human, system)
    for one in result.systems:
        mine = human[system == one.system]
        assert one.mean.value == pytest.approx(mine.mean())
        assert one.at_least["4"].value == pytest.approx((mine >= 4).mean())
        assert one.mean.low < mine.mean() < one.mean.high
        assert one.more_to_halve is None
    assert len(result.next_rows) == 0


def test_a_judge_with_one_grade_for_all_leaves_the_mean_of_the_human_grades() -> None:
    _, human, system = graded()
    for one in found(np.full(N, 3), some(human), system).systems:
        assert one.human_mean is not None
        assert one.mean.value == pytest.approx(one.human_mean.value)


def test_with_two_grades_and_many_rows_it_is_ppi_plus_plus() -> None:
    package = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(0)
    human = (rng.random(20_000) < 0.7).astype(int)
    judged = corrupt(human, np.array([[0.7, 0.3], [0.1, 0.9]]), random_state=1)
    few = some(human, 2000)
    known = ~np.isnan(few)
    low, high = np.ravel(package.ppi_mean_ci(few[known], judged[known], judged[~known], alpha=0.05))
    one = found(judged, few).systems[0].mean
    assert one.low == pytest.approx(low, abs=0.03 * (high - low))
    assert one.high == pytest.approx(high, abs=0.03 * (high - low))


def test_a_judge_who_knows_makes_the_interval_narrower_than_human_grades_alone() -> None:
    _, human, system = graded()
    judged = corrupt(human - 1, inverse_decay(5, 0.05), random_state=0) + 1
    for one in found(judged, some(human), system).systems:
        assert one.human_mean is not None
        assert one.mean.high - one.mean.low < 0.75 * (one.human_mean.high - one.human_mean.low)


def test_grades_that_are_never_wrong_so_far_still_leave_room_for_rare_errors() -> None:
    human = np.ones(1000)
    human[:60] = np.nan
    few = np.full(1000, np.nan)
    few[100:150] = 1
    share = judge(np.ones(1000), few, classes=[0, 1]).systems[0].at_least["1"]
    assert share.value == pytest.approx(1)
    assert 1 - 8 / 50 < share.low < 1 - 1 / 50
    assert share.high == 1


def test_an_unfair_judge_is_found_out_and_does_not_move_the_corrected_mean() -> None:
    judged, human, system = graded(lean=0.8)
    result = found(judged, some(human, 400), system)
    _, favored = result.systems
    truth = human[system == "b"].mean()
    assert favored.mean.low < truth < favored.mean.high
    assert favored.judge_bias is not None
    assert favored.judge_bias.low > 0
    assert result.one_matrix < 0.1
    assert "+0." in result.lean
    assert "for b" in result.lean
    assert result.noise is not None
    assert (result.noise.per, result.noise.raters) == ("rater", ("a", "b"))
    up = [np.triu(matrix, 1).sum() for matrix in result.noise.matrices]
    assert up[1] > up[0] + 0.5


def test_a_fair_judge_gets_one_matrix_near_the_true_one() -> None:
    judged, human, system = graded()
    result = found(judged, some(human, 600), system)
    assert result.one_matrix > 0.5
    noise = result.noise
    assert noise is not None
    assert noise.per == "all"
    assert noise.interval is not None
    truth = inverse_decay(5, np.array([0.05, 0.1, 0.15, 0.1, 0.2]))
    assert ((noise.interval[0] <= truth + 0.02) & (truth - 0.02 <= noise.interval[1])).mean() > 0.85
    assert noise.rate == pytest.approx((judged != human).mean(), abs=0.06)


def test_evidence_for_one_matrix_grows_with_equal_tables_and_falls_with_different_ones() -> None:
    table = np.array([[30.0, 5, 1], [4, 25, 6], [1, 5, 20]])
    alike = [probability_of_one_matrix(np.stack([size * table, size * table])) for size in (0.2, 1, 5)]
    apart = [probability_of_one_matrix(np.stack([size * table, size * table[:, ::-1]])) for size in (0.2, 1, 5)]
    assert alike == sorted(alike)
    assert apart == sorted(apart, reverse=True)
    assert alike[-1] > 0.95
    assert apart[-1] < 1e-6


@pytest.mark.parametrize("factor", [2.0, 10.0])
def test_another_unit_of_the_grades_changes_the_unit_of_the_answer_alone(factor: float) -> None:
    judged, human, system = graded()
    few = some(human)
    plain, scaled = found(judged, few, system), found(factor * judged + 7, factor * few + 7, system)
    np.testing.assert_allclose(ends(scaled), factor * ends(plain) + 7)


def test_the_order_of_the_rows_does_not_matter() -> None:
    judged, human, system = graded()
    few, order = some(human), np.random.default_rng(5).permutation(N)
    np.testing.assert_allclose(
        ends(found(judged[order], few[order], system[order])), ends(found(judged, few, system)), atol=1e-9
    )


def test_text_grades_count_from_one() -> None:
    judged, human, system = graded()
    few, names = some(human), np.array(["awful", "bad", "fair", "good", "fine"], dtype=object)
    text = [None if np.isnan(grade) else names[int(grade) - 1] for grade in few]
    result = found(names[judged.astype(int) - 1], text, system, classes=names.tolist())
    np.testing.assert_allclose(ends(result), ends(found(judged, few, system)))
    assert list(result.systems[0].at_least) == ["bad", "fair", "good", "fine"]


def test_people_may_choose_rows_by_the_judges_grade() -> None:
    judged, human, system = graded()
    rng = np.random.default_rng(2)
    few = np.where(rng.random(N) < np.where(judged >= 4, 0.6, 0.1), human, np.nan)
    result = found(judged, few, system)
    assert "not-random" in [doubt.code for doubt in result.doubts]
    for one in result.systems:
        truth = human[system == one.system].mean()
        assert one.human_mean is not None
        assert one.human_mean.low > truth
        assert one.mean.low < truth < one.mean.high
    assert "not-random" not in [doubt.code for doubt in found(judged, some(human), system).doubts]


def test_a_row_weighs_less_where_people_graded_more_of_them() -> None:
    many, few = Counts(np.array([[1000.0, 1000.0]]), np.repeat([0, 1], [80, 20])).weights[0]
    assert 3 < few / many < 4
    np.testing.assert_allclose(Counts(np.array([[800.0, 200.0]]), np.repeat([0, 1], [80, 20])).weights, 1)


def test_a_few_large_errors_of_both_signs_say_nothing_about_the_skew() -> None:
    errors = np.zeros((1, 40, 1))
    errors[0, :6, 0] = [3, -2, 3, -3, 2, -2]
    assert _third_moment(errors)[0, 0] == 0
    errors[0, :10, 0] = 2.0
    assert _third_moment(errors)[0, 0] == pytest.approx(0.9 * 10 * 2.0**3)


def paired(seed: int, n_items: int = 300, n_graded: int = 60) -> tuple[Any, ...]:
    """Both systems answer every prompt, with grades that a prompt shares; people grade both answers to some."""
    rng = np.random.default_rng([seed, 3])
    ease = np.repeat(rng.normal(scale=1.2, size=n_items), 2)
    item, system = np.repeat(np.arange(n_items), 2), np.tile(["a", "b"], n_items)
    human = np.clip(np.round(3 + ease + 0.3 * (system == "a") + rng.normal(scale=0.4, size=2 * n_items)), 1, 5)
    judged = corrupt(human.astype(int) - 1, inverse_decay(5, 0.15), random_state=rng) + 1
    few = np.where(item < n_graded, human, np.nan)
    return judged, few, system, item, human


def test_an_item_for_each_row_changes_nothing() -> None:
    judged, human, system = graded()
    few = some(human)
    plain, alone = found(judged, few, system), found(judged, few, system, items=np.arange(N))
    np.testing.assert_allclose(ends(alone), ends(plain))
    assert [one.mean.low for one in alone.differences] == pytest.approx([one.mean.low for one in plain.differences])
    nameless = found(judged, few, system, items=[None] * N)
    np.testing.assert_allclose(ends(nameless), ends(plain))


@pytest.mark.slow
def test_differences_on_the_same_prompts_are_more_precise_and_still_cover() -> None:
    *_, system, _, human = paired(99, 100_000)
    truth = human[system == "a"].mean() - human[system == "b"].mean()
    covered, ratios = 0, []
    for seed in range(30):
        judged, few, system, item, _ = paired(seed)
        alone, together = (found(judged, few, system, items=items).differences[0] for items in (None, item))
        sign = 1 if together.system == "a" else -1
        covered += together.mean.low <= sign * truth <= together.mean.high
        ratios.append((together.mean.high - together.mean.low) / (alone.mean.high - alone.mean.low))
    assert covered >= 25  # fewer have a chance of 1 in 300 at 95 %
    assert np.mean(ratios) < 0.9


def test_rows_of_one_item_in_a_system_count_as_one() -> None:
    judged, human, system = graded()
    few = some(human, 150)
    twice = [np.concatenate([column, column]) for column in (judged, few, system, np.arange(N))]
    once = found(judged, few, system)
    np.testing.assert_allclose(ends(found(*twice[:3], items=twice[3]))[:, 0], ends(once)[:, 0], atol=0.03)
    width, naive = (np.diff(ends(one)[:, 1:])[:, 0] for one in (found(*twice[:3], items=twice[3]), found(*twice[:3])))
    assert (width > 1.25 * naive).all()


def third_system(seed: int, lean: float = 0.0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Systems a and b of which people graded 600 rows, and c, with other grades, of which they graded none."""
    rng = np.random.default_rng([seed, 8])
    system = rng.choice(["a", "b", "c"], 1800)
    human = np.clip(np.round(rng.normal(3.2, 1.1, 1800) - 0.8 * (system == "c")), 1, 5)
    judged = corrupt(human.astype(int) - 1, inverse_decay(5, 0.1), random_state=rng) + 1
    judged = np.where((system == "b") & (rng.random(1800) < lean), np.minimum(judged + 1, 5), judged)
    few = np.where((rng.random(1800) < 0.5) & (system != "c"), human, np.nan)
    return judged, few, system, human


def test_a_system_that_nobody_graded_is_scored_by_the_matrix_of_the_others() -> None:
    covered, errors, naive = 0, [], []
    for seed in range(1, 7):
        judged, few, system, human = third_system(seed)
        result = found(judged, few, system)
        assert [one.system for one in result.systems] == ["a", "b", "c"]
        unseen, truth = result.systems[2], human[system == "c"].mean()
        assert (unseen.n_human, unseen.human_mean) == (0, None)
        covered += unseen.mean.low <= truth <= unseen.mean.high
        table = result.table @ np.arange(1, 6)
        naive.append(table[judged[system == "c"] - 1].mean() - truth)
        errors.append(unseen.mean.value - truth)
    assert covered >= 4  # fewer have a chance of 1 in 500 at 95 %
    assert abs(np.mean(errors)) < 0.06
    assert np.mean(naive) > 0.1  # the table of the other systems would take their shares for granted
    assert "no-human-grades" in [doubt.code for doubt in result.doubts]
    assert (system[result.next_rows] == "c").sum() == 10
    assert len(result.differences) == 3
    json.dumps(result.to_dict(), allow_nan=False)


def test_it_is_refused_if_the_judge_is_unfair_to_the_others() -> None:
    judged, few, system, _ = third_system(0, lean=0.8)
    with pytest.raises(ValueError, match=r"got none for 'c'; grade some of its rows, or drop it: that the judge errs"):
        found(judged, few, system)


def test_a_judge_with_another_scale_has_a_table_instead_of_a_matrix() -> None:
    judged, human, system = graded()
    result = found(2 * judged - (np.arange(N) % 2), some(human), system)
    assert result.noise is None
    assert result.table.shape == (10, 5)
    np.testing.assert_allclose(result.table.sum(axis=1), 1)
    expected = result.table @ np.arange(5)
    assert expected[-1] > expected[4] + 0.7 > expected[0] + 1.2
    assert result.systems[0].judge_mean is None
    assert result.systems[0].judge_bias is None


def test_many_scores_are_read_in_groups_that_keep_their_order() -> None:
    judged, human, system = graded()
    scores = judged + np.random.default_rng(0).uniform(-0.4, 0.4, N)
    result = found(scores, some(human), system)
    assert len(result.judge_classes) == 10
    assert "groups" in result.messages[0]
    starts = [float(name) for name in result.judge_classes]
    assert starts == sorted(starts)
    for one in result.systems:
        assert one.mean.low < human[system == one.system].mean() < one.mean.high


@pytest.mark.slow
def test_several_people_may_err_and_are_better_than_one_of_them() -> None:
    judged, human, system = graded()
    rows = ~np.isnan(some(human, 300))
    right = ends(found(judged, np.where(rows, human, np.nan), system))[:, 0]
    upward = np.array(
        [[0.6, 0.3, 0.1, 0, 0], [0, 0.6, 0.3, 0.1, 0], [0, 0, 0.6, 0.3, 0.1], [0, 0, 0, 0.6, 0.4], np.eye(5)[4]]
    )
    people = [
        np.where(rows, corrupt(human - 1, matrix, random_state=7) + 1.0, np.nan)
        for matrix in (upward, np.eye(5), np.eye(5))
    ]
    result = found(judged, people, system)
    assert result.n_people == 3
    assert "may err" in result.assumption
    one_of_them = ends(found(judged, people[0], system))[:, 0]
    assert (np.abs(ends(result)[:, 0] - right) < 0.3 * np.abs(one_of_them - right)).all()


def test_next_rows_are_not_graded_yet_and_lie_where_people_and_judge_disagree() -> None:
    rng = np.random.default_rng(0)
    judged = rng.choice([1, 5], 2000)
    human = np.where(judged == 5, rng.choice([1, 3, 5], 2000), 1)
    few = some(human, 200)
    rows = found(judged, few, n_next=30).next_rows
    assert len(set(rows.tolist())) == 30
    assert np.isnan(few[rows]).all()
    assert (judged[rows] == 5).mean() > 0.8
    again = found(judged, few, n_next=30).next_rows
    assert (rows == again).all()


@pytest.mark.slow
def test_as_many_more_human_grades_as_advised_halve_the_interval() -> None:
    rng = np.random.default_rng(0)
    human = rng.choice([1, 2, 3, 4, 5], 20_000)
    judged = corrupt(human - 1, inverse_decay(5, 0.2), random_state=1) + 1
    advised = found(judged, some(human, 150)).systems[0].more_to_halve
    assert advised is not None
    ratios = []
    for seed in range(1, 9):
        first, then = (found(judged, some(human, n, seed)).systems[0].mean for n in (150, 150 + advised))
        ratios.append((then.high - then.low) / (first.high - first.low))
    assert np.mean(ratios) == pytest.approx(0.5, abs=0.03)


def test_one_human_grade_in_a_system_says_nothing_about_its_mean() -> None:
    judged, human, system = graded()
    few = some(human)
    few[system == "b"] = np.nan
    few[np.flatnonzero(system == "b")[0]] = 3
    result = found(judged, few, system)
    assert (result.systems[1].mean.low, result.systems[1].mean.high) == (1, 5)
    assert "few-human-grades" in [doubt.code for doubt in result.doubts]


def test_the_result_is_plain_json_and_its_noise_can_be_read_back() -> None:
    judged, human, system = graded(lean=0.8)
    plain = json.loads(json.dumps(found(judged, some(human), system).to_dict(), allow_nan=False))
    noise = Noise.from_dict(plain["noise"])
    assert noise.n_classes == 5
    assert plain["systems"][0]["mean"]["low"] < plain["systems"][0]["mean"]["high"]
    assert str(found(judged, some(human), system)).startswith("a: ")


REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "no human grade": (([1, 2], [None, None]), {}, "human must have a grade in some row that the judge graded too"),
    "text without order": ((["good", "bad"], ["good", None]), {}, "human must hold numbers if no order is given"),
    "a judge in text": ((["good", "bad"], [1, 2]), {}, "judge must hold numbers"),
    "a system without": (([1, 2, 3], [1, 2, None], ["a", "a", "b"]), {}, "human must have a grade for some row of every"),
    "other lengths": (([1, 2, 3], [1, 2]), {}, "human must be as long as judge"),
    "an unknown grade": ((["x", "good"], ["good", "bad"]), {"classes": ["bad", "good"]}, "judge must hold only the grades"),
    "one grade": (([3, 3], [3, None]), {}, "human must hold between 2 and 50 different grades"),
    "two of one name": (([1, 2], [1, 2]), {"classes": [1, 1]}, "classes must name at least two different grades"),
    "no confidence": (([1, 2], [1, 2]), {"confidence": 2}, "confidence must be above 0"),
    "a huge grade": (([1, 1e308], [1, 2]), {}, "judge must hold text or numbers up to 1e\\+09"),
    "a list in a cell": (([1, 2], np.array([{}, 2], dtype=object)), {}, "human must hold text or numbers up to"),
}  # fmt: skip


@pytest.mark.parametrize("trouble", REFUSED)
def test_bad_input_is_one_sentence(trouble: str) -> None:
    arguments, settings, sentence = REFUSED[trouble]
    with pytest.raises(ValueError, match=sentence) as refusal:
        judge(*arguments, **settings)
    assert ", got " in str(refusal.value)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_human", [50, 100, 500])
def test_intervals_cover_as_promised(n_classes: int, n_human: int) -> None:
    package = pytest.importorskip("studies.judge", reason="the study needs ppi-python")
    covered, widths = [], []
    for _, scenario in package.scenarios(n_classes, 1):
        truth = scenario.shares @ package.queried(np.arange(n_classes), n_classes)
        draw = package.partial(scenario.draw, 1000)
        found = package.measured(draw, truth, n_classes, n_human, 200, 7)
        covered.append(found[0])
        widths.append(found[1])
    mean = np.mean(covered, axis=0)[0]
    assert (mean > 0.93 - 3 * np.sqrt(0.05 * 0.95 / 800)).all()
    ours, human, ppi, _ = np.mean(widths, axis=0)[:, 0]
    assert ours < min(human, ppi)


def test_a_word_among_numbers_is_the_one_that_is_shown() -> None:
    with pytest.raises(ValueError, match="human must hold numbers if no order is given, got text such as 'x'"):
        judge([1, 2, 3, 1], ["1", "2.5", "x", "3"])
