from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from ordinoise.datasets import MissingFileError, RatedDataset, lidc, web_search


def records(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_wide_is_the_ratings_in_a_table() -> None:
    items, raters, labels = (np.array(values) for values in ([0, 0, 2], [1, 0, 1], [4, 3, 0]))
    data = RatedDataset("tiny", items, raters, labels, n_items=3, n_raters=2, class_names=tuple("01234"))
    assert data.wide().tolist() == [[3, 4], [-1, -1], [-1, 0]]
    assert (data.n_ratings, data.n_classes) == (3, 5)


def test_ratings_of_unequal_length_are_refused() -> None:
    two, three = np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.int64)
    with pytest.raises(ValueError, match=r"raters must be as long as labels \(3\), got 2"):
        RatedDataset("tiny", three, two, three, n_items=1, n_raters=1, class_names=("0", "1"))


def test_lidc_has_every_grade_of_every_radiologist(data_dir: Path) -> None:
    rows = records(data_dir / "raters" / "lidc_malignancy.csv")
    table = [[row[f"malignancy_r{rater}"] for rater in range(1, 5)] for row in rows]
    literal = [[int(float(grade)) - 1 if grade else -1 for grade in row] for row in table]
    data = lidc(data_dir)
    assert (data.n_items, data.n_raters, data.n_classes) == (2651, 4, 5)
    assert data.wide().tolist() == literal
    assert data.n_ratings == sum(grade >= 0 for row in literal for grade in row)


def test_lidc_keeps_measurements_and_scans_beside_the_nodules(data_dir: Path) -> None:
    rows = records(data_dir / "raters" / "lidc_malignancy.csv")
    data = lidc(data_dir)
    assert data.features is not None
    assert data.groups is not None
    assert data.features.shape == (2651, len(data.feature_names))
    assert data.groups.tolist() == [int(row["scan_id"]) for row in rows]
    for column, name in enumerate(data.feature_names):
        assert data.features[:, column].tolist() == [float(row[name]) for row in rows]


def test_lidc_features_tell_neither_the_grades_nor_who_gave_them(data_dir: Path) -> None:
    kept_out = {"nodule", "scan_id", "n_raters", *(f"malignancy_r{rater}" for rater in range(1, 5))}
    header = records(data_dir / "raters" / "lidc_malignancy.csv")[0]
    assert set(lidc(data_dir).feature_names) == set(header) - kept_out


def test_web_search_has_every_label_and_the_gold(data_dir: Path) -> None:
    ratings = records(data_dir / "raters" / "web_search_labels.csv")
    gold = {int(row["item"]): int(row["truth"]) for row in records(data_dir / "raters" / "web_search_truth.csv")}
    data = web_search(data_dir)
    assert (data.n_items, data.n_raters, data.n_ratings, data.n_classes) == (2665, 177, 15567, 5)
    triples = zip(data.items.tolist(), data.raters.tolist(), data.labels.tolist(), strict=True)
    assert list(triples) == [(int(row["item"]), int(row["worker"]), int(row["label"])) for row in ratings]
    assert data.truth is not None
    assert data.truth.tolist() == [gold.get(item, -1) for item in range(2665)]
    assert (data.truth >= 0).sum() == 2653


def test_web_search_labels_fit_a_wide_table(data_dir: Path) -> None:
    data = web_search(data_dir)
    assert (data.wide() >= 0).sum() == data.n_ratings


def test_an_absent_rater_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"hold 'lidc_malignancy.csv'"):
        lidc(tmp_path)
    with pytest.raises(MissingFileError, match=r"hold 'web_search_labels.csv'"):
        web_search(tmp_path)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("item,worker\n0,0\n", "web_search_labels.csv must have rows under a column 'label', got the header"),
        ("item,worker,label\n", "web_search_labels.csv must have rows under a column 'item'"),
        ("", "web_search_labels.csv must have rows under a column 'item'"),
        ("item,worker,label\n0,0,x\n", "web_search_labels.csv must hold numbers or blanks"),
        ("item,worker,label\n0,0\n", "web_search_labels.csv must hold numbers or blanks"),
        ("item,worker,label\n0,-1,2\n", "web_search_labels.csv must hold whole numbers from 0 up"),
        ("item,worker,label\n0,0,\n", "web_search_labels.csv must hold whole numbers from 0 up"),
        ("item,worker,label\n0,0,7\n", "label in web_search_labels.csv must hold whole numbers from 0 to 4, got 7"),
    ],
)
def test_a_broken_rater_file_is_one_sentence(labels: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "web_search_labels.csv").write_text(labels)
    (tmp_path / "web_search_truth.csv").write_text("item,truth\n0,1\n")
    with pytest.raises(ValueError, match=f"^{sentence}") as error:
        web_search(tmp_path, verify=False)
    assert "\n" not in str(error.value)


def test_a_truncated_rater_file_is_refused(data_dir: Path, tmp_path: Path) -> None:
    lines = (data_dir / "raters" / "lidc_malignancy.csv").read_text().splitlines(keepends=True)
    (tmp_path / "lidc_malignancy.csv").write_text("".join(lines[:100]))
    with pytest.raises(ValueError, match=r"be the archive's file of 2651 rows .* got 99 rows"):
        lidc(tmp_path)
    assert lidc(tmp_path, verify=False).n_items == 99
