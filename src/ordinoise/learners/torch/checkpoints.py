"""Checkpoints: one safetensors file with JSON in its header, written atomically."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ordinoise._files import write_whole
from ordinoise._validation import complain

FORMAT = "ordinoise-checkpoint-2"
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, RuntimeError, MemoryError)
"""What reading a damaged checkpoint raises, torch included."""


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write nested dicts, lists and tuples of tensors, numbers and text."""
    from safetensors.torch import save

    tensors: dict[str, Tensor] = {}
    text = json.dumps(_flattened(state, "state", tensors))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, save(tensors, metadata={"format": FORMAT, "state": text, "checksum": _checksum(text, tensors)}))


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The state that `write_checkpoint` wrote."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            is_ours = header.get("format") == FORMAT
            tensors = {name: file.get_tensor(name) for name in file.keys()} if is_ours else {}  # noqa: SIM118 (not a dict)
        if is_ours:
            if header["checksum"] != _checksum(header["state"], tensors):
                raise ValueError("other content than was written")
            return dict(_rebuilt(json.loads(header["state"]), tensors))
    except (*DAMAGE, OSError, SafetensorError) as error:
        raise damaged(path, error) from None
    raise complain("checkpoint", "be a checkpoint of ordinoise", repr(str(path)))


def damaged(path: Path, error: Exception) -> ValueError:
    """The error for a checkpoint that cannot be read or does not fit."""
    got = f"{type(error).__name__} in {str(path)!r}"
    return complain("checkpoint", "be readable", got, "remove it to start from scratch")


def _checksum(text: str, tensors: dict[str, Tensor]) -> str:
    """A checksum of the content, which safetensors has not."""
    found = zlib.crc32(text.encode())
    for name in sorted(tensors):
        found = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy().data, found)
    return f"{found:08x}"


def _flattened(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """`value` for JSON, its tensors moved to `tensors` under their names."""
    if isinstance(value, Tensor):
        # Each is copied: tied weights share memory, which the file format refuses.
        tensors[name] = value.detach().cpu().contiguous().clone()
        return {"tensor": name}
    if isinstance(value, dict):
        pairs = [[key, _flattened(item, f"{name}.{key}", tensors)] for key, item in value.items()]
        return {"dict": pairs}
    if isinstance(value, (list, tuple)):
        items = [_flattened(item, f"{name}.{place}", tensors) for place, item in enumerate(value)]
        return {type(value).__name__ if type(value) in (list, tuple) else "tuple": items}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise complain(name, "be made of tensors, numbers and text, to be in a checkpoint", type(value).__name__)


def _rebuilt(value: Any, tensors: dict[str, Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: _rebuilt(item, tensors) for key, item in content}
    items = [_rebuilt(item, tensors) for item in content]
    return tuple(items) if kind == "tuple" else items
