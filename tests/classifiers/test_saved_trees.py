"""Model folders with edited trees: read or refused with one sentence, never a crash or an endless loop."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinoise.classifiers import OrdinalBoostingClassifier

# In a process of its own, which a crash may end. An edit of a number, of a shape or of bytes; then load and predict.
EDITS = """
import sys
from collections import Counter
from pathlib import Path
import numpy as np
from safetensors.numpy import load, save
from ordinoise import load_model

folder, n_edits, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
file, rng, said = folder / "arrays.safetensors", np.random.default_rng(seed), Counter()
whole = file.read_bytes()
rows = np.where(rng.random((40, 4)) < 0.2, np.nan, rng.normal(size=(40, 4)))
rows[:, 1] = rng.integers(0, 12, 40)


def edited_numbers(values):
    values = values.copy()
    flat, n = values.reshape(-1), rng.integers(1, 4)
    places = rng.integers(len(flat), size=n)
    if rng.random() < 0.5:
        flat[places] = flat[rng.integers(len(flat), size=n)]
    elif values.dtype.kind == "f":
        flat[places] = rng.choice([0, -1, 0.5, 7, 1e9, -1e300, 1e308, np.inf, np.nan], n)
    else:
        limits = np.iinfo(values.dtype)
        near = [np.clip(int(number) + step, limits.min, limits.max) for number in flat[places] for step in (-1, 1)]
        flat[places] = rng.choice([limits.min, limits.max, 0, 1, 4, len(flat), *near], n)
    return values


def edited_shape(values):
    kind = rng.integers(5)
    if kind == 0:
        return values[: rng.integers(len(values) + 1)]
    if kind == 1:
        return np.concatenate([values, values[: rng.integers(len(values) + 1)]])
    if kind == 2:
        return values.reshape(-1)[None]
    return values.astype(rng.choice(["i1", "i4", "i8", "u4", "f4", "f8"])) if kind == 3 else rng.permutation(values)


def edited_file():
    if rng.random() < 0.15:
        content = bytearray(whole)
        for place in rng.integers(len(content), size=rng.integers(1, 4)):
            content[place] = rng.integers(256)
        return bytes(content)
    arrays = load(whole)
    name = rng.choice([name for name in arrays if name.startswith("trees.")])
    if arrays[name].size:
        change = edited_numbers if rng.random() < 0.8 else edited_shape
        arrays[name] = np.ascontiguousarray(change(arrays[name]))
    return save(arrays)


np.seterr(all="ignore")
for _ in range(n_edits):
    file.write_bytes(edited_file())
    try:
        model = load_model(folder)
    except ValueError as error:
        words = str(error)
        assert " must " in words and ", got " in words and "\\n" not in words, words
        said["refused"] += 1
        continue
    assert model.predict_proba(rows).shape == (40, 4)
    assert len(model.feature_importances_) == 4
    said["read"] += 1
print(said["refused"], said["read"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("head", "n_edits"), [("ordered", 5000), ("softmax", 5000)])
def test_edited_trees_are_read_or_refused_and_never_crash_or_hang(head: Any, n_edits: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 4)) < 0.1, np.nan, rng.normal(size=(400, 4)))
    X[:, 1] = rng.integers(0, 12, 400)
    y = np.digitize(np.nan_to_num(X[:, 0]) + 2 * (X[:, 1] % 3 == 0), [-0.5, 0.5, 1.5])
    model = OrdinalBoostingClassifier(
        head=head, n_estimators=4, categorical_features=[1], early_stopping=False, n_jobs=1, random_state=0
    ).fit(X, y)
    assert model.ensemble_.trees.asks_category.any()
    model.save(tmp_path / "model")
    command = [sys.executable, "-c", EDITS, str(tmp_path / "model"), str(n_edits), "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60 + n_edits / 10, check=False)
    assert ended.returncode == 0, ended.stderr
    refused, read = map(int, ended.stdout.split())
    assert refused + read == n_edits
    assert min(refused, read) > n_edits / 10
