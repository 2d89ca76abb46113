"""The learner once more, slowly: float64 PyTorch, gradients by autograd, every formula as it is written."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from ordinoise.learners.mlp import Architecture, Network, Objective, Optimizer

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "identity": lambda units: units}
FLOOR = 1e-4


def twin_parameters(
    network: Network,
    features: NDArray[np.float64],
    labels: NDArray[np.int64],
    objective: Objective,
    optimizer: Optimizer,
    max_epochs: int,
    rng: np.random.Generator,
    sample_weight: NDArray[np.float64] | None = None,
    raters: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """The flat parameters after training."""
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight / sample_weight.mean()
    who = np.zeros(len(labels), dtype=np.int64) if raters is None else raters
    standardized = torch.from_numpy((features - network.center) / network.scale)
    arrays = {
        name: torch.from_numpy(array.astype(np.float64)).requires_grad_() for name, array in network.arrays.items()
    }
    adamw = _adamw(network.architecture, optimizer, arrays)
    for _ in range(max_epochs):
        order = rng.permutation(len(labels)) if optimizer.shuffle else np.arange(len(labels))
        for start in range(0, len(order), optimizer.batch_size):
            rows = order[start : start + optimizer.batch_size]
            outputs = twin_outputs(network.architecture, arrays, standardized[rows])
            loss = twin_loss(network.architecture, arrays, outputs, labels[rows], who[rows], weights[rows], objective)
            adamw.zero_grad()
            loss.backward()
            adamw.step()
    return np.concatenate([array.detach().numpy().ravel() for array in arrays.values()])


def _adamw(architecture: Architecture, optimizer: Optimizer, arrays: dict[str, Tensor]) -> torch.optim.AdamW:
    decays = optimizer.decay_thresholds or architecture.head == "softmax"
    rest = [array for name, array in arrays.items() if name != "offsets"]
    groups = [
        {"params": rest, "weight_decay": optimizer.weight_decay},
        {"params": [arrays["offsets"]], "weight_decay": optimizer.weight_decay if decays else 0.0},
    ]
    betas = (optimizer.beta_1, optimizer.beta_2)
    return torch.optim.AdamW(groups, lr=optimizer.learning_rate, betas=betas, eps=optimizer.epsilon)


def twin_outputs(architecture: Architecture, arrays: dict[str, Tensor], units: Tensor) -> Tensor:
    """Logits of a threshold head, outputs of a softmax head."""
    for layer in range(len(architecture.hidden_layer_sizes)):
        units = ACTIVATIONS[architecture.activation](units @ arrays[f"weights_{layer}"] + arrays[f"biases_{layer}"])
    outputs = units @ arrays["output_weights"].T
    offsets = arrays["offsets"]
    if architecture.head == "ordered":
        offsets = torch.cumsum(torch.cat([offsets[:1], -softplus(offsets[1:])]), dim=0)
    return outputs + offsets


def twin_loss(
    architecture: Architecture,
    arrays: dict[str, Tensor],
    outputs: Tensor,
    labels: NDArray[np.int64],
    raters: NDArray[np.int64],
    weights: NDArray[np.float64],
    objective: Objective,
) -> Tensor:
    """Mean loss of a batch."""
    w, table = torch.from_numpy(weights), torch.from_numpy(objective.table)
    if objective.loss == "forward":
        noise = table[raters, :, labels]
        chance = (noise * class_probabilities(architecture, outputs)).sum(dim=1)
        if architecture.head == "free":
            tangent = -np.log(FLOOR) + (FLOOR - chance) / FLOOR
            return (w * torch.where(chance < FLOOR, tangent, -torch.log(chance.clamp(min=FLOOR)))).mean()
        return (-w * torch.log(chance)).mean()
    return (w * level_losses(objective.loss, outputs, table[raters, labels])).mean()


def level_losses(loss: str, logits: Tensor, levels: Tensor) -> Tensor:
    """The paper's l_CE or l_IMC of each sample."""
    if loss == "cross_entropy":
        return (levels * softplus(-logits) + (1 - levels) * softplus(logits)).sum(dim=1)
    return (levels * torch.relu(1 - logits) + (1 - levels) * torch.relu(1 + logits)).sum(dim=1)


def class_probabilities(architecture: Architecture, outputs: Tensor) -> Tensor:
    """Differences of sigmoids, or a softmax."""
    if architecture.head == "softmax":
        return torch.softmax(outputs, dim=1)
    ones = torch.ones((len(outputs), 1), dtype=torch.float64)
    exceedance = torch.cat([ones, torch.sigmoid(outputs), 0 * ones], dim=1)
    return exceedance[:, :-1] - exceedance[:, 1:]
