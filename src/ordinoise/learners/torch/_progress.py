"""The progress of a training, and its best epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ordinoise.learners.torch.team import Team
from ordinoise.steps import average_weight

Weights = dict[str, Tensor]


@dataclass
class Progress:
    """Completed epochs, and batches of the current one.

    Sums stay on the device, so that updates need not wait for it.
    """

    total: Tensor
    inversions: Tensor
    epoch: int = 0
    batch: int = 0
    n_updates: int = 0
    n_rows: int = 0
    is_over: bool = False
    loss_curve: list[float] = field(default_factory=list)
    validation_curve: list[float] = field(default_factory=list)

    @classmethod
    def start(cls, device: torch.device) -> Progress:
        """Progress before the first update."""
        kind = torch.float32 if device.type == "mps" else torch.float64
        return cls(torch.zeros((), dtype=kind, device=device), torch.zeros((), dtype=torch.int64, device=device))

    def note(self, loss: Tensor, n_rows: int, is_unordered: Tensor | None) -> None:
        """Count one update."""
        self.total += loss
        self.n_rows += n_rows
        self.batch += 1
        self.n_updates += 1
        if is_unordered is not None:
            self.inversions += is_unordered

    def end_epoch(self, team: Team) -> float:
        """Mean training loss of the epoch that ends."""
        loss = float(team.total(self.total).item()) / max(self.n_rows, 1)
        self.loss_curve.append(loss)
        self.epoch, self.batch, self.n_rows = self.epoch + 1, 0, 0
        self.total.zero_()
        return loss

    def state(self, team: Team) -> dict[str, Any]:
        """State for a checkpoint, with the sums of the whole team."""
        return {**vars(self), "total": float(team.total(self.total).item()), "inversions": int(self.inversions.item())}

    def restore(self, state: dict[str, Any], team: Team) -> None:
        """Continue from a checkpoint; the lead process takes the sums of all."""
        total, inversions = state["total"] if team.is_lead else 0.0, state["inversions"]
        for name, value in state.items():
            if name not in ("total", "inversions"):
                setattr(self, name, value)
        self.total.fill_(total)
        self.inversions.fill_(inversions)


def copied(weights: Weights) -> Weights:
    """A copy of weights and buffers that training does not change."""
    return {name: weight.detach().clone() for name, weight in weights.items()}


@dataclass
class Best:
    """The epoch with the least validation loss, and its weights; the average of the weights of all epochs."""

    patience: int
    tolerance: float
    epoch: int = 0
    loss: float = math.inf
    milestone: float = math.inf
    milestone_epoch: int = 0
    weights: Weights | None = None
    average: Weights | None = None

    def averaged(self, epoch: int, model: nn.Module) -> Weights:
        """The average after this epoch; whole numbers, such as counts of batches, are the last."""
        current = model.state_dict()
        if self.average is None:
            self.average = copied(current)
        for name, weight in self.average.items():
            here = current[name].to(weight.device)  # the average of a checkpoint is on the processor
            weight.lerp_(here, average_weight(epoch)) if weight.is_floating_point() else weight.copy_(here)
        return self.average

    def note(self, epoch: int, loss: float, model: nn.Module) -> bool:
        """Keep the epoch if it is the best; True if `patience` epochs have passed since the loss last fell enough."""
        if loss < self.loss:
            self.epoch, self.loss = epoch, loss
            self.weights = copied(model.state_dict())
        if loss < self.milestone - self.tolerance:
            self.milestone, self.milestone_epoch = loss, epoch
        return epoch - self.milestone_epoch >= self.patience

    def state(self) -> dict[str, Any]:
        """State for a checkpoint."""
        return {name: value for name, value in vars(self).items() if name not in ("patience", "tolerance")}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        for name, value in state.items():
            setattr(self, name, value)
