"""Prediction sets: slow transcriptions, exact averages over the noise, and coverage of unrecorded true labels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.decisions import decide
from ordinoise.levels import class_probabilities
from ordinoise.noise import Noise, adjacent, corrupt, inverse_decay
from ordinoise.scoring import sets as conformal
from ordinoise.scoring.sets import SetCalibration, calibrate_sets, entry_levels, prediction_sets
from strategies import Floats, Ints, noise_matrices

SEEDS = st.integers(0, 2**32 - 1)
UP = adjacent(4, up=0.3, down=0.05)


def _problem(n_classes: int, n_samples: int, seed: int) -> tuple[Floats, Ints]:
    """Probabilities that are somewhat off, and true labels."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(n_classes, 0.7), n_samples)
    true = (rng.random((n_samples, 1)) > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)
    timid = probabilities**0.6
    return timid / timid.sum(axis=1, keepdims=True), true


def _levels_of_row(row: list[float]) -> list[float]:
    """Entry levels, grade by grade."""
    median = sum(1 for j in range(len(row) - 1) if 1 - sum(row[: j + 1]) > 0.5)
    inside, levels = [median], [0.0] * len(row)
    while len(inside) < len(row):
        near = [k for k in (min(inside) - 1, max(inside) + 1) if 0 <= k < len(row)]
        new = max(near, key=lambda k: (row[k], -k))
        levels[new] = sum(row[k] for k in inside)
        inside.append(new)
    return levels


@given(n_classes=st.integers(2, 7), seed=SEEDS)
def test_entry_levels_are_those_of_one_grade_at_a_time(n_classes: int, seed: int) -> None:
    probabilities, _ = _problem(n_classes, 20, seed)
    probabilities[:3] = np.eye(n_classes)[[0, 1, n_classes - 1]]
    probabilities[3] = 1 / n_classes
    np.testing.assert_allclose(
        entry_levels(probabilities), [_levels_of_row(row) for row in probabilities.tolist()], atol=1e-12
    )


@given(n_classes=st.integers(2, 7), seed=SEEDS, low=st.floats(0.01, 1), high=st.floats(0.01, 1))
def test_sets_are_runs_with_the_median_that_grow_with_confidence(
    n_classes: int, seed: int, low: float, high: float
) -> None:
    probabilities, true = _problem(n_classes, 60, seed)
    calibration = calibrate_sets(probabilities, true, np.eye(n_classes))
    small, large = (prediction_sets(probabilities, calibration, level) for level in sorted([low, high]))
    assert (small.mask <= large.mask).all()
    assert (small.high - small.low + 1 == small.sizes).all()
    assert small.mask[np.arange(60), decide(probabilities)].all()


