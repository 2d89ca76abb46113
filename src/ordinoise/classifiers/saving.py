"""Models on disk: one folder, settings in JSON, arrays in safetensors, texts as they are. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordinoise
from ordinoise._files import new_folder, write_whole
from ordinoise._validation import complain

FORMAT = "ordinoise-model"
FORMAT_VERSION = 1
SETTINGS, ARRAYS = "model.json", "arrays.safetensors"
FILES = "files"  # the entry of the settings whose texts, by file name, become files of their own

Arrays = dict[str, NDArray[Any]]


def write_folder(path: str | os.PathLike[str], kind: str, settings: dict[str, Any], arrays: Arrays) -> None:
    """Write a model folder under another name, then rename it: there is a whole one or none.

    Texts in ``settings["files"]`` become files beside the settings, which keep their digests.
    """
    from safetensors.numpy import save

    texts = {name: text.encode() for name, text in settings.get(FILES, {}).items()}
    digests = {FILES: {name: _digest(text) for name, text in texts.items()}} if texts else {}
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "ordinoise": ordinoise.__version__,
        "kind": kind,
        "settings": settings | digests,
    }
    text = json.dumps(header, indent=1, allow_nan=False)
    with new_folder("path", Path(path)) as folder:
        write_whole(folder / SETTINGS, text.encode())
        write_whole(folder / ARRAYS, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
        for name, content in texts.items():
            write_whole(folder / name, content)


def read_folder(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Arrays]:
    """Settings and arrays of a model folder; anything unexpected is refused with a sentence."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    folder = Path(path)
    header = _header(folder)
    version = header.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        advice = "it was written by a newer ordinoise; update this one"
        raise complain("path", f"hold a model of format version {FORMAT_VERSION} or older", version, advice)
    if header.get("kind") != kind:
        raise complain("path", f"hold a model of kind {kind!r}", repr(header.get("kind")))
    if not isinstance(header.get("settings"), dict):
        raise complain("path", f"hold settings in {SETTINGS}", "none", "the folder is damaged")
    try:
        arrays: Arrays = load((folder / ARRAYS).read_bytes())
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise complain("path", f"hold arrays in {ARRAYS}", f"{type(error).__name__}", "the folder is damaged") from None
    settings = header["settings"]
    if FILES in settings:
        settings = settings | {FILES: _texts(folder, settings[FILES])}
    return settings, arrays


def kind_of(path: str | os.PathLike[str]) -> str:
    """Which class wrote a model folder."""
    return str(_header(Path(path)).get("kind"))


def _header(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise complain("path", "be a model folder", repr(str(folder)))
    try:
        header = json.loads((folder / SETTINGS).read_text())
    except (OSError, ValueError, RecursionError):
        raise complain("path", f"hold a readable {SETTINGS}", repr(str(folder)), "the folder is damaged") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise complain("path", "be an ordinoise model folder", repr(str(folder)))
    return header


def _texts(folder: Path, digests: Any) -> dict[str, str]:
    """The texts beside the settings, each as it was written."""
    texts = {}
    for name, digest in digests.items() if isinstance(digests, dict) else []:
        try:
            content = (folder / Path(name).name).read_bytes()
        except OSError:
            content = b""
        if _digest(content) != digest:
            raise complain("path", f"hold {name} as it was written", repr(str(folder)), "the folder is damaged")
        texts[name] = content.decode()
    return texts


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
