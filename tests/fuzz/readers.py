"""Coverage-guided fuzzing of one reader: ``python tests/fuzz/readers.py NAME RUNS SEEDS``.

Whatever the bytes, a reader answers or complains with a ValueError of one line; anything else ends this program with an
error, which is what Atheris looks for.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ordinoise"]):
    from ordinoise.app.records.audit import read_record
    from ordinoise.app.records.model import read_model
    from ordinoise.app.review import DecisionStore
    from ordinoise.app.tables import read_table, read_text
    from ordinoise.classifiers import load_model
    from ordinoise.datasets.paper import _svmlight
    from ordinoise.jobs import ResultStore

SCRATCH = Path(tempfile.mkdtemp())


def _file(name: str, data: bytes) -> Path:
    path = SCRATCH / name
    path.write_bytes(data)
    return path


def _opened(store: type, data: bytes) -> None:
    for left in SCRATCH.glob("s.sqlite*"):
        left.unlink()
    with store(_file("s.sqlite", data)):
        pass


def _in_folder(name: str, data: bytes, read: Callable[[Path], object]) -> None:
    """The file `name` of a whole folder, replaced."""
    folder = Path(sys.argv[3])
    keep = (folder / name).read_bytes()
    try:
        (folder / name).write_bytes(data)
        read(folder)
    finally:
        (folder / name).write_bytes(keep)


READERS: dict[str, Callable[[bytes], object]] = {
    "table": lambda data: (read_table(_file("t.csv", data)), read_text(_file("t.csv", data))),
    "svmlight": lambda data: _svmlight(_file("t.txt", data)),
    "settings": lambda data: _in_folder("model.json", data, load_model),
    "arrays": lambda data: _in_folder("arrays.safetensors", data, load_model),
    "task": lambda data: _in_folder("task.json", data, read_model),
    "audit": lambda data: read_record(_file("audit.json", data).parent),
    "results": lambda data: _opened(ResultStore, data),
    "decisions": lambda data: _opened(DecisionStore, data),
}


def one(data: bytes) -> None:
    """One run."""
    try:
        READERS[sys.argv[1]](data)
    except ValueError as error:
        if "\n" in str(error) or " must " not in str(error):
            raise RuntimeError(f"not a sentence of ours: {error!r}") from error


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], f"-atheris_runs={sys.argv[2]}", "-max_len=4096", *sys.argv[4:]], one)
    atheris.Fuzz()
