"""Processes killed half-way, stopped by hand, and racing for the same output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import run
from ordinoise import OrdinalMLPClassifier, load_model
from ordinoise.app.record import read_record
from ordinoise.app.workflow.model import read_model
from ordinoise.datasets import synthetic

WORDS = ("--target", "grade", "--learner", "mlp", "--noise", "none", "--jobs", "1")
# Dies at the n-th write that reaches the disk, as by kill -9: no handler, no clean-up.
DYING = """
import os, signal, sys
import ordinoise._files, ordinoise.classifiers.saving
left, fsync = int(sys.argv[1]), os.fsync
def dying(descriptor):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(descriptor)
os.fsync = dying
"""
SAVING = DYING + "\nfrom ordinoise import load_model\nload_model(sys.argv[2]).save(sys.argv[3])\n"
RUNNING = DYING + "\nfrom ordinoise.app.cli import main\nmain(sys.argv[2:])\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    data = synthetic(25, random_state=0)
    rows = [f"{x[0]:.4f},{x[1]:.4f},{y}" for x, y in zip(data.features, data.labels, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["x1,x2,grade", *rows]) + "\n")
    return tmp_path / "table.csv"


def _python(script: str, *words: str | Path) -> int:
    return subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True).returncode


@pytest.mark.parametrize("write", [1, 2])
def test_a_save_killed_at_any_write_leaves_no_model(write: int, tmp_path: Path) -> None:
    data = synthetic(10, random_state=0)
    OrdinalMLPClassifier(max_iter=1, random_state=0).fit(data.features, data.labels).save(tmp_path / "whole")
    assert _python(SAVING, str(write), tmp_path / "whole", tmp_path / "copy") == -signal.SIGKILL
    assert not (tmp_path / "copy").exists()
    load_model(tmp_path / "whole").save(tmp_path / "copy")
    first, second = (load_model(tmp_path / name).predict_proba(data.features) for name in ("whole", "copy"))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("verb", "write"), [pytest.param("audit", 2, marks=pytest.mark.slow), ("fit", 4)])
def test_an_audit_or_a_fit_killed_while_writing_leaves_no_folder_and_can_be_run_again(
    verb: str, write: int, table: Path
) -> None:
    out = table.parent / "out"
    before = table.read_bytes()
    assert _python(RUNNING, str(write), verb, table, *WORDS, "--out", out) == -signal.SIGKILL
    assert not out.exists()
    assert table.read_bytes() == before
    assert run(verb, table, *WORDS, "--out", out).code == 0
    assert read_record(out).n_rows == 100 if verb == "audit" else len(read_model(out)[0].classes_) == 4


@pytest.mark.slow
def test_two_processes_with_one_output_make_one_whole_folder(table: Path) -> None:
    words = [sys.executable, "-m", "ordinoise.app.cli", "audit", str(table), *WORDS, "--out", str(table.parent / "out")]
    both = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate()[1] for one in both]
    assert sorted(one.returncode for one in both) == [0, 2], said
    [refused] = [words for words, one in zip(said, both, strict=True) if one.returncode == 2]
    assert refused.startswith("out must not exist yet")
    assert read_record(table.parent / "out").n_rows == 100
    assert sorted(path.name for path in table.parent.iterdir()) == ["out", "table.csv"]


def test_ctrl_c_ends_an_audit_with_130_and_leaves_nothing(table: Path) -> None:
    words = [sys.executable, "-m", "ordinoise.app.cli", "audit", str(table), "--target", "grade", "--learner", "mlp"]
    audit = subprocess.Popen(
        [*words, "--out", str(table.parent / "out")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(table.parent.glob(".out-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)
    audit.send_signal(signal.SIGINT)
    said = audit.communicate(timeout=60)[1]
    assert audit.returncode == 130, said
    assert said == "stopped; finished work is kept\n"
    assert [path.name for path in table.parent.iterdir()] == ["table.csv"]


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(table: Path) -> None:
    assert run("fit", table, *WORDS, "--out", table.parent / "model").code == 0
    first_line = f"{sys.executable} -m ordinoise.app.cli predict model table.csv | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", first_line], cwd=table.parent, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0
    assert done.stdout.startswith("x1,x2,grade,predicted_grade")
    assert done.stderr == ""
