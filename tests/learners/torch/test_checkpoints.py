"""Damaged checkpoints: the state that was written, or one sentence."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="checkpoints are PyTorch's")
from safetensors.torch import load, save  # noqa: E402

from ordinoise.learners.torch import checkpoints  # noqa: E402
from ordinoise.learners.torch.checkpoints import FORMAT, read_checkpoint, write_checkpoint  # noqa: E402

SENTENCE = r"^checkpoint must be (readable|a checkpoint of ordinoise), got .*"
STATE: dict[str, Any] = {
    "weights": {
        "a": torch.arange(6.0).reshape(2, 3),
        "b": torch.tensor(3, dtype=torch.bfloat16),
        "none": torch.empty(0),
    },
    "groups": [(1, 0.5, "x", None, True), []],
}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "c", STATE)
    return tmp_path / "c"


def _read(path: Path) -> dict[str, Any] | str:
    """The state, or why it was refused."""
    try:
        return read_checkpoint(path)
    except ValueError as error:
        return str(error)


def test_what_is_written_is_read(path: Path) -> None:
    assert _same(read_checkpoint(path), STATE)


def test_a_checkpoint_with_any_byte_changed_is_refused_or_read_as_it_was(path: Path) -> None:
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        found = _read(path)
        if isinstance(found, str):
            n_refused += 1
            assert re.match(SENTENCE, found), (at, found)
            assert "\n" not in found
        else:
            assert _same(found, STATE), at
    assert n_refused > 0.9 * len(whole)


def test_a_checkpoint_cut_short_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=SENTENCE):
            read_checkpoint(path)


@pytest.mark.parametrize(
    "state", ["", "3", "{}", '{"tensor": "a"}', '{"dict": 3}', '{"dict": [[[], 1]]}', '{"a": 1, "b": 2}', "[" * 9999]
)  # fmt: skip
def test_another_state_with_a_right_checksum_is_refused(state: str, path: Path) -> None:
    tensors = load(path.read_bytes())
    checksum = checkpoints._checksum(state, tensors)
    path.write_bytes(save(tensors, metadata={"format": FORMAT, "state": state, "checksum": checksum}))
    with pytest.raises(ValueError, match=SENTENCE):
        read_checkpoint(path)


def test_a_file_without_a_checksum_is_refused(path: Path) -> None:
    path.write_bytes(save(load(path.read_bytes()), metadata={"format": FORMAT, "state": json.dumps({"dict": []})}))
    with pytest.raises(ValueError, match=SENTENCE):
        read_checkpoint(path)
