"""Training: epochs of shuffled mini-batches, with early stopping at the best network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import as_count, as_labels, as_same_length, as_weights, complain
from ordinoise.steps import average_weight

from ._workspace import Workspace
from .layout import Float32s
from .network import Network, as_feature_table
from .settings import Objective, Optimizer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EVALUATION_ROWS = 4096  # rows evaluated at a time, to bound memory: a round number, chosen by no run


class DivergedError(ArithmeticError):
    """The training loss or a weight left the finite range."""


@dataclass(frozen=True)
class OptimizerState:
    """AdamW's moments and step, from which training can continue.

    Parameters
    ----------
    first_moment, second_moment : array of float32, shape (n_parameters,)
    n_updates : int
        Updates made so far.
    """

    first_moment: Float32s
    second_moment: Float32s
    n_updates: int


@dataclass(frozen=True)
class Training:
    """The result of training.

    Parameters
    ----------
    network : Network
        The trained network; with validation rows, that of the best epoch.
    loss_curve : list of float
        Mean training loss of each epoch.
    validation_curve : list of float
        Loss of the validation rows after each epoch; empty without them.
    n_epochs, n_updates : int
        Epochs and updates of this call.
    threshold_inversions : int
        Updates after which free thresholds did not descend.
    optimizer_state : OptimizerState
        State of the optimizer after the update that made `network`.
    best_epoch : int
        Epoch, counted from one, that `network` comes from.
    """

    network: Network
    loss_curve: list[float]
    validation_curve: list[float]
    n_epochs: int
    n_updates: int
    threshold_inversions: int
    optimizer_state: OptimizerState
    best_epoch: int


def train(
    network: Network,
    features: Any,
    labels: ArrayLike,
    objective: Objective,
    optimizer: Optimizer,
    *,
    max_epochs: int,
    rng: np.random.Generator,
    sample_weight: ArrayLike | None = None,
    raters: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    validation_rows: ArrayLike | None = None,
    patience: int = 10,
    tolerance: float = 1e-4,
    averages: bool = False,
    optimizer_state: OptimizerState | None = None,
    on_epoch: Callable[[int, float, float | None], None] | None = None,
) -> Training:
    """The network after training, with its loss curves.

    Weights are divided by their mean over the training rows; a batch's loss is the sum of weight times loss, divided
    by its number of rows. Memory beyond the features is a few thousand rows (or a batch, if that is more).

    Parameters
    ----------
    network : Network
        The start of training; it is not changed.
    features : array or sparse matrix of shape (n_samples, n_features)
        Raw features, finite. Sparse ones need a network that does not center them.
    labels : array of int, shape (n_samples,)
        Recorded labels, 0..K-1.
    objective, optimizer
        What to minimize, and how.
    max_epochs : int
        Passes over the training rows.
    rng : numpy Generator
        Draws the order of rows of every epoch.
    sample_weight : array of shape (n_samples,), optional
    raters : array of int, shape (n_samples,), optional
        Which of the objective's tables each sample reads.
    rows, validation_rows : array of int, optional
        Samples to train on (all by default), and samples to stop by.
    patience, tolerance
        With validation rows, training stops when their loss has not fallen by `tolerance` for `patience` epochs, and
        the network of the best epoch is returned.
    averages : bool
        Whether the validation rows judge, and the result has, weights averaged over the epochs instead of the last:
        epoch t enters the average with weight 4 / (t + 3), so that later epochs count more.
    optimizer_state : OptimizerState, optional
        State to continue from.
    on_epoch : callable, optional
        Called after every epoch with its number, the training loss and the validation loss (or None).

    Raises
    ------
    DivergedError
        If the loss or a weight leaves the finite range.
    """
    as_count("max_epochs", max_epochs, 1)
    stopping_rows = None if validation_rows is None else _as_rows("validation_rows", validation_rows, np.size(labels))
    n_stopping = 0 if stopping_rows is None else len(stopping_rows)
    workspace, training_rows = _workspace(
        network, features, labels, objective, optimizer, sample_weight, raters, rows, n_stopping
    )
    if optimizer_state is not None:
        state = optimizer_state
        workspace.moments = (state.first_moment, state.second_moment, state.n_updates)
    losses: list[float] = []
    validation: list[float] = []
    inversions, best, average = 0, _Best(patience, tolerance), workspace.parameters
    for epoch in range(1, max_epochs + 1):
        order = rng.permutation(training_rows) if optimizer.shuffle else training_rows
        loss, unordered = workspace.train(order)
        losses.append(_finite(loss, epoch))
        inversions += unordered
        if stopping_rows is not None:
            current = workspace.parameters
            average = _averaged(average, current, epoch) if averages else current
            workspace.parameters = average
            validation.append(_finite(workspace.mean_loss(stopping_rows), epoch))
            best.note(epoch, validation[-1], workspace)
            workspace.parameters = current
        if on_epoch is not None:
            on_epoch(epoch, losses[-1], validation[-1] if validation else None)
        if best.is_long_ago(epoch):
            break
    best.restore(workspace)
    return Training(
        network=replace(network, parameters=workspace.parameters),
        loss_curve=losses,
        validation_curve=validation,
        n_epochs=len(losses),
        n_updates=len(losses) * -(-len(training_rows) // optimizer.batch_size),
        threshold_inversions=inversions,
        optimizer_state=OptimizerState(*workspace.moments),
        best_epoch=best.epoch or len(losses),
    )


def mean_loss(
    network: Network,
    features: Any,
    labels: ArrayLike,
    objective: Objective,
    sample_weight: ArrayLike | None = None,
    raters: ArrayLike | None = None,
    rows: ArrayLike | None = None,
) -> float:
    """Weighted mean loss of samples under the objective: the criterion of early stopping."""
    settings = Optimizer(batch_size=EVALUATION_ROWS)
    workspace, chosen = _workspace(network, features, labels, objective, settings, sample_weight, raters, rows)
    return workspace.mean_loss(chosen)


class _Best:
    """The epoch with the least validation loss, with its weights and moments."""

    def __init__(self, patience: int, tolerance: float) -> None:
        self.epoch = 0
        self._patience, self._tolerance = as_count("patience", patience, 1), tolerance
        self._loss = self._milestone = np.inf
        self._milestone_epoch = 0
        self._kept: tuple[Float32s, tuple[Float32s, Float32s, int]] | None = None

    def note(self, epoch: int, loss: float, workspace: Workspace) -> None:
        if loss < self._loss:
            self.epoch, self._loss = epoch, loss
            self._kept = workspace.parameters, workspace.moments
        if loss < self._milestone - self._tolerance:
            self._milestone_epoch, self._milestone = epoch, loss

    def is_long_ago(self, epoch: int) -> bool:
        return self._kept is not None and epoch - self._milestone_epoch >= self._patience

    def restore(self, workspace: Workspace) -> None:
        if self._kept is not None:
            workspace.parameters, workspace.moments = self._kept


def _averaged(average: Float32s, current: Float32s, epoch: int) -> Float32s:
    """The average of all epochs' weights after this one; that of the first epoch is its own weights."""
    share = np.float32(average_weight(epoch))
    return (1 - share) * average + share * current


