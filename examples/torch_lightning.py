"""Our loss in Lightning: one line of the training step.

``python examples/torch_lightning.py`` (needs lightning)
"""

from __future__ import annotations

import lightning
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from ordinoise import corrupt
from ordinoise.datasets import synthetic
from ordinoise.learners.torch import OrderedThresholdHead, OrdinalModule, forward_nll

# Rows are true grades, columns recorded grades; asymmetric, as most real noise is.
NOISE = np.array([[0.70, 0.15, 0.15, 0], [0, 0.80, 0.15, 0.05], [0.02, 0.20, 0.78, 0], [0.05, 0.10, 0.15, 0.70]])


class Grader(lightning.LightningModule):
    """The paper's network, trained on recorded labels."""

    def __init__(self, noise_matrix: np.ndarray) -> None:
        super().__init__()
        self.model = OrdinalModule(nn.Sequential(nn.Linear(2, 16), nn.ReLU()), OrderedThresholdHead(16, num_classes=4))
        self.register_buffer("noise_matrix", torch.as_tensor(noise_matrix))

    def forward(self, features: Tensor) -> Tensor:
        """Predicted grades."""
        return (self.model(features) > 0).sum(dim=1)

    def training_step(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Loss of a batch."""
        features, recorded = batch
        return forward_nll(self.model(features), recorded, self.noise_matrix).mean()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam for all weights."""
        return torch.optim.Adam(self.parameters(), lr=0.02)


def main(n_epochs: int = 30) -> dict[str, float]:
    train, test = synthetic(500, random_state=0), synthetic(1000, random_state=1)
    center, scale = train.features.mean(axis=0), train.features.std(axis=0)
    features, test_features = (torch.tensor((s.features - center) / scale, dtype=torch.float32) for s in (train, test))
    recorded = torch.from_numpy(corrupt(train.labels, NOISE, random_state=0))
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    errors = {}
    for name, noise_matrix in {"plain": np.eye(4), "corrected": NOISE}.items():
        torch.manual_seed(0)
        grader = Grader(noise_matrix)
        batches = DataLoader(TensorDataset(features, recorded), batch_size=128, shuffle=True)
        lightning.Trainer(max_epochs=n_epochs, accelerator="cpu", **quiet).fit(grader, batches)
        errors[name] = (grader(test_features) - torch.from_numpy(test.labels)).abs().double().mean().item()
        print(f"{name:10} mean absolute error on clean labels {errors[name]:.3f}")
    return errors


if __name__ == "__main__":
    main()
