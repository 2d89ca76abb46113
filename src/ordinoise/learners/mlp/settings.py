"""What is minimized and how: the table that a learner reads, and its optimizer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import as_choice, as_count, as_floats, as_number, complain

from .layout import Architecture

Floats = NDArray[np.float64]

LOSSES = ("cross_entropy", "hinge", "forward")


@dataclass(frozen=True)
class Objective:
    """The loss of a recorded label, as a table of numbers.

    Parameters
    ----------
    loss : {"cross_entropy", "hinge", "forward"}
        The first two read levels, the last reads noise matrices: ``-log sum_k noise[k, recorded] P(k | x)``.
    table : array of shape (n_raters, K, K-1) or (n_raters, K, K)
        Levels of every recorded label, plain or corrected; for ``forward``, noise matrices ``[true, recorded]``.
        One table per rater; a single one without raters.
    """

    loss: str
    table: Floats

    def __post_init__(self) -> None:
        as_choice("loss", self.loss, LOSSES)
        object.__setattr__(self, "table", as_floats("table", self.table, 3))
        _, n_classes, n_columns = self.table.shape
        if n_columns != (n_classes if self.loss == "forward" else n_classes - 1):
            columns = "K" if self.loss == "forward" else "K-1"
            raise complain("table", f"have shape (n_raters, K, {columns}) for this loss", f"shape {self.table.shape}")

    @property
    def n_raters(self) -> int:
        """Number of tables."""
        return len(self.table)

    def check_fits(self, architecture: Architecture) -> None:
        """Raise an error unless the table is for this network."""
        if self.table.shape[1] != architecture.n_classes:
            raise complain("table", f"be for {architecture.n_classes} classes", f"shape {self.table.shape}")
        if architecture.head == "softmax" and self.loss != "forward":
            raise complain("loss", "be 'forward' for the softmax head", repr(self.loss))


@dataclass(frozen=True)
class Optimizer:
    """AdamW, with the formula and the defaults of ``torch.optim.AdamW``, and its mini-batches.

    Parameters
    ----------
    learning_rate, beta_1, beta_2, epsilon, weight_decay : float
        AdamW's own.
    decay_thresholds : bool
        Whether weight decay also applies to the thresholds, as in the paper.
    batch_size : int
        Rows per update; the last batch of an epoch may be shorter.
    shuffle : bool
        Whether every epoch draws a new order of the rows.
    """

    learning_rate: float = 1e-3
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    decay_thresholds: bool = False
    batch_size: int = 16
    shuffle: bool = True

    def __post_init__(self) -> None:
        as_number("learning_rate", self.learning_rate, 0, np.inf, open_low=True)
        for name in ("beta_1", "beta_2"):
            if not 0 <= getattr(self, name) < 1:
                raise complain(name, "be at least 0 and below 1", getattr(self, name))
        as_number("epsilon", self.epsilon, 0, np.inf, open_low=True)
        as_number("weight_decay", self.weight_decay, 0, np.inf)
        as_count("batch_size", self.batch_size, 1)
