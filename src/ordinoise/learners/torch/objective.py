"""What is minimised: a loss and the tables that it reads, on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ordinoise._validation import as_choice, as_floats, complain
from ordinoise.learners.torch.batches import Batch
from ordinoise.learners.torch.losses import TableLoss, class_risks, cross_entropy, forward_nll, hinge, level_table

LOSSES: dict[str, TableLoss] = {"cross_entropy": cross_entropy, "hinge": hinge, "forward": forward_nll}


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss of a recorded label, as tables of numbers.

    Parameters
    ----------
    loss : {"cross_entropy", "hinge", "forward"}
        The first two read levels, the last reads noise matrices.
    table : tensor of shape (n_raters, K, K-1) or (n_raters, K, K)
        Levels of every recorded label, plain or corrected; for ``forward``, noise matrices ``[true, recorded]``.
        One table where there are no raters.
    correction : tensor of shape (n_raters, K, K), optional
        Inverse noise matrices. If given, the table is not read and the non-negative risk is minimised:
        ``sum_k |mean over the batch of correction[recorded, k] loss(x, k)|``.
    """

    loss: str
    table: Tensor
    correction: Tensor | None = None

    def __post_init__(self) -> None:
        as_choice("loss", self.loss, LOSSES)
        if self.table.ndim != 3:
            raise complain("table", "have 3 dimensions", f"shape {tuple(self.table.shape)}")
        _, n_classes, n_columns = self.table.shape
        if n_columns != (n_classes if self.loss == "forward" else n_classes - 1):
            columns = "K" if self.loss == "forward" else "K-1"
            shape = tuple(self.table.shape)
            raise complain("table", f"have shape (n_raters, K, {columns}) for this loss", f"shape {shape}")
        if self.correction is not None and self.loss == "forward":
            raise complain("correction", "be None for the forward loss", "inverse noise matrices")

    @classmethod
    def of(cls, loss: str, table: ArrayLike, correction: ArrayLike | None = None) -> Objective:
        """The same of numpy arrays."""
        inverse = None if correction is None else torch.from_numpy(as_floats("correction", correction, 3).copy())
        return cls(loss, torch.from_numpy(as_floats("table", table, 3).copy()), inverse)

    @property
    def n_classes(self) -> int:
        """Number of grades (K)."""
        return int(self.table.shape[1])

    def to(self, device: torch.device) -> Objective:
        """The same on a device."""
        # The losses bring the tables to the precision of the logits; Apple's devices hold no float64 at all.
        kind = torch.float32 if device.type == "mps" else torch.float64
        correction = None if self.correction is None else self.correction.to(device, kind)
        return replace(self, table=self.table.to(device, kind), correction=correction)

    def sums(self, logits: Tensor, batch: Batch) -> Tensor:
        """Weighted loss summed over the batch, shape (1,); for the non-negative risk one sum a class, shape (K,)."""
        if self.correction is not None:
            levels = level_table(self.n_classes, device=logits.device)
            loss = LOSSES[self.loss]
            return class_risks(logits, batch.labels, self.correction, levels, loss, batch.raters, batch.weights)
        losses = LOSSES[self.loss](logits, batch.labels, self.table, batch.raters)
        return (batch.weights * losses).sum()[None]
