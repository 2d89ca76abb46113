"""The verbs on a folder of Parquet files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from app.cli.command import run
from app.out_of_core.parts import table, written
from ordinoise.app.out_of_core.files import MAX_ROWS


@pytest.fixture(autouse=True)
def _always_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_ROWS, "1")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "data", table(600)[0].drop("owner"), 2)


@pytest.mark.slow
def test_noise_of_a_pattern_is_that_of_its_folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = run("noise", data, "--target", "grade", "--json")
    pattern = run("noise", data / "*.parquet", "--target", "grade", "--json")
    assert folder.code == 0, folder.err
    assert json.loads(folder.out) == json.loads(pattern.out)
    assert json.loads(folder.out)["n_graded"] == 600
    assert [entry.name for entry in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--target", "grad"], "target must name a column of the file, got 'grad'; did you mean 'grade'?"),
        (
            ["--target", "grade", "--learner", "mlp"],
            "learner must be left out for a table in parts, got 'mlp'; ORDINOISE_MAX_ROWS",
        ),
        (["--target", "grade", "--item", "kind"], "item must be left out for a table in parts, got 'kind'"),
        (["--target", "grade", "--reviewed", "x"], "reviewed must be left out for a table in parts, got 'x'"),
        (["--target", "grade", "--scheduler", "tcp://127.0.0.1:1"], "scheduler must be the address of a running dask"),
        (["--target", "x0"], "target must have at most 50 grades"),
    ],
)
def test_bad_options_are_one_sentence(data: Path, tmp_path: Path, words: list[str], sentence: str) -> None:
    found = run("audit", data, *words, "--out", tmp_path / "out")
    assert found.code == 2
    assert sentence in found.err.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_files_that_do_not_fit_are_one_sentence(data: Path, tmp_path: Path) -> None:
    words = ["--target", "grade", "--out", str(tmp_path / "out")]
    (tmp_path / "empty").mkdir()
    assert "file must name Parquet files" in run("audit", tmp_path / "empty", *words).err
    frame = pl.read_parquet(data / "part-01.parquet")
    infinite = written(tmp_path / "infinite", frame.with_columns(pl.lit(float("inf")).alias("x2")), 1)
    assert "an infinite one in column 'x2', row 0" in run("audit", infinite, *words).err.replace("\n", " ")
    frame.drop("x1").write_parquet(data / "part-02.parquet")
    assert "file must have the same columns in every Parquet file" in run("audit", data, *words).err.replace("\n", " ")
    (data / "part-02.parquet").write_bytes(b"PAR1 nothing PAR1")
    assert "file must be a complete Parquet file" in run("audit", data, *words).err.replace("\n", " ")


def test_a_scheduler_is_refused_for_one_file(data: Path, tmp_path: Path) -> None:
    words = ["--target", "grade", "--scheduler", "tcp://127.0.0.1:1", "--out", str(tmp_path / "out")]
    found = run("audit", data / "part-00.parquet", *words)
    assert "scheduler must be used with a folder of Parquet files, got one file" in found.err.replace("\n", " ")