@given(n_classes=st.integers(2, 6), n_samples=st.integers(5, 80), seed=SEEDS, percent=st.integers(1, 100))
def test_without_noise_it_is_split_conformal_prediction(
    n_classes: int, n_samples: int, seed: int, percent: int
) -> None:
    probabilities, true = _problem(n_classes, n_samples, seed)
    scores = np.sort(entry_levels(probabilities)[np.arange(n_samples), true])
    needed = -(-percent * (n_samples + 1) // 100)
    expected = scores[needed - 1] if needed <= n_samples else 1.0
    assert calibrate_sets(probabilities, true, np.eye(n_classes)).threshold(percent / 100) == pytest.approx(
        expected, abs=1e-12
    )


def _every_record(
    probabilities: Floats, true: Ints, matrices: Floats, raters: Ints
) -> tuple[Floats, Ints, Ints, Floats]:
    """Every row once for every label it may get, weighted by the probability of that record: the exact average."""
    n_samples, n_classes = probabilities.shape
    recorded = np.tile(np.arange(n_classes), n_samples)
    chance = matrices[raters, true].ravel() / n_samples
    return np.repeat(probabilities, n_classes, axis=0), recorded, np.repeat(raters, n_classes), chance


@given(
    first=noise_matrices(min_classes=4, max_classes=4), second=noise_matrices(min_classes=4, max_classes=4), seed=SEEDS
)
def test_the_average_over_the_noise_is_the_coverage_of_the_true_label(first: Floats, second: Floats, seed: int) -> None:
    probabilities, true = _problem(4, 30, seed)
    matrices, raters = np.stack([first, second]), np.arange(30) % 2
    levels = entry_levels(probabilities)
    candidates = np.unique(levels)
    covered = (levels[np.arange(30), true] <= candidates[:, None]).mean(axis=1)
    rows, recorded, who, chance = _every_record(probabilities, true, matrices, raters)
    tables = conformal._covered_tables(entry_levels(rows), recorded, who, chance, candidates, 2)
    np.testing.assert_allclose(conformal._coverage(tables, matrices, np.empty((0, 4, 4))), covered, atol=1e-9)


@given(seed=SEEDS)
def test_a_coverage_that_falls_is_made_to_rise_and_one_that_rises_is_left(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rising = np.sort(rng.random(40))
    rough = rising + rng.normal(scale=0.1, size=40)
    np.testing.assert_allclose(conformal._monotone(rising), rising)
    smooth = conformal._monotone(rough)
    assert (np.diff(smooth) >= 0).all()
    assert smooth.min() >= 0
    assert smooth.max() <= 1
    assert np.abs(smooth - rising).max() <= np.abs(rough - rising).max() + 1e-12


def test_certainty_takes_all_grades_also_where_the_corrected_coverage_exceeds_one() -> None:
    probabilities, true = _problem(4, 200, 7)
    for seed in range(5):
        calibration = calibrate_sets(probabilities, corrupt(true, UP, seed), UP)
        assert (prediction_sets(probabilities, calibration, 1.0).sizes == 4).all()


def _share_covered(matrix: Floats, taken_for: Floats, confidence: float = 0.8) -> float:
    probabilities, true = _problem(4, 40_000, 0)
    calibration = calibrate_sets(probabilities[::2], corrupt(true[::2], matrix, 1), taken_for)
    sets = prediction_sets(probabilities[1::2], calibration, confidence)
    return float(sets.mask[np.arange(20_000), true[1::2]].mean())


def test_sets_cover_the_true_label_as_promised_and_those_that_trust_the_records_cover_more() -> None:
    """The standard error of the corrected coverage is about .005."""
    assert abs(_share_covered(UP, UP) - 0.8) < 0.02
    assert _share_covered(UP, np.eye(4)) > 0.85


def test_noise_of_the_other_direction_is_not_corrected_by_this_matrix() -> None:
    assert abs(_share_covered(UP, adjacent(4, up=0.05, down=0.3)) - 0.8) > 0.02


def _doubted(*replicates: Floats) -> Noise:
    return Noise(UP, source="estimated", replicates=np.stack(replicates))


def test_plausible_matrices_that_agree_change_nothing_and_doubt_makes_larger_sets() -> None:
    probabilities, true = _problem(4, 2000, 2)
    recorded = corrupt(true, UP, 3)
    plain = calibrate_sets(probabilities, recorded, UP)
    agreed = calibrate_sets(probabilities, recorded, _doubted(UP, UP, UP))
    np.testing.assert_array_equal(agreed.thresholds, plain.thresholds)
    spread = np.stack([adjacent(4, up=up, down=0.05) for up in np.linspace(0.1, 0.5, 21)])
    doubted = calibrate_sets(probabilities, recorded, _doubted(*spread))
    assert (doubted.thresholds >= plain.thresholds).all()
    assert doubted.threshold(0.8) > plain.threshold(0.8)


def test_matrices_without_an_inverse_are_not_among_the_plausible_ones() -> None:
    probabilities, true = _problem(4, 300, 2)
    singular = np.full((4, 4), 0.25)
    plain = calibrate_sets(probabilities, true, _doubted(UP, UP))
    np.testing.assert_array_equal(
        calibrate_sets(probabilities, true, _doubted(UP, singular, UP)).thresholds, plain.thresholds
    )


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    probabilities, true = _problem(3, 50, 4)
    twice = calibrate_sets(np.tile(probabilities, (2, 1)), np.tile(true, 2), np.eye(3))
    weights = np.r_[np.ones(100), np.zeros(20)]
    rows, labels = np.r_[probabilities, probabilities, probabilities[:20]], np.r_[true, true, true[:20]]
    weighted = calibrate_sets(rows, labels, np.eye(3), sample_weight=weights)
    np.testing.assert_array_equal(weighted.thresholds, twice.thresholds)


def test_few_rows_promise_nothing_but_all_grades() -> None:
    probabilities, true = _problem(5, 8, 5)
    calibration = calibrate_sets(probabilities, true, np.eye(5))
    assert (prediction_sets(probabilities, calibration, 0.9).sizes == 5).all()
    assert (prediction_sets(probabilities, calibration, 1.0).sizes == 5).all()


def test_fewer_thresholds_make_sets_at_least_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    probabilities, true = _problem(4, 500, 6)
    exact = calibrate_sets(probabilities, true, np.eye(4))
    monkeypatch.setattr(conformal, "MOST_THRESHOLDS", 200)
    coarse = calibrate_sets(probabilities, true, np.eye(4))
    assert (coarse.thresholds >= exact.thresholds).all()
    assert np.abs(coarse.thresholds - exact.thresholds).max() < 0.05


def test_confidence_between_two_steps_is_rounded_up() -> None:
    calibration = SetCalibration(np.linspace(0.001, 1, 1000), 10)
    assert calibration.threshold(0.9) == pytest.approx(0.9)
    assert calibration.threshold(0.9001) == pytest.approx(0.901)
    assert calibration.threshold(1e-9) == pytest.approx(0.001)


def test_sets_speak_in_the_users_grades() -> None:
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    sets = prediction_sets(probabilities, SetCalibration(np.full(1000, 0.8), 10), 0.9, classes=["low", "mid", "top"])
    assert (sets.low.tolist(), sets.high.tolist()) == (["low", "mid"], ["mid", "top"])
    assert (len(sets), sets.confidence, sets.sizes.tolist()) == (2, 0.9, [2, 2])


EVEN: Any = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: calibrate_sets([[0.5, 0.6]], [0], np.eye(2)), r"probabilities rows must be non-negative and sum to 1"),
        (lambda: calibrate_sets(EVEN, [2], np.eye(2)), r"recorded must hold whole numbers from 0 to 1, got 2"),
        (lambda: calibrate_sets(EVEN, [0, 1], np.eye(2)), r"recorded must be as long as probabilities \(1\), got 2"),
        (lambda: calibrate_sets(EVEN, [0], np.full((2, 2), 0.5)), r"noise_matrix must have rows that differ, got 2 equal rows"),
        (lambda: calibrate_sets(EVEN, [0], np.stack([np.eye(2)] * 2)), r"raters must name the rater of each sample when noise holds one matrix per rater"),
        (lambda: calibrate_sets(EVEN, [0], np.eye(2), raters=[1]), r"noise must hold one matrix per rater when raters are given"),
        (lambda: prediction_sets(EVEN, calibrate_sets(EVEN, [0], np.eye(2)), 0), r"confidence must be above 0"),
        (lambda: prediction_sets(EVEN, calibrate_sets(EVEN, [0], np.eye(2)), 90), r"and at most 1, got 90"),
        (lambda: prediction_sets(EVEN, calibrate_sets(EVEN, [0], np.eye(2)), classes=[1, 2, 3]), r"classes must name all 2 columns of probabilities"),
    ],
    ids=["sums", "label", "length", "singular", "no raters", "rater", "confidence", "percent", "classes"],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize("noise_matrix", [np.eye(4), inverse_decay(4, 0.15)], ids=["clean", "noisy"])
