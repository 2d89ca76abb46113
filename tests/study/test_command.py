"""The study as a command."""

import subprocess
import sys
from pathlib import Path

import pytest

from studies.accuracy.__main__ import _copy

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


def test_the_page_and_pictures_of_the_documentation_are_those_of_the_run(tmp_path: Path) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    for folder in (out, docs / "_measured", docs / "_static"):
        folder.mkdir(parents=True)
    (out / "accuracy.md").write_text("# Title\n\nWords.\n\n## Ranks\n\n| a | b ## c |\n")
    for name in ("noisy", "clean"):
        (out / f"ranks-{name}.png").write_bytes(name.encode())
    _copy(out, docs)
    assert (docs / "_measured" / "accuracy.md").read_text() == "Words.\n\n### Ranks\n\n| a | b ## c |\n"
    assert (docs / "_static" / "ranks-clean.png").read_bytes() == b"clean"
