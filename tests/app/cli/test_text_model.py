"""Vectors of free text by a model of the user's, from the audit to the prediction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from ordinoise.app.tables import ColumnRoles
from ordinoise.app.tables.graded import graded_table
from ordinoise.app.tables.text_models import _is_static, text_vectors

pytestmark = pytest.mark.usefixtures("few_models")

FAST = ("--learner", "mlp", "--noise", "none", "--jobs", "1")
WORDS = {"dreadful": -2.0, "poor": -1.0, "plain": 0.0, "good": 1.0, "superb": 2.0}


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A static model of five words, whose first number is how good a word is."""
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"[UNK]": 0} | {word: at for at, word in enumerate(WORDS, start=1)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.array([[0.0, 0.1], *([value, value**2] for value in WORDS.values())], dtype=np.float32)
    folder = tmp_path_factory.mktemp("static") / "model"
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of four words of that model each, one of them missing; the stars are how good they are."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(WORDS), size=(120, 4))
    texts = [" ".join(np.array(list(WORDS))[row]) for row in drawn]
    stars = np.digitize(np.array(list(WORDS.values()))[drawn].mean(axis=1), [-0.5, 0.5]) + 1
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    pl.DataFrame({"text": [None, *texts[1:]], "stars": stars}).write_csv(path)
    return path


def test_vectors_are_those_of_the_model_one_column_after_the_other(static: Path) -> None:
    found = text_vectors(static, [["good superb", ""], ["plain", "poor"]])
    np.testing.assert_allclose(found, np.array([[1.5, 2.5, 0, 0], [0, 0, -1, 1]]), atol=1e-6)


def test_the_vectors_are_features_of_the_table(static: Path, reviews: Path) -> None:
    table = graded_table(reviews, ColumnRoles("stars", text=["text"]), text_model=str(static))
    assert table.features.columns == ["text", *table.embedded] == ["text", "embedding_1", "embedding_2"]
    assert table.features["embedding_1"][0] == 0  # its text is missing
    assert np.corrcoef(table.features["embedding_1"], table.labels)[0, 1] > 0.8


@pytest.mark.slow
def test_a_fit_learns_from_the_vectors_and_asks_for_the_model_again(
    static: Path, reviews: Path, tmp_path: Path
) -> None:
    words = ("--target", "stars", "--text", "text", *FAST, "--text-model", static)
    fitted = run("fit", reviews, *words, "--out", tmp_path / "model", "--json")
    assert fitted.code == 0, fitted.err
    task = json.loads((tmp_path / "model" / "task.json").read_text())
    assert (task["n_embedded"], task["text_model"]) == (2, str(static))
    asked = run("predict", tmp_path / "model", reviews)
    assert (asked.code, asked.err) == (
        2, f"text-model must be given, as when the model was made ({str(static)!r}), got none\n",
    )  # fmt: skip
    graded = run("predict", tmp_path / "model", reviews, "--text-model", static)
    assert graded.code == 0, graded.err
    table = pl.read_csv(graded.out.encode())
    assert (table["predicted_stars"] == table["stars"])[1:].mean() > 0.85  # type: ignore[operator]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("./no such folder", "text-model must be a folder with a model, or the name of one on the hub, got"),
        ("/no/such/folder", "text-model must be a folder with a model, or the name of one on the hub, got"),
        ("empty", "text-model must be a folder with a model of model2vec or sentence-transformers, or the name"),
    ],
)
def test_a_model_that_is_not_there_is_named_in_a_sentence(name: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=f"^{sentence}"):
        text_vectors(tmp_path / name if name == "empty" else name, [["some text"]])


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def found(name: str, *others: Any) -> None:
        return None

    monkeypatch.setattr("ordinoise.app.tables.text_models.find_spec", found)
    with pytest.raises(ValueError, match=r'model2vec is not installed; pip install "ordinoise\[text\]" brings it'):
        text_vectors(tmp_path, [["some text"]])
    (tmp_path / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Transformer"}]))
    with pytest.raises(ValueError, match=r"sentence-transformers is not installed; pip install \"ordinoise\[sent"):
        text_vectors(tmp_path, [["some text"]])


def test_a_table_without_text_has_nothing_for_a_model_to_read(static: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,stars\n" + "\n".join(f"{at**2 % 7},{at % 2}" for at in range(60)))
    asked = run("noise", tmp_path / "t.csv", "--target", "stars", "--text-model", static)
    assert (asked.code, asked.err.count("\n")) == (2, 1)
    assert asked.err.startswith("text-model must have a column of free text to read, got none; --text COLUMN")


def test_the_modules_of_a_folder_tell_a_static_model_from_others(tmp_path: Path) -> None:
    assert _is_static(tmp_path)
    modules = tmp_path / "modules.json"
    for kinds, is_static in ((["StaticEmbedding"], True), (["Transformer", "Pooling"], False)):
        modules.write_text(json.dumps([{"type": f"sentence_transformers.models.{kind}"} for kind in kinds]))
        assert _is_static(tmp_path) == is_static


@pytest.mark.slow
def test_a_sentence_encoder_is_read_without_its_own_code(tmp_path: Path) -> None:
    """An encoder of two layers with random weights, made and saved here."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {word: at for at, word in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(tmp_path / "bert")
    made = sentence_transformers.SentenceTransformer(str(tmp_path / "bert"))
    made.save(str(tmp_path / "model"))
    texts = ["good superb", "poor"]
    found = text_vectors(tmp_path / "model", [texts])
    np.testing.assert_allclose(found, made.encode(texts), atol=1e-5)
    modules = json.loads((tmp_path / "model" / "modules.json").read_text())
    modules[0]["type"] = "antigravity.Anything"
    (tmp_path / "model" / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ValueError, match=r"^text-model must be a folder with a model"):
        text_vectors(tmp_path / "model", [texts])
