"""OpenML's client is replaced by one that serves the archives' files the way OpenML codes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from ordinoise.datasets import OrdinalDataset
from ordinoise.datasets._tables import ABALONE, BOSTON, CALIFORNIA, COMPUTER, NumericTable
from ordinoise.datasets.paper import abalone, boston, california, computer

Reader = Callable[..., OrdinalDataset]
SETS: dict[str, tuple[NumericTable, Reader]] = {
    "boston": (BOSTON, boston),
    "abalone": (ABALONE, abalone),
    "computer": (COMPUTER, computer),
    "california": (CALIFORNIA, california),
}
NOMINAL = {"boston": ("CHAS", "RAD"), "abalone": ("Sex", "Class_number_of_rings")}
pytestmark = pytest.mark.usefixtures("no_data_variable")


def as_openml_has_it(name: str, data_dir: Path) -> Bunch:
    """The file as fetch_openml gives it: columns in another order, nominal ones as places in a list of words."""
    table, _ = SETS[name]
    lines = (data_dir / table.file.path).read_text().splitlines()
    columns = dict(zip(table.openml.columns, zip(*[_fields(line) for line in lines], strict=True), strict=True))
    columns = dict(reversed(columns.items()))
    categories = {column: sorted(set(columns[column])) for column in NOMINAL.get(name, ())}
    coded = [
        [categories[column].index(field) if column in categories else float(field) for field in fields]
        for column, fields in columns.items()
    ]
    return Bunch(data=np.array(coded, dtype=np.float64).T, feature_names=list(columns), categories=categories)


def _fields(line: str) -> list[str]:
    return line.replace(",", " ").split()


def serve(monkeypatch: pytest.MonkeyPatch, answer: Bunch | Exception) -> list[dict[str, Any]]:
    """Let OpenML's client give `answer`; the list fills with the arguments of every call."""
    calls: list[dict[str, Any]] = []

    def fetch_openml(**arguments: Any) -> Bunch:
        calls.append(arguments)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return calls


@pytest.mark.parametrize("name", SETS)
def test_fetched_sets_equal_the_archives_files(name: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, reader = SETS[name]
    calls = serve(monkeypatch, as_openml_has_it(name, data_dir))
    fetched, filed = reader(fetch=True), reader(data_dir)
    assert np.array_equal(fetched.features, filed.features)
    assert np.array_equal(fetched.labels, filed.labels)
    assert fetched.feature_names == filed.feature_names
    assert fetched.features.dtype == np.float64
    assert [call["data_id"] for call in calls] == [table.openml.data_id]


def test_the_file_goes_before_the_network(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = serve(monkeypatch, URLError("no route"))
    assert boston(data_dir, fetch=True).n_samples == 506
    assert calls == []


@pytest.mark.parametrize(
    "failure", [URLError("no route to host"), TimeoutError("timed out"), ValueError("Dataset not found.")]
)
def test_a_failing_network_is_one_sentence(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, failure)
    with pytest.raises(ValueError, match=r"^fetch must reach OpenML data set 183, got .*; check the net") as error:
        abalone(fetch=True)
    assert "\n" not in str(error.value)


def test_a_column_gone_from_openml_is_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bunch = as_openml_has_it("california", data_dir)
    bunch.feature_names[bunch.feature_names.index("total_rooms")] = "AveRooms"
    serve(monkeypatch, bunch)
    with pytest.raises(ValueError, match="OpenML data set 537 must have a column 'total_rooms', got"):
        california(fetch=True)


def test_a_set_with_other_numbers_is_refused(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bunch = as_openml_has_it("california", data_dir)
    bunch.data[:, bunch.feature_names.index("median_house_value")] /= 1e5
    serve(monkeypatch, bunch)
    with pytest.raises(ValueError, match=r"mean of 206856 in 'median_house_value', got 2.06856"):
        california(fetch=True)


def test_a_nominal_column_left_as_places_would_be_noticed(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bunch = as_openml_has_it("boston", data_dir)
    bunch.categories = None
    serve(monkeypatch, bunch)
    with pytest.raises(ValueError, match=r"OpenML data set 531 must have a mean of .* in 'RAD'"):
        boston(fetch=True)


def test_a_set_with_fewer_rows_is_refused(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bunch = as_openml_has_it("boston", data_dir)
    bunch.data = bunch.data[:-1]
    serve(monkeypatch, bunch)
    with pytest.raises(ValueError, match="OpenML data set 531 must have 506 rows, got 505"):
        boston(fetch=True)


def test_words_where_numbers_belong_are_refused(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bunch = as_openml_has_it("abalone", data_dir)
    bunch.categories["Sex"] = ["female", "infant", "male"]
    serve(monkeypatch, bunch)
    with pytest.raises(ValueError, match="OpenML data set 183 must have numbers in 'Sex', got"):
        abalone(fetch=True)
