"""An audit of parts that is killed at any stage, and run again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.out_of_core.parts import table, written

ROOT = Path(__file__).parents[2]
RUNNING = """
import os, signal, sys, threading
sys.path.insert(0, "tests")
from pathlib import Path
from app.out_of_core.parts import request_for
from ordinoise.app.out_of_core.verbs import audit_parts
data, out, word, seconds = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], float(sys.argv[4])
def stage(words):
    if word and word in words:
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
audit_parts(request_for(data, jobs=2), out, n_suspects=20, on_stage=stage)
"""
MOMENTS = (
    ("reading", 0.01), ("trust", 0.05), ("trust", 0.5), ("scoring", 0.01), ("correct", 0.01), ("correct", 0.3),
    ("correct", 0.6), ("judging", 0.01),
)  # fmt: skip
"""A word of a stage, and seconds after its beginning."""


def _run(data: Path, out: Path, word: str = "", seconds: float = 0.0) -> int:
    words = [sys.executable, "-c", RUNNING, str(data), str(out), word, str(seconds)]
    return subprocess.run(words, cwd=ROOT, capture_output=True).returncode


def _files(folder: Path) -> dict[str, bytes]:
    """The files of an audit; a page names the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes().replace(str(folder).encode(), b"FOLDER")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_an_audit_of_parts_that_is_killed_continues_to_the_same_bits(tmp_path: Path) -> None:
    data = written(tmp_path / "data", table(4000)[0], 4)
    assert _run(data, tmp_path / "calm") == 0
    calm = _files(tmp_path / "calm")
    assert {"audit.json", "suspects.csv", "report.html"} <= set(calm)
    for number, (word, seconds) in enumerate(MOMENTS):
        out = tmp_path / f"killed-{number}"
        assert _run(data, out, word, seconds) == -signal.SIGKILL
        assert not out.exists()
        assert _run(data, out) == 0
        assert _files(out) == calm, (word, seconds)
