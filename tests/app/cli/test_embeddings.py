"""Embeddings by a file of their own, from the fit to the prediction."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from ordinoise.app.tables.embeddings import read_embeddings

pytestmark = pytest.mark.usefixtures("few_models")

FAST = ("--learner", "mlp", "--noise", "none", "--jobs", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that says nothing, and vectors that say all; one row has no grade."""
    folder = tmp_path_factory.mktemp("embedded")
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(150, 4)).astype(np.float32)
    stars = [None, *np.digitize(vectors[1:, 0], [-0.5, 0.5]).tolist()]
    pictures = [f"pictures/{number}.png" for number in range(150)]
    pl.DataFrame({"picture": pictures, "stars": stars}).write_csv(folder / "t.csv")
    np.save(folder / "v.npy", vectors)
    pl.DataFrame({"vector": vectors.tolist()}).write_parquet(folder / "v.parquet")
    words = ("--target", "stars", *FAST, "--embeddings", folder / "v.npy", "--out", folder / "model", "--json")
    fitted = run("fit", folder / "t.csv", *words)
    assert fitted.code == 0, fitted.err
    (folder / "fitted.json").write_text(fitted.out)
    return folder


def test_a_model_learns_from_vectors_and_asks_for_them_again(folder: Path) -> None:
    scores = json.loads((folder / "fitted.json").read_text())["scores"]
    assert scores["quadratic_weighted_kappa"]["observed"] > 0.7
    words = ("predict", folder / "model", folder / "t.csv")
    one, other = (run(*words, "--embeddings", folder / name) for name in ("v.npy", "v.parquet"))
    assert one.code == 0, one.err
    assert one.out == other.out
    assert pl.read_csv(one.out.encode()).height == 150
    asked = run(*words)
    assert (asked.code, asked.err) == (2, "embeddings must be given, as when the model was made, got none\n")
    np.save(folder / "short.npy", np.zeros((150, 3)))
    assert "embeddings must have 4 numbers per row" in run(*words, "--embeddings", folder / "short.npy").err


@pytest.mark.parametrize("number", ["1" + "0" * 300, "-1", "3", "true"])
def test_a_model_whose_number_of_vectors_was_edited_is_refused(number: str, folder: Path, tmp_path: Path) -> None:
    model = shutil.copytree(folder / "model", tmp_path / "model")
    text = (model / "task.json").read_text()
    (model / "task.json").write_text(text.replace('"n_embedded": 4', f'"n_embedded": {number}'))
    refused = run("predict", model, folder / "t.csv", "--embeddings", folder / "v.npy")
    assert refused.code == 2
    assert "the folder is damaged" in refused.err


def test_vectors_of_other_rows_or_with_objects_are_refused_with_a_sentence(tmp_path: Path) -> None:
    complaints = {
        "objects": (np.array([[{}], [1]], dtype=object), "be a .npy file without objects"),
        "rows": (np.zeros((3, 2)), "have one vector for each of the 2 rows of the table, got 3"),
        "flat": (np.zeros(2), "hold a matrix of numbers, one row per vector, got shape"),
        "infinite": (np.full((2, 2), np.inf), "hold finite numbers"),
    }
    for name, (content, sentence) in complaints.items():
        np.save(tmp_path / f"{name}.npy", content)
        with pytest.raises(ValueError, match=f"^embeddings must {sentence}"):
            read_embeddings(tmp_path / f"{name}.npy", 2)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "rows.npy").read_bytes()[:100])
    with pytest.raises(ValueError, match=r"^embeddings must be a .npy file"):
        read_embeddings(tmp_path / "cut.npy", 3)
    (tmp_path / "open.npy").write_bytes((tmp_path / "rows.npy").read_bytes().replace(b"(3, 2)", b"((3,2)"))
    with pytest.raises(ValueError, match=r"^embeddings must be a .npy file"):
        read_embeddings(tmp_path / "open.npy", 3)
    pl.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}).write_parquet(tmp_path / "gaps.parquet")
    with pytest.raises(ValueError, match=r"^embeddings must have columns of numbers without gaps"):
        read_embeddings(tmp_path / "gaps.parquet", 2)
    pl.DataFrame({"a": [[1.0], [1.0, 2.0]]}).write_parquet(tmp_path / "ragged.parquet")
    with pytest.raises(ValueError, match=r"^embeddings must hold lists of one length"):
        read_embeddings(tmp_path / "ragged.parquet", 2)
