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


def loaded_by(folder: Path, *words: str, code: int = 0) -> set[str]:
    """Modules that a fresh interpreter has loaded after ``ordinoise WORDS``."""
    command = [sys.executable, "-c", PROBE, "modules.json", *words]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == code, result.stderr
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


COLUMNS = "'size' (60 values), 'color' (2 values), 'stars' (3 values)"
MISNAMED: dict[str, tuple[tuple[str, ...], str]] = {
    "audit": (("--target", "star"), "target must name a column of the file, got 'star'; did you mean 'stars' (3 values)?"),
    "fit": (("--target", "grade", "--out", "m"), f"target must name a column of the file, got 'grade'; the columns are {COLUMNS}"),
    "noise": (("--target", "stars", "--ignore", "colour"), "ignore must name a column of the file, got 'colour'; did you mean 'color' (2 values)?"),
    "check": (("--target", "x", "--max-wrong", "0.1"), f"target must name a column of the file, got 'x'; the columns are {COLUMNS}"),
    "corrupt": (("--target", "x", "--out", "new.csv"), f"target must name a column of the file, got 'x'; the columns are {COLUMNS}"),
    "raters": (("--wide", "stars,sizes"), "wide must name a column of the file, got 'sizes'; did you mean 'size' (60 values)?"),
    "judge": (("--judge", "stars", "--human", "x,size"), f"human must name a column of the file, got 'x'; the columns are {COLUMNS}"),
}  # fmt: skip


@pytest.mark.parametrize("verb", MISNAMED)
def test_a_column_that_is_not_there_is_named_with_those_that_could_be_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TABLE)
    words, sentence = MISNAMED[verb]
    result = run(verb, "table.csv", *words)
    assert (result.code, result.err) == (2, sentence + "\n")


def test_an_option_that_is_missing_names_the_columns_that_could_hold_grades(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TABLE)
    for words in (("audit", "table.csv"), ("audit", "table.csv", "--target")):
        result = run(*words)
        assert result.code == 2
        assert "Columns of table.csv that could hold grades: 'color' (2 values), 'stars' (3 values)." in result.err
    assert "could hold" not in run("audit", "none.csv").err
    assert "could hold" not in run("audit", "--target", "stars").err


def test_what_is_wrong_with_the_names_of_columns_is_said_before_anything_slow_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    for words in (("audit", "table.csv", "--target", "star"), ("raters", "table.csv", "--item", "x", "--grade", "y")):
        loaded = loaded_by(tmp_path, *words, code=2)
        slow = {"scipy", "sklearn", "pandas", "numba", "torch", "lightgbm", "ordinoise.app.tables.graded"}
        assert loaded & slow == set()