def _finite(loss: float, epoch: int) -> float:
    if not np.isfinite(loss):
        advice = "lower learning_rate_init or use correction='forward'"
        raise DivergedError(f"the training loss must stay finite, got {loss} in epoch {epoch}; {advice}")
    return float(loss)


def _workspace(
    network: Network,
    features: Any,
    labels: ArrayLike,
    objective: Objective,
    optimizer: Optimizer,
    sample_weight: ArrayLike | None,
    raters: ArrayLike | None,
    rows: ArrayLike | None,
    n_other_rows: int = 0,
) -> tuple[Workspace, Ints]:
    """The engine's memory for these samples, and the rows to use."""
    objective.check_fits(network.architecture)
    table = as_feature_table(features, network.architecture.n_features)
    cells = _cells(labels, raters, objective, network.architecture.n_classes)
    as_same_length("labels", len(cells), "the features", table.shape[0])
    chosen = np.arange(len(cells)) if rows is None else _as_rows("rows", rows, len(cells))
    weights = np.ones(len(cells)) if sample_weight is None else _mean_one(sample_weight, chosen, len(cells))
    most_rows = max(len(chosen), n_other_rows)
    return Workspace(network, table, cells, weights, objective, optimizer, most_rows), chosen


def _cells(labels: ArrayLike, raters: ArrayLike | None, objective: Objective, n_classes: int) -> Ints:
    """Row of the stacked tables that each sample reads: ``rater * n_classes + label``."""
    cells = as_labels("labels", labels, n_classes)
    if raters is None:
        if objective.n_raters > 1:
            raise complain("raters", f"name one of {objective.n_raters} tables for each sample", "None")
        return cells
    names = as_labels("raters", raters, objective.n_raters)
    as_same_length("raters", len(names), "the labels", len(cells))
    return names * n_classes + cells


def _as_rows(argument: str, rows: ArrayLike, n_samples: int) -> Ints:
    chosen = np.asarray(rows)
    if chosen.ndim != 1 or len(chosen) == 0 or chosen.dtype.kind not in "iu":
        raise complain(argument, "be a non-empty list of row numbers", f"shape {chosen.shape} of {chosen.dtype}")
    if chosen.min() < 0 or chosen.max() >= n_samples:
        raise complain(argument, f"lie between 0 and {n_samples - 1}", f"{chosen.min()} to {chosen.max()}")
    return chosen.astype(np.int64)


def _mean_one(sample_weight: ArrayLike, rows: Ints, n_samples: int) -> Floats:
    """Weights whose mean over `rows` is one."""
    shares = as_weights(sample_weight, n_samples)
    if not shares[rows].sum() > 0:
        raise complain("sample_weight", "be positive for some of the rows", "only zeros")
    return shares / shares[rows].mean()
