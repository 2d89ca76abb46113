from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ordinoise.datasets import OrdinalDataset, to_ordinal
from ordinoise.datasets.paper import abalone, boston, california, computer, mslr

READERS = {"boston": boston, "abalone": abalone, "computer": computer, "california": california}
FILES = {
    "boston": "housing.data",
    "abalone": "abalone.data",
    "computer": "cpu_act.data",
    "california": "cal_housing.data",
}
SHAPES = {"boston": (506, 13), "abalone": (4177, 8), "computer": (8192, 21), "california": (20640, 8)}


def fields(path: Path) -> list[list[str]]:
    return [line.replace(",", " ").split() for line in path.read_text().splitlines()]


def target_of(data: OrdinalDataset) -> np.ndarray:
    assert data.target is not None
    return data.target


@pytest.mark.parametrize("name", READERS)
def test_features_and_target_are_the_fields_of_the_file(name: str, data_dir: Path) -> None:
    data = READERS[name](data_dir)
    letters = {"M": "0", "F": "1", "I": "2"}
    rows = [[letters.get(field, field) for field in row] for row in fields(data_dir / "paper" / FILES[name])]
    literal = np.array([[float(field) for field in row] for row in rows])
    assert data.features.shape == SHAPES[name]
    assert data.features.dtype == np.float64
    assert np.array_equal(data.features, literal[:, :-1])
    assert np.array_equal(target_of(data), literal[:, -1])


def test_abalone_has_the_papers_four_ring_groups(data_dir: Path) -> None:
    rings = Counter(int(row[-1]) for row in fields(data_dir / "paper" / "abalone.data"))
    counts = [sum(rings[ring] for ring in group) for group in (range(1, 8), (8, 9), (10, 11, 12), range(13, 30))]
    assert sum(counts) == 4177
    assert np.bincount(abalone(data_dir).labels).tolist() == counts


def test_abalone_codes_sex_as_m_f_i(data_dir: Path) -> None:
    sexes = Counter(row[0] for row in fields(data_dir / "paper" / "abalone.data"))
    codes = abalone(data_dir).features[:, 0].astype(int)
    assert np.bincount(codes).tolist() == [sexes["M"], sexes["F"], sexes["I"]]


@pytest.mark.parametrize(("name", "n_classes"), [("boston", 5), ("computer", 5)])
def test_boston_and_computer_are_cut_into_classes_of_equal_frequency(name: str, n_classes: int, data_dir: Path) -> None:
    data = READERS[name](data_dir)
    assert data.n_classes == n_classes
    assert np.array_equal(data.labels, to_ordinal(target_of(data), n_classes, "equal_frequency"))


