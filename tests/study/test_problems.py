from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ordinoise.datasets import load
from ordinoise.datasets.paper import mslr
from ordinoise.noise import inverse_decay
from ordinoise.noise.items import mean_matrix
from studies.accuracy import Contest, noise_matrix_for, problem_of
from studies.accuracy.problems import LARGEST_WRONG, NOISES, perceived_matrices, split_rows

DIABETES = Contest("diabetes", "standard", "adjacent", "network, trusting", split=0)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_classes", range(3, 11))
def test_every_noise_matrix_leaves_each_grade_right_more_often_than_wrong(noise: str, n_classes: int) -> None:
    matrix = noise_matrix_for(noise, n_classes)
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert matrix.min() >= 0
    assert matrix.diagonal().min() >= 1 - LARGEST_WRONG - 1e-12


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_classes", range(3, 11))
def test_noise_is_weakened_by_one_factor_and_only_where_it_must_be(noise: str, n_classes: int) -> None:
    full, used = NOISES[noise](n_classes), noise_matrix_for(noise, n_classes)
    off_diagonal = ~np.eye(n_classes, dtype=bool) & (full > 0)
    if off_diagonal.any():
        factors = used[off_diagonal] / full[off_diagonal]
        assert np.ptp(factors) < 1e-12
        assert factors[0] == pytest.approx(min(1.0, LARGEST_WRONG / (1 - full.diagonal().min())))


def test_uniform_noise_has_the_rates_that_its_description_states() -> None:
    for n_classes, rate in {3: 0.15, 5: 0.15, 6: 0.135, 9: 0.108}.items():
        np.testing.assert_allclose(noise_matrix_for("uniform", n_classes), inverse_decay(n_classes, rate), atol=1e-12)


def test_two_of_the_noises_are_asymmetric() -> None:
    asymmetric = {
        noise for noise in NOISES if not np.allclose(noise_matrix_for(noise, 4), noise_matrix_for(noise, 4).T)
    }
    assert asymmetric == {"conditional", "adjacent"}


def test_all_contestants_are_set_the_same_problem() -> None:
    first, second = problem_of(DIABETES), problem_of(replace(DIABETES, contestant="histogram"))
    for name in ("features", "labels", "test_features", "test_labels"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.seed == second.seed


def test_noises_share_their_splits_and_splits_differ() -> None:
    noisy, clean = problem_of(DIABETES), problem_of(replace(DIABETES, noise="none"))
    np.testing.assert_array_equal(noisy.features, clean.features)
    np.testing.assert_array_equal(noisy.test_labels, clean.test_labels)
    other = problem_of(replace(DIABETES, split=1))
    assert not np.array_equal(noisy.test_features, other.test_features)


def test_noise_of_the_item_is_the_same_for_all_and_worst_next_to_other_grades() -> None:
    problem = problem_of(replace(DIABETES, noise="perceived"))
    clean = problem_of(replace(DIABETES, noise="none")).labels
    assert problem.share_wrong == (problem.labels != clean).mean()
    assert 0.2 < problem.share_wrong < 0.5
    matrices = perceived_matrices(problem.features, clean, problem.n_classes)
    np.testing.assert_array_equal(problem.noise_matrix, mean_matrix(matrices, clean))
    right = matrices[np.arange(len(clean)), clean, clean]
    assert np.ptp(right[clean == 1]) > 0.15


def test_noise_goes_into_the_training_labels_only() -> None:
    data = load("diabetes")
    problem = problem_of(DIABETES)
    grade = {tuple(row): label for row, label in zip(data.features.tolist(), data.labels.tolist(), strict=True)}  # type: ignore[union-attr]
    clean = np.array([grade[tuple(row)] for row in problem.features.tolist()])
    assert problem.test_labels.tolist() == [grade[tuple(row)] for row in problem.test_features.tolist()]
    # Adjacent noise: 33 % of the middle grades, over 350 rows.
    share = (clean != problem.labels).mean()
    assert share == problem.share_wrong
    assert 0.15 < share < 0.45
    assert np.abs(clean - problem.labels).max() == 1
    # Up three times as often as down.
    assert (problem.labels > clean).sum() > (problem.labels < clean).sum()


def test_four_fifths_train_and_no_row_is_on_both_sides() -> None:
    data = load("diabetes")
    training, test = split_rows(data, DIABETES)  # type: ignore[arg-type]
    assert sorted([*training, *test]) == list(range(data.n_samples))  # type: ignore[union-attr]
    assert len(test) == pytest.approx(0.2 * len(data.labels), abs=1)


def test_fewer_rows_are_some_of_the_training_rows_and_the_test_rows_stay() -> None:
    data = load("diabetes")
    training, test = split_rows(data, DIABETES)  # type: ignore[arg-type]
    fewer, same_test = split_rows(data, replace(DIABETES, max_rows=100))  # type: ignore[arg-type]
    assert len(set(fewer)) == 100
    assert set(fewer) < set(training)
    np.testing.assert_array_equal(test, same_test)


def test_a_query_stays_on_one_side(data_dir: Path) -> None:
    data = mslr(data_dir)
    assert data.groups is not None
    training, test = split_rows(data, Contest("mslr", "standard", "none", "histogram", 3))
    assert set(data.groups[training]).isdisjoint(data.groups[test])
    assert sorted([*training, *test]) == list(range(data.n_samples))


def test_every_grade_is_split_in_the_same_proportion(data_dir: Path) -> None:
    for split in range(3):
        problem = problem_of(Contest("automobile", "standard", "none", "histogram", split), str(data_dir))
        trained, tested = (np.bincount(labels, minlength=6) for labels in (problem.labels, problem.test_labels))
        assert trained.min() > 0
        assert np.abs(tested - 0.2 * (trained + tested)).max() <= 1


def test_a_cut_gives_four_grades(data_dir: Path) -> None:
    width, frequency = (
        problem_of(Contest("california", cut, "none", "histogram", 0, 500), str(data_dir))
        for cut in ("equal_width", "equal_frequency")
    )
    assert width.n_classes == frequency.n_classes == 4
    assert np.ptp(np.bincount(frequency.test_labels)) < np.ptp(np.bincount(width.test_labels))
