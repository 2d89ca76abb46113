"""From the command to the files, interrupted and resumed."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from app.cli.command import run
from ordinoise.jobs import Failure, StoredResult
from ordinoise.paper.reproduction import Request, reproduce

FILES = [
    "table1.md",
    "table1.csv",
    "table1.tex",
    "table1_zero_one.md",
    "forward.md",
    "orders.md",
    "report.md",
    "trials.csv",
]
N_TRIALS = 13
# Bytes of the write-ahead log after a few results; a running store is locked, so the log is watched instead.
LOG_OF_A_FEW_RESULTS = 30_000


class Silent:
    def start(self, what: str, n_trials: int) -> None: ...

    def reuse(self, n_trials: int) -> None: ...

    def advance(self, result: StoredResult | Failure, seconds_left: float) -> None: ...


def _command(data_dir: Path, out: Path) -> list[str]:
    words = ["reproduce", "table1", "--datasets", "boston", "--trials", "1"]
    return [sys.executable, "-m", "ordinoise.app.cli", *words, "--data-dir", str(data_dir / "paper"), "--out", str(out)]


def _n_stored(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])


@pytest.mark.slow
def test_a_run_that_is_killed_and_run_again_writes_the_same_files_bit_for_bit(data_dir: Path, tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    result = subprocess.run(_command(data_dir, whole), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "printed mean absolute errors of Boston are met" in result.stdout

    running = subprocess.Popen(_command(data_dir, stopped), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = stopped / "results.sqlite-wal"
    while not log.exists() or log.stat().st_size < LOG_OF_A_FEW_RESULTS:
        assert running.poll() is None, "it finished before it could be killed"
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    n_kept = _n_stored(stopped / "results.sqlite")
    assert 1 <= n_kept < N_TRIALS
    assert not (stopped / "report.md").exists()

    result = subprocess.run(_command(data_dir, stopped), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "trials were there already" in result.stdout
    for name in FILES:
        assert (stopped / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.slow
def test_the_picture_needs_no_data_and_no_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ordinoise.paper import PROTOCOLS
    from ordinoise.paper.protocol import Protocol

    monkeypatch.setitem(PROTOCOLS, "inferred", Protocol("inferred", 2, 2))
    outcome = reproduce(Request("figure", tmp_path / "out"), Silent())
    assert sorted(path.name for path in outcome.files) == ["figure.png", "figure.svg"]
    assert (tmp_path / "out" / "figure.png").read_bytes().startswith(b"\x89PNG")
    first = (tmp_path / "out" / "figure.svg").read_bytes()
    reproduce(Request("figure", tmp_path / "out"), Silent())
    assert (tmp_path / "out" / "figure.svg").read_bytes() == first


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="out must be a new folder or one of an earlier run"):
        reproduce(Request("figure", tmp_path), Silent())
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["table3"], "part must be one of"),
        (["table1", "--datasets", "bostn"], "did you mean 'boston'?"),
        (["table1", "--trials", "0"], "trials must be a whole number of at least 1, got 0"),
        (["table1", "--protocol", "mine"], "protocol must be one of"),
        (["table1", "--data-dir", "nowhere", "--datasets", "boston"], "data_dir must hold 'housing.data'"),
        (["table1", "--cluster", "moon", "--datasets", "synthetic"], "cluster must be one of ['local'], got 'moon'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("reproduce", *words)
    assert result.code == 2, result.out
    assert sentence in result.err
