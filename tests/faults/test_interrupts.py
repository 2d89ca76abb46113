"""Ctrl-C at thirty random moments of a run: nothing is left behind, nothing is overwritten, no process stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import run
from ordinoise.datasets import synthetic

MOMENTS = 30
STARTING = 0.4  # share of moments before the verb begins, while Python still imports; a round number, chosen by no run
TABLES = ("table1.csv", "orders.csv")


def _interrupted(words: list[str | Path], seconds: float) -> tuple[int, str]:
    """Exit code and errors of a command whose whole group gets Ctrl-C, as from a terminal; no process may stay."""
    command = [sys.executable, "-m", "ordinoise.app.cli", *map(str, words)]
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        running.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    deadline = time.monotonic() + 10
    while _is_alive(running.pid):
        assert time.monotonic() < deadline, "a process of the command still runs"
        time.sleep(0.05)
    return running.returncode, said


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _check_end(code: int, said: str, seconds: float) -> None:
    """Exit code 130 and one line; while Python itself starts, it is Python that ends by the signal."""
    if code == -signal.SIGINT:
        return
    assert code in (0, 130), (code, seconds, said)
    assert "Traceback" not in said, said
    assert code == 0 or "stopped; finished work is kept" in said


def _whole(words: list[str | Path]) -> float:
    """Seconds that the whole command takes."""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "ordinoise.app.cli", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return time.monotonic() - begun


@pytest.mark.slow
def test_an_audit_interrupted_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    data = synthetic(40, random_state=0)
    rows = [f"{x[0]:.4f},{x[1]:.4f},{y}" for x, y in zip(data.features, data.labels, strict=True)]
    table, mine = tmp_path / "table.csv", tmp_path / "mine.txt"
    table.write_text("\n".join(["x1,x2,grade", *rows]) + "\n")
    mine.write_text("mine")
    before = table.read_bytes()
    words: list[str | Path] = ["audit", table, "--target", "grade", "--learner", "mlp", "--out", tmp_path / "out"]
    seconds = _whole(words)
    whole = {path.name for path in (tmp_path / "out").iterdir()}
    shutil.rmtree(tmp_path / "out")
    codes = []
    for moment in np.random.default_rng(0).uniform(0.05, 1.0, MOMENTS):
        begun = time.monotonic()
        code, said = _interrupted(words, seconds * moment)
        codes.append(code)
        _check_end(code, said, seconds * moment)
        left = {path.name for path in tmp_path.iterdir()}
        if (tmp_path / "out").exists():  # the last moment: all of it is there, or nothing
            assert {path.name for path in (tmp_path / "out").iterdir()} == whole
            seconds = min(seconds, time.monotonic() - begun)  # a busy computer may have been slower at first
            shutil.rmtree(tmp_path / "out")
        assert left - {"out"} == {"table.csv", "mine.txt"}
        assert (table.read_bytes(), mine.read_text()) == (before, "mine")
    assert codes.count(130) >= (1 - STARTING) * MOMENTS, codes


@pytest.mark.slow
def test_a_reproduction_interrupted_at_any_moment_continues_to_the_same_tables(tmp_path: Path) -> None:
    words: list[str | Path] = ["reproduce", "table1", "--datasets", "synthetic", "--trials", "1", "--out"]
    _whole([*words, tmp_path / "whole"])
    out = tmp_path / "out"
    n_interrupted = 0
    rng = np.random.default_rng(0)
    for moment in rng.uniform(0.5, 8.0, MOMENTS):
        code, said = _interrupted([*words, out], moment)
        _check_end(code, said, moment)
        n_interrupted += code == 130
        assert {path.name for path in tmp_path.iterdir()} <= {"whole", "out"}
        hidden = [path.name for path in out.glob(".*")] if out.exists() else []
        assert hidden == []
        if code == 0:
            _same_tables(tmp_path / "whole", out)
            shutil.rmtree(out)
    assert n_interrupted >= (1 - STARTING) * MOMENTS
    _whole([*words, out])
    _same_tables(tmp_path / "whole", out)


def _same_tables(whole: Path, other: Path) -> None:
    assert {path.name for path in whole.iterdir()} == {path.name for path in other.iterdir()}
    for name in TABLES:
        assert (whole / name).read_bytes() == (other / name).read_bytes(), name


def test_an_interrupt_that_a_library_wraps_while_it_is_loaded_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(**_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError("initialization failed") from error

    monkeypatch.setattr("ordinoise.app.cli.app", lambda *_, **__: load())
    result = run("data")
    assert result.code == 130
    assert result.err == "stopped; finished work is kept\n"
