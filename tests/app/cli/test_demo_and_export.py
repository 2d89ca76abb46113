"""The command line as a person meets it: a process, its words and its exit code."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ordinoise import OrdinalMLPClassifier
from ordinoise.datasets import synthetic

ROOT = Path(__file__).parents[3]


def _run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ordinoise.app.cli", *words], capture_output=True, text=True, cwd=cwd)


def test_help_names_every_verb() -> None:
    result = _run("--help")
    assert result.returncode == 0
    for verb in ("demo", "export", "reproduce", "audit"):
        assert verb in result.stdout


def test_demo_prints_its_result_and_writes_the_picture(tmp_path: Path) -> None:
    result = _run("demo", "--splits", "1", "--out", "story", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "story" / "panels.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in (tmp_path / "story").iterdir()] == ["panels.png"]
    for words in ("True noise", "Estimated noise", "Error on clean test labels", "read_csv"):
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
