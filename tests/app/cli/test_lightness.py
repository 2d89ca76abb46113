"""A verb loads what it needs: prediction in a fresh interpreter loads neither audit nor review."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.command import run

pytestmark = pytest.mark.usefixtures("few_models")

TABLE = "size,color,stars\n" + "".join(
    f"{i % 7 + i / 100},{'red' if i % 2 else 'blue'},{i % 3 + 1}\n" for i in range(60)
)
# The command line runs as it does for a person; what it has loaded goes where no output of its own does.
PROBE = """
import json, sys
from ordinoise.app.cli import main
try:
    main(sys.argv[2:])
finally:
    with open(sys.argv[1], "w") as file:
        json.dump(sorted(sys.modules), file)
"""
HEAVY = ("ordinoise.app.review", "ordinoise.estimation.raters", "ordinoise.audit")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table and a model of it."""
    folder = tmp_path_factory.mktemp("light")
    (folder / "table.csv").write_text(TABLE)
    words = ("--target", "stars", "--learner", "mlp", "--noise", "none", "--jobs", "1", "--out", folder / "model")
    result = run("fit", folder / "table.csv", *words)
    assert result.code == 0, result.err
    return folder


def loaded_by(folder: Path, *words: str) -> set[str]:
    """Modules that a fresh interpreter has loaded after ``ordinoise WORDS``."""
    command = [sys.executable, "-c", PROBE, "modules.json", *words]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return set(json.loads((folder / "modules.json").read_text()))


@pytest.mark.slow
def test_prediction_loads_neither_the_review_nor_the_audit_nor_the_model_of_raters(folder: Path) -> None:
    loaded = loaded_by(folder, "predict", "model", "table.csv", "--out", "graded.csv")
    assert (folder / "graded.csv").read_text().startswith("size,color,stars,predicted_stars,")
    assert "ordinoise.app.verbs.model" in loaded
    found = [name for name in loaded if name.startswith(tuple(f"{heavy}." for heavy in HEAVY)) or name in HEAVY]
    assert sorted(found) == []


def test_what_prediction_must_not_load_has_the_names_of_real_modules() -> None:
    """A moved one would pass unnoticed above."""
    for name in HEAVY:
        __import__(name)


@pytest.mark.slow
def test_an_audit_loads_what_prediction_must_not(folder: Path) -> None:
    words = ("--target", "stars", "--learner", "mlp", "--noise", "none", "--jobs", "1", "--out", "audit")
    assert "ordinoise.audit" in loaded_by(folder, "audit", "table.csv", *words)