def test_with_assurance_nine_of_ten_calibrations_cover_as_promised(noise_matrix: Floats) -> None:
    """Of calibrations with 200 rows half cover less than promised without it."""
    rng, cuts = np.random.default_rng(0), np.array([-1.4, 0.1, 1.2])

    def drawn(n_rows: int) -> tuple[Floats, Ints]:
        chances = class_probabilities(3 * (rng.uniform(-3, 3, size=(n_rows, 1)) - cuts))
        return chances, (rng.random((n_rows, 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)

    many, true = drawn(100_000)
    entered = np.sort(entry_levels(many)[np.arange(len(true)), true])
    held = {None: 0, 0.9: 0}
    for _ in range(100):
        chances, labels = drawn(200)
        recorded = (rng.random((200, 1)) > noise_matrix[labels].cumsum(axis=1)[:, :-1]).sum(axis=1)
        for assurance in held:
            level = calibrate_sets(chances, recorded, noise_matrix, assurance=assurance).threshold(0.9)
            held[assurance] += bool(np.searchsorted(entered, level, side="right") >= 0.9 * len(entered))
    assert held[None] < 70
    assert held[0.9] >= 82
    with pytest.raises(ValueError, match=r"^assurance must be at least 0.5 and at most 0.9999, got 2$"):
        calibrate_sets(many[:50], true[:50], None, assurance=2)


@pytest.mark.parametrize("noise_matrix", [np.eye(4), inverse_decay(4, 0.1)], ids=["clean", "noisy"])
def test_by_grade_a_rare_grade_is_covered_as_often_as_the_others(noise_matrix: Floats) -> None:
    """A twelfth of the rows has the highest grade; with one threshold for all it is covered in four of five cases."""
    rng, cuts = np.random.default_rng(0), np.array([-1.4, 0.1, 2.85])

    def drawn(n_rows: int) -> tuple[Floats, Ints]:
        chances = class_probabilities(1.5 * (rng.uniform(-3, 3, size=(n_rows, 1)) - cuts))
        return chances, (rng.random((n_rows, 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)

    many, true = drawn(20_000)
    covered = np.zeros((2, 4))
    for _ in range(30):
        chances, labels = drawn(600)
        recorded = (rng.random((600, 1)) > noise_matrix[labels].cumsum(axis=1)[:, :-1]).sum(axis=1)
        for at, options in enumerate(({}, {"by_grade": True})):
            mask = prediction_sets(many, calibrate_sets(chances, recorded, noise_matrix, **options), 0.9).mask
            inside = mask[np.arange(len(true)), true]
            assert (np.diff(mask.astype(int), axis=1, prepend=0) == 1).sum(axis=1).max() == 1  # one run of grades
            covered[at] += np.bincount(true, inside) / np.bincount(true) / 30
    assert covered[0, 3] < 0.85
    assert (np.abs(covered[1] - 0.9) < 0.03).all()


def test_a_grade_that_nobody_recorded_is_in_every_set_by_grade_and_assurance_enlarges_the_sets() -> None:
    rng = np.random.default_rng(1)
    chances, labels = rng.dirichlet(np.ones(3), 200), rng.integers(2, size=200)
    plain, sure = (
        calibrate_sets(chances, labels, None, by_grade=True, assurance=assurance) for assurance in (None, 0.9)
    )
    assert plain.thresholds.shape == (3, 1000)
    assert plain.threshold(0.9)[2] == 1
    assert (sure.thresholds >= plain.thresholds - 1e-9).mean() > 0.95
    assert (np.diff(sure.thresholds) >= 0).all()
