"""Damaged Parquet and Feather files that end the process that reads them: a second process notices it first."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from app.tables.alone import refused_alone
from ordinoise.app.out_of_core.files import parts_of
from ordinoise.app.tables import read_table, trial
from ordinoise.app.tables.embeddings import read_embeddings
from ordinoise.app.tables.process_size import bytes_of
from ordinoise.app.tables.trial import stored_size

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
DAMAGED = (
    r"^file must (be a complete (Parquet|Feather) file, got damaged content|have columns of other types, got .*) in "
)
"""An old pyarrow, asked about a file that polars cannot read, knows a type of text too little and calls it the cause."""
DEADLY = [path for kind in ("parquet", "feather") for path in sorted((CORPUS / kind).glob("crash-*"))]


@pytest.mark.parametrize("path", DEADLY, ids=lambda path: f"{path.parent.name} {path.name}")
def test_a_file_that_would_end_the_process_is_refused_with_one_sentence(path: Path) -> None:
    with pytest.raises(ValueError, match=DAMAGED):
        read_table(path)


def test_there_is_such_a_file_of_either_format() -> None:
    assert {path.parent.name for path in DEADLY} == {"parquet", "feather"}


def _size(path: Path, kind: str = "parquet") -> tuple[int, int] | None:
    with path.open("rb") as file:
        found = stored_size(path, file, kind)
    return None if found is None else found[:2]


def _second() -> trial._Second:
    return trial._processes[os.getpid()]


def test_one_process_reads_many_files_and_is_replaced_once_it_died(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    assert _size(tmp_path / "a.parquet") == (2, 1)
    first = _second().process.pid
    (tmp_path / "none.parquet").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="damaged content"):  # an error, not the end of the process
        _size(tmp_path / "none.parquet")
    assert _second().process.pid == first
    os.kill(first, signal.SIGKILL)
    _second().process.wait()
    with pytest.raises(ValueError, match="damaged content"):
        _size(tmp_path / "a.parquet")
    assert _size(tmp_path / "a.parquet") == (2, 1)


def test_threads_share_the_process(tmp_path: Path) -> None:
    pl.DataFrame({"a": range(1000)}).write_parquet(tmp_path / "a.parquet")
    found: list[tuple[int, int] | None] = []
    threads = [threading.Thread(target=lambda: found.append(_size(tmp_path / "a.parquet"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(1000, 1)] * 8


@pytest.mark.parametrize("name", ['a\nb "c"', "x[1]", "x*", "x?", "{a,b}", "~", "$HOME", "http:", "%41"])
def test_a_name_is_no_pattern(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.parquet"
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "plain")
    (tmp_path / "plain").rename(path)
    assert _size(path) == (2, 1)
    assert read_table(path).height == 2


@pytest.mark.parametrize("path", DEADLY, ids=lambda path: f"{path.parent.name} {path.name}")
@pytest.mark.parametrize("read", ["table", "embeddings", "parts"])
def test_no_name_of_a_deadly_file_passes(tmp_path: Path, path: Path, read: str) -> None:
    suffix = "parquet" if read == "parts" else path.parent.name
    if path.parent.name == "feather" and read == "parts":
        return  # a part is a Parquet file
    bad = tmp_path / f"x[1].{suffix}"
    bad.write_bytes(path.read_bytes())
    readers: dict[str, Callable[[Path], object]] = {
        "table": read_table,
        "embeddings": lambda file: read_embeddings(file, 60),
        "parts": lambda file: parts_of([file]),
    }
    with pytest.raises(ValueError, match=DAMAGED):
        readers[read](bad)


def _large(path: Path, kind: str) -> Path:
    """A small file that unpacks to two gigabytes."""
    if kind.startswith("nested"):
        frame = pl.DataFrame({"a": [[0]]}).with_columns(pl.lit(0).repeat_by(150_000_000).alias("a"))
    else:
        frame = pl.DataFrame({"a": ["k" * 50_000_000] * 30})
    if kind.endswith("parquet"):
        frame.write_parquet(path)
    else:
        frame.write_ipc(path, compression="zstd")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nested.parquet", "long.parquet", "nested.feather", "long.feather"])
def test_a_small_file_with_large_cells_is_refused_in_little_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    make = f"import sys; sys.path[:0] = ['tests', '.']; from app.tables.test_trial import _large, Path; _large(Path({str(path)!r}), {kind!r})"
    subprocess.run([sys.executable, "-c", make], check=True, cwd=Path(__file__).parents[3])
    assert path.stat().st_size < 200_000
    sentence, most_kib = refused_alone(path)
    assert re.search(r"^file must hold at most \d+ bytes unpacked, got more in .*; set ORDINOISE_MAX", sentence)
    assert most_kib < 2**20


def test_a_process_without_a_limit_of_the_system_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial._end_ours()
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": range(1_000_000)}).with_columns(pl.col("a").cast(pl.String)).write_parquet(path)
    assert _size(path) == (1_000_000, 1)
    monkeypatch.setattr(_second(), "is_limited", False)
    assert _size(path) == (1_000_000, 1)
    looks = iter([100])
    monkeypatch.setattr(trial, "bytes_of", lambda _: next(looks, 10**12))
    monkeypatch.setattr(trial, "SECONDS_BETWEEN_LOOKS", 0.001)
    with pytest.raises(ValueError, match=r"^file must hold at most \d+ bytes unpacked, got more in "):
        _size(path)


def test_the_size_of_a_process_is_known() -> None:
    assert 2**20 < bytes_of(os.getpid()) < 2**40
    assert bytes_of(2**30) == 0


def test_a_file_that_takes_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": range(1_500_000)}).select(
        pl.col("a").cast(pl.String).alias(f"{at}") for at in range(8)
    ).write_parquet(path)
    monkeypatch.setattr(trial, "LEAST_SECONDS", 0)
    monkeypatch.setattr(trial, "BYTES_PER_SECOND", 2**40)
    with pytest.raises(ValueError, match=r"^file must be readable in 0 seconds, got more for .*; save it in another"):
        _size(path)


@pytest.mark.parametrize("program", ["", "/nonexistent/python", "/bin/false", "/bin/cat"])
def test_without_a_second_process_a_file_is_read_nevertheless(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_processes", {})
    monkeypatch.setattr("sys.executable", program)
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").height == 2


def test_a_module_in_the_current_folder_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_processes", {})
    (tmp_path / "polars.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    monkeypatch.chdir(tmp_path)
    assert _size(tmp_path / "a.parquet") == (2, 1)
    assert not (tmp_path / "ran").exists()
    trial._end_ours()


def test_a_file_is_read_after_a_damaged_one_under_a_small_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged file makes the process load pyarrow, whose address space was counted as that of the next file."""
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(ValueError, match="be a complete Parquet file"):
        _size(tmp_path / "damaged.parquet")
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "100000")
    assert _size(tmp_path / "a.parquet") == (2, 1)
