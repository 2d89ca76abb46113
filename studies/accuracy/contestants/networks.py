"""Ordinal losses of other libraries, all on the same small PyTorch network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.levels import level_table
from studies.accuracy.contestants.base import Contestant

if TYPE_CHECKING:
    from torch import Tensor, nn

Features = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Recipe:
    """Size and training of the networks.

    Attributes
    ----------
    n_hidden : int
        Units of the hidden layer.
    learning_rate, weight_decay : float
        Of AdamW.
    batch_size : int
    n_epochs : int
    least_updates : int
        Smallest number of updates; small sets get more epochs.
    """

    n_hidden: int = 10
    learning_rate: float = 0.005
    weight_decay: float = 0.01
    batch_size: int = 64
    n_epochs: int = 30
    least_updates: int = 250


RECIPE = Recipe()
"""The best of eight recipes by the mean error of the other libraries' heads, on sets outside the study;
that run is not part of the repository."""


@dataclass(frozen=True)
class Head:
    """Output layer, loss and probabilities of a library's method.

    Attributes
    ----------
    layer : nn.Module
        From the hidden units to the outputs.
    loss : callable
        Mean loss of a batch, from outputs and labels.
    probabilities : callable
        Class probabilities from outputs.
    """

    layer: nn.Module
    loss: Callable[[Tensor, Tensor], Tensor]
    probabilities: Callable[[Tensor], Tensor]


class TorchNetwork:
    """A small network with the head of another library.

    Parameters
    ----------
    make_head : callable
        Makes the head from the numbers of hidden units and classes.
    n_classes, seed : int
    recipe : Recipe
    """

    def __init__(
        self, make_head: Callable[[int, int], Head], n_classes: int, seed: int, recipe: Recipe = RECIPE
    ) -> None:
        self.make_head, self.n_classes, self.seed, self.recipe = make_head, n_classes, seed, recipe

    def fit(self, X: Features, y: Ints) -> Self:
        """Standardize and train; the state of PyTorch's global generator is restored afterwards."""
        import torch

        self.center_, scale = X.mean(axis=0), X.std(axis=0)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.head_ = self.make_head(self.recipe.n_hidden, self.n_classes)
            hidden = torch.nn.Linear(X.shape[1], self.recipe.n_hidden)
            self.network_ = torch.nn.Sequential(hidden, torch.nn.ReLU(), self.head_.layer)
            self._train(self._inputs(X), torch.from_numpy(y))
        return self

    def predict_proba(self, X: Features) -> Floats:
        """Probability of each class, shape (n_samples, n_classes)."""
        import torch

        with torch.no_grad():
            probabilities: Floats = self.head_.probabilities(self.network_(self._inputs(X)).double()).numpy()
        return probabilities

    def _train(self, inputs: Tensor, labels: Tensor) -> None:
        import torch

        recipe = self.recipe
        optimizer = torch.optim.AdamW(
            self.network_.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True
        )
        n_batches = max(1, len(labels) // recipe.batch_size)
        for _ in range(max(recipe.n_epochs, -(-recipe.least_updates // n_batches))):
            for rows in torch.tensor_split(torch.randperm(len(labels)), n_batches):
                optimizer.zero_grad()
                self.head_.loss(self.network_(inputs[rows]), labels[rows]).backward()
                optimizer.step()

    def _inputs(self, X: Features) -> Tensor:
        import torch

        return torch.from_numpy(((X - self.center_) / self.scale_).astype(np.float32))


def coral(n_hidden: int, n_classes: int) -> Head:
    """coral-pytorch's CORAL: one score with one bias per threshold."""
    import torch
    from coral_pytorch.layers import CoralLayer
    from coral_pytorch.losses import coral_loss

    levels = torch.from_numpy(level_table(n_classes).astype(np.float32))
    return Head(
        CoralLayer(n_hidden, n_classes),
        lambda outputs, labels: coral_loss(outputs, levels[labels]),
        lambda outputs: _from_exceedance(torch.sigmoid(outputs)),
    )


def corn(n_hidden: int, n_classes: int) -> Head:
    """coral-pytorch's CORN: the probability of each threshold given the one before."""
    import torch
    from coral_pytorch.losses import corn_loss

    return Head(
        torch.nn.Linear(n_hidden, n_classes - 1),
        lambda outputs, labels: corn_loss(outputs, labels, n_classes),
        lambda outputs: _from_exceedance(torch.sigmoid(outputs).cumprod(dim=1)),
    )


def triangular(n_hidden: int, n_classes: int) -> Head:
    """Dlordinal's cross-entropy with targets softened by triangular distributions."""
    import torch
    from dlordinal.losses import TriangularLoss

    loss = TriangularLoss(torch.nn.CrossEntropyLoss(), n_classes).float()
    return Head(torch.nn.Linear(n_hidden, n_classes), loss, _softmax)


def earth_mover(n_hidden: int, n_classes: int) -> Head:
    """Dlordinal's squared distance of cumulative probabilities."""
    import torch
    from dlordinal.losses import EMDLoss

    return Head(torch.nn.Linear(n_hidden, n_classes), EMDLoss(n_classes), _softmax)


def _softmax(outputs: Tensor) -> Tensor:
    return outputs.softmax(dim=1)


def _from_exceedance(exceedance: Tensor) -> Tensor:
    """Class probabilities from P(y > k), made non-increasing where free biases are unordered."""
    import torch

    falling = exceedance.cummin(dim=1).values
    ends = torch.ones(len(falling), 1, dtype=falling.dtype)
    return torch.cat([ends, falling], dim=1) - torch.cat([falling, 0 * ends], dim=1)


def _contestant(
    name: str, head: Callable[[int, int], Head], library: str, what: str, decisions: tuple[str, ...]
) -> Contestant:
    network = (
        f"{RECIPE.n_hidden} hidden units, AdamW at {RECIPE.learning_rate:g} with decay "
        f"{RECIPE.weight_decay:g}, batches of {RECIPE.batch_size}, {RECIPE.n_epochs} epochs and at least "
        f"{RECIPE.least_updates} updates"
    )
    return Contestant(
        name,
        lambda problem: TorchNetwork(head, problem.n_classes, problem.seed),
        f"{what}; {network}",
        ("torch", library),
        decisions,
        seconds=0.5,
    )


BOTH = ("mode", "median")

NETWORKS = (
    _contestant("coral", coral, "coral_pytorch", "CoralLayer and coral_loss", ("median",)),
    _contestant("corn", corn, "coral_pytorch", "corn_loss", ("median",)),
    _contestant("dlordinal triangular", triangular, "dlordinal", "TriangularLoss of the cross-entropy", BOTH),
    _contestant("dlordinal EMD", earth_mover, "dlordinal", "EMDLoss", BOTH),
)