def test_california_is_cut_into_four_classes_of_equal_width(data_dir: Path) -> None:
    data = california(data_dir)
    low, width = 14999.0, (500001.0 - 14999.0) / 4
    literal = [min(3, int((value - low) // width)) for value in target_of(data)]
    assert data.labels.tolist() == literal


def test_california_in_classes_of_equal_frequency_is_nearly_even(data_dir: Path) -> None:
    data = california(data_dir, strategy="equal_frequency")
    ties = Counter(target_of(data).tolist()).most_common(1)[0][1]
    assert data.n_classes == 4
    assert np.abs(np.bincount(data.labels) - 20640 / 4).max() <= ties


@pytest.mark.parametrize("name", READERS)
def test_every_numeric_set_can_be_cut_differently(name: str, data_dir: Path) -> None:
    data = READERS[name](data_dir, n_classes=3, strategy="equal_frequency")
    assert data.n_classes == 3
    assert set(data.labels.tolist()) == {0, 1, 2}
    middle = float(np.median(target_of(data)))
    by_edges = READERS[name](data_dir, strategy="edges", edges=[middle])
    assert np.array_equal(by_edges.labels, target_of(data) >= middle)


def test_abalone_with_another_number_of_classes_asks_for_a_strategy(data_dir: Path) -> None:
    with pytest.raises(ValueError, match=r"n_classes must be one more than the 3 edges, got 6; .*strategy"):
        abalone(data_dir, n_classes=6)


def test_the_papers_folder_itself_will_do(data_dir: Path) -> None:
    assert boston(data_dir / "paper").n_samples == 506
    assert mslr(data_dir / "paper" / "MSLR-WEB10K", subset="test").n_samples == 5000


@pytest.mark.parametrize("name", READERS)
def test_a_truncated_file_is_refused_and_read_on_demand(name: str, data_dir: Path, tmp_path: Path) -> None:
    lines = (data_dir / "paper" / FILES[name]).read_text().splitlines(keepends=True)
    (tmp_path / FILES[name]).write_text("".join(lines[:300]))
    with pytest.raises(ValueError, match=f"{FILES[name]} must be the archive's file of {SHAPES[name][0]} rows"):
        READERS[name](tmp_path)
    assert READERS[name](tmp_path, verify=False).n_samples == 300


@pytest.fixture(scope="module")
def whole_mslr(data_dir: Path) -> OrdinalDataset:
    return mslr(data_dir)


def mslr_lines(data_dir: Path, name: str) -> list[str]:
    return (data_dir / "paper" / "MSLR-WEB10K" / "Fold1" / f"{name}.txt").read_text().splitlines()


def test_mslr_joins_both_files_with_their_queries(whole_mslr: OrdinalDataset, data_dir: Path) -> None:
    heads = [line.split()[:2] for name in ("train", "test") for line in mslr_lines(data_dir, name)]
    assert whole_mslr.features.shape == (10_000, 136)
    assert whole_mslr.features.dtype == np.float32
    assert whole_mslr.n_classes == 5
    assert whole_mslr.labels.tolist() == [int(grade) for grade, _ in heads]
    assert whole_mslr.groups is not None
    assert [f"qid:{query}" for query in whole_mslr.groups] == [query for _, query in heads]


def test_mslr_subsets_are_the_two_halves_and_share_no_query(whole_mslr: OrdinalDataset, data_dir: Path) -> None:
    test = mslr(data_dir, subset="test")
    assert np.array_equal(test.features, whole_mslr.features[5000:])
    assert whole_mslr.groups is not None
    assert test.groups is not None
    assert not set(whole_mslr.groups[:5000].tolist()) & set(test.groups.tolist())


def test_mslr_puts_each_number_in_its_column(whole_mslr: OrdinalDataset, data_dir: Path) -> None:
    first = dict(field.split(":") for field in mslr_lines(data_dir, "train")[0].split()[2:])
    literal = [np.float32(first[str(column)]) for column in range(1, 137)]
    assert np.array_equal(whole_mslr.features[0], literal)


def test_mslr_keeps_columns_in_place_where_the_first_is_absent(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("2 qid:7 2:1.5 136:4\n0 qid:7 3:1\n")
    data = mslr(tmp_path, subset="test", verify=False)
    assert data.features[0, 1] == 1.5
    assert data.features[0, 135] == 4
    assert data.features[:, 0].tolist() == [0, 0]


def test_mslr_excerpt_is_checked(data_dir: Path, tmp_path: Path) -> None:
    shutil.copy(data_dir / "paper" / "MSLR-WEB10K" / "Fold1" / "train.txt", tmp_path / "test.txt")
    with pytest.raises(ValueError, match=r"test.txt must be the archive's file of 5000 rows .* got 5000 rows"):
        mslr(tmp_path, subset="test")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("9 qid:7 2:1\n", "grades in test.txt must hold whole numbers from 0 to 4, got 9 at 0"),
        ("this is no such file\n", "test.txt must hold SVMlight rows of 136 features with qid, got one that"),
        ("1 qid:7 0:1\n", "test.txt must hold SVMlight rows of 136 features with qid, got one that"),
        ("1 qid:7 500:1\n", "test.txt must hold SVMlight rows of 136 features with qid, got one that"),
    ],
)
def test_a_file_that_is_no_mslr_is_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text(text)
    with pytest.raises(ValueError, match=f"^{sentence}") as error:
        mslr(tmp_path, subset="test", verify=False)
    assert "\n" not in str(error.value)


def test_an_unknown_subset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"subset must be one of \['both', 'train', 'test'\], got 'trian'"):
        mslr(tmp_path, subset="trian")
