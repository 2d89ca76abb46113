"""Our loss in skorch: a criterion of four lines.

``python examples/torch_skorch.py`` (needs skorch)
"""

from __future__ import annotations

import numpy as np
import torch
from skorch import NeuralNet
from torch import Tensor, nn

from ordinoise import corrupt
from ordinoise.datasets import synthetic
from ordinoise.learners.torch import OrderedThresholdHead, OrdinalModule, forward_nll
from ordinoise.levels import labels_from_logits

# Rows are true grades, columns recorded grades; asymmetric, as most real noise is.
NOISE = np.array([[0.70, 0.15, 0.15, 0], [0, 0.80, 0.15, 0.05], [0.02, 0.20, 0.78, 0], [0.05, 0.10, 0.15, 0.70]])


class ForwardLoss(nn.Module):
    """Mean forward loss of a batch, for labels with this noise."""

    def __init__(self, noise_matrix: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("noise_matrix", torch.as_tensor(noise_matrix))

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Mean loss of the batch."""
        return forward_nll(logits, labels, self.noise_matrix).mean()


def main(n_epochs: int = 30) -> dict[str, float]:
    train, test = synthetic(500, random_state=0), synthetic(1000, random_state=1)
    center, scale = train.features.mean(axis=0), train.features.std(axis=0)
    features, test_features = (((s.features - center) / scale).astype(np.float32) for s in (train, test))
    recorded = corrupt(train.labels, NOISE, random_state=0)
    errors = {}
    for name, noise_matrix in {"plain": np.eye(4), "corrected": NOISE}.items():
        torch.manual_seed(0)
        net = NeuralNet(
            OrdinalModule,
            module__module=nn.Sequential(nn.Linear(2, 16), nn.ReLU()),
            module__head=OrderedThresholdHead(16, num_classes=4),
            criterion=ForwardLoss,
            criterion__noise_matrix=noise_matrix,
            optimizer=torch.optim.Adam,
            lr=0.02,
            max_epochs=n_epochs,
            train_split=None,
            iterator_train__shuffle=True,
            verbose=0,
        )
        net.fit(features, recorded)
        errors[name] = float(np.abs(labels_from_logits(net.predict(test_features)) - test.labels).mean())
        print(f"{name:10} mean absolute error on clean labels {errors[name]:.3f}")
    return errors


if __name__ == "__main__":
    main()
