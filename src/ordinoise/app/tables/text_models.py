"""Vectors of texts by a language model of the user's: static ones by model2vec, others by sentence-transformers."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ordinoise._validation import Floats, complain

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
EXTRAS = {"model2vec": "text", "sentence_transformers": "sentences"}
Encoder = Callable[[Sequence[str]], Any]


def text_vectors(model: str | Path, columns: Sequence[Sequence[str]]) -> Floats:
    """The vectors of each row's texts, one column of texts after the other, shape (n_rows, n_columns * length).

    Parameters
    ----------
    model : str or Path
        A folder with a model, or the name of one on the hub that the libraries load from. Weights of transformers are
        read from safetensors only, those of a dense layer behind one perhaps by torch's loader for weights alone. No
        code that comes with a model is run.
    columns : sequence of sequence of str
    """
    if not columns:
        raise complain("text-model", "have a column of free text to read", "none", "--text COLUMN names one")
    encode = _loaded(str(model))
    vectors = [np.asarray(encode(list(texts)), dtype=np.float64) for texts in columns]
    found = np.column_stack(vectors)
    if not np.isfinite(found).all():
        raise complain("text-model", "give finite vectors", repr(str(model)))
    return found


def _loaded(model: str) -> Encoder:
    is_folder = Path(model).is_dir()
    if not is_folder and (Path(model).is_absolute() or not HUB_NAME.fullmatch(model)):
        raise complain("text-model", "be a folder with a model, or the name of one on the hub", repr(model))
    kinds = (_static if _is_static(Path(model)) else _sentences,) if is_folder else (_static, _sentences)
    failures = []
    for load in kinds:
        try:
            return load(model)
        except ImportError as error:  # without the package
            failures.append(str(error))
        except Exception as error:  # whatever the libraries and the hub raise
            failures.append(_short(error))
    rule = "be a folder with a model of model2vec or sentence-transformers, or the name of one on the hub"
    raise complain("text-model", rule, f"{model!r} ({'; '.join(failures)})")


def _is_static(folder: Path) -> bool:
    """Whether a folder holds a static model: no modules, or a single one that looks vectors up."""
    with suppress(OSError, ValueError, TypeError, LookupError):
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in modules]
        return kinds in (["StaticEmbedding"], ["StaticEmbedding", "Normalize"])
    return True


def _static(model: str) -> Encoder:
    _require("model2vec")
    from model2vec import StaticModel

    loaded = StaticModel.from_pretrained(model, force_download=False)
    return lambda texts: loaded.encode(texts, use_multiprocessing=False)


def _sentences(model: str) -> Encoder:
    _require("sentence_transformers")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer

    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    options: Any = {"use_safetensors": True}
    loaded = SentenceTransformer(model, trust_remote_code=False, model_kwargs=options)
    return lambda texts: loaded.encode(texts, show_progress_bar=False, convert_to_numpy=True)


def _require(package: str) -> None:
    if find_spec(package) is None:
        extra = EXTRAS[package]
        raise ImportError(f'{package.replace("_", "-")} is not installed; pip install "ordinoise[{extra}]" brings it')


def _short(error: Exception) -> str:
    """What a library said, on one line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:200]}"
