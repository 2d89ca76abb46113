"""Ordinal losses of other libraries, on one small PyTorch network for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.levels import level_table
from studies.accuracy.contestants._base import Contestant

if TYPE_CHECKING:
    from torch import Tensor, nn

Features = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Recipe:
    """How the networks are built and trained.

    Attributes
    ----------
    n_hidden : int
        Units of the hidden layers.
    n_layers : int
        How many hidden layers.
    dropout : float
        Share of hidden outputs dropped in training, each layer followed by batch normalisation; 0 for neither.
    learning_rate, weight_decay : float
        Of AdamW.
    batch_size : int
    n_epochs : int
    least_updates : int
        Small sets get more epochs, until they have seen as many updates.
    """

    n_hidden: int = 10
    n_layers: int = 1
    dropout: float = 0.0
    learning_rate: float = 0.005
    weight_decay: float = 0.01
    batch_size: int = 64
    n_epochs: int = 30
    least_updates: int = 250


RECIPE = Recipe()
"""Chosen for the other libraries' heads, on sets that are not of the study: the best of eight for their mean error."""


@dataclass(frozen=True)
class Head:
    """What a library adds to a network.

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
    """A small network with a head of another library.

    Parameters
    ----------
    make_head : callable
        The head for so many hidden units and classes.
    n_classes, seed : int
    recipe : Recipe
    """

    def __init__(
        self, make_head: Callable[[int, int], Head], n_classes: int, seed: int, recipe: Recipe = RECIPE
    ) -> None:
        self.make_head, self.n_classes, self.seed, self.recipe = make_head, n_classes, seed, recipe

    def fit(self, X: Features, y: Ints) -> Self:
        """Standardise and train; the state of PyTorch's own generator is put back afterwards."""
        import torch

        self.center_, scale = X.mean(axis=0), X.std(axis=0)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.head_ = self.make_head(self.recipe.n_hidden, self.n_classes)
            self.network_ = torch.nn.Sequential(*self._body(X.shape[1]), self.head_.layer)
            self._train(self._inputs(X), torch.from_numpy(y))
        return self

    def predict_proba(self, X: Features) -> Floats:
        """Probability of each class, shape (n_samples, n_classes)."""
        import torch

        self.network_.eval()
        with torch.no_grad():
            probabilities: Floats = self.head_.probabilities(self.network_(self._inputs(X)).double()).numpy()
        return probabilities

    def _body(self, n_features: int) -> Iterator[nn.Module]:
        from torch import nn

        recipe = self.recipe
        for size in [n_features] + [recipe.n_hidden] * (recipe.n_layers - 1):
            yield nn.Linear(size, recipe.n_hidden)
            yield nn.ReLU()
            if recipe.dropout:
                yield nn.Dropout(recipe.dropout)
                yield nn.BatchNorm1d(recipe.n_hidden)

    def _train(self, inputs: Tensor, labels: Tensor) -> None:
        import torch

        recipe = self.recipe
        optimiser = torch.optim.AdamW(
            self.network_.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True
        )
        batches_an_epoch = max(1, len(labels) // recipe.batch_size)
        for _ in range(max(recipe.n_epochs, -(-recipe.least_updates // batches_an_epoch))):
            # Equal parts: a last batch of one row would have no variance for batch normalisation.
            for rows in torch.tensor_split(torch.randperm(len(labels)), batches_an_epoch):
                optimiser.zero_grad()
                self.head_.loss(self.network_(inputs[rows]), labels[rows]).backward()
                optimiser.step()

    def _inputs(self, X: Features) -> Tensor:
        import torch

        return torch.from_numpy(((X - self.center_) / self.scale_).astype(np.float32))


def coral(n_hidden: int, n_classes: int) -> Head:
    """One score with a bias for each threshold, as coral-pytorch has it."""
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
    """The chance of each threshold given the one before, as coral-pytorch has it."""
    import torch
    from coral_pytorch.losses import corn_loss

    return Head(
        torch.nn.Linear(n_hidden, n_classes - 1),
        lambda outputs, labels: corn_loss(outputs, labels, n_classes),
        lambda outputs: _from_exceedance(torch.sigmoid(outputs).cumprod(dim=1)),
    )


def triangular(n_hidden: int, n_classes: int) -> Head:
    """Cross-entropy with targets softened by triangular distributions, as dlordinal has it."""
    import torch
    from dlordinal.losses import TriangularLoss

    loss = TriangularLoss(torch.nn.CrossEntropyLoss(), n_classes).float()
    return Head(torch.nn.Linear(n_hidden, n_classes), loss, _softmax)


def earth_mover(n_hidden: int, n_classes: int) -> Head:
    """The squared distance of cumulative probabilities, as dlordinal has it."""
    import torch
    from dlordinal.losses import EMDLoss

    return Head(torch.nn.Linear(n_hidden, n_classes), EMDLoss(n_classes), _softmax)


def _softmax(outputs: Tensor) -> Tensor:
    return outputs.softmax(dim=1)


def _from_exceedance(exceedance: Tensor) -> Tensor:
    """Class probabilities from P(y > k), made to fall where free biases are out of order."""
    import torch

    falling = exceedance.cummin(dim=1).values
    ends = torch.ones(len(falling), 1, dtype=falling.dtype)
    return torch.cat([ends, falling], dim=1) - torch.cat([falling, 0 * ends], dim=1)


def _contestant(
    name: str, head: Callable[[int, int], Head], library: str, what: str, decisions: tuple[str, ...]
) -> Contestant:
    network = (
        f"{RECIPE.n_layers} x {RECIPE.n_hidden} units, AdamW at {RECIPE.learning_rate:g} with decay "
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
