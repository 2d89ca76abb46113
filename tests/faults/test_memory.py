"""A memory limit ends every verb with one sentence, also where a library aborts the process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.cli.command import run

resource = pytest.importorskip("resource")

SENTENCE = re.compile(r"memory must .+, got .+\n")
MB = 2**20


def _run(words: Sequence[str | Path], limit: int, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ordinoise.app.cli", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


def test_a_limit_below_what_the_libraries_need_is_refused_at_once(tmp_path: Path) -> None:
    ended = _run(("noise", "table.csv", "--target", "y"), 500 * MB, tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == "memory must be at least 1,258 MB, got a limit of 524 MB (ulimit -v)\n"


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("os.abort()", 2, SENTENCE),
        ("os._exit(1)", 2, SENTENCE),  # as LLVM does
        ("raise SystemExit(3)", 3, re.compile("")),
        ("os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)", 128 + signal.SIGTERM, re.compile("")),
        ("os.write(2, b'noise of a library'); sys.stderr.write('ours')", 0, re.compile("ours")),
        ("import threading; t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()", 0, re.compile("")),
    ],
)
def test_the_end_of_a_verb_is_told_apart_from_that_by_a_library(body: str, code: int, said: re.Pattern[str]) -> None:
    script = f"""
import os, signal, sys, time
from ordinoise.app.cli._memory import LEAST, run_watched
def verb():
    {body}
run_watched(LEAST, verb, lambda words: print(words, file=sys.stderr))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == code
    assert said.fullmatch(ended.stderr), ended.stderr


WATCHED = """
import os, sys, time
from ordinoise.app.cli._memory import LEAST, run_watched
def verb():
    {body}
run_watched(LEAST, verb, print)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are listed in /proc")
def test_the_allocators_of_libraries_start_no_threads_whatever_a_calling_program_set() -> None:
    names = "sorted(open(f'/proc/self/task/{task}/comm').read().strip() for task in os.listdir('/proc/self/task'))"
    body = f"import polars, pyarrow; polars.DataFrame(dict(a=range(9999))).sum(); pyarrow.array(range(9999)); print({names})"
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED.format(body=body)], capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, "_RJEM_MALLOC_CONF": "background_thread:true"},
    )  # fmt: skip
    assert "python" in ended.stdout
    assert "jemalloc" not in ended.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells children of their parent's end on Linux only")
def test_a_verb_dies_with_its_watcher() -> None:
    script = WATCHED.format(body="print(os.getpid(), flush=True); time.sleep(60)")
    watcher = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert watcher.stdout is not None
    child = int(watcher.stdout.readline())
    watcher.kill()
    watcher.wait()
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            break
        time.sleep(0.1)
    watcher.stdout.close()
    assert not Path(f"/proc/{child}").exists()


def test_a_verb_called_by_a_program_under_a_limit_runs_in_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordinoise.app.cli.memory_limit", lambda: 1 << 40)
    monkeypatch.setattr("os.fork", lambda: pytest.fail("forked"))
    assert run("plan", "--classes", "4", "--rate", "0.1").code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_the_buffers_of_linear_algebra_are_taken_before_the_verb() -> None:
    size = "int(open('/proc/self/statm').read().split()[0]) * 4 // 1024"
    body = f"""import numpy as np, scipy.linalg.blas
    before = {size}
    square = np.ones((64, 64))
    scipy.linalg.blas.dgemm(1.0, square, square @ square)
    print({size} - before)"""
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED.format(body=body)], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(ended.stdout) < 8  # a buffer has 32 MB


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1200, 1300, 1400, 1500, 1600, 1800])
@pytest.mark.parametrize("verb", ["corrupt", "audit", "fit"])
def test_a_verb_under_a_memory_limit_ends_well_or_with_one_sentence(verb: str, limit: int, tmp_path: Path) -> None:
    rows = (f"{i % 7 + i / 100},{'red' if i % 2 else 'blue'},{i % 4 + 1}\n" for i in range(400))
    (tmp_path / "table.csv").write_text("size,color,stars\n" + "".join(rows))
    words = [verb, "table.csv", "--target", "stars", "--out", "out.csv" if verb == "corrupt" else "out"]
    ended = _run([*words, *(() if verb == "corrupt" else ("--noise", "none", "--jobs", "1"))], limit * MB, tmp_path)
    if ended.returncode:
        assert ended.returncode == 2
        assert SENTENCE.fullmatch(ended.stderr), ended.stderr
    visible = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert visible == ({"table.csv"} if ended.returncode else {"table.csv", words[-1]})
