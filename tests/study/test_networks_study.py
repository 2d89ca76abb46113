"""The study of the defaults of the network classifiers."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from ordinoise import inverse_decay
from studies.networks import _shares, noise_entropy, texts


def test_the_entropy_of_the_noise_weighs_each_row_by_the_share_of_its_class() -> None:
    matrix = np.array([[0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    slips = -0.9 * np.log(0.9) - 0.1 * np.log(0.1)
    assert noise_entropy(np.eye(4), np.full(4, 0.25)) == 0
    assert noise_entropy(matrix, np.array([1.0, 0, 0])) == pytest.approx(slips)
    assert noise_entropy(matrix, np.array([0.5, 0.25, 0.25])) == pytest.approx(0.5 * slips + 0.25 * np.log(2))


def test_no_forward_loss_of_the_truth_is_below_the_entropy() -> None:
    matrix, shares = inverse_decay(4, 0.15), np.array([0.1, 0.2, 0.3, 0.4])
    recorded = shares[:, None] * matrix
    loss_of_the_truth = -(recorded * np.log(matrix)).sum()
    assert noise_entropy(matrix, shares) == pytest.approx(loss_of_the_truth)


def test_the_share_undone_is_one_for_the_clean_error_and_empty_for_harm() -> None:
    assert _shares(0.1, 0.1, (0.3, 0.5)) == ["100%", "100%"]
    assert _shares(0.4, 0.1, (0.3, 0.5)) == ["", "25%"]


@pytest.mark.parametrize(("low", "high", "n_classes"), [(-4, 4, 5), (1, 5, 5)])
def test_a_text_is_recorded_by_one_of_its_raters_and_judged_by_their_mean(
    tmp_path: Path, low: int, high: int, n_classes: int
) -> None:
    (tmp_path / "text").mkdir()
    rng = np.random.default_rng(0)
    with gzip.open(tmp_path / "text" / "few.csv.gz", "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "ratings"])
        for row in range(240):
            words = " ".join(rng.choice([f"word{number}" for number in range(150)], 12))
            grade = rng.integers(low, high + 1)
            writer.writerow([row, words, f"{grade} {grade} {grade}"])
    problem = texts(tmp_path, "few", 0)
    assert (problem.X.shape, problem.X_test.shape) == ((160, 100), (80, 100))
    np.testing.assert_array_equal(problem.recorded, problem.true)
    assert problem.n_classes == n_classes
    assert set(problem.true) == set(range(n_classes))
