"""Training: one loop, for a single process or many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from inspect import signature
from typing import Any

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ordinoise._validation import complain
from ordinoise.learners.torch._progress import Best, Progress, copied
from ordinoise.learners.torch._saved import Run, identity_of
from ordinoise.learners.torch.batches import Batch, Batches
from ordinoise.learners.torch.heads import OrderedThresholdHead, OrdinalModule
from ordinoise.learners.torch.objective import Objective
from ordinoise.learners.torch.settings import (
    PRECISIONS,
    Callback,
    DivergedError,
    Epoch,
    MakeOptimizer,
    MakeScheduler,
    Training,
    TrainingSettings,
)
from ordinoise.learners.torch.team import Team, joined, own_randomness, reseed


def adamw(groups: list[dict[str, Any]], **settings: Any) -> Optimizer:
    """AdamW, fused except on Apple's devices."""
    return torch.optim.AdamW(groups, fused=groups[0]["params"][0].device.type != "mps", **settings)


def train(
    model: OrdinalModule,
    data: Batches,
    objective: Objective,
    settings: TrainingSettings,
    *,
    validation: Batches | None = None,
    optimizer: MakeOptimizer = adamw,
    scheduler: MakeScheduler | None = None,
    callbacks: Sequence[Callback] = (),
    optimizer_state: dict[str, Any] | None = None,
) -> Training:
    """The model after training, with its loss curves.

    Started by ``torchrun``, every process calls this with the same arguments; each takes its share of every batch,
    gradients are averaged over all samples, the first process writes the checkpoints, and all end with the same
    weights.

    Parameters
    ----------
    model : OrdinalModule
        Trained in place.
    data, validation : Batches
        Batches to train on, and batches whose loss decides early stopping.
    objective, settings
        What to minimize, and how.
    optimizer, scheduler : callable
        Make an optimizer of two parameter groups (the thresholds are the second), and a scheduler of an optimizer.
    callbacks : sequence of callable
        Called in the first process after every epoch with an `Epoch`; training ends when one returns True.
    optimizer_state : dict, optional
        State to continue from.

    Raises
    ------
    DivergedError
        If the loss leaves the finite range.
    """
    with joined(settings.device) as team, own_randomness(settings.seed, team.device):
        model.to(team.device)
        objective = objective.to(team.device)
        stepper = optimizer(parameter_groups(model, settings.decay_thresholds, settings.head_rate))
        if optimizer_state is not None:
            stepper.load_state_dict(optimizer_state)
        rates = None if scheduler is None else scheduler(stepper)
        scaler = torch.amp.GradScaler(team.device.type, enabled=settings.precision == "float16")
        progress, best = Progress.start(team.device), Best(settings.patience, settings.tolerance)
        identity = identity_of(model, data, objective, stepper, settings)
        run = Run(team, settings, model, stepper, rates, scaler, progress, best, identity)
        run.resume()
        team.follow([*model.parameters(), *model.buffers()])
        parallel = _in_parallel(model) if team.size > 1 else model
        weights = [weight for group in stepper.param_groups for weight in group["params"]]

        while progress.epoch < settings.max_epochs and not progress.is_over:
            model.train()
            for batch, n_rows in _in_step(data, progress, team, settings, _dtype(model)):
                with _half(settings.precision, team.device):
                    logits = parallel(batch.inputs)
                loss = objective.total(logits, batch)
                stepper.zero_grad(set_to_none=True)
                scaler.scale(loss * (team.size / n_rows)).backward()  # DDP averages over processes
                if settings.clip_norm is not None:
                    scaler.unscale_(stepper)
                    clip_grad_norm_(weights, settings.clip_norm)
                scaler.step(stepper)
                scaler.update()
                if rates is not None and settings.schedule == "update":
                    rates.step()
                progress.note(loss.detach(), n_rows, _is_unordered(model))
                if settings.checkpoint_updates and progress.n_updates % settings.checkpoint_updates == 0:
                    run.write()

            team.follow(model.buffers())
            train_loss = progress.end_epoch(team)
            _check_finite(train_loss, progress.epoch)
            test_loss = None
            if validation is not None:
                with _averaged(model, best, progress.epoch) if settings.averages else nullcontext():
                    test_loss = mean_loss(model, validation, objective, team, settings.precision)
                    _check_finite(test_loss, progress.epoch)
                    progress.validation_curve.append(test_loss)
                    progress.is_over = best.note(progress.epoch, test_loss, model)
            if rates is not None and settings.schedule == "epoch":
                _step_epoch(rates, train_loss if test_loss is None else test_loss)
            epoch = Epoch(progress.epoch, train_loss, test_loss, model, stepper)
            stops = [callback(epoch) is True for callback in callbacks] if team.is_lead else []
            progress.is_over = progress.is_over or team.count(sum(stops)) > 0
            run.write()

        if best.weights is not None:
            model.load_state_dict(best.weights)
        model.eval()
        return Training(
            model=model,
            loss_curve=progress.loss_curve,
            validation_curve=progress.validation_curve,
            n_epochs=progress.epoch,
            n_updates=progress.n_updates,
            threshold_inversions=int(progress.inversions.item()),
            best_epoch=best.epoch or progress.epoch,
            optimizer_state=stepper.state_dict(),
        )


