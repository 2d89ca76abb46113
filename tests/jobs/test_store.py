import json
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordinoise.jobs import ResultStore, StoredResult, write_table

numbers = st.floats() | st.integers() | st.booleans() | st.none() | st.text()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


@pytest.fixture
def store(path: Path) -> Iterator[ResultStore]:
    with ResultStore(path) as store:
        yield store


def _fill(path: Path, n: int) -> None:
    with ResultStore(path) as store:
        for number in range(n):
            store.add(f"key{number}", {"number": number}, {"text": "x" * 300}, 0.5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(result=st.dictionaries(st.text(), numbers | st.lists(numbers)))
def test_values_come_back_exactly(store: ResultStore, result: dict[str, Any]) -> None:
    key = json.dumps(result)
    store.add(key, {"kind": "Toy"}, result, 0.25)
    (back,) = store.results([key])
    assert repr(back.result) == repr(result)
    assert (back.key, back.trial, back.seconds) == (key, {"kind": "Toy"}, 0.25)


def test_results_are_there_when_the_file_is_opened_again(path: Path) -> None:
    _fill(path, 3)
    with ResultStore(path) as store:
        assert store.keys() == {"key0", "key1", "key2"}
        assert [result.trial["number"] for result in store.results()] == [0, 1, 2]


def test_results_come_in_the_order_asked_for(store: ResultStore) -> None:
    for key in "abc":
        store.add(key, {}, {"key": key}, 0.0)
    assert [result.result["key"] for result in store.results(iter("cab"))] == ["c", "a", "b"]
    with pytest.raises(ValueError, match="keys must be keys of stored results, got 'd'"):
        store.results("ad")


def test_the_first_of_two_results_is_kept(store: ResultStore) -> None:
    store.add("a", {}, {"value": 1}, 0.0)
    store.add("a", {}, {"value": 2}, 0.0)
    assert [result.result for result in store.results()] == [{"value": 1}]


def test_what_is_not_plain_is_refused(store: ResultStore) -> None:
    with pytest.raises(ValueError, match=r"result.model must be a plain value .*, got object"):
        store.add("a", {}, {"model": object()}, 0.0)
    assert store.keys() == set()


def test_two_runs_at_once_are_refused(path: Path, store: ResultStore) -> None:
    store.add("a", {}, {}, 0.0)
    with pytest.raises(ValueError, match=r"path must be used by one run at a time, got another in .*results.db"):
        ResultStore(path)
    store.add("b", {}, {}, 0.0)
    assert store.keys() == {"a", "b"}


def test_a_closed_store_leaves_one_file(path: Path) -> None:
    _fill(path, 3)
    assert [file.name for file in path.parent.iterdir()] == ["results.db"]


def _foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE results (key TEXT)")
    connection.close()


def _newer(path: Path) -> None:
    _fill(path, 3)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()


def _cut(path: Path) -> None:
    _fill(path, 100)
    path.write_bytes(path.read_bytes()[:-6000])


def _scratched(path: Path) -> None:
    _fill(path, 100)
    content = bytearray(path.read_bytes())
    content[8192:12288] = b"\xff" * 4096
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_text("a,b\n1,2\n" * 100), "path must be a sound, writable store of results, got '.*'"),
        (_foreign, "path must be a store of results or a new file, got an SQLite file of another program in '.*'"),
        (_newer, "format version 1 or older, got 2 in '.*'; it was written by a newer ordinoise"),
        (_cut, "path must be .*, got .* in '.*results.db'"),
        (_scratched, "path must be undamaged, got .* in '.*results.db'"),
        (lambda path: path.mkdir(), "path must be a file in a folder that exists, got .* '.*results.db'"),
    ],
)
def test_a_file_that_is_no_sound_store_is_refused_and_left_alone(path: Path, make: Any, message: str) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(ValueError, match=message) as caught:
        ResultStore(path)
    assert "\n" not in str(caught.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="path must be a file in a folder that exists"):
        ResultStore(tmp_path / "nowhere" / "results.db")


def test_a_record_that_is_not_json_is_called_damage(path: Path) -> None:
    _fill(path, 1)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE results SET result = '{'")
    connection.close()
    with ResultStore(path) as store, pytest.raises(ValueError, match="path must be undamaged, got"):
        store.results()


def test_a_full_disk_is_a_sentence_and_costs_nothing_stored(store: ResultStore) -> None:
    store.add("a", {}, {"value": 1}, 0.0)
    store._execute("PRAGMA max_page_count = 4")
    with pytest.raises(ValueError, match="writable store of results, got 'database or disk is full' in"):
        store.add("b", {}, {"text": "x" * 100_000}, 0.0)
    assert store.keys() == {"a"}


ROWS = [
    StoredResult("k1", {"kind": "Fit", "noise": {"rate": 0.1}, "loss": "hinge"}, {"mae": 1 / 3, "rows": [1, 2]}, 1.5),
    StoredResult("k2", {"kind": "Fit", "noise": {"rate": 0.3}, "loss": None}, {"mae": math.nan, "loss": 2.5}, 0.5),
]


def test_a_table_has_one_row_per_result(tmp_path: Path) -> None:
    write_table(ROWS, tmp_path / "table.csv")
    table = pd.read_csv(tmp_path / "table.csv")
    assert list(table) == ["key", "kind", "noise.rate", "loss", "mae", "rows", "result.loss"]
    assert table["key"].tolist() == ["k1", "k2"]
    assert table["noise.rate"].tolist() == [0.1, 0.3]
    assert table["mae"][0] == pytest.approx(1 / 3, rel=1e-15)
    assert table["rows"][0] == "[1, 2]"
    assert table["result.loss"][1] == 2.5
    assert table.isna().sum().to_dict() == {name: name in ("loss", "mae", "rows", "result.loss") for name in table}


def test_a_table_of_text_has_every_digit(tmp_path: Path) -> None:
    write_table(ROWS, tmp_path / "table.csv")
    assert f",{1 / 3!r}," in (tmp_path / "table.csv").read_text()


def test_a_table_does_not_depend_on_the_time_that_trials_took(tmp_path: Path) -> None:
    slower = [StoredResult(row.key, row.trial, row.result, row.seconds * 2) for row in ROWS]
    for name, rows in (("one", ROWS), ("other", slower)):
        write_table(rows, tmp_path / f"{name}.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def test_a_table_of_nothing_is_a_table(tmp_path: Path) -> None:
    write_table([], tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "key\n"


def test_tables_are_refused_where_they_cannot_go(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path must end in .csv, got '.*table.xlsx'"):
        write_table(ROWS, tmp_path / "table.xlsx")
    with pytest.raises(ValueError, match="path must lie in a folder that exists"):
        write_table(ROWS, tmp_path / "nowhere" / "table.csv")
    assert list(tmp_path.iterdir()) == []
