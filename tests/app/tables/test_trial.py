"""Damaged Parquet and Feather files that end the process that reads them: a second process notices it first."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import polars as pl
import pytest

from ordinoise.app.tables import read_table, trial
from ordinoise.app.tables.trial import survives

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
DEADLY = [path for kind in ("parquet", "feather") for path in sorted((CORPUS / kind).glob("crash-*"))]


@pytest.mark.parametrize("path", DEADLY, ids=lambda path: f"{path.parent.name} {path.name}")
def test_a_file_that_would_end_the_process_is_refused_with_one_sentence(path: Path) -> None:
    with pytest.raises(ValueError, match=r"^file must be a complete (Parquet|Feather) file, got damaged content in "):
        read_table(path)


def test_there_is_such_a_file_of_either_format() -> None:
    assert {path.parent.name for path in DEADLY} == {"parquet", "feather"}


def test_one_process_reads_many_files_and_is_replaced_once_it_died(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    assert survives(tmp_path / "a.parquet", "parquet")
    first = trial._processes[os.getpid()].pid
    assert survives(tmp_path / "none.parquet", "parquet")  # an error, not the end of the process
    assert trial._processes[os.getpid()].pid == first
    os.kill(first, signal.SIGKILL)
    trial._processes[os.getpid()].wait()
    assert not survives(tmp_path / "a.parquet", "parquet")
    assert survives(tmp_path / "a.parquet", "parquet")


def test_threads_share_the_process(tmp_path: Path) -> None:
    pl.DataFrame({"a": range(1000)}).write_parquet(tmp_path / "a.parquet")
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(survives(tmp_path / "a.parquet", "parquet"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def test_a_name_with_a_line_break_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / 'a\nb "c".parquet'
    pl.DataFrame({"a": [1, 2]}).write_parquet(path)
    assert survives(path, "parquet")
    assert read_table(path).height == 2


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
    assert survives(tmp_path / "a.parquet", "parquet")
    assert not (tmp_path / "ran").exists()
    trial._end_ours()
