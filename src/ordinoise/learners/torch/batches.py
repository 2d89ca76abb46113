"""Sources of batches: arrays in memory, map-style datasets, iterable datasets.

Arrays and map-style datasets yield the same global batches for any number of processes; each process takes its share.
The order of an epoch follows from the seed and the epoch's number alone, so a run can resume at any batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from ordinoise._sparse import as_csr
from ordinoise._validation import Ints, complain

ReadSample = Callable[[Any], "Batch"]


class Batch(NamedTuple):
    """Samples: inputs as the module takes them, labels 0..K-1, weights, and raters if any."""

    inputs: Any
    labels: Tensor
    weights: Tensor
    raters: Tensor | None = None

    def to(self, device: torch.device, dtype: torch.dtype) -> Batch:
        """The batch on a device, floating inputs in the module's precision."""
        raters = None if self.raters is None else self.raters.to(device)
        weights = self.weights.to(device, torch.promote_types(dtype, torch.float32))
        return Batch(moved(self.inputs, device, dtype), self.labels.to(device), weights, raters)


class Batches(Protocol):
    """A source of batches."""

    @property
    def description(self) -> str:
        """Text by which a checkpoint is matched with its data."""

    def epoch(self, number: int, rank: int, n_ranks: int, start: int = 0) -> Iterator[Batch]:
        """The share of one process in the batches of an epoch, from batch `start` on."""


class SparseRows:
    """Rows of a sparse matrix, which become a dense tensor of float32 when they are taken."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = as_csr(matrix)
        self.shape = self._matrix.shape

    def __getitem__(self, rows: slice | Tensor) -> Tensor:
        some = self._matrix[rows if isinstance(rows, slice) else rows.numpy()]
        return torch.from_numpy(some.astype(np.float32).toarray())


@dataclass(frozen=True, eq=False)
class ArrayBatches:
    """Batches of samples in memory.

    Parameters
    ----------
    inputs : tensor of shape (n_samples, ...) or SparseRows
    labels : tensor of int, shape (n_samples,)
        Recorded labels 0..K-1.
    weights : tensor of shape (n_samples,)
    raters : tensor of int, shape (n_samples,), optional
    rows : array of int
        The samples to use.
    batch_size : int
        Samples per update, over all processes together; the last batch of an epoch may be shorter.
    shuffle : bool
        Whether every epoch draws a new order of the samples.
    seed : int
        Seed of that order.
    """

    inputs: Tensor | SparseRows
    labels: Tensor
    weights: Tensor
    raters: Tensor | None
    rows: Ints
    batch_size: int
    shuffle: bool = True
    seed: int = 0

    @property
    def description(self) -> str:
        """Shape of the inputs, and a digest of the labels, weights and rows."""
        digest = hashlib.sha256(self.rows.tobytes())
        for column in (self.labels, self.weights, self.raters):
            digest.update(b"" if column is None else column.cpu().numpy().tobytes())
        return f"array {tuple(self.inputs.shape)} in batches of {self.batch_size}, {digest.hexdigest()[:16]}"

    def epoch(self, number: int, rank: int, n_ranks: int, start: int = 0) -> Iterator[Batch]:
        """The share of one process in the batches of an epoch."""
        for rows in shares(self.rows, self, number, rank, n_ranks)[start:]:
            chosen = torch.from_numpy(rows)
            raters = None if self.raters is None else self.raters[chosen]
            yield Batch(self.inputs[chosen], self.labels[chosen], self.weights[chosen], raters)


@dataclass(frozen=True, eq=False)
class DatasetBatches:
    """Batches of a map-style dataset, whose samples are ``(x, label[, weight[, rater]])``.

    Parameters
    ----------
    dataset : Dataset with a length
    read : callable
        Converts a collated list of samples to a `Batch`.
    rows, batch_size, shuffle, seed
        As in `ArrayBatches`.
    n_workers : int
        Number of processes that load samples; 0 loads them in this one.
    """

    dataset: Dataset[Any]
    read: ReadSample
    rows: Ints
    batch_size: int
    shuffle: bool = True
    seed: int = 0
    n_workers: int = 0

    @property
    def description(self) -> str:
        """Type of the dataset, and a digest of the rows."""
        digest = hashlib.sha256(self.rows.tobytes()).hexdigest()[:16]
        return f"{type(self.dataset).__name__} in batches of {self.batch_size}, {digest}"

    def epoch(self, number: int, rank: int, n_ranks: int, start: int = 0) -> Iterator[Batch]:
        """The share of one process in the batches of an epoch."""
        order = [rows.tolist() for rows in shares(self.rows, self, number, rank, n_ranks)[start:]]
        loader = DataLoader(
            self.dataset,
            batch_sampler=[rows for rows in order if rows],
            num_workers=self.n_workers,
            generator=torch.Generator().manual_seed(hash((self.seed, number, rank)) % 2**63),
        )
        return map(self.read, loader)


@dataclass(frozen=True, eq=False)
class IterableBatches:
    """Batches of an iterable dataset; each of n processes keeps every n-th sample.

    If the dataset has a method ``set_epoch``, it is called with the number of the epoch.

    Parameters
    ----------
    dataset, read, batch_size
        As in `DatasetBatches`.
    """

    dataset: IterableDataset[Any]
    read: ReadSample
    batch_size: int

    @property
    def description(self) -> str:
        """Type of the dataset."""
        return f"{type(self.dataset).__name__} in batches of {self.batch_size}"

    def epoch(self, number: int, rank: int, n_ranks: int, start: int = 0) -> Iterator[Batch]:
        """The share of one process in the batches of an epoch."""
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(number)
        own = islice(iter(self.dataset), rank, None, n_ranks)
        size = share_of(self.batch_size, rank, n_ranks)
        batches = iter(lambda: list(islice(own, size)), [])
        return map(self.read, map(default_collate, islice(batches, start, None)))


class _Dealt(Protocol):
    @property
    def batch_size(self) -> int: ...
    @property
    def shuffle(self) -> bool: ...
    @property
    def seed(self) -> int: ...


def shares(rows: Ints, settings: _Dealt, epoch: int, rank: int, n_ranks: int) -> list[Ints]:
    """Rows of every batch of an epoch that one process takes; empty where a short last batch has too few."""
    order = np.random.default_rng([settings.seed, epoch]).permutation(rows) if settings.shuffle else rows
    starts = range(0, len(order), settings.batch_size)
    return [order[start : start + settings.batch_size][rank::n_ranks] for start in starts]


def share_of(batch_size: int, rank: int, n_ranks: int) -> int:
    """Number of samples of a batch that one process takes, at least one."""
    return max(batch_size // n_ranks + (rank < batch_size % n_ranks), 1)


def moved(inputs: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Nested tensors on a device, floating ones in the given precision."""
    if isinstance(inputs, Tensor):
        kind = dtype if inputs.is_floating_point() else inputs.dtype
        return inputs.to(device, kind, non_blocking=True)
    if isinstance(inputs, dict):
        return {name: moved(item, device, dtype) for name, item in inputs.items()}
    if isinstance(inputs, (list, tuple)):
        return type(inputs)(moved(item, device, dtype) for item in inputs)
    raise complain("X", "hold tensors", type(inputs).__name__)
