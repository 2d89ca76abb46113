"""How often a file is opened, and how often its columns are converted."""

from __future__ import annotations

import builtins
import gzip
import hashlib
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ordinoise.app.tables import (
    ColumnRoles,
    delimiter_of,
    digest_of,
    graded_table,
    read_table,
    read_text,
    target,
    write_table,
)
from ordinoise.app.tables.source import Source, most_bytes, open_source
from ordinoise.columns import features, spelling

Put = Callable[..., Path]
CONTENT = "size,fresh,day,color,stars\n" + "1.5,True,2024-01-01,red,3\n,False,,green,\n4,,2024-01-02,,1\n" * 20


@pytest.fixture
def opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counter[str]:
    """How often each file of the test was opened for reading, by Python or by a reader of polars that was given a path.

    Libraries that are imported meanwhile open files of their own, which do not count.
    """
    counts: Counter[str] = Counter()
    most_bytes()  # asks the system for its limits once

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(source: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(source, (str, Path)) and tmp_path in Path(source).parents:
                counts[Path(source).name] += 1
            return function(source, *args, **kwargs)

        return call

    # Path.open and gzip.open come down to one of the first two.
    monkeypatch.setattr(io, "open", counted(io.open))
    monkeypatch.setattr(builtins, "open", counted(builtins.open))
    for reader in ("read_csv", "read_parquet", "read_ipc", "scan_csv", "scan_parquet", "scan_ipc"):
        monkeypatch.setattr(pl, reader, counted(getattr(pl, reader)))
    return counts


def test_every_way_of_opening_is_counted(put: Put, opens: Counter[str]) -> None:
    path = put("a,b\n1,2\n", "seen.csv")
    with path.open("rb"), open(path, "rb"), gzip.open(path), io.open(path, "rb"):  # noqa: PTH123, UP020
        pass
    pl.read_csv(path)
    pl.read_csv(b"a,b\n1,2\n")
    # One more for the fixture that wrote the file.
    assert opens["seen.csv"] == 6


@pytest.mark.parametrize("content", [CONTENT.encode(), gzip.compress(CONTENT.encode())], ids=["plain", "gzip"])
def test_a_text_file_is_opened_once_for_its_table_and_its_digest(tmp_path: Path, content: bytes, opens: Any) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    opens.clear()
    table = graded_table(tmp_path / "t.csv", ColumnRoles("stars"))
    assert opens == {"t.csv": 1}
    assert table.digest == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_parquet_or_feather_file_is_opened_twice(put: Put, tmp_path: Path, suffix: str, opens: Counter[str]) -> None:
    path = tmp_path / f"t{suffix}"
    write_table(read_table(put(CONTENT)), path)
    opens.clear()
    table = graded_table(path, ColumnRoles("stars"))
    assert opens == {path.name: 2}
    assert table.digest == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("read", [read_table, read_text, delimiter_of, digest_of])
def test_every_reader_opens_a_text_file_once(put: Put, opens: Counter[str], read: Callable[[Path], object]) -> None:
    path = put('a,b\n5" wide,\n\n6" wide,1\n')  # blank lines and stray quotes need the text again
    opens.clear()
    read(path)
    assert opens == {"table.csv": 1}


def test_every_column_is_typed_once_and_every_feature_converted_once(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    typed: Counter[str] = Counter()
    converted: Counter[str] = Counter()
    graded: Counter[str] = Counter()
    convert, grades, read = features._feature, target._grades, spelling._read

    def counted_read(column: pl.Series, *hints: Any) -> Any:
        typed[column.name] += column.name != ""  # the check for grades in disguise looks at single columns
        return read(column, *hints)

    def counted_feature(frame: pl.DataFrame, wanted: Any) -> pl.Series:
        converted[wanted.name] += 1
        return convert(frame, wanted)

    def counted_grades(frame: pl.DataFrame, name: str) -> pl.Series:
        graded[name] += 1
        return grades(frame, name)

    monkeypatch.setattr(spelling, "_read", counted_read)
    monkeypatch.setattr(features, "_feature", counted_feature)
    monkeypatch.setattr(target, "_grades", counted_grades)
    table = graded_table(put(CONTENT), ColumnRoles("stars"))
    for _ in range(2):
        assert (table.features.width, len(table.labels)) == (4, 40)
    names = ["size", "fresh", "day", "color"]
    assert +typed == dict.fromkeys([*names, "stars"], 1)
    assert converted == dict.fromkeys(names, 1)
    assert graded == {"stars": 1}


def test_a_source_knows_its_kind_and_digest_and_holds_text_unpacked(put: Put, tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n1,2\n")
    path = put(packed, "t.csv.gz")
    assert open_source(str(path)) == Source(path, "text", hashlib.sha256(packed).hexdigest(), b"a,b\n1,2\n")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t")
    assert open_source(tmp_path / "t") == Source(tmp_path / "t", "parquet", digest_of(tmp_path / "t"), b"")
