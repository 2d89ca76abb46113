"""What a checkpoint holds of a run, and how a run is found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.optim import Optimizer

from ordinoise._validation import complain
from ordinoise.learners.torch._progress import Best, Progress
from ordinoise.learners.torch.batches import Batches
from ordinoise.learners.torch.checkpoints import read_checkpoint, write_checkpoint
from ordinoise.learners.torch.heads import OrdinalModule
from ordinoise.learners.torch.objective import Objective
from ordinoise.learners.torch.settings import TrainingSettings
from ordinoise.learners.torch.team import Team


@dataclass(frozen=True)
class Run:
    """Everything that a training must find again to go on as if nothing had happened.

    What a module draws is not among it: it follows from the seed and the number of the update.
    """

    team: Team
    settings: TrainingSettings
    model: OrdinalModule
    optimizer: Optimizer
    scheduler: Any
    scaler: torch.amp.GradScaler
    progress: Progress
    best: Best
    identity: dict[str, Any]

    def write(self) -> None:
        """Write the checkpoint, if one is wanted."""
        if self.settings.checkpoint is None:
            return
        progress = self.progress.state(self.team)
        if self.team.is_lead:
            state = {
                "identity": self.identity,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "scheduler": None if self.scheduler is None else self.scheduler.state_dict(),
                "scaler": self.scaler.state_dict(),
                "progress": progress,
                "best": self.best.state(),
            }
            write_checkpoint(self.settings.checkpoint, state)

    def go_on(self) -> None:
        """Take up the checkpoint, if there is one."""
        if self.settings.checkpoint is None or not self.settings.checkpoint.exists():
            return
        state = read_checkpoint(self.settings.checkpoint)
        different = [name for name, value in self.identity.items() if value != state["identity"].get(name)]
        if different:
            advice = "remove it, or choose another place, to start anew"
            raise complain("checkpoint", "be of the same training", f"another {different[0]}", advice)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.scheduler is not None:
            self.scheduler.load_state_dict(state["scheduler"])
        self.scaler.load_state_dict(state["scaler"])
        self.progress.restore(state["progress"], self.team)
        self.best.restore(state["best"])


def identity_of(
    model: OrdinalModule, data: Batches, objective: Objective, optimizer: Optimizer, settings: TrainingSettings
) -> dict[str, Any]:
    """By what a checkpoint is known to belong to this training, as the training stood at its start."""
    if settings.checkpoint is None:
        return {}
    correction = None if objective.correction is None else objective.correction.tolist()
    return {
        "data": data.description,
        "weights": {name: str(tuple(weight.shape)) for name, weight in model.state_dict().items()},
        "loss": objective.loss,
        "tables": str([objective.table.tolist(), correction]),
        "optimizer": f"{type(optimizer).__name__} {[{**group, 'params': 0} for group in optimizer.param_groups]}",
        "seed": settings.seed,
    }
