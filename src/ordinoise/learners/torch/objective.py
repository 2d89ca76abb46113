"""What is minimized: a loss and the table that it reads, on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ordinoise._validation import as_choice, as_floats, complain
from ordinoise.learners.torch.batches import Batch
from ordinoise.learners.torch.losses import TableLoss, cross_entropy, forward_nll, hinge

LOSSES: dict[str, TableLoss] = {"cross_entropy": cross_entropy, "hinge": hinge, "forward": forward_nll}


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss of a recorded label, as a table of numbers.

    Parameters
    ----------
    loss : {"cross_entropy", "hinge", "forward"}
        The first two read levels, the last reads noise matrices.
    table : tensor of shape (n_raters, K, K-1) or (n_raters, K, K)
        Levels of every recorded label, plain or corrected; for ``forward``, noise matrices ``[true, recorded]``.
        One table per rater; a single one without raters.
    """

    loss: str
    table: Tensor

    def __post_init__(self) -> None:
        as_choice("loss", self.loss, LOSSES)
        if self.table.ndim != 3:
            raise complain("table", "have 3 dimensions", f"shape {tuple(self.table.shape)}")
        _, n_classes, n_columns = self.table.shape
        if n_columns != (n_classes if self.loss == "forward" else n_classes - 1):
            columns = "K" if self.loss == "forward" else "K-1"
            shape = tuple(self.table.shape)
            raise complain("table", f"have shape (n_raters, K, {columns}) for this loss", f"shape {shape}")

    @classmethod
    def of(cls, loss: str, table: ArrayLike) -> Objective:
        """The objective with a numpy array as its table."""
        return cls(loss, torch.from_numpy(as_floats("table", table, 3).copy()))

    def to(self, device: torch.device) -> Objective:
        """The objective on a device."""
        # The losses convert the table to the precision of the logits; Apple's devices have no float64 at all.
        kind = torch.float32 if device.type == "mps" else torch.float64
        return replace(self, table=self.table.to(device, kind))

    def total(self, logits: Tensor, batch: Batch) -> Tensor:
        """Weighted loss summed over the batch, shape ()."""
        losses = LOSSES[self.loss](logits, batch.labels, self.table, batch.raters)
        return (batch.weights * losses).sum()
