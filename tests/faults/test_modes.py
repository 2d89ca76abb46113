"""Outputs under a umask: nobody may read more of them than the umask allows."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from app.cli.command import run

WORDS = ("--learner", "mlp", "--noise", "none", "--jobs", "1")


def _modes(umask: str, table: Path, verb: str, *words: str) -> set[tuple[bool, str]]:
    """Run a verb, and return the modes of all it wrote: (is a folder, mode)."""
    out = table.parent / ("out.csv" if verb == "corrupt" else "out")
    before = os.umask(int(umask, 8))
    try:
        done = run(verb, table, "--target", "grade", *words, "--out", out)
    finally:
        os.umask(before)
    assert done.code == 0, done.err
    written = [out, *(out.rglob("*") if out.is_dir() else ())]
    return {(path.is_dir(), f"{stat.S_IMODE(path.stat().st_mode):o}") for path in written}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"{at / 60},{at % 7},{at // 20}" for at in range(60)]
    (tmp_path / "table.csv").write_text("\n".join(["x,y,grade", *rows]) + "\n")
    (tmp_path / "table.csv").chmod(0o600)
    return tmp_path / "table.csv"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["audit", pytest.param("fit", marks=pytest.mark.slow)])
def test_folders_and_their_files_keep_to_a_private_umask(verb: str, table: Path) -> None:
    assert _modes("077", table, verb, *WORDS) == {(True, "700"), (False, "600")}


@pytest.mark.parametrize(("umask", "mode"), [
        ("077", "600"), pytest.param("027", "640", marks=pytest.mark.slow),
        pytest.param("022", "644", marks=pytest.mark.slow), ("002", "664"),
    ])  # fmt: skip
def test_files_keep_to_the_umask(umask: str, mode: str, table: Path) -> None:
    assert _modes(umask, table, "corrupt") == {(False, mode)}


@pytest.mark.slow
def test_a_shared_umask_gives_folders_that_the_group_can_read(table: Path) -> None:
    assert _modes("027", table, "audit", *WORDS) == {(True, "750"), (False, "640")}
