"""An audit of parts that is killed while it learns, and run again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from app.out_of_core.parts import plain, table, written
from ordinoise.app.out_of_core.verbs import LABELS
from ordinoise.app.records.audit import read_record

ROOT = Path(__file__).parents[2]
RUNNING = """
import os, signal, sys, threading
sys.path.insert(0, "tests")
from pathlib import Path
from app.out_of_core.parts import request_for
from ordinoise.app.out_of_core.verbs import audit_parts
data, out, seconds = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
def stage(words):
    if seconds and "correct" in words:
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
audit_parts(request_for(data), out, n_suspects=20, on_stage=stage)
"""


def _run(data: Path, out: Path, seconds: float) -> int:
    words = [sys.executable, "-c", RUNNING, str(data), str(out), str(seconds)]
    return subprocess.run(words, cwd=ROOT, capture_output=True).returncode


@pytest.mark.slow
def test_an_audit_of_parts_that_is_killed_continues_to_the_same_bits(tmp_path: Path) -> None:
    data = written(tmp_path / "data", table(6000)[0], 4)
    assert _run(data, tmp_path / "calm", 0) == 0
    labels = pl.read_parquet(tmp_path / "calm" / LABELS)
    for seconds in (0.01, 0.3, 0.6):
        out = tmp_path / f"killed-{seconds}"
        assert _run(data, out, seconds) == -signal.SIGKILL
        assert not out.exists()
        assert _run(data, out, 0) == 0
        assert plain(read_record(out)) == plain(read_record(tmp_path / "calm"))
        assert pl.read_parquet(out / LABELS).equals(labels)
