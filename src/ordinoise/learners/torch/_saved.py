"""The state of a run in a checkpoint, and its way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.optim import Optimizer

from ordinoise._validation import complain
from ordinoise.learners.torch._progress import Best, Progress
from ordinoise.learners.torch.batches import Batches
from ordinoise.learners.torch.checkpoints import DAMAGE, damaged, read_checkpoint, write_checkpoint
from ordinoise.learners.torch.heads import OrdinalModule
from ordinoise.learners.torch.objective import Objective
from ordinoise.learners.torch.settings import TrainingSettings
from ordinoise.learners.torch.team import Team


@dataclass(frozen=True)
class Run:
    """Everything that an interrupted training needs to continue bit for bit.

    The state of random generators is not part of it: it follows from the seed and the number of the update.
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
        """Write the checkpoint, if the settings name a file."""
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

    def resume(self) -> None:
        """Continue from the checkpoint, if it exists."""
        if self.settings.checkpoint is None or not self.settings.checkpoint.exists():
            return
        state = read_checkpoint(self.settings.checkpoint)
        try:
            different = [name for name, value in self.identity.items() if value != state["identity"].get(name)]
            if not different:
                self._load(state)
        except DAMAGE as error:
            raise damaged(self.settings.checkpoint, error) from None
        if different:
            advice = "remove it, or choose another path, to start from scratch"
            raise complain("checkpoint", "be of the same training", f"another {different[0]}", advice)

    def _load(self, state: dict[str, Any]) -> None:
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
    """What must agree between a checkpoint and the training that continues from it, as of the training's start."""
    if settings.checkpoint is None:
        return {}
    return {
        "data": data.description,
        "weights": {name: str(tuple(weight.shape)) for name, weight in model.state_dict().items()},
        "loss": objective.loss,
        "table": str(objective.table.tolist()),
        "optimizer": f"{type(optimizer).__name__} {[{**group, 'params': 0} for group in optimizer.param_groups]}",
        "seed": settings.seed,
    }
