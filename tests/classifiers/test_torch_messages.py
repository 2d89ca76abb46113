"""Mistakes of who trains with PyTorch: one sentence that helps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinoise import load_model

torch = pytest.importorskip("torch")
Torch: Any = pytest.importorskip("ordinoise.classifiers.torch").OrdinalTorchClassifier
Y = np.arange(40) % 3
X = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)


def test_a_loader_is_told_to_pass_its_data() -> None:
    data = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    with pytest.raises(ValueError, match=r"X must be in memory, got a DataLoader; pass loader\.dataset"):
        Torch(torch.nn.Linear(2, 4), max_iter=1).fit(torch.utils.data.DataLoader(data))


@pytest.mark.skipif(torch.cuda.is_available(), reason="has a GPU")
def test_a_gpu_that_is_not_there_is_missed_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"device must be there, got 'cuda' without a usable GPU; 'auto' takes what"):
        Torch(torch.nn.Linear(2, 4), max_iter=1, device="cuda").fit(X, Y)


def test_a_model_with_a_module_names_the_call_that_loads_it(tmp_path: Path) -> None:
    Torch(torch.nn.Linear(2, 4), max_iter=1, device="cpu").fit(X, Y).save(tmp_path / "model")
    with pytest.raises(
        ValueError, match=r"call OrdinalTorchClassifier\.load\(path, module\) with the module it was made"
    ):
        load_model(tmp_path / "model")