def mean_loss(
    model: OrdinalModule, data: Batches, objective: Objective, team: Team, precision: str = "float32"
) -> float:
    """Weighted mean loss under the objective: the criterion of early stopping."""
    model.eval()
    kind = torch.float32 if team.device.type == "mps" else torch.float64
    sums = torch.zeros(2, dtype=kind, device=team.device)  # of weighted losses, and of weights
    with torch.no_grad(), _half(precision, team.device):
        for batch in data.epoch(0, team.rank, team.size):
            if len(batch.labels):
                here = batch.to(team.device, _dtype(model))
                sums[0] += objective.total(model(here.inputs), here)
                sums[1] += here.weights.sum()
    loss, weight = team.total(sums).tolist()
    return float(loss / weight)


@contextmanager
def _averaged(model: OrdinalModule, best: Best, epoch: int) -> Iterator[None]:
    """The model with the average of its weights over the epochs, then with its own again."""
    current = copied(model.state_dict())
    model.load_state_dict(best.averaged(epoch, model))
    yield
    model.load_state_dict(current)


def parameter_groups(
    model: OrdinalModule, decay_thresholds: bool = False, head_rate: float | None = None
) -> list[dict[str, Any]]:
    """Trainable weights, then the thresholds, which have no weight decay unless `decay_thresholds`.

    With a `head_rate`, the head's weights are a group of their own in between; it is their learning rate and that of
    the thresholds.
    """
    thresholds, rate = model.head.offsets, {} if head_rate is None else {"lr": head_rate}
    head = [] if head_rate is None else [weight for weight in model.head.parameters() if weight is not thresholds]
    apart = {id(weight) for weight in (*head, thresholds)}
    rest = [weight for weight in model.parameters() if weight.requires_grad and id(weight) not in apart]
    decay = {} if decay_thresholds else {"weight_decay": 0.0}
    groups: list[dict[str, Any]] = [
        {"params": rest}, {"params": head, **rate}, {"params": [thresholds], **rate, **decay},
    ]  # fmt: skip
    return [group for group in groups if group["params"]]


def _in_step(
    data: Batches, progress: Progress, team: Team, settings: TrainingSettings, dtype: torch.dtype
) -> Iterator[tuple[Batch, int]]:
    """The remaining batches of this epoch, each with the number of samples of the whole team.

    A process whose samples are used up repeats its last batch at weight zero until the others have finished.
    """
    own = data.epoch(progress.epoch, team.rank, team.size, progress.batch)
    last: Batch | None = None
    while True:
        # The seed of a batch follows from its number, so that a resumed run draws the same random numbers.
        reseed(settings.seed + progress.n_updates * team.size + team.rank, team.device)
        batch = next(own, None)
        n_own = 0 if batch is None else len(batch.labels)
        n_rows = team.count(n_own)
        if n_rows == 0:
            return
        if n_own and batch is not None:
            last = batch.to(team.device, dtype)
            yield last, n_rows
        elif last is not None:
            yield last._replace(weights=torch.zeros_like(last.weights)), n_rows
        else:
            raise complain("X", f"give each of {team.size} processes a sample", f"none in process {team.rank}")


def _in_parallel(model: OrdinalModule) -> DistributedDataParallel:
    """The model with gradients averaged over the team; buffers are synchronized once per epoch, not per batch."""
    newer = "forward_sync_buffers" in signature(DistributedDataParallel).parameters
    settings: dict[str, Any] = {"forward_sync_buffers" if newer else "broadcast_buffers": False}
    return DistributedDataParallel(model, gradient_as_bucket_view=True, **settings)


def _half(precision: str, device: torch.device) -> Any:
    kind = PRECISIONS[precision]
    return nullcontext() if kind is None else torch.autocast(device.type, kind)


def _dtype(model: OrdinalModule) -> torch.dtype:
    return model.head.offsets.dtype


def _is_unordered(model: OrdinalModule) -> Tensor | None:
    if isinstance(model.head, OrderedThresholdHead):
        return None
    thresholds = model.head.thresholds.detach()
    return (thresholds[1:] > thresholds[:-1]).any()


def _step_epoch(rates: Any, loss: float) -> None:
    if isinstance(rates, ReduceLROnPlateau):
        rates.step(loss)
    else:
        rates.step()


def _check_finite(loss: float, epoch: int) -> None:
    if not math.isfinite(loss):
        advice = "lower learning_rate_init or use correction='forward'"
        raise DivergedError(f"the training loss must stay finite, got {loss} in epoch {epoch}; {advice}")
