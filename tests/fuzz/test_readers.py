"""The readers under Atheris, for a bounded number of runs, from files that are whole."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.command import run
from ordinoise.app.review import DecisionStore
from ordinoise.jobs import ResultStore

TABLE = "size,color,stars\n" + "".join(f"{i / 7:.3f},{'red' if i % 3 else 'blue'},{i % 3 + 1}\n" for i in range(60))
RUNS = {
    "table": 4000,
    "svmlight": 4000,
    "settings": 2000,
    "arrays": 2000,
    "task": 1000,
    "audit": 4000,
    "results": 1500,
    "decisions": 1500,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, an audit and both databases."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "t.csv").write_text(TABLE)
    words = (folder / "t.csv", "--target", "stars", "--learner", "mlp", "--noise", "none")
    assert run("fit", *words, "--out", folder / "model").code == 0
    assert run("audit", *words, "--out", folder / "audit", "--suspects", "2").code == 0
    with ResultStore(folder / "results.sqlite"), DecisionStore(folder / "decisions.sqlite"):
        pass
    (folder / "m.txt").write_text("2 qid:1 1:0.5 2:3\n0 qid:1 1:1 2:-3\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("reader", RUNS)
def test_no_bytes_break_a_reader(reader: str, whole: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("Atheris is not installed: pip install atheris")
    seeds = {
        "table": "t.csv", "svmlight": "m.txt", "settings": "model/model.json", "arrays": "model/arrays.safetensors",
        "task": "model/task.json", "audit": "audit/audit.json", "results": "results.sqlite", "decisions": "decisions.sqlite",
    }  # fmt: skip
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "whole").write_bytes((whole / seeds[reader]).read_bytes())
    # By a shell: a process inherits the most memory of the one that starts it, which libFuzzer would count as its own.
    words = [
        *("sh", "-c", '"$@"; exit $?', "sh"),
        sys.executable,
        str(Path(__file__).with_name("readers.py")),
        reader,
        str(RUNS[reader]),
        str(whole / "model"),
    ]
    done = subprocess.run([*words, str(tmp_path / "corpus")], capture_output=True, text=True, cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
