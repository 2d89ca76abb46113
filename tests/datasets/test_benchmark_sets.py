from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ordinoise.datasets import MissingFileError
from ordinoise.datasets.benchmark import BENCHMARKS, ordinal_benchmark


def test_there_are_nine_benchmarks() -> None:
    expected = "ERA LEV SWD automobile balance-scale car newthyroid toy winequality-red"
    assert list(BENCHMARKS) == expected.split()


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_benchmark_is_what_its_file_says(name: str, data_dir: Path) -> None:
    rows = [line.split(",") for line in (data_dir / "ordinal" / f"{name}.csv").read_text().splitlines()]
    grades = Counter(int(float(row[-1])) for row in rows)
    data = ordinal_benchmark(name, data_dir)
    assert data.features.shape == (len(rows), len(rows[0]) - 1)
    assert data.n_classes == len(grades) == max(grades) + 1
    assert dict(enumerate(np.bincount(data.labels).tolist())) == dict(sorted(grades.items()))
    assert data.features[-1].tolist() == [float(field) for field in rows[-1][:-1]]


def test_the_benchmarks_own_folder_will_do(data_dir: Path) -> None:
    assert ordinal_benchmark("toy", data_dir / "ordinal").n_samples == 300


def test_balance_scale_leans_left_at_the_lowest_grade(data_dir: Path) -> None:
    data = ordinal_benchmark("balance-scale", data_dir)
    weights = np.rint(data.features * np.sqrt(2)) + 3  # each column is 1..5, z-scored
    left, right = weights[:, 0] * weights[:, 1], weights[:, 2] * weights[:, 3]
    assert np.array_equal(data.labels - 1, np.sign(right - left))


def test_an_unknown_benchmark_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got 'winequality'; did you mean 'winequality-red'"):
        ordinal_benchmark("winequality", tmp_path)


def test_an_absent_benchmark_is_named_and_offers_no_download(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"hold 'car.csv', as one of \['ordinal/car.csv'") as error:
        ordinal_benchmark("car", tmp_path)
    assert "fetch" not in str(error.value)


def test_a_benchmark_with_another_grade_is_refused(tmp_path: Path) -> None:
    (tmp_path / "toy.csv").write_text("0.5,0.5,1\n0.5,0.5,5\n")
    with pytest.raises(ValueError, match=r"grades in toy.csv must hold whole numbers from 0 to 4, got 5 at 1"):
        ordinal_benchmark("toy", tmp_path, verify=False)
