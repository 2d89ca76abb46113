"""Files that would fill the memory, or never end, are refused before they are read."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ordinoise import load_model
from ordinoise.app.records.audit import read_record
from ordinoise.app.tables import digest_of, read_table, reader, source
from ordinoise.classifiers.saving import FORMAT_VERSION

Put = Callable[..., Path]


def test_a_gzip_bomb_is_unpacked_no_further_than_the_limit(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(gzip.compress(b"a,b\n" + b"1,2\n" * 12_500_000), "bomb.csv.gz")
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "1000000")
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"at most 1000000 bytes unpacked, got .*; set ORDINOISE_MAX_BYTES to"):
            read_table(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_large_text_file_is_refused_by_its_size_alone(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put("a,b\n" + "1,2\n" * 1000)
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "1000")
    with pytest.raises(ValueError, match="file must hold at most 1000 bytes unpacked, got more in"):
        read_table(path)
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "1000000")
    assert read_table(path).shape == (1000, 2)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_rows_are_counted_by_the_metadata(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, frame = tmp_path / f"t.{suffix}", pl.DataFrame({"a": [1] * 10_000, "b": [2] * 10_000})
    frame.write_parquet(path) if suffix == "parquet" else frame.write_ipc(path)
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "100000")
    read = {name: getattr(pl, name) for name in ("read_parquet", "read_ipc")}
    for name in read:
        monkeypatch.setattr(pl, name, lambda *_, **__: pytest.fail("the rows were read"))
    with pytest.raises(ValueError, match=r"at most 12500 cells, got 10000 rows of 2 columns in .*ORDINOISE_MAX_BYTES"):
        read_table(path)
    for name, function in read.items():
        monkeypatch.setattr(pl, name, function)
    monkeypatch.delenv("ORDINOISE_MAX_BYTES")
    assert read_table(path).shape == (10_000, 2)


def test_four_hundred_million_rows_are_refused_on_a_small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_memory", lambda: 8 << 30)
    with pytest.raises(ValueError, match="got 400000000 rows of 1 columns"):
        source.check_size(Path("t.parquet"), 400_000_000, 1)


def test_blank_lines_under_a_wide_header_are_refused(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(",".join(f"c{number}" for number in range(2000)) + "\n" * 2000)
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "1000000")
    with pytest.raises(ValueError, match="at most 125000 cells, got 2000 rows of 2000 columns"):
        read_table(path)


def _sparse_lines() -> str:
    """Many keys on the first line, none on the others."""
    return json.dumps({f"k{number}": 1 for number in range(500)}) + "\n{}" * 2000


def _sparse_tasks() -> str:
    """Many fields in the first task, none in the others."""
    result = {"from_name": "a", "to_name": "b", "type": "choices", "value": {"choices": ["1"]}}
    tasks = [{"id": number, "data": {}, "annotations": [{"result": [result]}]} for number in range(500)]
    return json.dumps([tasks[0] | {"data": {f"k{number}": 1 for number in range(4000)}}, *tasks[1:]])


def _sparse_rows() -> str:
    """Blank lines under a wide header."""
    return ",".join(f"c{number}" for number in range(500)) + "\n" * 2000 + "1," * 499 + "1\n"


@pytest.mark.parametrize(
    ("name", "make"), [("t.jsonl", _sparse_lines), ("t.json", _sparse_tasks), ("t.csv", _sparse_rows)]
)
def test_a_small_file_holds_no_more_cells_than_its_size_allows(
    name: str, make: Callable[[], str], put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(make(), name)
    monkeypatch.setattr(source, "SMALL_BYTES", 10**6)
    with pytest.raises(
        ValueError, match=r"^file must have at most \d+ cells, got \d+ rows of \d+ columns in .*; set OR"
    ):
        read_table(path)
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "100000000")
    assert read_table(path).width >= 500


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_million_columns_are_refused(suffix: str, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(",".join(f"c{number}" for number in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n")
    if suffix == "parquet":
        path = tmp_path / "t.parquet"
        pl.DataFrame({f"c{number}": [1] for number in range(11)}).write_parquet(path)
        monkeypatch.setenv("ORDINOISE_MAX_COLUMNS", "10")
    with pytest.raises(
        ValueError, match=r"at most \d+ columns, got \d+ in .*; set ORDINOISE_MAX_COLUMNS to allow more"
    ):
        read_table(path)


@pytest.mark.parametrize("value", ["0", "-1", "many", "1e9", "9" * 30])
def test_a_limit_that_is_no_number_is_refused(value: str, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", value)
    with pytest.raises(ValueError, match="ORDINOISE_MAX_BYTES must be a positive whole number, got"):
        read_table(put("a,b\n1,2\n"))


def test_the_memory_of_the_machine_sets_the_limit() -> None:
    assert 1 << 28 < source.most_bytes() * source.MEMORY_SHARE < 1 << 60


@pytest.mark.parametrize("read", [read_table, digest_of])
def test_a_pipe_and_a_device_are_not_opened(read: Callable[[Path], Any], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ValueError, match="file must be a regular file, got"):
            read(path)


def test_a_pipe_in_a_folder_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "audit.json")
    with pytest.raises(ValueError, match=r"folder must hold a readable audit.json, got"):
        read_record(tmp_path)
    os.mkfifo(tmp_path / "model.json")
    with pytest.raises(ValueError, match=r"path must hold a readable model.json, got"):
        load_model(tmp_path)
    (tmp_path / "model.json").unlink()
    header = {
        "format": "ordinoise-model",
        "format_version": FORMAT_VERSION,
        "kind": "OrdinalMLPClassifier",
        "settings": {},
    }
    (tmp_path / "model.json").write_text(json.dumps(header))
    os.mkfifo(tmp_path / "arrays.safetensors")
    with pytest.raises(ValueError, match=r"path must hold arrays in arrays.safetensors, got"):
        load_model(tmp_path)


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="needs a file that never ends")
def test_a_link_to_a_file_that_never_ends_is_not_read(tmp_path: Path) -> None:
    for name, read in (("audit.json", read_record), ("model.json", load_model)):
        (tmp_path / name).symlink_to("/proc/kmsg")
        with pytest.raises(ValueError, match=f"must hold a readable {name}, got"):
            read(tmp_path)


def test_a_huge_record_is_not_read(tmp_path: Path) -> None:
    for name, read in (("audit.json", read_record), ("model.json", load_model)):
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, 1 << 40)
        with pytest.raises(ValueError, match=f"must hold a readable {name}, got"):
            read(tmp_path)


@pytest.mark.parametrize("place", ["read_cells", "open_source"])
def test_exhausted_memory_is_one_sentence(place: str, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any) -> None:
        raise MemoryError

    path = put(gzip.compress(b"a,b\n1,2\n"), "t.csv.gz")
    if place == "open_source":
        monkeypatch.setattr(source, "_unpacked", exhausted)
    else:
        monkeypatch.setattr(reader, place, exhausted)
    with pytest.raises(ValueError, match="file must fit into memory, got more in"):
        read_table(path)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_stored_types_with_a_zero_in_every_other_byte_are_no_text(suffix: str, tmp_path: Path) -> None:
    path, frame = tmp_path / f"t.{suffix}", pl.DataFrame({"a": pl.Series([*range(1, 201)] * 50, dtype=pl.Int16)})
    if suffix == "parquet":
        frame.write_parquet(path, compression="uncompressed")
    else:
        frame.write_ipc(path, compression="uncompressed")
    assert read_table(path).shape == (10_000, 1)
