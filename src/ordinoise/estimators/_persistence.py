"""Models on disk: one folder, settings in JSON, arrays in safetensors, texts as they are. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordinoise
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

    target = Path(path)
    if target.exists():
        raise complain("path", "not exist yet", repr(str(target)), "choose another, or remove it first")
    if not target.parent.is_dir():
        raise complain("path", "lie in a folder that exists", repr(str(target)))
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
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        _write_durably(folder / SETTINGS, text.encode())
        _write_durably(folder / ARRAYS, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
        for name, content in texts.items():
            _write_durably(folder / name, content)
        folder.chmod(0o755)
        folder.rename(target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


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


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
