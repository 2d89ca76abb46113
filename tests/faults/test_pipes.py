"""Pipes and devices in the place of files: refused in one sentence, never read."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.command import run
from tools.fuzz.seeds import write_audit, write_tables

SENTENCE = re.compile(r"[\w' ./-]+ must .+, got .+\n")
MODEL = ("--target", "stars", "--learner", "mlp", "--jobs", "1")
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "audit FILE": ("audit", "ODD", *MODEL, "--noise", "none", "--out", "out"),
    "audit --noise": ("audit", "t.csv", *MODEL, "--noise", "ODD", "--out", "out"),
    "audit --embeddings": ("audit", "t.csv", *MODEL, "--noise", "none", "--embeddings", "ODD.npy", "--out", "out"),
    "audit --reviewed": ("audit", "t.csv", *MODEL, "--noise", "none", "--reviewed", "ODD", "--out", "out"),
    "noise --noise": ("noise", "t.csv", *MODEL, "--noise", "ODD"),
    "fit --noise": ("fit", "t.csv", *MODEL, "--noise", "ODD", "--out", "out"),
    "corrupt FILE": ("corrupt", "ODD", "--target", "stars", "--out", "out.csv"),
    "corrupt --noise": ("corrupt", "t.csv", "--target", "stars", "--noise", "ODD", "--out", "out.csv"),
    "plan --noise": ("plan", "--classes", "3", "--noise", "ODD"),
    "predict MODEL": ("predict", "ODD", "t.csv"),
    "raters FILE": ("raters", "ODD", "--item", "size", "--rater", "colour", "--grade", "stars", "--out", "out"),
    "raters --features": ("raters", "r.csv", "--item", "item", "--rater", "who", "--grade", "stars", "--features", "ODD", "--out", "out"),
    "raters --trusted": ("raters", "r.csv", "--item", "item", "--rater", "who", "--grade", "stars", "--trusted", "ODD", "--out", "out"),
    "judge FILE": ("judge", "ODD", "--judge", "stars", "--human", "size", "--out", "out"),
    "next FOLDER": ("next", "ODD", "--budget", "1"),
    "check --reviewed": ("check", "t.csv", *MODEL, "--max-wrong", "1", "--reviewed", "ODD"),
    "review FOLDER": ("review", "ODD", "--no-browser"),
}  # fmt: skip
INSIDE = ("audit.json", "labels.csv", "decisions.sqlite", "next-1.json", "review.lock")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    lines = [f"{item},{who},{(item + who) % 3 + 1}" for item in range(12) for who in range(3)]
    (tmp_path / "r.csv").write_text("\n".join(["item,who,stars", *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextlib.contextmanager
def _in_time(seconds: int) -> Iterator[None]:
    """A failure of the test where a verb waits for a pipe."""

    def stop(*_: object) -> None:
        raise AssertionError("still waiting")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("words", ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_pipe_or_a_device_is_no_file(folder: Path, words: tuple[str, ...], kind: str) -> None:
    for name in ("ODD", "ODD.npy"):
        os.mkfifo(folder / name) if kind == "pipe" else (folder / name).symlink_to("/dev/zero")
    before = set(folder.iterdir())
    with _in_time(20):
        result = run(*words)
    assert result.code == 2
    assert SENTENCE.fullmatch(result.err), result.err
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize("name", INSIDE)
def test_a_pipe_in_the_folder_of_an_audit_is_one_sentence(folder: Path, name: str) -> None:
    write_audit(folder)
    audit = folder / "audit"
    (audit / name).unlink(missing_ok=True)
    os.mkfifo(audit / name)
    words = ("review", "audit", "--no-browser") if name == "review.lock" else ("next", "audit", "--budget", "1")
    with _in_time(20):
        result = run(*words)
    assert result.code == 2
    assert SENTENCE.fullmatch(result.err), result.err
