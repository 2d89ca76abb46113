"""The command line as a person meets it: a process, its words and its exit code."""

import subprocess
import sys
from pathlib import Path

import pytest


def _run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ordinoise.cli", *words], capture_output=True, text=True, cwd=cwd)


def test_help_names_every_verb() -> None:
    result = _run("--help")
    assert result.returncode == 0
    assert "demo" in result.stdout


def test_demo_tells_the_story_and_writes_the_picture(tmp_path: Path) -> None:
    result = _run("demo", "--splits", "1", "--out", "story", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "story" / "panels.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in (tmp_path / "story").iterdir()] == ["panels.png"]
    for words in ("Noise put in", "Noise estimated", "Error on clean test labels", "read_csv"):
        assert words in result.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("demo", "--splits", "0"), "splits must be a whole number of at least 1, got 0"),
        (("demo", "--seed", "-1"), "seed must be a whole number of at least 0, got -1"),
        (("demo", "--out", "taken"), "File exists"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    result = _run(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
