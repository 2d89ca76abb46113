"""Our loss in a plain PyTorch loop: two lines change.

``python examples/torch_plain_loop.py``
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from ordinoise import corrupt
from ordinoise.datasets import synthetic
from ordinoise.learners.torch import OrderedThresholdHead, OrdinalModule, cross_entropy, forward_nll

# Rows are true grades, columns recorded grades; asymmetric, as most real noise is.
NOISE = np.array([[0.70, 0.15, 0.15, 0], [0, 0.80, 0.15, 0.05], [0.02, 0.20, 0.78, 0], [0.05, 0.10, 0.15, 0.70]])


def trained(loss: Callable[[Tensor, Tensor], Tensor], features: Tensor, labels: Tensor, n_steps: int) -> nn.Module:
    torch.manual_seed(0)
    model = OrdinalModule(nn.Sequential(nn.Linear(2, 16), nn.ReLU()), OrderedThresholdHead(16, num_classes=4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(n_steps):
        optimizer.zero_grad()
        loss(model(features), labels).mean().backward()
        optimizer.step()
    return model


def main(n_steps: int = 500) -> dict[str, float]:
    train, test = synthetic(500, random_state=0), synthetic(1000, random_state=1)
    center, scale = train.features.mean(axis=0), train.features.std(axis=0)
    features, test_features = (torch.tensor((s.features - center) / scale, dtype=torch.float32) for s in (train, test))
    recorded = torch.from_numpy(corrupt(train.labels, NOISE, random_state=0))

    noise_matrix = torch.from_numpy(NOISE)  # the first line
    losses = {
        "plain": cross_entropy,
        "corrected": lambda logits, labels: forward_nll(logits, labels, noise_matrix),  # and the second
    }
    errors = {}
    for name, loss in losses.items():
        predicted = (trained(loss, features, recorded, n_steps)(test_features) > 0).sum(dim=1)
        errors[name] = (predicted - torch.from_numpy(test.labels)).abs().double().mean().item()
        print(f"{name:10} mean absolute error on clean labels {errors[name]:.3f}")
    return errors


if __name__ == "__main__":
    main()
