"""Processes killed half-way, stopped by hand, and racing for the same output."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import run
from ordinoise import OrdinalMLPClassifier, load_model
from ordinoise._files import MARK, new_folder
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.model import read_model
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
# Sends itself SIGHUP when the verb starts to work.
HANGING_UP = """
import sys
import ordinoise.app.verbs.corruption as work
corrupt_file = work.corrupt_file
def hanging_up(*words):
    os.kill(os.getpid(), signal.SIGHUP)
    return corrupt_file(*words)
work.corrupt_file = hanging_up
from ordinoise.app.cli import main
main(["corrupt", sys.argv[1], "--target", "grade", "--out", sys.argv[1] + ".noisy.csv"])
"""
RUNNING = DYING + "\nfrom ordinoise.app.cli import main\nmain(sys.argv[2:])\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    data = synthetic(25, random_state=0)
    rows = [f"{x[0]:.4f},{x[1]:.4f},{y}" for x, y in zip(data.features, data.labels, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["x1,x2,grade", *rows]) + "\n")
    return tmp_path / "table.csv"


def _python(script: str, *words: str | Path) -> int:
    return subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True).returncode


@pytest.mark.parametrize("write", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_save_killed_at_any_write_leaves_no_model(write: int, tmp_path: Path) -> None:
    data = synthetic(10, random_state=0)
    OrdinalMLPClassifier(max_iter=1, random_state=0).fit(data.features, data.labels).save(tmp_path / "whole")
    assert _python(SAVING, str(write), tmp_path / "whole", tmp_path / "copy") == -signal.SIGKILL
    assert not (tmp_path / "copy").exists()
    load_model(tmp_path / "whole").save(tmp_path / "copy")
    first, second = (load_model(tmp_path / name).predict_proba(data.features) for name in ("whole", "copy"))
    np.testing.assert_array_equal(first, second)


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "write"), [("audit", 2), ("fit", 4)])
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


def _stopped(words: list[str], folder: Path, number: signal.Signals) -> tuple[int, str]:
    """Exit code and words of a run that is sent a signal while it writes into a folder beside its output."""
    running = subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Whatever the tests were started with: nohup ignores SIGHUP, a shell's background SIGINT.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob(".out-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)
    running.send_signal(number)
    said = running.communicate(timeout=60)[1]
    return running.returncode, said


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
    ],
    ids=lambda value: str(value),
)
def test_a_stopped_audit_says_so_by_its_code_and_leaves_nothing(number: signal.Signals, code: int, table: Path) -> None:
    words = [sys.executable, "-m", "ordinoise.app.cli", "audit", str(table), "--target", "grade", "--learner", "mlp"]
    ended, said = _stopped([*words, "--out", str(table.parent / "out")], table.parent, number)
    assert ended == code, said
    assert said == "stopped; finished work is kept\n"
    assert [path.name for path in table.parent.iterdir()] == ["table.csv"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGINT, 0, marks=pytest.mark.slow), (signal.SIGTERM, 143)], ids=str
)
def test_a_stopped_review_ends_without_a_traceback(number: signal.Signals, code: int, table: Path) -> None:
    audit = table.parent / "audit"
    assert run("audit", table, *WORDS, "--out", audit).code == 0
    words = [sys.executable, "-u", "-m", "ordinoise.app.cli", "review", str(audit), "--no-browser"]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline().startswith("Review page: ")
    time.sleep(1)
    running.send_signal(number)
    said = running.communicate(timeout=30)[1]
    assert (running.returncode, "Traceback" in said) == (code, False), said


@pytest.mark.slow
def test_a_hang_up_is_ignored_under_nohup(table: Path) -> None:
    script = "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + HANGING_UP
    done = subprocess.run([sys.executable, "-c", script, str(table)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_signals_are_handled_as_before_after_a_verb() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    assert run("plan", "--classes", "3").code == 0
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == before


@pytest.mark.slow
def test_a_killed_audit_of_many_rows_continues_to_the_same_labels(tmp_path: Path) -> None:
    data = synthetic(1000, random_state=0)
    rows = [f"{x[0]:.4f},{x[1]:.4f},{y}" for x, y in zip(data.features, data.labels, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["x1,x2,grade", *rows]) + "\n")
    words = ["audit", str(tmp_path / "table.csv"), "--target", "grade", "--jobs", "1", "--out"]
    slowly = "import ordinoise.classifiers.blend.mixture as work\nwork.LEAST_SECONDS = 0.0\n"
    script = slowly + "import sys\nfrom ordinoise.app.cli import main\nmain(sys.argv[1:])\n"
    running = subprocess.Popen([sys.executable, "-c", script, *words, str(tmp_path / "out")], stdout=subprocess.DEVNULL)
    unfinished, deadline = tmp_path / ".out-unfinished", time.monotonic() + 120
    while len(list(unfinished.glob("*.fit"))) < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    running.kill()
    running.wait()
    assert not (tmp_path / "out").exists()
    again = subprocess.run(
        [sys.executable, "-c", script, *words, str(tmp_path / "out")], capture_output=True, text=True, check=True
    )
    assert again.stderr.startswith("Continues a run that was stopped")
    assert not unfinished.exists()
    assert run(*words, tmp_path / "whole").code == 0
    assert (tmp_path / "out" / "labels.csv").read_bytes() == (tmp_path / "whole" / "labels.csv").read_bytes()


@pytest.mark.slow
def test_the_next_run_removes_what_a_killed_one_left(table: Path) -> None:
    out = table.parent / "out"
    for _ in range(2):
        assert _python(RUNNING, "3", "fit", table, *WORDS, "--out", out) == -signal.SIGKILL
        assert len(list(table.parent.glob(".out-*"))) == 1
    assert run("fit", table, *WORDS, "--out", out).code == 0
    assert sorted(path.name for path in table.parent.iterdir()) == ["out", "table.csv"]
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]


def test_only_the_folders_of_ended_runs_of_this_computer_are_removed(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    marks = {
        ".out-0123abcd": f"{ended.stdout.strip()} {platform.node()}",
        ".out-11111111": f"{os.getpid()} {platform.node()}",
        ".out-22222222": f"{ended.stdout.strip()} elsewhere",
        ".out-33333333": "no number",
        ".out-44444444": None,
        ".out-mine": f"{ended.stdout.strip()} {platform.node()}",
        ".other-0123abcd": f"{ended.stdout.strip()} {platform.node()}",
    }
    for name, mark in marks.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "precious").write_text("text")
        if mark is not None:
            (tmp_path / name / MARK).write_text(mark)
    with new_folder("out", tmp_path / "out") as folder:
        (folder / "result").write_text("text")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"out", *marks} - {".out-0123abcd"}
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result"]


def test_a_link_to_a_left_over_folder_is_not_followed(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / MARK).write_text(f"{ended.stdout.strip()} {platform.node()}")
    (tmp_path / ".out-0123abcd").symlink_to(tmp_path / "elsewhere")
    with new_folder("out", tmp_path / "out"):
        pass
    assert (tmp_path / "elsewhere" / MARK).exists()


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(table: Path) -> None:
    assert run("fit", table, *WORDS, "--out", table.parent / "model").code == 0
    first_line = f"{sys.executable} -m ordinoise.app.cli predict model table.csv | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", first_line], cwd=table.parent, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0
    assert done.stdout.startswith("x1,x2,grade,predicted_grade")
    assert done.stderr == ""
