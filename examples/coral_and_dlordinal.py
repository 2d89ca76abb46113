"""Noise correction with layers and losses of other libraries: coral-pytorch's CORAL, dlordinal's cumulative link.

``python examples/coral_and_dlordinal.py`` (needs coral-pytorch and dlordinal)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from coral_pytorch.layers import CoralLayer
from coral_pytorch.losses import coral_loss
from dlordinal.output_layers import CLM
from torch import Tensor, nn

from ordinoise import corrected_levels, corrupt
from ordinoise.datasets import synthetic
from ordinoise.learners.torch import forward_nll, level_table, logits_from_class_probabilities

# Rows are true grades, columns recorded grades; asymmetric, as most real noise is.
NOISE = np.array([[0.70, 0.15, 0.15, 0], [0, 0.80, 0.15, 0.05], [0.02, 0.20, 0.78, 0], [0.05, 0.10, 0.15, 0.70]])
NOISE_MATRIX = torch.from_numpy(NOISE)
CORRECTED_LEVELS = torch.tensor(corrected_levels(NOISE), dtype=torch.float32)


def coral() -> nn.Module:
    """A network with K-1 logits, thresholds added, as in this library."""
    return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), CoralLayer(16, num_classes=4))


def cumulative_link() -> nn.Module:
    """A network with K class probabilities, from ascending thresholds."""
    return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), CLM(4, "logit"))


def of_probabilities(noise_matrix: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """Our forward loss for layers that return class probabilities."""
    return lambda given, labels: forward_nll(logits_from_class_probabilities(given), labels, noise_matrix)


# Network and loss by name. CORAL's own loss corrects for noise when it gets corrected levels.
LEARNERS: dict[str, tuple[Callable[[], nn.Module], Callable[[Tensor, Tensor], Tensor]]] = {
    "CORAL, plain": (coral, lambda logits, labels: coral_loss(logits, level_table(4)[labels])),
    "CORAL, its loss on corrected levels": (coral, lambda logits, labels: coral_loss(logits, CORRECTED_LEVELS[labels])),
    "CORAL, forward": (coral, lambda logits, labels: forward_nll(logits, labels, NOISE_MATRIX)),
    "dlordinal's CLM, plain": (cumulative_link, of_probabilities(torch.eye(4))),
    "dlordinal's CLM, forward": (cumulative_link, of_probabilities(NOISE_MATRIX)),
}


def grades(output: Tensor) -> Tensor:
    """Predicted grades from K-1 logits, or from K class probabilities."""
    logits = output if output.shape[1] == 3 else logits_from_class_probabilities(output)
    return (logits > 0).sum(dim=1)


def main(n_steps: int = 500) -> dict[str, float]:
    train, test = synthetic(500, random_state=0), synthetic(1000, random_state=1)
    center, scale = train.features.mean(axis=0), train.features.std(axis=0)
    features, test_features = (torch.tensor((s.features - center) / scale, dtype=torch.float32) for s in (train, test))
    recorded = torch.from_numpy(corrupt(train.labels, NOISE, random_state=0))
    errors = {}
    for name, (make, loss) in LEARNERS.items():
        torch.manual_seed(0)
        model = make()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(n_steps):
            optimizer.zero_grad()
            loss(model(features), recorded).mean().backward()
            optimizer.step()
        errors[name] = (grades(model(test_features)) - torch.from_numpy(test.labels)).abs().double().mean().item()
        print(f"{name:36} mean absolute error on clean labels {errors[name]:.3f}")
    return errors


if __name__ == "__main__":
    main()
