"""The command line as a person meets it: a process, its words and its exit code."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import run
from ordinoise import OrdinalMLPClassifier
from ordinoise.app.cli._console import console
from ordinoise.app.cli.demo import _print_result
from ordinoise.app.verbs.demo import DemoResult
from ordinoise.datasets import synthetic
from ordinoise.estimation import IdentifiabilityWarning
from ordinoise.noise import Doubt, Noise, inverse_decay

ROOT = Path(__file__).parents[3]


def _run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ordinoise.app.cli", *words], capture_output=True, text=True, cwd=cwd)


def test_help_names_every_verb() -> None:
    result = _run("--help")
    assert result.returncode == 0
    for verb in ("demo", "export", "reproduce", "audit"):
        assert verb in result.stdout


@pytest.mark.slow
def test_demo_prints_its_result_and_writes_the_picture(tmp_path: Path) -> None:
    result = _run("demo", "--splits", "1", "--out", "story", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "story" / "panels.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in (tmp_path / "story").iterdir()] == ["panels.png"]
    for words in ("True noise", "Estimated noise", "Error on clean test labels", "read_csv"):
        assert words in result.stdout
    assert result.stderr == ""


def test_a_doubt_about_the_demo_is_a_note_below_its_matrices(capsys: pytest.CaptureFixture[str]) -> None:
    matrix = inverse_decay(4, 0.15)
    doubted = Noise(matrix, source="estimated", doubts=(Doubt("code", "the columns say little"),))
    result = DemoResult(matrix, [Noise(matrix, source="estimated"), doubted, doubted], 0.3, [], Path("panels.png"))
    _print_result(console(), result)
    said = capsys.readouterr().out
    assert "In doubt: 2 of 3 estimates, for example since the columns say little." in said
    assert said.index("Estimated noise") < said.index("In doubt") < said.index("Your own table")


def test_a_warning_of_any_library_is_one_note_without_a_line_of_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(*args: int) -> np.ndarray:
        for _ in range(2):
            warnings.warn("the columns\n\x1b[31m say little", IdentifiabilityWarning, stacklevel=1)
        return inverse_decay(*args)

    monkeypatch.setattr("ordinoise.noise.inverse_decay", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = run("plan", "--classes", "4")
    assert result.code == 0
    assert result.err == "Note: the columns \ufffd[31m say little\n"


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


@pytest.mark.slow
def test_export_writes_what_the_model_says_and_never_over_a_file(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    data = synthetic(50, random_state=0)
    model = OrdinalMLPClassifier(max_iter=5, random_state=0).fit(data.features, data.labels)
    model.save(tmp_path / "model")
    result = _run("export", "model", "model.onnx", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "OrdinalMLPClassifier with 4 classes" in result.stdout
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    [labels] = session.run(["label"], {"features": data.features.astype(np.float32)})
    np.testing.assert_array_equal(labels, model.predict(data.features))
    again = _run("export", "model", "model.onnx", cwd=tmp_path)
    assert again.returncode == 2
    assert "out must not exist yet" in again.stderr


def test_export_of_something_else_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    result = _run("export", "folder", "model.onnx", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("path must hold a readable model.json")
    assert not (tmp_path / "model.onnx").exists()


@pytest.mark.slow
def test_a_study_of_one_problem_has_its_tables_without_ranks(data_dir: Path, tmp_path: Path) -> None:
    words = ["--datasets", "toy", "--noises", "uniform", "--splits", "1", "--contestants", "network, trusting"]
    command = [sys.executable, "-m", "studies.accuracy", *words, "--data-dir", str(data_dir)]
    command += ["--out", str(tmp_path / "study")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert "network, trusting" in (tmp_path / "study" / "accuracy.csv").read_text()
    assert "Mean ranks" not in (tmp_path / "study" / "accuracy.md").read_text()
    again = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert again.returncode == 0, again.stderr
