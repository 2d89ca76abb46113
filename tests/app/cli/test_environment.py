"""Odd settings in the environment: one sentence, or no harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TABLE = "size,stars\n" + "".join(f"{row / 7:.3f},{row % 3 + 1}\n" for row in range(60))


def _corrupted(folder: Path, name: str, value: str) -> tuple[int, str]:
    (folder / "t.csv").write_text(TABLE)
    words = [sys.executable, "-P", "-m", "ordinoise.app.cli", "corrupt", "t.csv", "--target", "stars", "--out", "o.csv"]
    done = subprocess.run(words, cwd=folder, env={**os.environ, name: value}, capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("POLARS_MAX_THREADS", "0", "be a whole number from 1 to 9999"),
        ("POLARS_MAX_THREADS", "x", "be a whole number from 1 to 9999"),
        ("POLARS_MAX_THREADS", "9" * 20, "be a whole number from 1 to 9999"),
        ("NUMBA_DISABLE_JIT", "1", "be 0, as networks run compiled alone"),
        ("ORDINOISE_MAX_BYTES", "-1", "be a positive whole number"),
    ],
)
def test_a_setting_that_would_end_the_process_is_one_sentence(tmp_path: Path, name: str, value: str, rule: str) -> None:
    code, said = _corrupted(tmp_path, name, value)
    assert code == 2
    assert said.startswith(f"{name} must {rule}, got {value!r}")
    assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("name", "value"), [("MPLBACKEND", "rubbish"), ("POLARS_MAX_THREADS", "02"), ("TZ", "rubbish")]
)
def test_other_settings_do_no_harm(tmp_path: Path, name: str, value: str) -> None:
    code, said = _corrupted(tmp_path, name, value)
    assert (code, "Traceback" in said) == (0, False), said
