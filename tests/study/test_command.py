"""The study as a command."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_study_with_an_unknown_contestant_is_one_sentence(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "studies.accuracy",
        "--out",
        str(tmp_path / "out"),
        "--contestants",
        "netwrk, trusting",
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "did you mean 'network, trusting'?" in result.stderr
    assert list(tmp_path.iterdir()) == []
