"""Settings of a training, the argument of its callbacks, and its result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer

from ordinoise._validation import as_choice, as_count, as_number
from ordinoise.learners.torch.heads import OrdinalModule

PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}

MakeOptimizer = Callable[[list[dict[str, Any]]], Optimizer]
MakeScheduler = Callable[[Optimizer], Any]


class DivergedError(ArithmeticError):
    """The training loss left the finite range."""


@dataclass(frozen=True)
class TrainingSettings:
    """How to train.

    Parameters
    ----------
    max_epochs : int
        Passes over the training data.
    patience, tolerance
        With validation data, training stops when their loss has not fallen by `tolerance` for `patience` epochs, and
        the weights of the best epoch are restored.
    averages : bool
        Whether the validation data judge, and the result has, weights averaged over the epochs instead of the last:
        epoch t enters the average with weight 4 / (t + 3), so that later epochs count more.
    clip_norm : float, optional
        Largest norm of the gradient; larger ones are scaled down to it.
    precision : {"float32", "bfloat16", "float16"}
        Precision of the module's arithmetic; weights and losses stay in float32.
    schedule : {"epoch", "update"}
        When the scheduler takes a step.
    decay_thresholds : bool
        Whether weight decay also applies to the thresholds, as in the paper.
    head_rate : float, optional
        Learning rate of the head's weights and thresholds; the optimizer's own by default.
    device : str
        "auto" takes a GPU if there is one.
    seed : int
        Seed of whatever the module draws (dropout).
    checkpoint : path, optional
        File to write after every epoch, and to continue from if it exists.
    checkpoint_updates : int, optional
        Number of updates after which the checkpoint is also written.
    """

    max_epochs: int = 200
    patience: int = 10
    tolerance: float = 1e-4
    averages: bool = False
    clip_norm: float | None = None
    precision: str = "float32"
    schedule: str = "epoch"
    decay_thresholds: bool = False
    head_rate: float | None = None
    device: str = "auto"
    seed: int = 0
    checkpoint: Path | None = None
    checkpoint_updates: int | None = None

    def __post_init__(self) -> None:
        as_count("max_epochs", self.max_epochs, 1)
        as_count("patience", self.patience, 1)
        as_number("tolerance", self.tolerance, 0, math.inf)
        as_choice("precision", self.precision, PRECISIONS)
        as_choice("schedule", self.schedule, ("epoch", "update"))
        if self.clip_norm is not None:
            as_number("clip_norm", self.clip_norm, 0, math.inf, open_low=True)
        if self.checkpoint_updates is not None:
            as_count("checkpoint_updates", self.checkpoint_updates, 1)


@dataclass(frozen=True)
class Epoch:
    """State of training after an epoch, the argument of every callback.

    Parameters
    ----------
    number : int
        Counted from one.
    loss, validation_loss : float
        Mean training loss, and that of the validation data (None without them).
    model : OrdinalModule
        The model with its current weights.
    optimizer : Optimizer
    """

    number: int
    loss: float
    validation_loss: float | None
    model: OrdinalModule
    optimizer: Optimizer


Callback = Callable[[Epoch], Any]


@dataclass(frozen=True)
class Training:
    """The result of training.

    Parameters
    ----------
    model : OrdinalModule
        The trained model; with validation data, with the weights of the best epoch.
    loss_curve, validation_curve : list of float
        Mean training loss of each epoch, and mean loss of the validation data after it.
    n_epochs, n_updates : int
        Number of epochs and updates.
    threshold_inversions : int
        Updates after which the thresholds did not descend.
    best_epoch : int
        Epoch, counted from one, that `model` comes from.
    optimizer_state : dict
        State of the optimizer after the last update.
    """

    model: OrdinalModule
    loss_curve: list[float]
    validation_curve: list[float]
    n_epochs: int
    n_updates: int
    threshold_inversions: int
    best_epoch: int
    optimizer_state: dict[str, Any]
